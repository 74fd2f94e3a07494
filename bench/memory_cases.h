// The cases of the benchmark family `memory`. Each runs in a process of its own, so that one case's
// history is not another's start, verifies what it measures and prints its rows.
#pragma once

#include <string>
#include <vector>

namespace plimsoll::bench {

struct MemoryOptions {
  double seconds = 10;  // how long the threads of the budget case run
};

struct MemoryCase {
  const char* name;
  const char* doc;
  void (*run)(const MemoryOptions& options);
};

void run_replay(const MemoryOptions& options);
void run_small(const MemoryOptions& options);
void run_return_1kib(const MemoryOptions& options);
void run_return_1mib(const MemoryOptions& options);
void run_return_40mib(const MemoryOptions& options);
void run_refusal(const MemoryOptions& options);
void run_budget(const MemoryOptions& options);
void run_history(const MemoryOptions& options);

// Ends the case with `message` if what it measured did not do its work.
// throws: std::runtime_error.
void verify(bool ok, const std::string& message);

double median(std::vector<double> values);  // pre: not empty

}  // namespace plimsoll::bench
