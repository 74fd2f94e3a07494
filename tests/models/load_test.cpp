// Loading a real model under every limit: it loads, or it is an error, and never more than that.
#include <gtest/gtest.h>

#include "h5/temporary.h"
#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

using keras::Nested;
namespace layers = keras::layers;

Nested conv(const Nested& x, std::int64_t filters, std::int64_t size, std::int64_t stride = 1) {
  const auto made = layers::Conv2D({.filters = filters,
                                    .kernel_size = size,
                                    .strides = stride,
                                    .padding = size == 3 ? "same" : "valid"})(x);
  return layers::BatchNormalization({.epsilon = 1.001e-5})(made);
}
Nested relu(const Nested& x) {
  return layers::Activation({.activation = "relu"})(x);
}

// As keras.applications has it.
keras::ModelPtr make_resnet50() {
  const Nested in = keras::Input({224, 224, 3});
  Nested x = relu(conv(layers::ZeroPadding2D({.padding = 3})(in), 64, 7, 2));
  x = layers::MaxPooling2D({.pool_size = 3, .strides = 2})(
      layers::ZeroPadding2D({.padding = 1})(x));
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t filters = 64 << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      const std::int64_t stride = block == 0 && stage > 0 ? 2 : 1;
      const Nested shortcut = block == 0 ? conv(x, 4 * filters, 1, stride) : x;
      Nested y = relu(conv(x, filters, 1, stride));
      y = conv(relu(conv(y, filters, 3)), 4 * filters, 1);
      x = relu(layers::Add()({shortcut, y}));
    }
  }
  x = layers::GlobalAveragePooling2D()(x);
  return keras::Functional(in, layers::Dense({.units = 1000, .activation = "softmax"})(x));
}

std::uint64_t in_use() {
  return memory::report().total;
}

TEST(LoadTest, ResNet50UnderEveryLimit) {
  const h5::TemporaryFolder folder;
  for (const char* ending : {".h5", ".keras"}) {
    const std::string path = folder.file(std::string("resnet50") + ending);
    make_resnet50()->save(path);
    memory::trim();
    const std::uint64_t before = in_use();
    const std::uint64_t weights = keras::inspect_model(path).weights_nbytes();
    EXPECT_EQ(weights, std::uint64_t{4} * 25'636'712);
    constexpr int kSteps = 40;
    int num_loaded = 0, num_predicted = 0;
    for (int i = 0; i <= kSteps; ++i) {
      const std::uint64_t limit = before + 2 * weights * static_cast<std::uint64_t>(i) / kSteps;
      memory::set_budget(limit + 1);
      try {
        const auto model = keras::load_model(path);
        ++num_loaded;
        EXPECT_GE(limit - before, weights);
        if (i % 10 != 0) continue;  // it takes longer than to load
        model->predict(zeros({1, 224, 224, 3}), {.verbose = keras::Verbose::kSilent});
        ++num_predicted;
      } catch (const ResourceExhaustedError&) {
        memory::trim();
        EXPECT_EQ(in_use(), before) << i;
      }
    }
    memory::trim();
    EXPECT_EQ(in_use(), before);
    memory::set_budget(std::uint64_t{1} << 40);
    EXPECT_GE(num_loaded, kSteps / 2 - 1);  // from the weights' own size on
    EXPECT_LE(num_loaded, kSteps / 2 + 1);
    EXPECT_GT(num_predicted, 0);
  }
}

TEST(LoadTest, ThePeakIsThatOfTheWeights) {
  const h5::TemporaryFolder folder;
  for (const char* ending : {".h5", ".keras"}) {
    const std::string path = folder.file(std::string("resnet50") + ending);
    make_resnet50()->save(path);
    const std::uint64_t weights = keras::inspect_model(path).weights_nbytes();
    const memory::BudgetScope scope("1GiB");
    const auto model = keras::load_model(path);
    EXPECT_LE(scope.peak(), weights + weights / 100);
  }
}

}  // namespace
}  // namespace plimsoll
