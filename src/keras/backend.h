// What everything in Keras shares: its epsilon, seeds, and notes on tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plimsoll/ops/random.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

inline constexpr double kEpsilon = 1e-7;  // keras.config.epsilon()

// A seed for what was given none: from set_random_seed's sequence, or at random.
std::int64_t make_default_seed();
// Begins all random sequences anew, Keras's and those of tf::random.
void seed_everything(std::int64_t seed);
// As Keras draws by a seed: {seed, 0}.
random::Seed draw_seed(std::optional<std::int64_t> seed);

// To length 1 along the axes (empty: all), as keras.ops.normalize does; what is shorter than
// epsilon is divided by it.
Tensor normalize(const Tensor& x, const std::vector<std::int64_t>& axes, double epsilon = kEpsilon);

// Which time steps of a tensor count; empty: all, or it was not said.
Tensor keras_mask(const Tensor& tensor);
void set_keras_mask(const Tensor& tensor, const Tensor& mask);
// What a tensor is the softmax or sigmoid of; empty if that is not known.
Tensor keras_logits(const Tensor& tensor);
void set_keras_logits(const Tensor& tensor, const Tensor& logits);

}  // namespace plimsoll::keras
