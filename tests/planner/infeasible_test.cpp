#include "helpers.h"

namespace plimsoll::planner {
namespace {

Problem subset_of(const Problem& problem, const std::vector<int>& subset, int without = -1) {
  Problem part;
  part.capacity = problem.capacity;
  for (int b : subset) {
    if (b != without) part.buffers.push_back(problem.buffers[b]);
  }
  return part;
}

bool is_feasible(const Problem& problem) {
  if (problem.buffers.size() <= 7) return brute_force_height(problem) <= problem.capacity;
  Options options;
  options.stop_at = problem.capacity;
  options.explain = false;
  const Result result = solve(problem, options);
  EXPECT_NE(result.status, Status::kUnknown);
  return result.fits();
}

// Infeasible together, feasible without any one.
void expect_irreducible(const Problem& problem, const Result& result) {
  ASSERT_EQ(result.status, Status::kInfeasible);
  EXPECT_TRUE(result.irreducible);
  EXPECT_TRUE(std::is_sorted(result.infeasible.begin(), result.infeasible.end()));
  EXPECT_FALSE(is_feasible(subset_of(problem, result.infeasible)));
  for (int b : result.infeasible) {
    EXPECT_TRUE(is_feasible(subset_of(problem, result.infeasible, b)));
  }
}

TEST(InfeasibleTest, NamesTheBufferThatIsTooLarge) {
  Problem problem = make_chain(20);
  problem.capacity = 8000;
  problem.buffers.push_back({.lower = 3, .upper = 4, .size = 8001});
  const Result result = solve(problem);
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_EQ(result.infeasible, std::vector<int>{60});
  EXPECT_TRUE(result.irreducible);
}

TEST(InfeasibleTest, NamesTheFewestThatAreAliveTogether) {
  Problem problem;
  for (int i = 0; i < 8; ++i) problem.buffers.push_back({.lower = 0, .upper = 9, .size = 1 + i});
  problem.capacity = 20;
  const Result result = solve(problem);
  EXPECT_EQ(result.infeasible, (std::vector<int>{5, 6, 7}));
  expect_irreducible(problem, result);
}

TEST(InfeasibleTest, WithAlignmentGapsAndFixedOffsets) {
  std::mt19937_64 random(42);
  int arranged = 0;  // sizes alone would fit everywhere; only their arrangement does not
  for (int i = 0; i < 300; ++i) {
    Problem problem = make_random_problem(random, {.alignment = true, .gaps = true, .fixed = true});
    const int64_t best = brute_force_height(problem);
    if (best == 0) continue;
    problem.capacity = best - 1;
    const Result result = solve(problem);
    arranged += lower_bound(problem) < best ? 1 : 0;
    expect_irreducible(problem, result);
  }
  EXPECT_GT(arranged, 50);
}

TEST(InfeasibleTest, ExplainingCanBeSwitchedOff) {
  Problem problem = make_chain(5);
  problem.capacity = 100;
  const Result result = solve(problem, {.explain = false});
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_TRUE(result.infeasible.empty());
}

}  // namespace
}  // namespace plimsoll::planner
