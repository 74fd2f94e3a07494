// The peak of a training step, known before it runs; the run that keeps it; and what happens when
// it does not fit.
#include <plimsoll/tf.h>

#include <cstdio>

namespace tf = plimsoll;

int main() {
  tf::settings::set("cpu_limit", "40MiB");
  tf::random::set_seed(1);
  tf::Variable w1(tf::random::normal({784, 512}, 0, 0.05), {.name = "w1"});
  tf::Variable w2(tf::random::normal({512, 10}, 0, 0.05), {.name = "w2"});

  auto train_step = tf::function(
      [&](const tf::Tensor& x, const tf::Tensor& labels) {
        tf::GradientTape tape;
        tf::Tensor h;
        {
          tf::name_scope scope("hidden");
          h = tf::nn::relu(tf::matmul(x, w1));
        }
        tf::name_scope scope("head");
        tf::Tensor loss = tf::reduce_mean(
            tf::nn::sparse_softmax_cross_entropy_with_logits(labels, tf::matmul(h, w2)));
        const tf::Variable* const variables[] = {&w1, &w2};
        const auto gradients = tape.gradient(loss, variables);
        w1.assign_sub(0.02F * gradients[0]);
        w2.assign_sub(0.02F * gradients[1]);
        return loss;
      },
      {.name = "train_step"});

  const tf::MemoryPlan plan = train_step.plan({{tf::float32, {256, 784}}, {tf::int32, {256}}});
  std::printf("%s\n", plan.to_string().c_str());

  const tf::Tensor x = tf::random::uniform({256, 784});
  const tf::Tensor labels = tf::random::uniform({256}, 0, 10, tf::int32);
  for (int i = 0; i < 3; ++i)
    std::printf("loss %.4f\n", static_cast<double>(train_step(x, labels).item<float>()));

  try {
    train_step(tf::zeros({8192, 784}), tf::zeros({8192}, tf::int32));
  } catch (const tf::ResourceExhaustedError& e) {
    std::printf("\n%s: %s\n", e.name(), e.what());
    return 0;
  }
  std::printf("a batch of 8192 was not expected to fit\n");
  return 1;
}
