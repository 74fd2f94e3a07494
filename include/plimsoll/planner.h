// Static memory planning: which offset does each buffer get, so that buffers alive at the same
// time never overlap and the arena is as low as possible?
//
// A Problem is a list of rectangles that may move up and down only: a buffer occupies `size` bytes
// at one offset during the steps [lower, upper), except in its gaps. The sum of what is alive at a
// step is a floor no plan can beat; the planner packs with fast heuristics first, and when they
// miss that floor it searches exactly, with the best plan so far and the proven gap at hand at any
// moment. Integers only, and deterministic: the same problem and options give the same plan, on one
// thread or several, unless a time limit or a stop cuts the search short.
//
//   planner::Problem problem;
//   problem.buffers = {{.lower = 0, .upper = 4, .size = 512, .alignment = 64},
//                      {.lower = 1, .upper = 2, .size = 256, .alignment = 64},
//                      {.lower = 2, .upper = 4, .size = 256, .alignment = 64}};
//   problem.capacity = 1024;
//   planner::Result result = planner::solve(problem);
//   if (result.fits()) {
//     arena.resize(result.solution.height);                // 768
//     place(0, result.solution.offsets[0]);                // 0
//   } else if (result.status == planner::Status::kInfeasible) {
//     blame(result.infeasible);                            // buffers that cannot fit together
//   }
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::planner {

inline constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// Steps [lower, upper) inside a buffer's lifetime in which others may use its bytes.
struct Gap {
  int64_t lower = 0;
  int64_t upper = 0;
};

struct Buffer {
  int64_t lower = 0;              // first step
  int64_t upper = 0;              // step after the last
  int64_t size = 0;               // bytes; 0 is allowed and takes no room
  int64_t alignment = 1;          // offset is a multiple of it; a power of two
  std::optional<int64_t> offset;  // fixed by the caller
  std::vector<Gap> gaps;          // ascending, disjoint, within the lifetime but not all of it
};

struct Problem {
  std::vector<Buffer> buffers;
  int64_t capacity = kUnlimited;  // bytes a plan may use
  std::vector<std::string> ids;   // for messages and CSV: empty, or one per buffer
};

struct Solution {
  std::vector<int64_t> offsets;  // one per buffer
  int64_t height = 0;            // largest offset + size
};

// Throws InvalidArgumentError, naming the buffer and the value, unless every field is as described
// above, ids are unique, fixed buffers do not overlap and all sums stay below 2^62.
void check(const Problem& problem);

// What is wrong with a solution, in words; empty if it is a correct plan within the capacity.
// Shares no code with the solver. pre: check(problem).
std::string validate(const Problem& problem, const Solution& solution);

// A height that no plan can beat: the largest sum of sizes alive at a step, with the padding that
// common alignment forces. throws: as check().
int64_t lower_bound(const Problem& problem);

// Each can be switched off; results stay correct.
struct Techniques {
  bool skyline = true;        // heuristic: fill the lowest flat stretch with what fits in it
  bool first_fit = true;      // heuristic: in a fixed order, the lowest hole
  bool improve = true;        // heuristic again, with what stood too high moved to the front
  bool exact = true;          // search when the heuristics miss the bound
  bool section_floor = true;  // search: prune by what must still go above each section's floor
  bool dominance = true;      // search: leave no hole that a remaining buffer fits under
  bool decompose = true;      // search: solve parts that no remaining buffer joins on their own
  bool no_goods = true;       // search: remember states that failed
  bool portfolio = true;      // search: restart with other orders
};

struct Progress {
  int64_t height = 0;       // of the best plan so far
  int64_t lower_bound = 0;  // proven so far
  int64_t nodes = 0;        // visited by the search
};

struct Options {
  std::optional<int64_t> stop_at;           // height that is good enough; default: the lower bound
  double seconds = 10;                      // wall time after which the best so far is returned
  int64_t nodes = kUnlimited;               // search nodes after which it is returned
  int num_threads = 1;                      // for the search
  const std::atomic<bool>* stop = nullptr;  // set by another thread: return the best so far
  std::function<void(const Progress&)> on_progress;  // called on the caller's thread
  bool explain = true;                               // look for `infeasible` when it cannot fit
  Techniques techniques;
};

enum class Status {
  kOptimal,     // height equals the lower bound
  kGoodEnough,  // height <= stop_at and <= capacity
  kFeasible,    // within capacity; a limit ended the search before more was known
  kInfeasible,  // proven: nothing fits into the capacity
  kUnknown,     // best plan is above the capacity and a limit ended the search
};
const char* status_name(Status status) noexcept;

struct Result {
  Solution solution;        // best found; above the capacity if status says so
  int64_t lower_bound = 0;  // proven
  Status status = Status::kUnknown;
  std::string method;           // what found the solution: "skyline by width", "search", ...
  int64_t nodes = 0;            // visited by the search
  double seconds = 0;           // wall time
  std::vector<int> infeasible;  // indices of buffers that cannot fit together (kInfeasible)
  bool irreducible = false;     // proven: without any one of `infeasible` the rest fits

  bool fits() const { return status < Status::kInfeasible; }
};

// throws: as check(). A problem that cannot fit is a status, not an error.
Result solve(const Problem& problem, const Options& options = {});

// CSV as MiniMalloc writes it; columns are found by name: id (or buffer, buffer_id), lower (start,
// begin), upper (or end: the last step itself), size, and optionally alignment, gaps ("7-9 12-14",
// each half-open, or up to the last step itself under `end`), offset (fixed; may be empty), hint
// (ignored). throws InvalidArgumentError with the line and the value.
Problem read_csv(std::string_view text);
// The offset column holds the offsets of `solution`, or else the fixed ones (others left empty).
std::string write_csv(const Problem& problem, const Solution* solution = nullptr);

}  // namespace plimsoll::planner
