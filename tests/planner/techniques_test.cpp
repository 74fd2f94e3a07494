// Each technique pays somewhere: fewer nodes, or a lower plan.
#include "helpers.h"

namespace plimsoll::planner {
namespace {

// Problems small enough to be searched to the end without the technique.
Problem make_medium_problem(std::mt19937_64& random) {
  return make_random_problem(random, {.max_buffers = 11, .max_time = 9, .max_size = 30});
}

int64_t nodes_of(const Options& options, uint64_t seed) {
  std::mt19937_64 random(seed);
  int64_t nodes = 0;
  for (int i = 0; i < 300; ++i) {
    const Problem problem = make_medium_problem(random);
    const Result result = solve(problem, options);
    expect_valid(problem, result);
    nodes += result.nodes;
  }
  return nodes;
}

Options search_only() {
  Options options;
  options.seconds = 1e6;
  options.nodes = 20'000;
  options.techniques.improve = false;
  options.techniques.skyline = false;
  options.techniques.portfolio = false;
  return options;
}

TEST(TechniquesTest, SectionFloorPays) {
  Options options = search_only();
  const int64_t with = nodes_of(options, 31);
  options.techniques.section_floor = false;
  EXPECT_LT(2 * with, nodes_of(options, 31));
}

TEST(TechniquesTest, DominancePays) {
  Options options = search_only();
  const int64_t with = nodes_of(options, 32);
  options.techniques.dominance = false;
  EXPECT_LT(with, nodes_of(options, 32));
}

TEST(TechniquesTest, NoGoodsPay) {
  Options options = search_only();
  const int64_t with = nodes_of(options, 33);
  options.techniques.no_goods = false;
  EXPECT_LT(with, nodes_of(options, 33));
}

TEST(TechniquesTest, DecomposingPays) {
  Options options = search_only();
  const int64_t with = nodes_of(options, 34);
  options.techniques.decompose = false;
  EXPECT_LT(with, nodes_of(options, 34));
}

TEST(TechniquesTest, OtherOrdersPay) {
  Options options;
  options.seconds = 1e6;
  options.nodes = 4000;
  const Problem problem = load_problem("D.1048576.csv");
  options.stop_at = problem.capacity;
  EXPECT_TRUE(solve(problem, options).fits());
  options.techniques.portfolio = false;
  EXPECT_FALSE(solve(problem, options).fits());
}

// Height of what the heuristics alone give, over a set of random problems.
int64_t packed_height(const Techniques& techniques) {
  std::mt19937_64 random(35);
  Options options;
  options.techniques = techniques;
  options.techniques.exact = false;
  int64_t sum = 0;
  for (int i = 0; i < 50; ++i) {
    const Problem problem =
        make_random_problem(random, {.max_buffers = 60, .max_time = 40, .max_size = 100});
    const Result result = solve(problem, options);
    expect_valid(problem, result);
    sum += result.solution.height;
  }
  return sum;
}

TEST(TechniquesTest, EachHeuristicPays) {
  const int64_t all = packed_height({});
  EXPECT_LT(all, packed_height({.skyline = false}));
  EXPECT_LT(all, packed_height({.first_fit = false}));
  EXPECT_LT(all, packed_height({.improve = false}));
}

TEST(TechniquesTest, SearchPays) {
  const Problem problem = load_problem("B.1048576.csv");
  Options options;
  options.techniques.exact = false;
  const Result packed = solve(problem, options);
  expect_valid(problem, packed);
  EXPECT_EQ(packed.status, Status::kUnknown);
  EXPECT_GT(packed.solution.height, problem.capacity);
}

}  // namespace
}  // namespace plimsoll::planner
