// Simulated devices: growth, limits, memory that is shared with the host.
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

class SimTest : public FreshTest {
 protected:
  static void limit(const config::PhysicalDevice& device, std::int64_t mib) {
    config::set_logical_device_configuration(device, {{.memory_limit = mib}});
  }
  static memory::BudgetStats stats(const char* device) { return memory::stats(device); }
};

// Growth differs from device to device; TensorFlow refuses that at the first op.
TEST_F(SimTest, GrowthIsPerDevice) {
  simulate("rtx-3060-12gb,rtx-3060-12gb");
  limit(gpu(0), 64);
  limit(gpu(1), 32);
  config::set_memory_growth(gpu(0), true);
  config::set_memory_growth(gpu(1), false);
  const std::uint64_t resident = memory::resident_bytes();
  config::list_logical_devices();
  EXPECT_EQ(stats("GPU:0").committed, 0U);
  EXPECT_EQ(stats("GPU:1").committed, 32_MiB);
  EXPECT_EQ(config::get_memory_info("GPU:1").current, 0U);
  if (memory::kHasOwnMemory) {
    EXPECT_GE(memory::resident_bytes(), resident + 32_MiB);
  }
  {
    const auto scope = device("/GPU:1");
    const Tensor all = megabytes(32);
    EXPECT_THROW(megabytes(1), ResourceExhaustedError);
  }
  memory::trim();
  EXPECT_EQ(stats("GPU:1").committed, 32_MiB);  // what was taken up front is kept
  const auto scope = device("/GPU:0");
  EXPECT_EQ(megabytes(1).nbytes(), static_cast<std::int64_t>(1_MiB));
  EXPECT_LE(stats("GPU:0").committed, 2_MiB);
}

// B10: growth and limit hold together, in whichever order they are set.
TEST_F(SimTest, GrowthThenLimit) {
  simulate("rtx-3060-12gb");
  config::set_memory_growth(gpu(), true);
  limit(gpu(), 64);
  const Tensor x = megabytes(8);
  EXPECT_EQ(stats("GPU:0").committed, 8_MiB);
  EXPECT_EQ(stats("GPU:0").limit, 64_MiB);
  EXPECT_THROW(megabytes(57), ResourceExhaustedError);
}

TEST_F(SimTest, LimitThenGrowth) {
  simulate("rtx-3060-12gb");
  limit(gpu(), 64);
  config::set_memory_growth(gpu(), true);
  const Tensor x = megabytes(8);
  EXPECT_EQ(stats("GPU:0").committed, 8_MiB);
  EXPECT_EQ(stats("GPU:0").limit, 64_MiB);
  EXPECT_THROW(megabytes(57), ResourceExhaustedError);
}

TEST_F(SimTest, LogicalDevicesHaveLimitsOfTheirOwn) {
  simulate("rtx-3060-12gb");
  config::set_logical_device_configuration(gpu(), {{.memory_limit = 8}, {.memory_limit = 16}});
  config::set_logical_device_configuration(cpu(), {{.memory_limit = 4}, {}});
  for (const auto& [name, mib] : {std::pair("GPU:0", 8), {"GPU:1", 16}, {"CPU:0", 4}}) {
    const auto scope = device(name);
    const Tensor x = megabytes(mib);
    EXPECT_EQ(config::get_memory_info(name).current, static_cast<std::uint64_t>(mib) << 20);
    EXPECT_THROW(megabytes(1), ResourceExhaustedError) << name;
  }
  const auto scope = device("/CPU:1");
  EXPECT_NO_THROW(megabytes(32));
}

TEST_F(SimTest, LogicalCpusShareTheCpusLimit) {
  settings::set("cpu_limit", "10MiB");
  config::set_logical_device_configuration(cpu(), {{.memory_limit = 8}, {.memory_limit = 8}});
  const Tensor x = megabytes(8);
  const auto scope = device("/CPU:1");
  EXPECT_NO_THROW(megabytes(2));
  const auto message = message_of<ResourceExhaustedError>([] { megabytes(3); });
  EXPECT_NE(message.find("limit 10.0 MiB"), std::string::npos) << message;
}

// A Jetson has one memory: what the host takes is missing on the GPU, and the other way round.
TEST_F(SimTest, UnifiedMemoryIsOnePool) {
  simulate("jetson-nano-4gb");
  const Tensor on_gpu = megabytes(1);
  const std::uint64_t pool = *config::get_device_details(gpu()).memory_bytes;
  EXPECT_EQ(Context::get().default_device().budget().available(), pool - 1_MiB);
  Tensor on_cpu;
  {
    const auto scope = device("/CPU:0");
    on_cpu = megabytes(3);
  }
  EXPECT_EQ(Context::get().default_device().budget().available(), pool - 4_MiB);
  EXPECT_LE(Context::get().cpu().budget().available(), pool - 4_MiB);
  EXPECT_EQ(config::get_memory_info("GPU:0").current, 1_MiB);  // each still has its own count
}

TEST_F(SimTest, ProcessBudgetCoversUnifiedMemory) {
  simulate("jetson-nano-4gb");
  memory::set_budget("8MiB");
  const Tensor on_gpu = megabytes(6);
  const auto scope = device("/CPU:0");
  EXPECT_THROW(megabytes(3), ResourceExhaustedError);
  EXPECT_NO_THROW(megabytes(1));
}

TEST_F(SimTest, ProcessBudgetIsNotAboutAGpusOwnMemory) {
  simulate("rtx-3060-12gb");
  memory::set_budget("8MiB");
  const Tensor on_gpu = megabytes(16);
  EXPECT_EQ(config::get_memory_info("GPU:0").current, 16_MiB);
  const auto scope = device("/CPU:0");
  EXPECT_THROW(megabytes(9), ResourceExhaustedError);
}

TEST_F(SimTest, CapacityIsTheLimitWhereNoneIsSet) {
  simulate("jetson-nano-4gb");
  const auto message = message_of<ResourceExhaustedError>([] { megabytes(3963); });
  EXPECT_NE(message.find("memory of jetson-nano-4gb"), std::string::npos) << message;
}

TEST_F(SimTest, UpFrontThatDoesNotFitIsAnErrorAndCanBeMended) {
  simulate("rtx-3060-12gb");
  config::set_logical_device_configuration(gpu(), {{.memory_limit = 16}, {.memory_limit = 99'999}});
  config::set_memory_growth(gpu(), false);
  EXPECT_THROW(megabytes(1), ResourceExhaustedError);
  EXPECT_FALSE(Context::is_initialized());
  limit(gpu(), 16);
  EXPECT_NO_THROW(megabytes(1));
}

}  // namespace
}  // namespace plimsoll
