// Variables: what is read stays, what is assigned replaces, and nothing in between.
#include "plimsoll/variable.h"

#include "plimsoll/bytes.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

using Floats = std::vector<float>;

class VariableTest : public FreshTest {
 protected:
  static Floats floats(const Tensor& t) { return t.to_vector<float>(); }
};

TEST_F(VariableTest, TakesAValueThatIsGivenAway) {
  const auto weights = [] {
    return memory::stats().by_tag[static_cast<std::size_t>(memory::Tag::kWeights)];
  };
  const std::uint64_t in_use = memory::stats().in_use, held = weights();
  Tensor value = ones({1024});
  Variable v(std::move(value), {.name = "v"});
  EXPECT_EQ(memory::stats().in_use, in_use + 4096);
  EXPECT_EQ(weights(), held + 4096);
  Tensor shared = ones({1024});
  const Tensor other = shared;  // somebody else sees it: a copy
  Variable w(std::move(shared), {.name = "w"});
  w.assign_add(ones({1024}));
  EXPECT_EQ(other.to_vector<float>()[0], 1.0F);
  EXPECT_EQ(w.value().to_vector<float>()[0], 2.0F);
}

TEST_F(VariableTest, AssignsAndAdds) {
  Variable v(constant({1.0F, 2.0F}), {.name = "v"});
  v.assign_add(constant({10.0F, 20.0F}));
  EXPECT_EQ(floats(v), Floats({11, 22}));
  v.assign_sub(constant({1.0F, 2.0F}));
  EXPECT_EQ(floats(v), Floats({10, 20}));
  v.assign(constant({5.0F, 6.0F}));
  EXPECT_EQ(floats(v), Floats({5, 6}));
  v.assign_add(v);
  EXPECT_EQ(floats(v), Floats({10, 12}));
  v.assign(v);
  EXPECT_EQ(floats(v), Floats({10, 12}));
}

TEST_F(VariableTest, WhatWasReadStays) {
  Variable v(constant({1.0F, 2.0F}));
  const Tensor before = v.value();
  const std::int64_t column[] = {2, 1};
  const Tensor view = reshape(v, column);
  v.assign_add(constant({1.0F, 1.0F}));
  v.assign(v + 1.0F);
  EXPECT_EQ(floats(before), Floats({1, 2}));
  EXPECT_EQ(floats(view), Floats({1, 2}));
  EXPECT_EQ(floats(v), Floats({3, 4}));
}

TEST_F(VariableTest, IsACopyOfItsInitialValue) {
  const Tensor start = constant({1.0F, 2.0F});
  Variable a(start), b(start);
  a.assign_add(start);
  EXPECT_EQ(floats(start), Floats({1, 2}));
  EXPECT_EQ(floats(b), Floats({1, 2}));
}

// An update that nobody looks at needs no memory.
TEST_F(VariableTest, UpdatesInPlaceWhereItMay) {
  Variable v(ones({1 << 18}), {.name = "dense/kernel"});
  const Tensor delta = ones({1 << 18});
  config::reset_memory_stats("CPU:0");
  for (int i = 0; i < 10; ++i) v.assign_add(delta);
  EXPECT_EQ(config::get_memory_info("CPU:0").peak, 2_MiB);
  EXPECT_EQ(floats(v)[0], 11.0F);
  const auto tag = static_cast<std::size_t>(memory::Tag::kWeights);
  EXPECT_EQ(memory::stats("CPU:0").by_tag[tag], 1_MiB);
}

TEST_F(VariableTest, RefusesOtherShapesAndTypes) {
  Variable v(constant({1.0F, 2.0F}), {.name = "w"});
  const auto message = message_of<InvalidArgumentError>([&] { v.assign(ones({3})); });
  EXPECT_NE(message.find("Cannot assign value to variable 'w'"), std::string::npos) << message;
  EXPECT_NE(message.find("[3]"), std::string::npos) << message;
  EXPECT_THROW(v.assign_add(constant({1, 2})), InvalidArgumentError);
  EXPECT_THROW(v.assign(Tensor()), InvalidArgumentError);
  EXPECT_THROW(Variable{Tensor()}, InvalidArgumentError);
  EXPECT_EQ(floats(v), Floats({1, 2}));
}

}  // namespace
}  // namespace plimsoll
