// Why is everything allocated although growth is on?
//
// In TensorFlow, because growth was set too late, on one of several devices, or together with a
// limit; and because a process takes hundreds of MB before its first tensor. Here a small tensor
// takes one page of the device, and the report says who holds what.
#include <plimsoll/tf.h>

#include <cstdio>

#include "check.h"

namespace tf = plimsoll;
using tf::operator""_MiB;

int main() {
  tf::settings::set("sim_devices", "jetson-xavier-nx-8gb");

  const auto gpus = tf::config::list_physical_devices("GPU");
  tf::config::set_visible_devices(gpus[0], "GPU");
  tf::config::set_memory_growth(gpus[0], true);

  tf::Tensor x = tf::ones({100, 100});
  tf::Tensor y = tf::matmul(x, x);
  std::printf("%s\n", tf::memory::report().to_string().c_str());

  const auto info = tf::config::get_memory_info("GPU:0");
  check(info.current == 2 * 40'000, "two tensors of 40,000 bytes are 80,000 bytes in use");
  check(tf::memory::stats("GPU:0").committed == 2_MiB, "one page of the device holds them");
  check(tf::memory::report().total == tf::memory::stats().in_use,
        "the rows of the report add up to the total");
  std::printf("resident: %s\n", tf::format_bytes(resident_bytes()).c_str());
  check(resident_bytes() < 60_MiB, "the whole process is below 60 MiB");
  return num_failed;
}
