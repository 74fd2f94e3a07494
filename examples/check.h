// What the examples share: a line per claim, and what the system says this process holds.
#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

inline int num_failed = 0;  // main() returns it

inline void check(bool holds, const char* what) {
  std::printf("%-6s %s\n", holds ? "ok" : "FAILED", what);
  num_failed += !holds;
}

// 0 where a sanitizer adds memory of its own.
inline std::uint64_t resident_bytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#endif
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("VmRSS:", 0) == 0) return std::stoull(line.substr(6)) * 1024;
  }
  return 0;
}
