// Optimizers as compositions of ops, with their slots as variables.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "models/layers.h"

namespace plimsoll::bench {

// Takes the gradients of weights.trainable(), in their order.
using Optimizer = std::function<void(std::span<const Tensor> gradients)>;

// "sgd": momentum 0.9; "adam"; both at rate 0.001. Adds its slots to `weights`, which must
// outlive it. throws: InvalidArgumentError for another name.
Optimizer make_optimizer(std::string_view name, Weights& weights);

}  // namespace plimsoll::bench
