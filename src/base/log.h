// Messages to stderr, one line each: "plimsoll warning: ...". The setting `log` says from which
// level on. Logging never throws and never fails the call that logs.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

namespace plimsoll {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

bool is_logged(LogLevel level) noexcept;
void log_message(LogLevel level, std::string_view message) noexcept;

// As log_message, but the same message only once per process.
void log_once(LogLevel level, std::string_view message) noexcept;

namespace detail {
template <class... Args>
void log_formatted(LogLevel level, fmt::format_string<Args...> format, Args&&... args) noexcept {
  if (!is_logged(level)) return;
  try {
    log_message(level, fmt::format(format, std::forward<Args>(args)...));
  } catch (...) {  // no memory for the message: the message is what can be spared
  }
}
}  // namespace detail

template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) noexcept {
  detail::log_formatted(LogLevel::kError, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warning(fmt::format_string<Args...> format, Args&&... args) noexcept {
  detail::log_formatted(LogLevel::kWarning, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) noexcept {
  detail::log_formatted(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) noexcept {
  detail::log_formatted(LogLevel::kDebug, format, std::forward<Args>(args)...);
}

}  // namespace plimsoll
