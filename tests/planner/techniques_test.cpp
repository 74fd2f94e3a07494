// Each technique pays somewhere: fewer nodes, or a lower plan.
#include "helpers.h"

namespace plimsoll::planner {
namespace {

// Search nodes to solve a hard problem in one order, or the limit.
int64_t nodes_for(const char* name, bool Techniques::*off = nullptr) {
  const Problem problem = load_problem(name);
  Options options;
  options.stop_at = problem.capacity;
  options.seconds = 1e6;
  options.nodes = 20'000;
  options.techniques.improve = false;
  options.techniques.portfolio = false;
  if (off != nullptr) options.techniques.*off = false;
  const Result result = solve(problem, options);
  expect_valid(problem, result);
  return result.nodes;
}

TEST(TechniquesTest, SectionFloorPays) {
  EXPECT_LT(nodes_for("F.1048576.csv"), nodes_for("F.1048576.csv", &Techniques::section_floor));
}

TEST(TechniquesTest, DominancePays) {
  EXPECT_LT(nodes_for("A.1048576.csv"), nodes_for("A.1048576.csv", &Techniques::dominance));
}

TEST(TechniquesTest, NoGoodsPay) {
  EXPECT_LT(nodes_for("A.1048576.csv"), nodes_for("A.1048576.csv", &Techniques::no_goods));
}

TEST(TechniquesTest, DecomposingPays) {
  EXPECT_LT(nodes_for("F.1048576.csv"), nodes_for("F.1048576.csv", &Techniques::decompose));
}

TEST(TechniquesTest, OtherOrdersPay) {
  Options options;
  options.seconds = 1e6;
  options.nodes = 4000;
  const Problem problem = load_problem("C.1048576.csv");
  options.stop_at = problem.capacity;
  EXPECT_TRUE(solve(problem, options).fits());
  options.techniques.portfolio = false;
  EXPECT_FALSE(solve(problem, options).fits());
}

// Height of what the heuristics alone give, over a set of random problems.
int64_t packed_height(const Techniques& techniques, bool gaps = false) {
  std::mt19937_64 random(35);
  Options options;
  options.techniques = techniques;
  options.techniques.exact = false;
  int64_t sum = 0;
  for (int i = 0; i < 50; ++i) {
    const Problem problem = make_random_problem(
        random, {.max_buffers = 60, .max_time = 40, .max_size = 100, .gaps = gaps});
    const Result result = solve(problem, options);
    expect_valid(problem, result);
    sum += result.solution.height;
  }
  return sum;
}

TEST(TechniquesTest, EachHeuristicPays) {
  const int64_t all = packed_height({});
  EXPECT_LT(all, packed_height({.skyline = false}));
  EXPECT_LT(packed_height({}, true), packed_height({.first_fit = false}, true));
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
