// TensorFlow's configuration calls: what they accept, what they refuse, and in which words.
#include "runtime/fresh.h"

#include <cstdlib>

#include "plimsoll/bytes.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using config::LogicalDeviceConfiguration;
using config::PhysicalDevice;

class ConfigTest : public FreshTest {};

const PhysicalDevice kNobody{"/physical_device:GPU:7", "GPU"};
const std::string kUnrecognized =
    "Unrecognized device: PhysicalDevice(name='/physical_device:GPU:7', device_type='GPU')";

void start() {
  zeros({1});
}

TEST_F(ConfigTest, ListsPhysicalDevicesWithoutStarting) {
  simulate("jetson-nano-4gb,rtx-3060-12gb");
  const auto all = config::list_physical_devices();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0], (PhysicalDevice{"/physical_device:CPU:0", "CPU"}));
  EXPECT_EQ(all[2], (PhysicalDevice{"/physical_device:GPU:1", "GPU"}));
  EXPECT_EQ(config::list_physical_devices("GPU").size(), 2U);
  EXPECT_TRUE(config::list_physical_devices("gpu").empty());
  EXPECT_TRUE(config::list_physical_devices("XYZ").empty());
  EXPECT_EQ(config::get_visible_devices(), all);
  EXPECT_FALSE(Context::is_initialized());
}

TEST_F(ConfigTest, ListsLogicalDevicesAndStarts) {
  simulate("jetson-nano-4gb");
  config::set_logical_device_configuration(gpu(), {{.memory_limit = 64}, {.memory_limit = 32}});
  const auto logical = config::list_logical_devices();
  EXPECT_TRUE(Context::is_initialized());
  ASSERT_EQ(logical.size(), 3U);
  EXPECT_EQ(logical[0], (config::LogicalDevice{"/device:CPU:0", "CPU"}));
  EXPECT_EQ(logical[2], (config::LogicalDevice{"/device:GPU:1", "GPU"}));
  EXPECT_EQ(config::list_logical_devices("GPU").size(), 2U);
}

TEST_F(ConfigTest, GrowthOfAnUnknownDevice) {
  EXPECT_EQ(message_of<InvalidArgumentError>([] { config::set_memory_growth(kNobody, true); }),
            kUnrecognized);
  EXPECT_EQ(message_of<InvalidArgumentError>([] { config::get_memory_growth(kNobody); }),
            kUnrecognized);
}

TEST_F(ConfigTest, GrowthAfterTheStart) {
  simulate("jetson-nano-4gb");
  config::set_memory_growth(gpu(), true);
  start();
  config::set_memory_growth(gpu(), true);  // the same: nothing happens
  EXPECT_EQ(message_of<FailedPreconditionError>([] { config::set_memory_growth(gpu(), false); }),
            "Physical devices cannot be modified after being initialized");
  EXPECT_TRUE(config::get_memory_growth(gpu()));
}

TEST_F(ConfigTest, GrowthStartsOnAndTheLastCallWins) {
  simulate("jetson-nano-4gb");
  EXPECT_TRUE(config::get_memory_growth(gpu()));
  config::set_memory_growth(gpu(), false);
  config::experimental::set_memory_growth(gpu(), true);
  start();
  EXPECT_TRUE(config::get_memory_growth(gpu()));
  EXPECT_EQ(memory::Budget(Context::get().default_device().budget()).committed(), 2_MiB);
}

TEST_F(ConfigTest, GrowthOfTheCpuIsAlwaysOn) {
  config::set_memory_growth(cpu(), true);
  EXPECT_TRUE(config::get_memory_growth(cpu()));
  EXPECT_NE(message_of<InvalidArgumentError>([] {
              config::set_memory_growth(cpu(), false);
            }).find("cannot be turned off"),
            std::string::npos);
}

TEST_F(ConfigTest, GrowthFollowsTensorFlowsVariable) {
  setenv("TF_FORCE_GPU_ALLOW_GROWTH", "false", 1);
  simulate("jetson-nano-4gb,jetson-nano-4gb");
  EXPECT_FALSE(config::get_memory_growth(gpu(0)));
  config::set_memory_growth(gpu(1), true);
  EXPECT_TRUE(config::get_memory_growth(gpu(1)));
}

TEST_F(ConfigTest, LogicalDevicesOfAnUnknownDevice) {
  EXPECT_EQ(message_of<InvalidArgumentError>(
                [] { config::set_logical_device_configuration(kNobody, {{.memory_limit = 1}}); }),
            kUnrecognized);
  EXPECT_EQ(
      message_of<InvalidArgumentError>([] { config::get_logical_device_configuration(kNobody); }),
      kUnrecognized);
}

TEST_F(ConfigTest, GpuNeedsALimit) {
  simulate("jetson-nano-4gb");
  EXPECT_EQ(message_of<InvalidArgumentError>([] {
              config::set_logical_device_configuration(gpu(), {LogicalDeviceConfiguration{}});
            }),
            "Setting memory limit is required for GPU virtual devices");
}

// B11: TensorFlow takes these and goes wrong later.
TEST_F(ConfigTest, RefusesLimitsThatMakeNoSense) {
  simulate("jetson-nano-4gb");
  for (const std::int64_t limit :
       {std::int64_t{0}, std::int64_t{-5}, INT64_MIN, INT64_MAX, std::int64_t{1} << 43}) {
    for (const PhysicalDevice& device : {cpu(), gpu()}) {
      const std::string message = message_of<InvalidArgumentError>(
          [&] { config::set_logical_device_configuration(device, {{.memory_limit = limit}}); });
      EXPECT_NE(message.find(std::to_string(limit)), std::string::npos) << message;
      EXPECT_TRUE(config::get_logical_device_configuration(device).empty());
    }
  }
}

TEST_F(ConfigTest, LogicalDevicesAfterTheStart) {
  simulate("jetson-nano-4gb");
  config::set_logical_device_configuration(gpu(), {{.memory_limit = 32}});
  config::set_logical_device_configuration(gpu(), {{.memory_limit = 64}});  // the last one wins
  start();
  config::set_logical_device_configuration(gpu(), {{.memory_limit = 64}});
  EXPECT_EQ(message_of<FailedPreconditionError>(
                [] { config::set_logical_device_configuration(gpu(), {{.memory_limit = 65}}); }),
            "Virtual devices cannot be modified after being initialized");
  EXPECT_EQ(config::get_logical_device_configuration(gpu())[0].memory_limit, 64);
  EXPECT_EQ(Context::get().default_device().budget().limit(), 64_MiB);
}

TEST_F(ConfigTest, VisibleDevicesAfterTheStart) {
  simulate("jetson-nano-4gb,rtx-3060-12gb");
  config::set_visible_devices(gpu(1), "GPU");
  EXPECT_EQ(config::get_visible_devices("GPU"), std::vector{gpu(1)});
  EXPECT_EQ(config::get_visible_devices("CPU"), std::vector{cpu()});
  start();
  EXPECT_EQ(config::list_logical_devices("GPU").size(), 1U);
  config::set_visible_devices(gpu(1), "GPU");
  EXPECT_EQ(message_of<FailedPreconditionError>([] { config::set_visible_devices(gpu(0), "GPU"); }),
            "Visible devices cannot be modified after being initialized");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { config::set_visible_devices(kNobody); }),
            kUnrecognized);
}

TEST_F(ConfigTest, WithoutAVisibleCpuNothingRuns) {
  config::set_visible_devices(std::vector<PhysicalDevice>{}, "CPU");
  EXPECT_EQ(message_of<NotFoundError>(start), "No CPU devices are available in this process");
  config::set_visible_devices(cpu(), "CPU");  // and it can be mended
  EXPECT_NO_THROW(start());
}

TEST_F(ConfigTest, ThreadsAfterTheStart) {
  config::threading::set_intra_op_parallelism_threads(3);
  config::threading::set_intra_op_parallelism_threads(1);
  config::threading::set_inter_op_parallelism_threads(2);
  EXPECT_THROW(config::threading::set_intra_op_parallelism_threads(-1), InvalidArgumentError);
  start();
  config::threading::set_intra_op_parallelism_threads(1);
  EXPECT_EQ(message_of<FailedPreconditionError>(
                [] { config::threading::set_intra_op_parallelism_threads(2); }),
            "Intra op parallelism cannot be modified after initialization.");
  EXPECT_EQ(message_of<FailedPreconditionError>(
                [] { config::threading::set_inter_op_parallelism_threads(3); }),
            "Inter op parallelism cannot be modified after initialization.");
  EXPECT_EQ(config::threading::get_intra_op_parallelism_threads(), 1);
  EXPECT_EQ(config::threading::get_inter_op_parallelism_threads(), 2);
}

TEST_F(ConfigTest, MemoryInfoOfWhatIsNotThere) {
  EXPECT_EQ(message_of<InvalidArgumentError>([] { config::get_memory_info("GPU:0"); }),
            "No matching devices found for 'GPU:0'");
  for (const char* name : {"CPU", "XYZ", ""}) {
    EXPECT_EQ(message_of<InvalidArgumentError>([&] { config::get_memory_info(name); }),
              "Failed parsing device name: '" + std::string(name) +
                  "'. Note a valid device string should at least contain a device type and a "
                  "device index, like \"GPU:0\".");
  }
  EXPECT_EQ(config::get_memory_info("/job:localhost/replica:0/task:0/device:CPU:0").current, 0U);
}

TEST_F(ConfigTest, DetailsOfDevices) {
  simulate("a100-40gb");
  const auto details = config::get_device_details(gpu());
  EXPECT_EQ(details.device_name, "NVIDIA A100-SXM4-40GB");
  EXPECT_EQ(details.compute_capability, std::pair(8, 0));
  EXPECT_EQ(details.memory_bytes, 40338_MiB);  // a multiple of the granularity
  EXPECT_EQ(config::get_device_details(cpu()).device_name, "");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { config::get_device_details(kNobody); }),
            kUnrecognized);
}

TEST_F(ConfigTest, UnknownProfileSuggestsTheNearest) {
  simulate("jetson-nano-4g");
  const auto message = message_of<InvalidArgumentError>([] { config::list_physical_devices(); });
  EXPECT_NE(message.find("did you mean 'jetson-nano-4gb'?"), std::string::npos) << message;
  EXPECT_NE(message.find("a100-40gb"), std::string::npos) << message;
}

TEST_F(ConfigTest, UnknownVariablesAreNamedAtTheStart) {
  setenv("PLIMSOLL_BUGDET", "1GiB", 1);
  testing::internal::CaptureStderr();
  start();
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("PLIMSOLL_BUGDET is set, but no setting is called that; did you mean "
                      "PLIMSOLL_BUDGET?"),
            std::string::npos)
      << text;
}

TEST_F(ConfigTest, SettingsInUseCannotChange) {
  settings::set("cpu_limit", "1GiB");
  start();
  EXPECT_NO_THROW(settings::set("cpu_limit", "1024MiB"));  // the same
  for (const auto& [name, value] : {std::pair("cpu_limit", "2GiB"),
                                    {"budget", "2GiB"},
                                    {"staging_limit", "1MiB"},
                                    {"gpu_growth", "off"},
                                    {"sim_devices", "a100-40gb"}}) {
    EXPECT_THROW(settings::set(name, value), FailedPreconditionError) << name;
  }
  EXPECT_NO_THROW(settings::set("warm_ms", "100"));
}

TEST_F(ConfigTest, OldNamesWork) {
  config::experimental::set_virtual_device_configuration(
      config::experimental::list_physical_devices("CPU")[0],
      {config::experimental::VirtualDeviceConfiguration{.memory_limit = 1024}});
  EXPECT_EQ(config::experimental::get_virtual_device_configuration(cpu())[0].memory_limit, 1024);
  EXPECT_EQ(config::experimental::list_logical_devices("CPU").size(), 1U);
  EXPECT_EQ(config::experimental::get_memory_info("CPU:0").current, 0U);
}

TEST_F(ConfigTest, ImpossibleShapes) {
  EXPECT_EQ(message_of<InvalidArgumentError>([] {
              ones({std::int64_t{1} << 40, std::int64_t{1} << 40});
            }),
            "Shape [1099511627776,1099511627776] would have more than 2**63 - 1 elements");
  EXPECT_EQ(message_of<InvalidArgumentError>([] { ones({-1, 3}); }), "Dimension -1 must be >= 0");
}

}  // namespace
}  // namespace plimsoll
