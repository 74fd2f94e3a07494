// Trains a small CNN on real handwritten digits inside a budget: the plan before, progress, and the
// peak that was measured after it, which is the one that was planned.
//
//   digits [digits.csv]
#include <plimsoll/tf.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"

namespace tf = plimsoll;
namespace keras = plimsoll::keras;
namespace layers = plimsoll::keras::layers;

namespace {

struct Digits {
  tf::Tensor images, labels;  // [n, 8, 8, 1] from 0 to 1, [n]
};

// Lines first, first + step, first + 2 * step, ...
Digits read_digits(const std::string& path, int first, int step) {
  std::ifstream file(path);
  if (!file) throw tf::NotFoundError("there is no file '" + path + "'");
  std::vector<float> pixels;
  std::vector<std::int32_t> labels;
  int number = 0;
  for (std::string line; std::getline(file, line); ++number) {
    if (number % step != first) continue;
    std::stringstream fields(line);
    std::string field;
    for (int i = 0; i < 64 && std::getline(fields, field, ','); ++i)
      pixels.push_back(std::stof(field) / 16.0F);
    std::getline(fields, field, ',');
    labels.push_back(std::stoi(field));
  }
  const auto num = static_cast<std::int64_t>(labels.size());
  return {tf::constant(std::span<const float>(pixels), {num, 8, 8, 1}),
          tf::constant(std::span<const std::int32_t>(labels), {num})};
}

// Every fifth image is for the test.
Digits join(const std::string& path) {
  std::vector<tf::Tensor> images, labels;
  for (int part = 0; part < 4; ++part) {
    Digits some = read_digits(path, part, 5);
    images.push_back(some.images);
    labels.push_back(some.labels);
  }
  return {tf::concat(images, 0), tf::concat(labels, 0)};
}

int run(const std::string& path) {
  tf::memory::set_budget("32MiB");
  keras::utils::set_random_seed(7);
  const Digits training = join(path), test = read_digits(path, 4, 5);

  auto model = keras::Sequential({
      keras::Input({8, 8, 1}),
      layers::Conv2D({.filters = 32, .kernel_size = 3, .padding = "same", .use_bias = false}),
      layers::BatchNormalization(),
      layers::Activation({.activation = "relu"}),
      layers::Conv2D({.filters = 64, .kernel_size = 3, .activation = "relu"}),
      layers::MaxPooling2D({.pool_size = 2}),
      layers::Flatten(),
      layers::Dropout({.rate = 0.4}),
      layers::Dense({.units = 10, .activation = "softmax"}),
  });
  model->compile({.optimizer = keras::optimizers::Adam({.learning_rate = 2e-3}),
                  .loss = "sparse_categorical_crossentropy",
                  .metrics = {"accuracy"},
                  .memory_budget = "32MiB"});
  std::printf("%s\n", model->summary({.batch_size = 64}).c_str());

  const auto history = model->fit(
      training.images, training.labels,
      {.batch_size = 64, .epochs = 12, .verbose = keras::Verbose::kAuto, .validation_split = 0.1});
  const keras::Logs result =
      model->evaluate(test.images, test.labels, {.verbose = keras::Verbose::kSilent});

  std::printf("\ntest accuracy %.2f %% on %lld images that it has not seen\n",
              100 * result.at("accuracy"), static_cast<long long>(test.labels.num_elements()));
  std::printf("peak: planned %llu bytes, measured %llu bytes (%s of 32 MiB)\n",
              static_cast<unsigned long long>(history->planned_peak_bytes),
              static_cast<unsigned long long>(history->measured_peak_bytes),
              tf::format_bytes(history->measured_peak_bytes).c_str());
  check(result.at("accuracy") > 0.97, "more than 97 % of the test images are right");
  check(history->planned_peak_bytes == history->measured_peak_bytes,
        "the peak is the one that was planned, to the byte");
  check(tf::memory::stats().peak <= 32 * 1024 * 1024, "the budget of 32 MiB held");
  return num_failed;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc > 1 ? argv[1] : PLIMSOLL_EXAMPLES "/digits/digits.csv");
  } catch (const tf::Error& e) {
    std::fprintf(stderr, "%s: %s\n", e.name(), e.what());
    return 1;
  }
}
