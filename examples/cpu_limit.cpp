// How is CPU memory limited? By a call, by a variable, for a part of the program; to the byte.
//
// TensorFlow refuses memory_limit on CPUs, ignores the variable, and ends in a kill.
#include <plimsoll/tf.h>

#include <cstdio>

#include "check.h"

namespace tf = plimsoll;
using tf::operator""_MiB;

int main() {
  // TF_CPU_ALLOCATOR_MEM_LIMIT=1073741824 or PLIMSOLL_CPU_LIMIT=1GiB say the same from outside.
  const auto cpu = tf::config::list_physical_devices("CPU")[0];
  tf::config::set_logical_device_configuration(cpu, {{.memory_limit = 1024}});

  auto scope = tf::device("/CPU:0");
  tf::Tensor a = tf::ones({128, 1024, 1024});  // 512 MiB
  try {
    tf::Tensor b = tf::ones({256, 1024, 1024});  // 1 GiB more
    check(false, "both fit");
  } catch (const tf::ResourceExhaustedError& e) {
    check(true, "the second is refused, at once and with the reasons:");
    std::printf("%s\n\n", e.what());
  }
  check(tf::config::get_memory_info("CPU:0").current == 512_MiB, "the first is still there");
  tf::Tensor c = tf::ones({128, 1024, 1024});
  check(tf::config::get_memory_info("CPU:0").current == 1024_MiB,
        "the limit can be used to the byte");
  c = tf::Tensor();

  {
    tf::memory::BudgetScope part("64MiB");  // for what this thread does here
    try {
      tf::Tensor d = tf::ones({32, 1024, 1024});
      check(false, "the scope let 128 MiB pass");
    } catch (const tf::ResourceExhaustedError&) {
      check(true, "a part of a program can have a smaller limit");
    }
  }
  tf::memory::set_budget("600MiB");  // for the process; may change while it runs
  try {
    tf::Tensor d = tf::ones({32, 1024, 1024});
    check(false, "the budget let 640 MiB pass");
  } catch (const tf::ResourceExhaustedError&) {
    check(true, "and so can the process, while it runs");
  }
  return num_failed;
}
