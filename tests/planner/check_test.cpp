#include "helpers.h"
#include "plimsoll/error.h"

namespace plimsoll::planner {
namespace {

constexpr Buffer kGood{.lower = 0, .upper = 4, .size = 8};

// The message names the buffer and what was received.
void expect_refused(const Problem& problem, const std::vector<std::string>& words) {
  for (const auto& call :
       {+[](const Problem& p) { check(p); }, +[](const Problem& p) { static_cast<void>(solve(p)); },
        +[](const Problem& p) { static_cast<void>(lower_bound(p)); }}) {
    try {
      call(problem);
      ADD_FAILURE() << "accepted";
    } catch (const InvalidArgumentError& error) {
      for (const std::string& word : words) {
        EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
      }
    }
  }
}

Problem with(Buffer buffer) {
  Problem problem;
  problem.buffers = {kGood, std::move(buffer)};
  return problem;
}

TEST(CheckTest, AcceptsWhatIsDescribed) {
  Problem problem = with({.lower = -5,
                          .upper = 9,
                          .size = 0,
                          .alignment = 64,
                          .offset = 128,
                          .gaps = {{-5, -3}, {-3, 0}, {4, 9}}});
  EXPECT_NO_THROW(check(problem));
  problem.buffers.clear();
  EXPECT_NO_THROW(check(problem));
}

TEST(CheckTest, RefusesBadSizes) {
  expect_refused(with({.lower = 0, .upper = 1, .size = -7}), {"#1", "-7"});
  expect_refused(with({.lower = 0, .upper = 1, .size = kUnlimited}), {"#1", "9223372036854775807"});
  Problem problem;
  for (int i = 0; i < 5; ++i) {
    problem.buffers.push_back({.lower = i, .upper = i + 1, .size = int64_t{1} << 60});
  }
  expect_refused(problem, {"#3", "2^62"});
}

TEST(CheckTest, RefusesBadLifetimes) {
  expect_refused(with({.lower = 3, .upper = 3, .size = 1}), {"#1", "[3, 3)"});
  expect_refused(with({.lower = 3, .upper = 1, .size = 1}), {"#1", "[3, 1)"});
}

TEST(CheckTest, RefusesBadAlignment) {
  for (int64_t alignment : {int64_t{0}, int64_t{-4}, int64_t{3}, int64_t{96}}) {
    expect_refused(with({.lower = 0, .upper = 1, .size = 1, .alignment = alignment}),
                   {"#1", std::to_string(alignment)});
  }
}

TEST(CheckTest, RefusesBadFixedOffsets) {
  expect_refused(with({.lower = 0, .upper = 1, .size = 1, .offset = -1}), {"#1", "-1"});
  expect_refused(with({.lower = 0, .upper = 1, .size = 1, .alignment = 8, .offset = 12}),
                 {"#1", "12", "8"});
  expect_refused(with({.lower = 0, .upper = 1, .size = 1, .offset = kUnlimited}), {"#1"});
  Problem overlap = with({.lower = 3, .upper = 5, .size = 4, .offset = 4});
  overlap.buffers[0].offset = 0;
  expect_refused(overlap, {"#0", "#1", "overlap"});
}

TEST(CheckTest, FixedBuffersMayMeetInAGap) {
  Problem problem = with({.lower = 1, .upper = 3, .size = 4, .offset = 4});
  problem.buffers[0].offset = 0;
  problem.buffers[0].gaps = {{1, 3}};
  EXPECT_NO_THROW(check(problem));
  problem.buffers[1].upper = 4;
  expect_refused(problem, {"overlap"});
}

TEST(CheckTest, RefusesBadGaps) {
  expect_refused(with({.lower = 2, .upper = 6, .size = 1, .gaps = {{1, 3}}}), {"#1", "[1, 3)"});
  expect_refused(with({.lower = 2, .upper = 6, .size = 1, .gaps = {{5, 7}}}), {"#1", "[5, 7)"});
  expect_refused(with({.lower = 2, .upper = 6, .size = 1, .gaps = {{4, 4}}}), {"#1", "[4, 4)"});
  expect_refused(with({.lower = 2, .upper = 6, .size = 1, .gaps = {{4, 5}, {2, 3}}}),
                 {"#1", "[2, 3)"});
  expect_refused(with({.lower = 2, .upper = 6, .size = 1, .gaps = {{2, 3}, {3, 6}}}),
                 {"#1", "whole lifetime"});
}

TEST(CheckTest, RefusesBadIdsAndCapacity) {
  Problem problem = with(kGood);
  problem.ids = {"a", "a"};
  expect_refused(problem, {"'a'"});
  problem.ids = {"a"};
  expect_refused(problem, {"1 ids", "2 buffers"});
  problem.ids = {"a", "b"};
  problem.buffers[1].size = -1;
  expect_refused(problem, {"'b'"});
  problem = with(kGood);
  problem.capacity = -1;
  expect_refused(problem, {"-1"});
}

TEST(CheckTest, ExtremeTimesAreFine) {
  Problem problem;
  problem.buffers = {{.lower = std::numeric_limits<int64_t>::min(), .upper = kUnlimited, .size = 5},
                     {.lower = 0, .upper = kUnlimited, .size = 6}};
  const Result result = solve(problem);
  expect_valid(problem, result);
  EXPECT_EQ(result.solution.height, 11);
}

}  // namespace
}  // namespace plimsoll::planner
