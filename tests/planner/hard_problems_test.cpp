// The public hard problems; with a sanitizer, only those that stay quick.
#include "helpers.h"

namespace plimsoll::planner {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
constexpr bool kSlowBuild = true;
#else
constexpr bool kSlowBuild = false;
#endif

class HardProblemTest : public testing::TestWithParam<const char*> {};

TEST_P(HardProblemTest, FitsItsCapacity) {
  const Problem problem = load_problem(std::string(GetParam()) + ".1048576.csv");
  Options options;
  options.stop_at = problem.capacity;
  options.seconds = 1e6;
  if (kSlowBuild) options.nodes = 3000;
  const Result result = solve(problem, options);
  expect_valid(problem, result);
  if (kSlowBuild && result.status == Status::kUnknown) GTEST_SKIP() << "more nodes needed";
  EXPECT_TRUE(result.fits()) << status_name(result.status);
  EXPECT_LE(result.solution.height, 1048576);
}

INSTANTIATE_TEST_SUITE_P(Public, HardProblemTest,
                         testing::Values("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"));

}  // namespace
}  // namespace plimsoll::planner
