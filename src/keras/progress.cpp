#include "keras/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>

#include "plimsoll/bytes.h"
#include "plimsoll/keras/utils.h"

namespace plimsoll::keras {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string format_time(double seconds) {
  if (seconds >= 3600)
    return fmt::format("{}:{:02}:{:02}", static_cast<int>(seconds) / 3600,
                       static_cast<int>(seconds) / 60 % 60, static_cast<int>(seconds) % 60);
  if (seconds >= 60)
    return fmt::format("{}:{:02}", static_cast<int>(seconds) / 60, static_cast<int>(seconds) % 60);
  return fmt::format("{:.0f}s", seconds);
}
std::string format_step(double seconds) {
  if (seconds >= 1) return fmt::format("{:.0f}s/step", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.0f}ms/step", seconds * 1e3);
  return fmt::format("{:.0f}us/step", seconds * 1e6);
}

std::string format_logs(const Logs& logs, std::uint64_t peak_bytes) {
  std::string text;
  for (const auto& [name, value] : logs) {
    const double size = std::abs(value);
    text += size > 1e-3 || value == 0 || !std::isfinite(value)
                ? fmt::format(" - {}: {:.4f}", name, value)
                : fmt::format(" - {}: {:.4e}", name, value);
  }
  if (peak_bytes) text += " - peak: " + format_bytes(peak_bytes);
  return text;
}

std::atomic<utils::Printer> printer = nullptr;

}  // namespace

void utils::set_printer(Printer given) noexcept {
  printer = given;
}

void print_text(const std::string& text) {
  if (const utils::Printer print = printer) {
    print(text);
  } else {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
}

Verbose resolve(Verbose verbose) {
  if (verbose != Verbose::kAuto) return verbose;
  return isatty(STDOUT_FILENO) ? Verbose::kBar : Verbose::kLine;
}

Progress::Progress(Verbose verbose, std::optional<std::int64_t> num_steps)
    : verbose_(resolve(verbose)), num_steps_(num_steps) {
  restart();
}

void Progress::restart() {
  start_ = Clock::now();
  drawn_ = {};
  step_ = 0;
  width_ = 0;
}

void Progress::begin_epoch(std::int64_t epoch, std::int64_t num_epochs) {
  restart();
  if (verbose_ != Verbose::kSilent && num_epochs > 1)
    line(fmt::format("Epoch {}/{}", epoch + 1, num_epochs));
}

void Progress::line(const std::string& text) const {
  if (verbose_ == Verbose::kSilent) return;
  print_text(text + "\n");
}

void Progress::update(std::int64_t step, const Logs& logs, std::uint64_t peak_bytes) {
  step_ = step;
  if (verbose_ != Verbose::kBar) return;
  constexpr double kBetweenDraws = 0.05;  // seconds
  if (drawn_ != Clock::time_point() && seconds_since(drawn_) < kBetweenDraws) return;
  draw(step, logs, peak_bytes, false);
}

void Progress::end(const Logs& logs, std::uint64_t peak_bytes) {
  if (verbose_ == Verbose::kSilent) return;
  draw(step_, logs, peak_bytes, true);
}

void Progress::draw(std::int64_t step, const Logs& logs, std::uint64_t peak_bytes, bool is_last) {
  constexpr int kWidth = 20;
  drawn_ = Clock::now();
  const double passed = seconds_since(start_);
  const double per_step = step > 0 ? passed / static_cast<double>(step) : 0;
  const std::int64_t target = num_steps_.value_or(0);
  std::string text = target ? fmt::format("{}/{}", step, target) : fmt::format("{}/Unknown", step);
  if (verbose_ == Verbose::kBar && target) {
    const auto full = static_cast<int>(kWidth * step / std::max<std::int64_t>(1, target));
    text += ' ';
    for (int i = 0; i < kWidth; ++i) text += i < full ? "━" : "─";
  } else if (verbose_ == Verbose::kLine) {
    text += " -";
  }
  const double left = per_step * static_cast<double>(target - step);
  text +=
      fmt::format(" {} {}", format_time(is_last || !target ? passed : left), format_step(per_step));
  text += format_logs(logs, peak_bytes);
  if (verbose_ == Verbose::kBar) {
    const std::size_t size = text.size();
    if (size < width_) text.append(width_ - size, ' ');
    width_ = size;
    print_text("\r" + text + (is_last ? "\n" : ""));
  } else {
    print_text(text + "\n");
  }
}

}  // namespace plimsoll::keras
