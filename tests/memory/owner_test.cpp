#include "plimsoll/memory/owner.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plimsoll/error.h"

namespace plimsoll::memory {
namespace {

TEST(OwnerTest, IsATagAndAName) {
  const Owner a(Tag::kWorkspace, "conv2d_3");
  EXPECT_EQ(a.tag(), Tag::kWorkspace);
  EXPECT_EQ(a.name(), "conv2d_3");
  EXPECT_EQ(a.to_string(), "workspace 'conv2d_3'");
  EXPECT_EQ(a, Owner(Tag::kWorkspace, std::string("conv2d_") + "3"));
  EXPECT_FALSE(a == Owner(Tag::kWeights, "conv2d_3"));
  EXPECT_EQ(Owner::from_id(a.id()), a);
  EXPECT_EQ(Owner(Tag::kIo).to_string(), "io");
}

TEST(OwnerTest, TagsHaveNames) {
  for (std::size_t i = 0; i < kNumTags; ++i) {
    const auto tag = static_cast<Tag>(i);
    EXPECT_EQ(parse_tag(tag_name(tag)), tag);
  }
  EXPECT_THROW(parse_tag("weight"), InvalidArgumentError);
}

TEST(OwnerTest, NamesAreBounded) {
  const pid_t child = fork();  // so that other tests find names left
  if (child == 0) {
    Owner last;
    for (int i = 0; i < 70000; ++i) last = Owner(Tag::kIo, "bounded_" + std::to_string(i));
    _exit(last.name() == "(other)" && last.id() < 1U << 20 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace plimsoll::memory
