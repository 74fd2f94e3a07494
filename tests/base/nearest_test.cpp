#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace plimsoll {
namespace {

TEST(NearestTest, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("softmax", "sotfmax"), 2u);
}

TEST(NearestTest, FindsWhatWasMeantAndNothingElse) {
  constexpr std::string_view kKnown[] = {"budget", "trace", "warm_ms"};
  EXPECT_EQ(nearest("bugdet", kKnown), "budget");
  EXPECT_EQ(nearest("trce", kKnown), "trace");
  EXPECT_EQ(nearest("elephant", kKnown), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), kKnown), "");
  EXPECT_EQ(nearest("budget", {}), "");
}

}  // namespace
}  // namespace plimsoll
