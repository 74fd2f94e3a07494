#include "helpers.h"
#include "plimsoll/error.h"

namespace plimsoll::planner {
namespace {

void expect_refused(const std::string& text, const std::string& word) {
  try {
    static_cast<void>(read_csv(text));
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InvalidArgumentError& error) {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(CsvTest, ReadsColumnsByName) {
  const Problem problem =
      read_csv("size,gaps,buffer_id,upper,lower,alignment,offset\r\n8,3-4 5-6,x,9,2,4,16\r\n");
  ASSERT_EQ(problem.buffers.size(), 1u);
  const Buffer& buffer = problem.buffers[0];
  EXPECT_EQ(problem.ids[0], "x");
  EXPECT_EQ(buffer.lower, 2);
  EXPECT_EQ(buffer.upper, 9);
  EXPECT_EQ(buffer.size, 8);
  EXPECT_EQ(buffer.alignment, 4);
  EXPECT_EQ(buffer.offset, 16);
  ASSERT_EQ(buffer.gaps.size(), 2u);
  EXPECT_EQ(buffer.gaps[1].upper, 6);
  EXPECT_EQ(problem.capacity, kUnlimited);
}

TEST(CsvTest, EndColumnHoldsTheLastStep) {
  const Problem problem = read_csv("buffer,start,end,size,gaps\na,2,5,8,3-3\n");
  EXPECT_EQ(problem.buffers[0].upper, 6);
  EXPECT_EQ(problem.buffers[0].gaps[0].upper, 4);
}

TEST(CsvTest, NegativeTimes) {
  const Problem problem = read_csv("id,lower,upper,size,gaps\na,-9,-1,8,-7--5\n");
  EXPECT_EQ(problem.buffers[0].gaps[0].lower, -7);
  EXPECT_EQ(problem.buffers[0].gaps[0].upper, -5);
}

TEST(CsvTest, RoundTrip) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    Problem problem = make_random_problem(random, {.alignment = true, .gaps = true, .fixed = true});
    const std::string text = write_csv(problem);
    EXPECT_EQ(write_csv(read_csv(text)), text);
    const Result result = solve(problem);
    const Problem placed = read_csv(write_csv(problem, &result.solution));
    for (size_t b = 0; b < problem.buffers.size(); ++b) {
      EXPECT_EQ(placed.buffers[b].offset, result.solution.offsets[b]);
    }
  }
}

TEST(CsvTest, RefusesMalformedText) {
  expect_refused("", "no header");
  expect_refused("id,lower,upper\n", "size");
  expect_refused("id,lower,upper,size,colour\n", "colour");
  expect_refused("id,lower,upper,size,size\n", "twice");
  expect_refused("id,lower,upper,size,start\n", "twice");
  expect_refused("id,lower,upper,size\na,1,2\n", "line 2");
  expect_refused("id,lower,upper,size\na,1,2,3,4\n", "line 2");
  expect_refused("id,lower,upper,size\na,1,2,three\n", "three");
  expect_refused("id,lower,upper,size\na,1,2,\n", "''");
  expect_refused("id,lower,upper,size\na,1,2,9223372036854775808\n", "9223372036854775808");
  expect_refused("id,lower,upper,size\na,1,2,3x\n", "3x");
  expect_refused("id,lower,end,size\na,1,9223372036854775807,3\n", "too large");
  expect_refused("id,lower,upper,size,gaps\na,1,9,3,4\n", "lower-upper");
  expect_refused("id,lower,upper,size,gaps\na,1,9,3,4-5-6\n", "5-6");
  expect_refused("id,lower,upper,size,gaps\na,1,9,3,4-5@1:2\n", "window");
  expect_refused("id,lower,upper,size\na,1,2,3\na,1,2,3\n", "'a'");
  expect_refused("id,lower,upper,size\na,2,1,3\n", "'a'");
}

TEST(CsvTest, RefusesGarbageWithoutCrashing) {
  std::mt19937_64 random(3);
  const std::string alphabet = "id,lowerupsz0129-@: \n\r";
  for (int i = 0; i < 3000; ++i) {
    std::string text = i % 2 == 0 ? "id,lower,upper,size,gaps\n" : "";
    for (int k = 0; k < 40; ++k) text += alphabet[random() % alphabet.size()];
    try {
      static_cast<void>(read_csv(text));
    } catch (const InvalidArgumentError&) {
    }
  }
}

}  // namespace
}  // namespace plimsoll::planner
