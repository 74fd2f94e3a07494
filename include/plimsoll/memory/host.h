// How much memory this machine, this container and this process have left.
#pragma once

#include <cstdint>
#include <string>

namespace plimsoll::memory {

inline constexpr std::uint64_t kNoLimit = INT64_MAX;  // 2^63 - 1

struct HostRoom {
  std::uint64_t available = kNoLimit;      // MemAvailable of the system
  std::uint64_t cgroup = kNoLimit;         // limit - usage of this process's control groups
  std::uint64_t address_space = kNoLimit;  // RLIMIT_AS - what is mapped
  std::uint64_t smallest() const noexcept;
};

// Reads the files below `root`; "" is this machine's own root (tests give folders of their own).
HostRoom read_host_room(const std::string& root = "");

struct HostLimit {
  std::uint64_t bytes;
  std::string origin;  // for error messages: "90 % of the 21.3 GiB available at start"
};
// The CPU's limit where the user set none: 90 % of the smallest room.
HostLimit default_host_limit(const std::string& root = "");

}  // namespace plimsoll::memory
