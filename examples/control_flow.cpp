// Branches and loops on values, inside a function whose peak is known before it runs.
#include <plimsoll/tf.h>

#include <cstdio>

#include "check.h"

namespace tf = plimsoll;

int main() {
  tf::random::set_seed(1);
  tf::Variable w(tf::random::normal({32, 32}, 0, 0.1), {.name = "w"});
  tf::Variable skipped(tf::zeros({}), {.name = "skipped"});

  // A recurrent layer over the time steps of x, trained; a step whose gradient is too large is
  // skipped.
  auto train_step = tf::function(
      [&](const tf::Tensor& x, const tf::Tensor& y) {
        tf::GradientTape tape;
        tf::Tensor states =
            tf::scan([&](const tf::Tensor& h,
                         const tf::Tensor& x_t) { return tf::tanh(tf::matmul(h, w) + x_t); },
                     x, tf::zeros({8, 32}));
        tf::Tensor loss = tf::reduce_mean(tf::square(states - y));
        tf::Tensor gradient = tape.gradient(loss, w.value());
        tf::cond(
            tf::reduce_all(tf::less(tf::abs(gradient), tf::fill({}, 1.0))),
            [&] { w.assign_sub(gradient); }, [&] { skipped.assign_add(tf::ones({})); });
        return loss;
      },
      {.name = "train_step"});

  const tf::TensorSpec spec{tf::float32, {50, 8, 32}};
  const tf::MemoryPlan plan = train_step.plan({spec, spec});
  std::printf("%s\n", plan.to_string().c_str());
  const tf::Tensor x = tf::random::normal({50, 8, 32}), y = tf::tanh(x * 0.5F);
  const float first = train_step(x, y).item<float>();
  float last = first;
  for (int i = 0; i < 20; ++i) last = train_step(x, y).item<float>();
  std::printf("loss %.5f, then %.5f\n", static_cast<double>(first), static_cast<double>(last));
  check(last < first, "the loss went down");
  train_step(x, y * 1e10F);
  check(skipped.value().item<float>() == 1, "a step with a huge gradient was skipped");

  // Newton's iteration until it is exact enough.
  auto square_root = tf::function([](const tf::Tensor& a) {
    return tf::while_loop(
        [&](const tf::Tensor& r) {
          return tf::reduce_any(tf::greater(tf::abs(r * r - a), a * 1e-6F));
        },
        [&](const tf::Tensor& r) { return (r + a / r) * 0.5F; }, a, {.maximum_iterations = 100});
  });
  std::printf("%s\n", square_root(tf::constant({2.0F, 9.0F, 1e6F})).to_string().c_str());
  return num_failed;
}
