#include "memory/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace plimsoll::memory {
namespace {

std::vector<std::string> scenario_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(PLIMSOLL_TEST_DATA)) {
    if (entry.path().extension() == ".mem") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class ScenarioTest : public testing::TestWithParam<std::tuple<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(Mem, ScenarioTest,
                         testing::Combine(testing::ValuesIn(scenario_files()),
                                          testing::Values("host", "protect", "sim")),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" + std::get<1>(test.param);
                         });

TEST_P(ScenarioTest, Holds) {
  std::ifstream file(std::string(PLIMSOLL_TEST_DATA) + "/" + std::get<0>(GetParam()) + ".mem");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(run_scenario(text, std::get<1>(GetParam())), "");
}

// The runner itself: what does not hold is told with its line.
TEST(ScenarioRunnerTest, ReportsWhatDoesNotHold) {
  const auto run = [](const std::string& text) { return run_scenario(text, "host"); };
  EXPECT_EQ(run("device D any limit 1MiB\nalloc a 10\nexpect in_use D 64"), "");
  EXPECT_NE(run("device D any limit 1MiB\nalloc a 10\nexpect in_use D 10").find("line 3"),
            std::string::npos);
  EXPECT_NE(run("device D any limit 1MiB\nalloc a 2MiB").find("ResourceExhausted"),
            std::string::npos);
  EXPECT_NE(
      run("device D any limit 1MiB\nexpect error ResourceExhausted\nalloc a 1").find("no error"),
      std::string::npos);
  EXPECT_NE(run("expect error ResourceExhausted").find("ends before"), std::string::npos);
  EXPECT_NE(run("sail D").find("unknown command"), std::string::npos);
  EXPECT_NE(run("free a").find("nothing is called"), std::string::npos);
}

}  // namespace
}  // namespace plimsoll::memory
