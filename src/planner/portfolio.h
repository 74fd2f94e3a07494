// One search order may be lost for hours where another is done at once, so many are tried for a
// short while, then for longer. The lowest run that settles a batch decides it, however many
// threads work: results do not depend on their number.
#pragma once

#include <optional>
#include <vector>

#include "planner/limits.h"
#include "planner/search.h"

namespace plimsoll::planner {

class Portfolio {
 public:
  Portfolio(const Instance& instance, const Options& options);

  // Searches for a plan of at most `target` with every order of round `round`, each for a number of
  // nodes that doubles from round to round. kLimit: none settled it.
  SearchRun attempt(int64_t target, int round, Limits& limits);

 private:
  Preference preference(int round, int run) const;
  std::vector<int> learned_order(const std::vector<int>& base) const;
  int num_runs() const;

  const Instance& instance_;
  const Techniques techniques_;
  std::vector<std::vector<int>> orders_;  // the fixed ones, best preferred first
  std::vector<int64_t> failed_;           // branches that ended in each section so far
  std::vector<Search> searches_;          // one per thread
};

}  // namespace plimsoll::planner
