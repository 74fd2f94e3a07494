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

// Infeasible together, feasible without any one.
void expect_irreducible(const Problem& problem, const Result& result) {
  ASSERT_EQ(result.status, Status::kInfeasible);
  EXPECT_TRUE(result.irreducible);
  EXPECT_TRUE(std::is_sorted(result.infeasible.begin(), result.infeasible.end()));
  EXPECT_GT(brute_force_height(subset_of(problem, result.infeasible)), problem.capacity);
  for (int b : result.infeasible) {
    EXPECT_LE(brute_force_height(subset_of(problem, result.infeasible, b)), problem.capacity);
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

// Sizes alone would fit everywhere; only their arrangement does not.
TEST(InfeasibleTest, FindsArrangementsThatCannotBe) {
  std::mt19937_64 random(41);
  int found = 0;
  for (int i = 0; i < 2000 && found < 25; ++i) {
    Problem problem = make_random_problem(random, {.max_buffers = 7, .max_size = 6});
    problem.capacity = lower_bound(problem);
    const Result result = solve(problem);
    if (result.status != Status::kInfeasible) continue;
    ++found;
    expect_irreducible(problem, result);
  }
  EXPECT_GT(found, 5);
}

TEST(InfeasibleTest, WithAlignmentGapsAndFixedOffsets) {
  std::mt19937_64 random(42);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    Problem problem = make_random_problem(random, {.alignment = true, .gaps = true, .fixed = true});
    const int64_t best = brute_force_height(problem);
    if (best == 0) continue;
    problem.capacity = best - 1;
    const Result result = solve(problem);
    ++found;
    expect_irreducible(problem, result);
  }
  EXPECT_GT(found, 200);
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
