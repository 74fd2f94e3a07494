#include "base/log.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/settings_table.h"
#include "plimsoll/settings.h"

namespace plimsoll {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override { settings::set("log", "warning"); }
  void TearDown() override { settings::unset("log"); }

  template <class F>
  std::string stderr_of(F&& call) {
    testing::internal::CaptureStderr();
    call();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, WritesOneLineWithItsLevel) {
  EXPECT_EQ(stderr_of([] { log_warning("{} is {}", "the sea", 4); }),
            "plimsoll warning: the sea is 4\n");
  EXPECT_EQ(stderr_of([] { log_error("ashore"); }), "plimsoll error: ashore\n");
}

TEST_F(LogTest, KeepsQuietBelowTheLevelThatIsSet) {
  EXPECT_EQ(stderr_of([] { log_info("x"); }), "");
  settings::set("log", "debug");
  EXPECT_EQ(stderr_of([] { log_debug("x"); }), "plimsoll debug: x\n");
  settings::set("log", "error");
  EXPECT_EQ(stderr_of([] { log_warning("x"); }), "");
}

TEST_F(LogTest, OnceIsOncePerMessage) {
  EXPECT_EQ(stderr_of([] {
              log_once(LogLevel::kWarning, "first of LogTest");
              log_once(LogLevel::kWarning, "first of LogTest");
              log_once(LogLevel::kWarning, "second of LogTest");
            }),
            "plimsoll warning: first of LogTest\nplimsoll warning: second of LogTest\n");
}

TEST_F(LogTest, ABadLevelIsSaidAndWarningCounts) {
  settings::reset_for_tests();
  setenv("PLIMSOLL_LOG", "loud", 1);
  const std::string text = stderr_of([] {
    log_warning("one");
    log_warning("two");
  });
  unsetenv("PLIMSOLL_LOG");
  EXPECT_EQ(text,
            "plimsoll error: PLIMSOLL_LOG: 'loud' is none of error, warning, info, debug\n"
            "plimsoll warning: one\nplimsoll warning: two\n");
}

}  // namespace
}  // namespace plimsoll
