// Normalisation. Parameters and statistics of float16 and bfloat16 tensors are float32; given in 16
// bits, they are converted.
#pragma once

#include <string_view>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {
namespace nn {

struct BatchNormResult {
  Tensor y, mean, variance;
};
// In training by the statistics of the batch, which are returned as TensorFlow does for running
// averages (the variance is that of a sample: divided by the count less one); else by those given.
// memory: y, and nothing of its size is kept for the gradient but x.
BatchNormResult fused_batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                 const Tensor& mean = {}, const Tensor& variance = {},
                                 double epsilon = 0.001, std::string_view data_format = "NHWC",
                                 bool is_training = true);
// The same by the last axis, with the variance divided by the count, as tf.nn.moments has it.
BatchNormResult batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                           double epsilon = 0.001);
// (x - mean) / sqrt(variance + epsilon) * scale + offset; offset and scale may be empty Tensors.
// Everything broadcasts.
Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                           const Tensor& offset, const Tensor& scale, double variance_epsilon);

// Over the last axes, as many as the scale has; y = (x - mean) / sqrt(variance + epsilon) * scale +
// offset. Without mean and offset: rms_norm.
Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                  double epsilon = 0.001);
Tensor rms_norm(const Tensor& x, const Tensor& scale, double epsilon = 1e-6);
// Over the positions and the channels of each group; channels last.
Tensor group_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, std::int64_t groups,
                  double epsilon = 0.001);

// x / (bias + alpha * sum of squares)^beta, where the sum is over depth_radius channels to both
// sides; [batch, height, width, channels].
Tensor local_response_normalization(const Tensor& input, std::int64_t depth_radius = 5,
                                    double bias = 1, double alpha = 1, double beta = 0.5);

}  // namespace nn

namespace math {
// x / sqrt(max(sum(x^2), epsilon)); no axis: over all.
Tensor l2_normalize(const Tensor& x, const std::vector<std::int64_t>& axis = {},
                    double epsilon = 1e-12);
}  // namespace math
namespace nn {
using plimsoll::math::l2_normalize;
}  // namespace nn

}  // namespace plimsoll
