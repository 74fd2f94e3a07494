#include "plimsoll/memory/host.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "plimsoll/bytes.h"

namespace plimsoll::memory {
namespace {

// The first number of a file; kNoLimit if there is none or it says "max".
std::uint64_t read_number(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::min(value, kNoLimit) : kNoLimit;
}

// A number in kB behind `key` in a file like /proc/meminfo.
std::uint64_t read_kb_field(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    std::istringstream rest(line.substr(key.size()));
    std::uint64_t kb = 0;
    if (rest >> kb) return kb * 1024;
  }
  return kNoLimit;
}

// limit - usage in one control group folder. Page cache is given back under pressure, so inactive
// file pages do not count as used.
std::uint64_t group_room(const std::string& folder, const char* limit_file,
                         const char* usage_file) {
  const std::uint64_t limit = read_number(folder + "/" + limit_file);
  const std::uint64_t used = read_number(folder + "/" + usage_file);
  if (limit >= kNoLimit / 2 || used == kNoLimit) return kNoLimit;
  std::uint64_t cache = 0;
  std::ifstream stat(folder + "/memory.stat");
  for (std::string key; stat >> key;) {
    std::uint64_t value = 0;
    stat >> value;
    if (key == "inactive_file" || key == "total_inactive_file") cache = std::max(cache, value);
  }
  const std::uint64_t held = used - std::min(cache, used);
  return limit - std::min(held, limit);
}

// The tightest room from this process's group up to the root of its hierarchy.
std::uint64_t walk_groups(const std::string& mount, std::string path, const char* limit_file,
                          const char* usage_file) {
  std::uint64_t room = kNoLimit;
  while (true) {
    room = std::min(room, group_room(mount + path, limit_file, usage_file));
    if (path.empty() || path == "/") return room;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

std::uint64_t cgroup_room(const std::string& root) {
  std::uint64_t room = kNoLimit;
  std::ifstream file(root + "/proc/self/cgroup");  // "4:memory:/path" (v1), "0::/path" (v2)
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      room = std::min(room,
                      walk_groups(root + "/sys/fs/cgroup", path, "memory.max", "memory.current"));
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      room = std::min(room, walk_groups(root + "/sys/fs/cgroup/memory", path,
                                        "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  return room;
}

std::uint64_t address_space_room(const std::string& root) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  const std::uint64_t mapped = read_kb_field(root + "/proc/self/status", "VmSize:");
  return mapped == kNoLimit ? limit.rlim_cur
                            : limit.rlim_cur - std::min<std::uint64_t>(mapped, limit.rlim_cur);
}

}  // namespace

std::uint64_t HostRoom::smallest() const noexcept {
  return std::min({available, cgroup, address_space});
}

HostRoom read_host_room(const std::string& root) {
  return {.available = read_kb_field(root + "/proc/meminfo", "MemAvailable:"),
          .cgroup = cgroup_room(root),
          .address_space = address_space_room(root)};
}

HostLimit default_host_limit(const std::string& root) {
  const HostRoom room = read_host_room(root);
  const std::uint64_t smallest = room.smallest();
  if (smallest == kNoLimit) return {kNoLimit, "no limit: this system does not tell its memory"};
  const char* what = smallest == room.available ? "available at start"
                     : smallest == room.cgroup  ? "left in the control group at start"
                                                : "left of the address space (RLIMIT_AS) at start";
  return {smallest / 10 * 9, fmt::format("90 % of the {} {}", format_bytes(smallest), what)};
}

}  // namespace plimsoll::memory
