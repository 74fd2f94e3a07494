// What the comparison with Keras does not see: layers on KerasTensors, and over several calls.
#include <gtest/gtest.h>

#include "keras/backend.h"
#include "plimsoll/keras/layers/activation.h"
#include "plimsoll/keras/layers/convolutional.h"
#include "plimsoll/keras/layers/core.h"
#include "plimsoll/keras/layers/merging.h"
#include "plimsoll/keras/layers/normalization.h"
#include "plimsoll/keras/layers/pooling.h"
#include "plimsoll/keras/layers/reshaping.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

// A mask that a tensor carries goes on, and so does one that was given to a call.
TEST(MasksTest, MasksGoOn) {
  const Tensor x = random::normal({2, 3, 4}), mask = fill({2, 3}, 1, bool_);
  set_keras_mask(x, mask);
  const Tensor y = layers::ReLU()(x);
  EXPECT_TRUE(keras_mask(y).is_valid());
  EXPECT_TRUE(keras_mask(layers::Add()({x, y})).is_valid());
  EXPECT_FALSE(keras_mask(layers::GlobalAveragePooling1D()(y)).is_valid());
  EXPECT_FALSE(keras_mask(layers::Flatten()(y)).is_valid());
  const Tensor z = random::normal({2, 3});
  EXPECT_TRUE(keras_mask(layers::Softmax()(z, {.mask = mask})).is_valid());
}

// Shapes that are not known stay so.
TEST(SymbolicLayersTest, UnknownSizes) {
  const Nested image = Input({kNone, kNone, 3});
  const Nested y = layers::Conv2D({.filters = 8, .kernel_size = 3, .strides = 2})(image);
  EXPECT_EQ(y.leaf().shape(), (PartialShape{kNone, kNone, kNone, 8}));
  EXPECT_EQ(layers::BatchNormalization()(y).leaf().shape(), y.leaf().shape());
  EXPECT_EQ(layers::Reshape({.target_shape = {-1, 8}})(y).leaf().shape(),
            (PartialShape{kNone, kNone, 8}));
  EXPECT_EQ(layers::Reshape({.target_shape = {5, 7}})(y).leaf().shape(),
            (PartialShape{kNone, 5, 7}));
  EXPECT_EQ(layers::Concatenate()({y, y}).leaf().shape(), (PartialShape{kNone, kNone, kNone, 16}));
}

// Statistics move in training only, and not where the layer is frozen.
TEST(BatchNormalizationTest, FrozenLayersInfer) {
  const layers::BatchNormalization norm;
  const Tensor x = random::normal({8, 4}, 3);
  norm(x, {.training = true});
  const auto moved = norm->get_weights()[2].to_vector<float>();
  EXPECT_NE(moved, std::vector<float>(4, 0));
  norm->set_trainable(false);
  norm(x, {.training = true});
  EXPECT_EQ(norm->get_weights()[2].to_vector<float>(), moved);
}

// The kernel is the layer's own and the inner one's, and stands once among the weights.
TEST(SpectralNormalizationTest, BringsTheKernelToNormOne) {
  const layers::Dense dense({.units = 6});
  const layers::SpectralNormalization layer({.layer = dense, .power_iterations = 50});
  const Tensor x = random::normal({3, 5});
  layer(x, {.training = true});
  EXPECT_EQ(layer->weights().size(), 3U);
  EXPECT_EQ(layer->trainable_weights().size(), 2U);
  const auto s = linalg::svd(dense->get_weights()[0], false, false).s.to_vector<float>();
  EXPECT_NEAR(s[0], 1, 1e-3);
  // A kernel of zeros has no direction, and stays.
  layer->set_weights(std::vector<Tensor>{zeros({5, 6}), ones({1, 6}), zeros({6})});
  layer(x, {.training = true});
  EXPECT_EQ(dense->get_weights()[0].to_vector<float>(), std::vector<float>(30, 0));
}

}  // namespace
}  // namespace plimsoll::keras
