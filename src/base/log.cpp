#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>

#include "base/settings_table.h"
#include "plimsoll/settings.h"

namespace plimsoll {
namespace {

constexpr std::string_view kLevelNames[] = {"error", "warning", "info", "debug"};

void write_line(LogLevel level, std::string_view message) {
  const std::string line =
      fmt::format("plimsoll {}: {}\n", kLevelNames[static_cast<int>(level)], message);
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call: lines of threads do not mix
}

LogLevel level_from_settings() noexcept {
  try {
    const std::string name = settings::get_string("log");
    for (int i = 0; i < 4; ++i) {
      if (kLevelNames[i] == name) return static_cast<LogLevel>(i);
    }
  } catch (const std::exception& e) {
    // A bad PLIMSOLL_LOG must not silence anything; it is said once per change of settings.
    try {
      write_line(LogLevel::kError, e.what());
    } catch (...) {
    }
  }
  return LogLevel::kWarning;
}

// The level for one generation of the settings, packed: generation * 4 + level; 0 is "not read".
std::atomic<std::uint64_t> cached_level{0};

bool is_new(std::string_view message) {
  constexpr std::size_t kMostRemembered = 1024;
  static std::mutex& mutex = *new std::mutex;
  static auto& seen = *new std::set<std::string, std::less<>>;
  const std::scoped_lock lock(mutex);
  if (seen.contains(message)) return false;
  if (seen.size() < kMostRemembered) seen.emplace(message);
  return true;
}

}  // namespace

bool is_logged(LogLevel level) noexcept {
  const std::uint64_t generation = settings::generation();  // 1 and up
  std::uint64_t cached = cached_level.load(std::memory_order_relaxed);
  if (cached / 4 != generation) {
    cached = generation * 4 + static_cast<std::uint64_t>(level_from_settings());
    cached_level.store(cached, std::memory_order_relaxed);
  }
  return static_cast<std::uint64_t>(level) <= cached % 4;
}

void log_message(LogLevel level, std::string_view message) noexcept {
  if (!is_logged(level)) return;
  try {
    write_line(level, message);
  } catch (...) {
  }
}

void log_once(LogLevel level, std::string_view message) noexcept {
  if (!is_logged(level)) return;
  try {
    if (is_new(message)) write_line(level, message);
  } catch (...) {
  }
}

}  // namespace plimsoll
