// What does set_memory_growth do, and how do two users share a device?
//
// With growth, memory is taken as it is needed and given back. Without it, the whole limit is taken
// at the start and kept. It is set per device, before the runtime starts, and goes together with a
// limit. Two logical devices share one physical device, each inside its own limit.
#include <plimsoll/tf.h>

#include <cstdio>

#include "check.h"

namespace tf = plimsoll;
using tf::operator""_MiB;

int main() {
  // PLIMSOLL_SIM_DEVICES=rtx-3060-12gb,rtx-3060-12gb says the same from outside.
  tf::settings::set("sim_devices", "rtx-3060-12gb,rtx-3060-12gb");

  const auto gpus = tf::config::list_physical_devices("GPU");
  tf::config::set_logical_device_configuration(gpus[0],
                                               {{.memory_limit = 256}, {.memory_limit = 128}});
  tf::config::set_memory_growth(gpus[0], true);
  tf::config::set_logical_device_configuration(gpus[1], {{.memory_limit = 64}});
  tf::config::set_memory_growth(gpus[1], false);

  for (const auto& device : tf::config::list_logical_devices("GPU")) {
    const auto stats = tf::memory::stats(device.name);
    std::printf("%-14s limit %s, taken at the start %s\n", device.name.c_str(),
                tf::format_bytes(stats.limit).c_str(), tf::format_bytes(stats.committed).c_str());
  }
  check(tf::memory::stats("GPU:0").committed == 0, "with growth nothing is taken at the start");
  check(tf::memory::stats("GPU:2").committed == 64_MiB, "without it, the whole limit is");

  {
    auto scope = tf::device("/GPU:0");
    tf::Tensor x = tf::ones({32, 1024, 1024});  // 128 MiB
    check(tf::memory::stats("GPU:0").committed == 128_MiB, "a tensor takes what it needs");
    auto other = tf::device("/GPU:1");
    tf::Tensor y = tf::ones({32, 1024, 1024});
    check(tf::config::get_memory_info("GPU:1").current == 128_MiB,
          "the second logical device has a limit of its own, and uses all of it");
    try {
      tf::Tensor z = tf::ones({1});
      check(false, "one more float passes the limit");
    } catch (const tf::ResourceExhaustedError& e) {
      check(true, "one more float is a ResourceExhaustedError:");
      std::printf("%s\n", e.what());
    }
  }
  tf::memory::trim();
  check(tf::memory::stats("GPU:0").committed == 0, "and what is freed goes back");

  try {
    tf::config::set_memory_growth(gpus[0], false);
    check(false, "growth changed after the start");
  } catch (const tf::FailedPreconditionError& e) {
    check(true, e.what());
  }
  return num_failed;
}
