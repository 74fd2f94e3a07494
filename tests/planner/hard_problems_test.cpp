// The public hard problems; with a sanitizer, only those that stay quick.
#include "helpers.h"

namespace plimsoll::planner {
namespace {

class HardProblemTest : public testing::TestWithParam<const char*> {};

TEST_P(HardProblemTest, FitsItsCapacity) {
  const Problem problem = load_problem(std::string(GetParam()) + ".1048576.csv");
  Options options;
  options.stop_at = problem.capacity;
  options.seconds = 1e6;
  const Result result = solve(problem, options);
  expect_valid(problem, result);
  EXPECT_TRUE(result.fits()) << status_name(result.status);
  EXPECT_LE(result.solution.height, 1048576);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
const auto kProblems = testing::Values("C", "D", "F", "G", "H", "J");  // under 3,000 nodes each
#else
const auto kProblems = testing::Values("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K");
#endif
INSTANTIATE_TEST_SUITE_P(Public, HardProblemTest, kProblems);

}  // namespace
}  // namespace plimsoll::planner
