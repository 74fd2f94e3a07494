// Heuristics, then search: the order in which the planner spends its time.
#include <algorithm>
#include <memory>

#include "base/check.h"
#include "planner/infeasible.h"
#include "planner/instance.h"
#include "planner/limits.h"
#include "planner/pack.h"
#include "planner/portfolio.h"

namespace plimsoll::planner {
namespace {

constexpr int64_t kMaxConflicts = 20'000'000;  // pairs; beyond, the search would take gigabytes

// A part of the problem that shares no step with the others, and what is known of it.
struct PartState {
  Instance instance;
  Packing best;
  int64_t bound = 0;
  std::unique_ptr<Portfolio> portfolio;  // made when first needed
};

class Solver {
 public:
  Solver(const Problem& problem, const Options& options)
      : problem_(problem), options_(options), limits_(options) {
    for (Instance& instance : split(make_instance(problem))) {
      parts_.push_back({std::move(instance), {}, 0, nullptr});
      parts_.back().bound = live_bound(parts_.back().instance);
    }
  }

  Result solve() {
    for (PartState& part : parts_) {
      // Other parts may be higher anyway: no need to pack this one lower than they can be.
      const Instance& instance = part.instance;
      part.best = pack(instance, std::max(part.bound, goal()), options_.techniques, limits_);
    }
    report();
    if (options_.techniques.exact) search();
    return make_result();
  }

 private:
  int64_t bound() const {
    int64_t bound = 0;
    for (const PartState& part : parts_) bound = std::max(bound, part.bound);
    return bound;
  }
  int64_t height() const {
    int64_t height = 0;
    for (const PartState& part : parts_) height = std::max(height, part.best.height);
    return height;
  }
  // The height at which all is done.
  int64_t goal() const {
    const int64_t enough = std::min(options_.stop_at.value_or(0), problem_.capacity);
    return std::max(bound(), enough);
  }
  bool impossible() const { return bound() > problem_.capacity; }

  void search() {
    for (int round = 0; round < 62; ++round) {
      bool searched = false;
      for (PartState& part : parts_) {
        while (part.best.height > goal() && !impossible() && !limits_.reached()) {
          if (!is_searchable(part.instance)) break;
          searched = true;
          if (!improve(part, round)) break;
        }
      }
      if (!searched || limits_.reached()) return;
    }
  }

  static bool is_searchable(const Instance& instance) {
    int64_t pairs = 0;
    for (const Span& span : instance.spans) pairs += span.end - span.begin;
    return pairs <= kMaxConflicts && instance.count() <= 5000;
  }

  // One round at the goal and, that failing, at something less; false if neither settled anything.
  bool improve(PartState& part, int round) {
    if (!part.portfolio) part.portfolio = std::make_unique<Portfolio>(part.instance, options_);
    const int64_t target = std::max(goal(), part.bound);
    if (attempt(part, target, round)) return true;
    int64_t second = target + (part.best.height - target) / 2;
    if (part.best.height > problem_.capacity) second = problem_.capacity;
    if (second <= target || second >= part.best.height || limits_.reached()) return false;
    return attempt(part, second, round);
  }

  bool attempt(PartState& part, int64_t target, int round) {
    SearchRun run = part.portfolio->attempt(target, round, limits_);
    if (run.end == SearchRun::End::kFound) {
      part.best = {std::move(run.offsets), 0, "search"};
      part.best.height = height_of(part.instance, part.best.offsets);
    } else if (run.end == SearchRun::End::kExhausted) {
      part.bound = std::max(part.bound, std::min(run.next_bound, part.best.height));
      part.bound = std::max(part.bound, target + 1);
    }
    report();
    return run.end != SearchRun::End::kLimit;
  }

  void report() const {
    if (options_.on_progress) options_.on_progress({height(), bound(), limits_.nodes_used()});
  }

  Result make_result() {
    Result result;
    result.solution.height = height();
    result.solution.offsets.assign(problem_.buffers.size(), 0);
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      result.solution.offsets[i] = problem_.buffers[i].offset.value_or(0);
    }
    for (const PartState& part : parts_) {
      for (int b = 0; b < part.instance.count(); ++b) {
        result.solution.offsets[part.instance.source[b]] = part.best.offsets[b];
      }
      // The part that decides the height decides the name, the search before the heuristics.
      if (part.best.height == result.solution.height && result.method != "search") {
        result.method = part.best.method;
      }
    }
    result.lower_bound = bound();
    result.status = status(result.solution.height);
    result.nodes = limits_.nodes_used();
    if (result.status == Status::kInfeasible && options_.explain) {
      explain_infeasible(problem_, options_, limits_.seconds_left(), result);
    }
    result.seconds = limits_.elapsed();
    return result;
  }

  Status status(int64_t height) const {
    if (impossible()) return Status::kInfeasible;
    if (height > problem_.capacity) return Status::kUnknown;
    if (height <= bound()) return Status::kOptimal;
    if (options_.stop_at && height <= *options_.stop_at) return Status::kGoodEnough;
    return Status::kFeasible;
  }

  const Problem& problem_;
  const Options& options_;
  Limits limits_;
  std::vector<PartState> parts_;
};

}  // namespace

const char* status_name(Status status) noexcept {
  switch (status) {
    case Status::kOptimal:
      return "optimal";
    case Status::kGoodEnough:
      return "good enough";
    case Status::kFeasible:
      return "feasible";
    case Status::kInfeasible:
      return "infeasible";
    case Status::kUnknown:
      return "unknown";
  }
  return "unknown";
}

Result solve(const Problem& problem, const Options& options) {
  check(problem);
  PLIMSOLL_CHECK(options.num_threads >= 1, InvalidArgumentError,
                 "num_threads must be at least 1, received {}", options.num_threads);
  PLIMSOLL_CHECK(options.nodes >= 0 && options.seconds >= 0, InvalidArgumentError,
                 "nodes and seconds must not be negative, received {} and {}", options.nodes,
                 options.seconds);
  return Solver(problem, options).solve();
}

}  // namespace plimsoll::planner
