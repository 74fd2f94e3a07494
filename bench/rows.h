// What a benchmark reports: rows {what, ours, peer, ratio, bar, holds}.
//
// A benchmark program prints one JSON object per line on stdout as each row is known, and progress
// on stderr; scripts/bench makes the table. `ratio` is ours / peer where there is a peer, and what
// the bar speaks of where there is none.
#pragma once

#include <optional>
#include <string>

namespace plimsoll::bench {

struct Row {
  std::string what;
  double ours = 0;              // in `unit`
  std::optional<double> peer;   // in `unit`; none: nothing to compare with
  std::optional<double> ratio;  // ours / peer unless given
  std::string unit;             // "ms", "MiB", "ns", ""
  std::string bar;              // as the table shows it: "<= 1.05"; empty: for information
  std::optional<bool> holds;    // none: no bar, or it could not be measured here
  std::string note;             // who the peer is, or why there is none
};

void print(const Row& row);                 // one JSON line on stdout, flushed
void progress(const std::string& message);  // one line on stderr

double now_seconds();  // monotonic clock
double cpu_seconds();  // CPU time of this process

}  // namespace plimsoll::bench
