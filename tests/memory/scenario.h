// Text scenarios of memory: one command a line, through the real budgets, sources and heaps.
//
//   # comment
//   budget process 1GiB                 a root budget
//   device GPU:0 host|protect|sim [capacity 8GiB] [granule 2MiB] [limit 64MiB] [under process]
//                                       [up_front] [prepaid]
//   limit GPU:0 64MiB [as_released]     changes a limit
//   alloc a 10MiB [on GPU:0] [tag weights] [name dense_1] [align 4096]
//   reserve r 10MiB on process          a claim without pages
//   free a                              a block or a claim
//   fill a / check a                    writes the block, and finds it as it was written
//   trim GPU:0
//   repeat 100 ... end                  `$i` in the lines between is the round, from 0
//   wait 1s until committed GPU:0 <= 0  polls
//   expect in_use|peak|committed|live|available GPU:0 [==|<=|>=] 10MiB
//   expect error ResourceExhausted      the line after it fails so
//   expect rows GPU:0                   the ledger's rows add up to in_use
//   expect valid                        all walkers agree
#pragma once

#include <functional>
#include <string>

#include "plimsoll/memory/source.h"

namespace plimsoll::memory {

// A device's memory, and how its bytes are reached.
struct ScenarioSource {
  SourcePtr source;
  std::function<void(void* to, Address from, std::uint64_t nbytes)> read;
  std::function<void(Address to, const void* from, std::uint64_t nbytes)> write;
};

// Runs a scenario with `device` (host, protect, sim) or `source` in place of the word `any` of a
// device line. Returns "" if all expectations held, else what went wrong and in which line.
std::string run_scenario(const std::string& text, const std::string& device);
std::string run_scenario(const std::string& text, const ScenarioSource& source);

}  // namespace plimsoll::memory
