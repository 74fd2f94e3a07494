#include <thread>

#include "helpers.h"
#include "plimsoll/error.h"

namespace plimsoll::planner {
namespace {

TEST(SolveTest, ExampleOfTheHeader) {
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 4, .size = 512, .alignment = 64},
                     {.lower = 1, .upper = 2, .size = 256, .alignment = 64},
                     {.lower = 2, .upper = 4, .size = 256, .alignment = 64}};
  problem.capacity = 1024;
  const Result result = solve(problem);
  expect_valid(problem, result);
  EXPECT_EQ(result.status, Status::kOptimal);
  EXPECT_EQ(result.solution.height, 768);
}

TEST(SolveTest, NothingToPlace) {
  EXPECT_EQ(solve(Problem{}).status, Status::kOptimal);
  Problem problem;
  problem.buffers = {{.lower = 0, .upper = 1, .size = 0}, {.lower = 0, .upper = 9, .size = 0}};
  problem.capacity = 0;
  const Result result = solve(problem);
  expect_valid(problem, result);
  EXPECT_EQ(result.solution.height, 0);
}

TEST(SolveTest, ChainsReachTheBound) {
  for (int layers : {1, 2, 17, 300, 3000}) {
    const Problem problem = make_chain(layers);
    const Result result = solve(problem);
    expect_valid(problem, result);
    EXPECT_EQ(result.status, Status::kOptimal) << layers;
  }
}

TEST(SolveTest, PartsThatShareNoStepAreIndependent) {
  Problem problem;
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k <= i; ++k) {
      problem.buffers.push_back({.lower = 10 * i + k, .upper = 10 * i + 5 + k, .size = 3 + k});
    }
  }
  const Result result = solve(problem);
  expect_valid(problem, result);
  EXPECT_EQ(result.status, Status::kOptimal);
}

TEST(SolveTest, SameResultTwiceAndOnSeveralThreads) {
  for (const char* name : {"A.1048576.csv", "D.1048576.csv"}) {
    const Problem problem = load_problem(name);
    Options options;
    options.stop_at = problem.capacity;
    options.seconds = 1e6;
    options.nodes = 4000;
    const Result first = solve(problem, options);
    for (int threads : {1, 2, 5}) {
      options.num_threads = threads;
      const Result again = solve(problem, options);
      expect_valid(problem, again);
      EXPECT_EQ(again.solution.offsets, first.solution.offsets) << threads;
      EXPECT_EQ(again.nodes, first.nodes) << threads;
      EXPECT_EQ(again.lower_bound, first.lower_bound);
      EXPECT_EQ(again.status, first.status);
    }
  }
}

TEST(SolveTest, StopsAtWhatIsGoodEnough) {
  const Problem problem = load_problem("A.1048576.csv");
  Options options;
  options.techniques.exact = false;
  const int64_t packed = solve(problem, options).solution.height;
  Problem open = problem;
  open.capacity = kUnlimited;
  options.techniques.exact = true;
  options.stop_at = packed;
  const Result result = solve(open, options);
  EXPECT_EQ(result.status, Status::kGoodEnough);
  EXPECT_EQ(result.nodes, 0);
}

TEST(SolveTest, NodeLimitGivesTheBestSoFar) {
  const Problem problem = load_problem("A.1048576.csv");
  Options options;
  options.seconds = 1e6;
  int64_t previous = kUnlimited;
  for (int64_t nodes : {0, 1, 10, 200, 2000}) {
    options.nodes = nodes;
    const Result result = solve(problem, options);
    expect_valid(problem, result);
    EXPECT_LE(result.nodes, nodes);
    EXPECT_LE(result.solution.height, previous);
    previous = result.solution.height;
  }
}

TEST(SolveTest, StopAtAnyMomentGivesAValidPlan) {
  const Problem problem = load_problem("E.1048576.csv");
  for (int calls_before_stop : {0, 1, 2, 3, 5}) {
    std::atomic<bool> stop{calls_before_stop == 0};
    int calls = 0;
    Progress last;
    Options options;
    options.stop = &stop;
    options.seconds = 1e6;
    options.on_progress = [&](const Progress& progress) {
      EXPECT_GE(progress.height, progress.lower_bound);
      if (calls++ > 0) {
        EXPECT_LE(progress.height, last.height);
        EXPECT_GE(progress.lower_bound, last.lower_bound);
      }
      last = progress;
      if (calls >= calls_before_stop) stop = true;
    };
    const Result result = solve(problem, options);
    expect_valid(problem, result);
    EXPECT_EQ(result.solution.height, last.height);
    EXPECT_EQ(result.lower_bound, last.lower_bound);
  }
}

TEST(SolveTest, AnotherThreadMayStopIt) {
  const Problem problem = load_problem("I.1048576.csv");
  std::atomic<bool> stop{false};
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop = true;
  });
  Options options;
  options.stop = &stop;
  options.num_threads = 2;
  options.seconds = 1e6;
  expect_valid(problem, solve(problem, options));
}

TEST(SolveTest, RefusesBadOptions) {
  Options options;
  options.num_threads = 0;
  EXPECT_THROW(static_cast<void>(solve(Problem{}, options)), InvalidArgumentError);
  options.num_threads = 1;
  options.nodes = -1;
  EXPECT_THROW(static_cast<void>(solve(Problem{}, options)), InvalidArgumentError);
}

}  // namespace
}  // namespace plimsoll::planner
