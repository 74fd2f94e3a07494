// Why does memory explode? Because results are kept; and in TensorFlow because what is deleted is
// not given back: 3.7 GB before `del`, 3.7 GB after.
//
// Here the last handle frees. The books are right at once, the pages follow within a second, or
// with trim() now.
#include <plimsoll/tf.h>

#include <cstdio>
#include <string>
#include <vector>

#include "check.h"

namespace tf = plimsoll;
using tf::operator""_MiB;

int main() {
  tf::debugging::set_log_device_placement(true);
  tf::Tensor x = tf::ones({4000, 4000});
  tf::debugging::set_log_device_placement(false);
  const std::string device = x.device();  // the CPU, or the first GPU if there is one
  const std::uint64_t start = resident_bytes();

  std::vector<tf::Tensor> kept;
  for (int i = 0; i < 8; ++i) kept.push_back(x + static_cast<float>(i));  // 61 MiB each
  std::printf("%s\n", tf::memory::report().to_string().c_str());
  const std::uint64_t full = tf::config::get_memory_info(device).current;
  check(full == 9 * 64'000'000, "nine results of 64,000,000 bytes are kept");

  kept.clear();
  check(tf::config::get_memory_info(device).current == 64'000'000, "deleted is freed");
  tf::memory::trim();
  std::printf("resident: %s more than at the start\n",
              tf::format_bytes(resident_bytes() > start ? resident_bytes() - start : 0).c_str());
  check(resident_bytes() < start + 16_MiB, "and given back to the system");

  tf::config::reset_memory_stats(device);
  for (int i = 0; i < 100; ++i) tf::Tensor y = x + static_cast<float>(i);
  check(tf::config::get_memory_info(device).peak == 2 * 64'000'000 + 64,
        "a loop that keeps nothing needs one result and one number, however long it runs");
  return num_failed;
}
