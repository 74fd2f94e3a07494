// Paths of objects: names with '/' between them.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::h5 {

// Empty parts and "." mean nothing.
inline std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

}  // namespace plimsoll::h5
