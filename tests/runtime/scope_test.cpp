// Budgets that hold for a part of a program.
#include "plimsoll/bytes.h"
#include "plimsoll/device.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

Tensor megabytes(std::int64_t n) {
  return ones({n, 1 << 18});
}

class BudgetScopeTest : public FreshTest {};

TEST_F(BudgetScopeTest, HoldsInsideAndEnds) {
  const Tensor before = megabytes(4);
  {
    const memory::BudgetScope scope("4MiB");
    const Tensor x = megabytes(3);
    EXPECT_EQ(scope.in_use(), 3_MiB);
    const auto message = message_of<ResourceExhaustedError>([] { megabytes(2); });
    EXPECT_NE(message.find("limit 4.0 MiB (BudgetScope of 4.0 MiB)"), std::string::npos) << message;
    EXPECT_EQ(config::get_memory_info("CPU:0").current, 7_MiB);
    EXPECT_EQ(scope.peak(), 3_MiB);
  }
  EXPECT_NO_THROW(megabytes(8));
  EXPECT_EQ(config::get_memory_info("CPU:0").current, 4_MiB);
}

TEST_F(BudgetScopeTest, KeepsSmallTensorsToTheByte) {
  const memory::BudgetScope scope(std::uint64_t{640});
  std::vector<Tensor> kept;
  for (int i = 0; i < 10; ++i) kept.push_back(ones({1}));
  EXPECT_THROW(ones({1}), ResourceExhaustedError);
  kept.pop_back();
  EXPECT_NO_THROW(ones({1}));
}

TEST_F(BudgetScopeTest, Nests) {
  const memory::BudgetScope outer("8MiB");
  const Tensor x = megabytes(2);
  const memory::BudgetScope inner("16MiB");
  const Tensor y = megabytes(4);
  EXPECT_EQ(outer.in_use(), 6_MiB);
  EXPECT_EQ(inner.in_use(), 4_MiB);
  EXPECT_THROW(megabytes(3), ResourceExhaustedError);  // the outer one is full
}

TEST_F(BudgetScopeTest, CountsWhatOutlivesIt) {
  Tensor kept;
  {
    const memory::BudgetScope scope("4MiB");
    kept = megabytes(2);
    std::vector<Tensor> many;
    for (int i = 0; i < 100; ++i) many.push_back(ones({3}));
  }
  EXPECT_EQ(config::get_memory_info("CPU:0").current, 2_MiB);
  kept = Tensor();
  EXPECT_EQ(config::get_memory_info("CPU:0").current, 0U);
  EXPECT_TRUE(Context::get().root_budget().is_valid());
}

TEST_F(BudgetScopeTest, IsOfOneThread) {
  const memory::BudgetScope scope("1MiB");
  std::thread([] { EXPECT_NO_THROW(megabytes(4)); }).join();
  EXPECT_THROW(megabytes(4), ResourceExhaustedError);
}

TEST_F(BudgetScopeTest, HoldsOnEachDevice) {
  simulate("rtx-3060-12gb");
  const memory::BudgetScope scope("4MiB");
  const Tensor on_gpu = megabytes(3);
  const auto cpu = device("/CPU:0");
  const Tensor on_cpu = megabytes(3);
  EXPECT_EQ(scope.in_use(), 6_MiB);
  EXPECT_THROW(megabytes(2), ResourceExhaustedError);
}

TEST_F(BudgetScopeTest, RefusesWhatIsNoSize) {
  EXPECT_THROW(memory::BudgetScope("much"), InvalidArgumentError);
  EXPECT_THROW(memory::BudgetScope(~std::uint64_t{0}), InvalidArgumentError);
  EXPECT_NO_THROW(megabytes(1));
}

}  // namespace
}  // namespace plimsoll
