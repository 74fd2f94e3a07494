// What the system says that this process holds, for tests.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace plimsoll::memory {

inline std::uint64_t kb_field(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) == 0) return std::stoull(line.substr(key.size())) * 1024;
  }
  return 0;
}

inline std::uint64_t resident_bytes() {
  return kb_field("/proc/self/status", "RssAnon:");
}

// Sanitizers keep shadow memory and freed blocks of their own, so resident memory means little
// there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kHasOwnMemory = false;
#else
inline constexpr bool kHasOwnMemory = true;
#endif

}  // namespace plimsoll::memory
