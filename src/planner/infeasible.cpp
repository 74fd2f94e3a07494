#include "planner/infeasible.h"

#include <algorithm>
#include <numeric>

#include "planner/instance.h"
#include "planner/limits.h"

namespace plimsoll::planner {
namespace {

constexpr int64_t kProbeNodes = 20'000;  // for each question whether fewer buffers fit

using Subset = std::vector<int>;

// The fewest buffers alive at one moment whose sizes alone pass the capacity; empty if the sizes
// pass it nowhere.
Subset smallest_crowd(const Problem& problem) {
  const Instance instance = make_instance(problem);
  std::vector<std::vector<int>> starts(instance.num_sections);
  std::vector<std::vector<int>> ends(instance.num_sections + 1);
  std::vector<int64_t> sums(instance.num_sections + 1, 0);
  for (int b = 0; b < instance.count(); ++b) {
    for (const Span& span : instance.spans_of(b)) {
      starts[span.begin].push_back(b);
      ends[span.end].push_back(b);
      sums[span.begin] += instance.size[b];
      sums[span.end] -= instance.size[b];
    }
  }
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  Subset best;
  std::vector<char> alive(instance.count(), 0);
  for (int s = 0; s < instance.num_sections; ++s) {
    for (int b : ends[s]) alive[b] = 0;
    for (int b : starts[s]) alive[b] = 1;
    if (sums[s] <= problem.capacity) continue;
    Subset crowd;
    for (int b = 0; b < instance.count(); ++b) {
      if (alive[b]) crowd.push_back(b);
    }
    std::sort(crowd.begin(), crowd.end(), [&](int a, int b) {
      return instance.size[a] != instance.size[b] ? instance.size[a] > instance.size[b] : a < b;
    });
    int64_t sum = 0;
    size_t taken = 0;
    while (sum <= problem.capacity) sum += instance.size[crowd[taken++]];
    crowd.resize(taken);
    if (best.empty() || crowd.size() < best.size()) best = crowd;
  }
  for (int& b : best) b = instance.source[b];
  return best;
}

// Drops what is not needed for the contradiction, in blocks of halving size, then one by one.
class Filter {
 public:
  Filter(const Problem& problem, const Options& options, double seconds)
      : problem_(problem), options_(options), limits_(make_limits(options, seconds)) {}

  void run(Subset subset, Result& result) {
    bool sure = true;
    for (size_t block = std::max<size_t>(1, subset.size() / 2);;
         block = std::max<size_t>(1, block / 2)) {
      sure = true;
      for (size_t at = 0; at < subset.size();) {
        Subset fewer(subset.begin(), subset.begin() + at);
        fewer.insert(fewer.end(), subset.begin() + std::min(at + block, subset.size()),
                     subset.end());
        const Status status = probe(fewer, result);
        if (status == Status::kInfeasible) {
          subset = std::move(fewer);
        } else {
          sure &= status != Status::kUnknown;
          at += block;
        }
      }
      if (block == 1) break;
    }
    std::sort(subset.begin(), subset.end());
    result.infeasible = std::move(subset);
    result.irreducible = sure;
  }

 private:
  static Limits make_limits(Options options, double seconds) {
    options.seconds = std::max(0.0, seconds);
    options.nodes = kUnlimited;
    return Limits(options);
  }

  Status probe(const Subset& subset, Result& result) {
    if (limits_.interrupted()) return Status::kUnknown;
    Problem part;
    part.capacity = problem_.capacity;
    for (int b : subset) part.buffers.push_back(problem_.buffers[b]);
    Options options;
    options.stop_at = problem_.capacity;
    options.nodes = kProbeNodes;
    options.seconds = limits_.seconds_left();
    options.num_threads = options_.num_threads;
    options.stop = options_.stop;
    options.techniques = options_.techniques;
    options.explain = false;
    const Result answer = solve(part, options);
    result.nodes += answer.nodes;
    return answer.status;
  }

  const Problem& problem_;
  const Options& options_;
  Limits limits_;
};

}  // namespace

void explain_infeasible(const Problem& problem, const Options& options, double seconds,
                        Result& result) {
  for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
    const Buffer& buffer = problem.buffers[i];
    if (buffer.size > 0 && buffer.offset.value_or(0) + buffer.size > problem.capacity) {
      result.infeasible = {i};
      result.irreducible = true;
      return;
    }
  }
  Subset start = smallest_crowd(problem);
  if (start.empty()) {
    start.resize(problem.buffers.size());
    std::iota(start.begin(), start.end(), 0);
  }
  Filter(problem, options, seconds).run(std::move(start), result);
}

}  // namespace plimsoll::planner
