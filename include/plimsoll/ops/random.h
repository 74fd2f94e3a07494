// Random numbers: Philox4x32-10, the same at any number of threads.
//
// What equals TensorFlow: stateless_uniform to the bit, for every type; the
// other stateless ones to rounding (a few units in the last place of their
// logarithms and sines). After set_seed, the stateful ones likewise, in the
// order of calls in which eager TensorFlow makes them, with and without a seed
// of their own. Of categorical that holds for results that TensorFlow makes in
// one piece: where it shares rows among threads, its numbers depend on how.
#pragma once

#include <optional>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {
namespace random {

// Begins all sequences anew.
void set_seed(std::int64_t seed);

using OpSeed = std::optional<std::int64_t>;

// memory: 1x the result for all of these.
// Floats in [minval, maxval), by default [0, 1); int32 and int64 need a maxval.
Tensor uniform(const Shape& shape, double minval = 0, std::optional<double> maxval = {},
               DType dtype = float32, OpSeed seed = {});
Tensor normal(const Shape& shape, double mean = 0, double stddev = 1, DType dtype = float32,
              OpSeed seed = {});
// Without what is more than 2 standard deviations from the mean.
Tensor truncated_normal(const Shape& shape, double mean = 0, double stddev = 1,
                        DType dtype = float32, OpSeed seed = {});
// Along the first axis.
Tensor shuffle(const Tensor& value, OpSeed seed = {});
// Classes, `num_samples` for each row of logits [batch, classes]: [batch, num_samples].
// memory: the result, and in scratch the sums of one row per thread.
Tensor categorical(const Tensor& logits, std::int64_t num_samples, DType dtype = int64,
                   OpSeed seed = {});
// `shape` numbers for each element of alpha / beta (broadcast; beta is 1 without): the result has
// shape `shape` + theirs. Differentiable by alpha and beta.
// throws: UnimplementedError for gradients of the gradient by alpha.
Tensor gamma(const Shape& shape, const Tensor& alpha, const Tensor& beta = {},
             DType dtype = float32, OpSeed seed = {});
// `shape` numbers for each element of lam; floating, int32 or int64.
Tensor poisson(const Shape& shape, const Tensor& lam, DType dtype = float32, OpSeed seed = {});
// 1 with probability p, else 0: keras.backend.random_bernoulli.
Tensor bernoulli(const Shape& shape, double p = 0.5, DType dtype = float32, OpSeed seed = {});

// Two numbers that say which sequence: {1, 2}, or a tensor of two int32 or
// int64.
class Seed {
 public:
  Seed(std::int64_t a, std::int64_t b);
  Seed(const Tensor& tensor) : tensor_(tensor) {}
  const Tensor& tensor() const noexcept { return tensor_; }

 private:
  Tensor tensor_;
};
// Without minval (std::nullopt) and maxval: any integer of the type, int32 or int64.
Tensor stateless_uniform(const Shape& shape, const Seed& seed, std::optional<double> minval = 0,
                         std::optional<double> maxval = {}, DType dtype = float32);
Tensor stateless_normal(const Shape& shape, const Seed& seed, double mean = 0, double stddev = 1,
                        DType dtype = float32);
Tensor stateless_truncated_normal(const Shape& shape, const Seed& seed, double mean = 0,
                                  double stddev = 1, DType dtype = float32);
Tensor stateless_categorical(const Tensor& logits, std::int64_t num_samples, const Seed& seed,
                             DType dtype = int64);
// `shape` is that of the result, and ends with that of the parameters (broadcast).
Tensor stateless_gamma(const Shape& shape, const Seed& seed, const Tensor& alpha,
                       const Tensor& beta = {}, DType dtype = float32);
Tensor stateless_poisson(const Shape& shape, const Seed& seed, const Tensor& lam,
                         DType dtype = int32);
// How many of `counts` trials succeed, each with probability `probs`.
Tensor stateless_binomial(const Shape& shape, const Seed& seed, const Tensor& counts,
                          const Tensor& probs, DType output_dtype = int32);

namespace experimental {
Tensor stateless_shuffle(const Tensor& value, const Seed& seed);  // along the first axis
}  // namespace experimental

}  // namespace random

namespace nn {

// Zeros a part `rate` of the elements and scales the others by 1 / (1 - rate).
// memory: no mask is kept; the gradient draws it again.
// throws: InvalidArgumentError for a rate outside [0, 1), or x that is not
// floating.
Tensor dropout(const Tensor& x, double rate, random::OpSeed seed = {});
// The mask has this shape and broadcasts to x.
Tensor dropout(const Tensor& x, double rate, const Shape& noise_shape, random::OpSeed seed = {});

namespace experimental {
Tensor stateless_dropout(const Tensor& x, double rate, const random::Seed& seed);
}  // namespace experimental
}  // namespace nn

}  // namespace plimsoll
