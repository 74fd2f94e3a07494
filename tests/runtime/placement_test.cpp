// Where ops run, and what moves between devices.
#include <thread>

#include "plimsoll/bytes.h"
#include "plimsoll/debugging.h"
#include "plimsoll/device.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/copies.h"
#include "runtime/fresh.h"
#include "runtime/placement.h"

namespace plimsoll {
namespace {

class PlacementTest : public FreshTest {
 protected:
  static std::string on(const char* device) {
    return std::string("/job:localhost/replica:0/task:0/device:") + device;
  }
};

TEST_F(PlacementTest, ReadsNames) {
  const DeviceName full = parse_device_spec("/job:localhost/replica:0/task:0/device:GPU:1");
  EXPECT_EQ(full.type, "GPU");
  EXPECT_EQ(full.index, 1);
  EXPECT_TRUE(full.is_local());
  EXPECT_FALSE(parse_device_spec("/job:worker/device:CPU:0").is_local());
  for (const char* name : {"/GPU:0", "GPU:0", "/gpu:0", "/device:GPU:0"})
    EXPECT_EQ(parse_device_spec(name).to_string(), on("GPU:0")) << name;
  EXPECT_FALSE(parse_device_spec("/GPU").index);
  EXPECT_FALSE(parse_device_spec("/GPU:*").index);
  EXPECT_EQ(parse_device_spec("").type, "");
}

TEST_F(PlacementTest, RefusesNamesThatCannotBeRead) {
  EXPECT_EQ(message_of<InvalidArgumentError>([] { auto scope = device("/XYZ:0"); }),
            "Unknown attribute 'XYZ' is encountered while parsing the device spec: '/XYZ:0'.");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { auto scope = device("/GPU:0/CPU:0"); }),
            "Multiple device types are not allowed while parsing the device spec: /GPU:0/CPU:0.");
  for (const char* name : {"/GPU:x", "/GPU:-1", "/GPU:", "/GPU:99999999999", "/GPU:0:0:0"})
    EXPECT_THROW(auto scope = device(name), InvalidArgumentError) << name;
  EXPECT_EQ(current_scope, nullptr);
}

TEST_F(PlacementTest, SoftPlacementFallsToTheCpu) {
  EXPECT_TRUE(config::get_soft_device_placement());
  const auto scope = device("/GPU:0");
  EXPECT_EQ(ones({2}).device(), on("CPU:0"));
}

TEST_F(PlacementTest, HardPlacementIsAnError) {
  config::set_soft_device_placement(false);
  const auto scope = device("/GPU:0");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { ones({2}); }),
            "Could not satisfy device specification "
            "'/job:localhost/replica:0/task:0/device:GPU:0'. enable_soft_placement=0. Supported "
            "device types [CPU]. All available devices "
            "[/job:localhost/replica:0/task:0/device:CPU:0].");
  config::set_soft_device_placement(true);  // takes effect at once
  EXPECT_EQ(ones({2}).device(), on("CPU:0"));
  config::set_soft_device_placement(false);
  EXPECT_THROW(ones({2}), InvalidArgumentError);
}

// Soft placement looks at the type too: a device may have an op for some types only.
TEST_F(PlacementTest, KernelsAreForTypes) {
  const KernelDef rows[] = {{.op = OpId::Add, .dtypes = {DType::kFloat32}},
                            {.op = OpId::Add, .dtypes = {DType::kFloat16}}};
  const KernelTable table(Backend{"test", {rows}});
  const auto has = [&](OpId op, DType dtype) {
    const Tensor in[] = {ones({2}, dtype), ones({2}, dtype)};
    return has_kernel(table, op, in);
  };
  EXPECT_TRUE(has(OpId::Add, DType::kFloat32));
  EXPECT_TRUE(has(OpId::Add, DType::kFloat16));
  EXPECT_FALSE(has(OpId::Add, DType::kFloat64));
  EXPECT_FALSE(has(OpId::Sub, DType::kFloat32));
}

TEST_F(PlacementTest, DefaultsToTheFirstGpu) {
  simulate("rtx-3060-12gb,rtx-3060-12gb");
  const Tensor x = ones({2, 2});
  EXPECT_EQ(x.device(), on("GPU:0"));
  EXPECT_EQ((x + x).device(), on("GPU:0"));
  EXPECT_EQ(constant({1.0F, 2.0F}).device(), on("GPU:0"));
}

TEST_F(PlacementTest, SmallIntegersStayOnTheHost) {
  simulate("rtx-3060-12gb");
  const Tensor shape = constant({2, 3});
  ASSERT_EQ(shape.dtype(), DType::kInt32);
  EXPECT_EQ(shape.device(), on("CPU:0"));
  EXPECT_EQ((shape + shape).device(), on("CPU:0"));
  const std::vector<std::int32_t> many(65, 1);
  EXPECT_EQ(constant(std::span<const std::int32_t>(many), {65}).device(), on("GPU:0"));
}

TEST_F(PlacementTest, ScopesNestAndEnd) {
  simulate("rtx-3060-12gb,rtx-3060-12gb");
  {
    const auto outer = device("/GPU:1");
    EXPECT_EQ(ones({2}).device(), on("GPU:1"));
    {
      const auto inner = device("/CPU:0");
      EXPECT_EQ(ones({2}).device(), on("CPU:0"));
      EXPECT_EQ(constant({1.0F}).device(), on("CPU:0"));
      const auto none = device(std::nullopt);
      EXPECT_EQ(ones({2}).device(), on("GPU:0"));
    }
    const auto same = device("");
    EXPECT_EQ(ones({2}).device(), on("GPU:1"));
    std::thread([&] { EXPECT_EQ(ones({2}).device(), on("GPU:0")); }).join();
  }
  EXPECT_EQ(ones({2}).device(), on("GPU:0"));
}

TEST_F(PlacementTest, InputsComeFromWhereTheyAre) {
  simulate("rtx-3060-12gb,jetson-nano-4gb");
  Tensor a, b;
  {
    const auto scope = device("/CPU:0");
    a = constant({1.0F, 2.0F, 3.0F});
  }
  {
    const auto scope = device("/GPU:1");
    b = constant({10.0F, 20.0F, 30.0F});
  }
  const Tensor sum = a + b;
  EXPECT_EQ(sum.device(), on("GPU:0"));
  EXPECT_EQ(sum.to_vector<float>(), (std::vector<float>{11, 22, 33}));
  EXPECT_EQ(a.device(), on("CPU:0"));
  EXPECT_EQ(config::get_memory_info("GPU:0").current, 64U);  // the copies are gone
}

TEST_F(PlacementTest, IdentityCopiesToTheScope) {
  simulate("rtx-3060-12gb");
  const Tensor x = constant({1.0F, 2.0F, 3.0F, 4.0F}, {2, 2});
  EXPECT_EQ(identity(x).impl()->buffer.get(), x.impl()->buffer.get());  // nothing moves
  const auto scope = device("/CPU:0");
  const Tensor y = identity(x);
  EXPECT_EQ(y.device(), on("CPU:0"));
  EXPECT_EQ(y.to_vector<float>(), x.to_vector<float>());
  const std::int64_t flat[] = {4};
  const Tensor z = reshape(x, flat);
  EXPECT_EQ(z.device(), on("CPU:0"));
  EXPECT_EQ(z.to_vector<float>(), x.to_vector<float>());
}

TEST_F(PlacementTest, ViewsStayWhereTheirInputIs) {
  simulate("rtx-3060-12gb");
  Tensor x;
  {
    const auto scope = device("/CPU:0");
    x = constant({1.0F, 2.0F});
  }
  const std::int64_t flat[] = {1, 2};
  EXPECT_EQ(reshape(x, flat).device(), on("CPU:0"));
}

TEST_F(PlacementTest, VariablesStayOnTheirDevice) {
  simulate("rtx-3060-12gb");
  const auto make = [] {
    const auto scope = device("/CPU:0");
    return Variable(constant({1.0F, 2.0F}), {.name = "v"});
  };
  Variable v = make();
  const Tensor far = constant({10.0F, 20.0F});
  ASSERT_EQ(far.device(), on("GPU:0"));
  v.assign_add(far);
  EXPECT_EQ(v.value().device(), on("CPU:0"));
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{11, 22}));
  v.assign(far);
  EXPECT_EQ(v.value().device(), on("CPU:0"));
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{10, 20}));
}

TEST_F(PlacementTest, SaysWhereOpsRun) {
  simulate("rtx-3060-12gb");
  debugging::set_log_device_placement(true);
  testing::internal::CaptureStderr();
  const Tensor x = ones({2});
  x + x;
  const std::string text = testing::internal::GetCapturedStderr();
  debugging::set_log_device_placement(false);
  EXPECT_NE(text.find("Executing op Fill in device " + on("GPU:0") + "\n"), std::string::npos);
  EXPECT_NE(text.find("Executing op Add in device " + on("GPU:0") + "\n"), std::string::npos);
}

// A copy of any size goes through the staging that is allowed.
TEST_F(PlacementTest, StagingKeepsItsLimit) {
  simulate("rtx-3060-12gb");
  settings::set("staging_limit", "100KiB");
  std::vector<float> values(1'000'003);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor x = constant(std::span<const float>(values), {1'000'003});
  EXPECT_EQ(x.device(), on("GPU:0"));
  EXPECT_EQ(x.to_vector<float>(), values);
  const auto scope = device("/CPU:0");
  EXPECT_EQ((x + x).to_vector<float>()[1'000'002], 2'000'004.0F);
  const memory::BudgetStats staging = Context::get().staging().budget().stats();
  EXPECT_EQ(staging.in_use, 0U);
  EXPECT_LE(staging.peak, 100_KiB);
  EXPECT_GT(staging.by_tag_at_peak[static_cast<std::size_t>(memory::Tag::kStaging)], 0U);
}

TEST_F(PlacementTest, CopiesOfManyThreadsShareTheStaging) {
  simulate("rtx-3060-12gb");
  settings::set("staging_limit", "64KiB");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const std::vector<float> values(50'000, static_cast<float>(t));
      for (int round = 0; round < 20; ++round) {
        const Tensor x = constant(std::span<const float>(values), {50'000});
        ASSERT_EQ(x.to_vector<float>(), values);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(Context::get().staging().budget().peak(), 64_KiB);
}

// P3: a call that has to copy its inputs fails before anything moves, wherever memory ends.
TEST_F(PlacementTest, OutOfMemoryWhileCopyingChangesNothing) {
  simulate("rtx-3060-12gb");
  Tensor a;
  {
    const auto scope = device("/CPU:0");
    a = ones({256, 256});  // 256 KiB
  }
  const Tensor b = ones({256, 256});
  memory::Budget gpu_budget = Context::get().default_device().budget();
  memory::Budget cpu_budget = Context::get().cpu().budget();
  const std::uint64_t on_gpu = gpu_budget.in_use(), on_cpu = cpu_budget.in_use();
  const std::uint64_t gpu_limit = gpu_budget.limit(), cpu_limit = cpu_budget.limit();
  for (const std::uint64_t room : {0_KiB, 256_KiB, 511_KiB}) {
    gpu_budget.set_limit(on_gpu + room);
    EXPECT_THROW(a + b, ResourceExhaustedError) << room;
    EXPECT_EQ(gpu_budget.in_use(), on_gpu);
    EXPECT_EQ(cpu_budget.in_use(), on_cpu);
  }
  gpu_budget.set_limit(on_gpu + 512_KiB);
  EXPECT_EQ((a + b).to_vector<float>()[65'535], 2.0F);
  gpu_budget.set_limit(gpu_limit);
  cpu_budget.set_limit(on_cpu);  // no staging to be had
  const auto message = message_of<ResourceExhaustedError>([&] { a + b; });
  EXPECT_NE(message.find("staging"), std::string::npos) << message;
  EXPECT_EQ(gpu_budget.in_use(), on_gpu);
  cpu_budget.set_limit(cpu_limit);
}

}  // namespace
}  // namespace plimsoll
