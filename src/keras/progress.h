// The progress bar of fit, evaluate and predict, as Keras draws it, with the peak of memory in it.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "plimsoll/keras/callback.h"
#include "plimsoll/keras/model.h"

namespace plimsoll::keras {

// To the printer of utils::set_printer, or the standard output.
void print_text(const std::string& text);

// kAuto: a bar on a terminal, a line an epoch elsewhere.
Verbose resolve(Verbose verbose);

class Progress {
 public:
  Progress(Verbose verbose, std::optional<std::int64_t> num_steps);

  // pre: for each of these that verbose is not kSilent matters inside.
  void begin_epoch(std::int64_t epoch, std::int64_t num_epochs);
  void update(std::int64_t step, const Logs& logs, std::uint64_t peak_bytes);
  void end(const Logs& logs, std::uint64_t peak_bytes);
  void line(const std::string& text) const;  // of its own
  void set_num_steps(std::int64_t num) { num_steps_ = num; }
  void restart();

 private:
  void draw(std::int64_t step, const Logs& logs, std::uint64_t peak_bytes, bool is_last);

  const Verbose verbose_;
  std::optional<std::int64_t> num_steps_;
  std::chrono::steady_clock::time_point start_, drawn_;
  std::int64_t step_ = 0;
  std::size_t width_ = 0;  // of what is on the line
};

}  // namespace plimsoll::keras
