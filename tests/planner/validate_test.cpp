#include "helpers.h"

namespace plimsoll::planner {
namespace {

Problem two_buffers() {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 4, .size = 8}, {.lower = 3, .upper = 6, .size = 4}};
  problem.capacity = 12;
  problem.ids = {"left", "right"};
  return problem;
}

void expect_wrong(const Problem& problem, const Solution& solution, const std::string& word) {
  EXPECT_NE(validate(problem, solution).find(word), std::string::npos)
      << validate(problem, solution);
}

TEST(ValidateTest, AcceptsAPlan) {
  EXPECT_EQ(validate(two_buffers(), {{0, 8}, 12}), "");
  EXPECT_EQ(validate(two_buffers(), {{4, 0}, 12}), "");
  EXPECT_EQ(validate(Problem{}, Solution{}), "");
}

TEST(ValidateTest, RejectsOverlap) {
  expect_wrong(two_buffers(), {{0, 7}, 11}, "overlap");
  expect_wrong(two_buffers(), {{3, 0}, 11}, "overlap");
  expect_wrong(two_buffers(), {{0, 0}, 8}, "'left'");
  expect_wrong(two_buffers(), {{0, 2}, 8}, "overlap");  // one inside the other
}

TEST(ValidateTest, TouchingInTimeIsNoOverlap) {
  Problem problem = two_buffers();
  problem.buffers[1].lower = 4;
  EXPECT_EQ(validate(problem, {{0, 0}, 8}), "");
}

TEST(ValidateTest, RejectsAboveCapacityAndWrongHeight) {
  expect_wrong(two_buffers(), {{0, 9}, 13}, "capacity");
  expect_wrong(two_buffers(), {{0, 8}, 11}, "height");
  expect_wrong(two_buffers(), {{0, kUnlimited}, 11}, "capacity");
}

TEST(ValidateTest, RejectsMissingMisalignedAndMovedBuffers) {
  Problem problem = two_buffers();
  expect_wrong(problem, {{0}, 8}, "1 offsets for 2");
  expect_wrong(problem, {{0, -1}, 8}, "no offset");
  problem.buffers[0].alignment = 4;
  expect_wrong(problem, {{2, 10}, 14}, "aligned");
  problem.buffers[0].offset = 0;
  expect_wrong(problem, {{4, 0}, 12}, "fixed");
}

TEST(ValidateTest, GapsLetOthersIn) {
  Problem problem = two_buffers();
  problem.buffers[0].gaps = {{1, 4}};
  EXPECT_EQ(validate(problem, {{0, 0}, 8}), "");
  problem.buffers[0].gaps = {{1, 3}};
  expect_wrong(problem, {{0, 0}, 8}, "overlap");
}

TEST(ValidateTest, AgreesWithStepByStepCheck) {
  std::mt19937_64 random(1);
  int wrong = 0;
  for (int i = 0; i < 3000; ++i) {
    const Problem problem = make_random_problem(random, {.gaps = true});
    Solution solution;
    for (const Buffer& buffer : problem.buffers) {
      solution.offsets.push_back(static_cast<int64_t>(random() % 24));
      if (buffer.size == 0) continue;
      solution.height = std::max(solution.height, solution.offsets.back() + buffer.size);
    }
    bool overlap = false;
    for (size_t a = 0; a < problem.buffers.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        const Buffer& x = problem.buffers[a];
        const Buffer& y = problem.buffers[b];
        overlap |= x.size > 0 && y.size > 0 && share_a_step(x, y) &&
                   solution.offsets[a] < solution.offsets[b] + y.size &&
                   solution.offsets[b] < solution.offsets[a] + x.size;
      }
    }
    wrong += overlap ? 1 : 0;
    EXPECT_EQ(validate(problem, solution).empty(), !overlap);
  }
  EXPECT_GT(wrong, 500);
  EXPECT_LT(wrong, 2900);
}

}  // namespace
}  // namespace plimsoll::planner
