// Why does memory explode in training? Because something of every step is kept: a tape that holds
// every value, gradients that pile up, losses that hang on to what made them.
//
// Here a tape keeps only what gradients read and gives it back on the way. A step costs the same
// the first time and the last, inside a limit that is set before.
#include <plimsoll/tf.h>

#include <cstdio>
#include <vector>

#include "check.h"

namespace tf = plimsoll;
using tf::operator""_MiB;

int main() {
  tf::random::set_seed(1);
  tf::Tensor x = tf::random::normal({256, 64});
  tf::Tensor wanted = tf::reduce_sum(x, {1}, true);
  tf::Variable w1(tf::random::normal({64, 512}, 0, 0.1), {.name = "hidden/kernel"});
  tf::Variable w2(tf::random::normal({512, 1}, 0, 0.1), {.name = "out/kernel"});
  const tf::Variable* const weights[] = {&w1, &w2};
  const std::string device = x.device();  // the CPU, or the first GPU if there is one

  tf::memory::BudgetScope limit("16MiB");  // for all that follows
  std::vector<tf::Tensor> losses;          // a loss is one number, and keeps nothing else
  std::uint64_t in_use = 0, peak = 0;
  bool is_flat = true;
  for (int step = 0; step < 20; ++step) {
    tf::config::reset_memory_stats(device);
    tf::GradientTape tape;
    tf::Tensor made = tf::matmul(tf::nn::relu(tf::matmul(x, w1)), w2);
    tf::Tensor loss = tf::reduce_mean(tf::square(made - wanted));
    const auto gradients = tape.gradient(loss, weights);
    w1.assign_sub(gradients[0] * 0.01F);
    w2.assign_sub(gradients[1] * 0.01F);
    losses.push_back(loss);
    const auto info = tf::config::get_memory_info(device);
    if (step == 2) peak = info.peak;
    if (step > 2) is_flat &= info.peak <= peak + 64 * losses.size();
    if (step == 2) in_use = info.current;
    if (step > 2) is_flat &= info.current <= in_use + 64 * losses.size();
  }
  std::printf("%s\n", tf::memory::report().to_string().c_str());
  std::printf("loss %.3f, then %.3f\n", losses.front().item<float>(), losses.back().item<float>());
  check(losses.back().item<float>() < losses.front().item<float>() / 2, "it learns");
  check(is_flat, "no step needs more than the third one, but for the losses that are kept");
  check(limit.peak() <= 16_MiB, "and all of them stay inside the limit");
  return num_failed;
}
