// Against an answer found by trying every order.
#include "helpers.h"

namespace plimsoll::planner {
namespace {

void compare(const RandomShape& shape, uint64_t seed, int rounds) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < rounds; ++i) {
    const Problem problem = make_random_problem(random, shape);
    const int64_t best = brute_force_height(problem);
    EXPECT_LE(lower_bound(problem), best) << write_csv(problem);
    const Result result = solve(problem);
    expect_valid(problem, result);
    EXPECT_EQ(result.status, Status::kOptimal) << write_csv(problem);
    EXPECT_EQ(result.solution.height, best) << write_csv(problem);
    EXPECT_EQ(result.lower_bound, best) << write_csv(problem);
  }
}

TEST(FuzzTest, Plain) {
  compare({}, 11, 400);
}
TEST(FuzzTest, Larger) {
  compare({.max_buffers = 8, .max_time = 6, .max_size = 30}, 12, 15);
}
TEST(FuzzTest, Alignment) {
  compare({.alignment = true}, 13, 400);
}
TEST(FuzzTest, Gaps) {
  compare({.gaps = true}, 14, 400);
}
TEST(FuzzTest, Fixed) {
  compare({.fixed = true}, 15, 400);
}
TEST(FuzzTest, Everything) {
  compare({.max_buffers = 6, .alignment = true, .gaps = true, .fixed = true}, 16, 800);
}

// The search alone must find the optimum too, whichever techniques are on.
TEST(FuzzTest, SearchWithoutHelp) {
  std::mt19937_64 random(17);
  for (int i = 0; i < 300; ++i) {
    const Problem problem = make_random_problem(
        random, {.max_buffers = 6, .alignment = true, .gaps = i % 2 == 0, .fixed = i % 3 == 0});
    const int64_t best = brute_force_height(problem);
    Options options;
    Techniques& techniques = options.techniques;
    techniques.skyline = i % 2 == 0;
    techniques.improve = false;
    techniques.section_floor = (i & 1) != 0;
    techniques.dominance = (i & 2) != 0;
    techniques.decompose = (i & 4) != 0;
    techniques.no_goods = (i & 8) != 0;
    techniques.portfolio = (i & 16) != 0;
    const Result result = solve(problem, options);
    expect_valid(problem, result);
    EXPECT_EQ(result.status, Status::kOptimal) << write_csv(problem);
    EXPECT_EQ(result.solution.height, best) << write_csv(problem);
  }
}

TEST(FuzzTest, DecidesEveryCapacity) {
  std::mt19937_64 random(18);
  for (int i = 0; i < 200; ++i) {
    Problem problem = make_random_problem(random, {.alignment = true, .gaps = true});
    const int64_t best = brute_force_height(problem);
    Options options;
    for (problem.capacity = std::max<int64_t>(0, best - 2); problem.capacity <= best + 2;
         ++problem.capacity) {
      options.stop_at = problem.capacity;
      const Result result = solve(problem, options);
      expect_valid(problem, result);
      EXPECT_EQ(result.fits(), problem.capacity >= best) << write_csv(problem);
      EXPECT_EQ(result.status == Status::kInfeasible, problem.capacity < best);
    }
  }
}

TEST(LowerBoundTest, CountsPaddingOfCommonAlignment) {
  Problem problem;
  for (int i = 0; i < 3; ++i) {
    problem.buffers.push_back({.lower = 0, .upper = 2, .size = 10, .alignment = 16});
  }
  EXPECT_EQ(lower_bound(problem), 42);
  EXPECT_EQ(solve(problem).solution.height, 42);
  problem.buffers[0].alignment = 1;
  EXPECT_EQ(lower_bound(problem), 30);
}

TEST(LowerBoundTest, SeesFixedOffsetsAndGaps) {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 1, .size = 4, .offset = 100},
                     {.lower = 0, .upper = 9, .size = 40, .gaps = {{2, 5}}},
                     {.lower = 2, .upper = 5, .size = 50}};
  EXPECT_EQ(lower_bound(problem), 104);
  problem.buffers[0].offset.reset();
  EXPECT_EQ(lower_bound(problem), 50);
}

}  // namespace
}  // namespace plimsoll::planner
