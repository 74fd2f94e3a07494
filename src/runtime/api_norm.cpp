#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll {
namespace {

// A parameter in the type that goes with x.
Tensor parameter_for(const Tensor& x, const Tensor& p) {
  if (!x.is_valid() || !p.is_valid() || dtype_size(x.dtype()) != 2) return p;
  return p.dtype() == x.dtype() ? cast(p, float32) : p;
}

void check_channels(const Tensor& p, const char* what, std::int64_t channels) {
  PLIMSOLL_CHECK(p.is_valid() && p.num_elements() == channels, InvalidArgumentError,
                 "{} must have the same number of elements as the channels of x, got {} and {} "
                 "[Op:FusedBatchNormV3]",
                 what, p.is_valid() ? p.num_elements() : 0, channels);
}

// Channels to the last axis, or back.
Tensor move_channels(const Tensor& x, bool to_last) {
  std::vector<std::int64_t> perm;
  const int rank = x.rank();
  for (int d = 0; d < rank; ++d) perm.push_back(d);
  if (to_last) {
    perm.erase(perm.begin() + 1);
    perm.push_back(1);
  } else {
    perm.insert(perm.begin() + 1, rank - 1);
    perm.pop_back();
  }
  return transpose(x, perm);
}

}  // namespace

namespace nn {

BatchNormResult batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                           double epsilon) {
  const Tensor in[] = {x, parameter_for(x, scale), parameter_for(x, offset)};
  auto out = call_all(OpId::BatchNorm, in, {epsilon});
  return {out[0], out[1], out[2]};
}

BatchNormResult fused_batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                 const Tensor& mean, const Tensor& variance, double epsilon,
                                 std::string_view data_format, bool is_training) {
  PLIMSOLL_CHECK(x.is_valid() && x.rank() >= 2, InvalidArgumentError,
                 "fused_batch_norm needs x of rank 2 or more, got {}",
                 x.is_valid() ? x.shape().to_string() : "an empty Tensor");
  const bool is_first = data_format == "NCHW" || data_format == "NCDHW";
  PLIMSOLL_CHECK(is_first || data_format == "NHWC" || data_format == "NDHWC", InvalidArgumentError,
                 "Value for attr 'data_format' of \"{}\" is not in the list of allowed values: "
                 "\"NHWC\", \"NCHW\", \"NDHWC\", \"NCDHW\"",
                 data_format);
  const std::int64_t channels = x.shape().dim(is_first ? 1 : x.rank() - 1);
  check_channels(scale, "scale", channels);
  check_channels(offset, "offset", channels);
  const Tensor in = is_first ? move_channels(x, true) : x;
  BatchNormResult result;
  if (is_training) {
    result = batch_norm(in, scale, offset, epsilon);
    const double count = static_cast<double>(x.num_elements()) /
                         static_cast<double>(std::max<std::int64_t>(channels, 1));
    if (count > 1) result.variance = result.variance * (count / (count - 1));
  } else {
    PLIMSOLL_CHECK(
        mean.is_valid() && variance.is_valid() && mean.rank() == 1 && variance.rank() == 1,
        InvalidArgumentError,
        "Both `mean` and `variance` must be a 1D tensor when `is_training` is False");
    result = {call(OpId::BatchNormInference,
                   {in, parameter_for(x, scale), parameter_for(x, offset), parameter_for(x, mean),
                    parameter_for(x, variance)},
                   {epsilon}),
              mean, variance};
  }
  if (is_first) result.y = move_channels(result.y, false);
  return result;
}

Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                           const Tensor& offset, const Tensor& scale, double variance_epsilon) {
  PLIMSOLL_CHECK(x.is_valid() && mean.is_valid() && variance.is_valid(), InvalidArgumentError,
                 "batch_normalization needs x, mean and variance");
  const Shape channels = x.rank() ? Shape({x.shape().dim(x.rank() - 1)}) : Shape();
  bool is_plain = x.rank() > 0 && is_floating(x.dtype()) && offset.is_valid() && scale.is_valid();
  for (const Tensor* p : {&mean, &variance, &offset, &scale}) {
    is_plain = is_plain && p->shape() == channels && p->dtype() == x.dtype();
  }
  if (is_plain) {
    return call(OpId::BatchNormInference,
                {x, parameter_for(x, scale), parameter_for(x, offset), parameter_for(x, mean),
                 parameter_for(x, variance)},
                {variance_epsilon});
  }
  Tensor factor = math::rsqrt(variance + variance_epsilon);
  if (scale.is_valid()) factor = factor * scale;
  const Tensor shift = offset.is_valid() ? offset - mean * factor : negative(mean * factor);
  return x * factor + shift;
}

Tensor layer_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, double epsilon) {
  return call(OpId::LayerNorm, {x, parameter_for(x, scale), parameter_for(x, offset)}, {epsilon});
}
Tensor rms_norm(const Tensor& x, const Tensor& scale, double epsilon) {
  return call(OpId::RmsNorm, {x, parameter_for(x, scale)}, {epsilon});
}

Tensor group_norm(const Tensor& x, const Tensor& scale, const Tensor& offset, std::int64_t groups,
                  double epsilon) {
  PLIMSOLL_CHECK(x.is_valid() && x.rank() >= 2 && is_floating(x.dtype()), InvalidArgumentError,
                 "group_norm needs floating point x of rank 2 or more");
  const std::int64_t channels = x.shape().dim(x.rank() - 1);
  PLIMSOLL_CHECK(groups > 0 && channels % groups == 0, InvalidArgumentError,
                 "group_norm cannot divide {} channels into {} groups", channels, groups);
  const bool is_16bit = dtype_size(x.dtype()) == 2;
  const std::int64_t batch = x.shape().dim(0);
  const std::int64_t positions = x.num_elements() / std::max<std::int64_t>(1, batch * channels);
  const Tensor in =
      reshape(is_16bit ? cast(x, float32) : x, {batch, positions, groups, channels / groups});
  const Tensor centred = in - reduce_mean(in, {1, 3}, true);
  const Tensor variance = reduce_mean(square(centred), {1, 3}, true);
  const Tensor normal = reshape(centred * math::rsqrt(variance + epsilon), x.shape().dims());
  const Tensor y = normal * parameter_for(x, scale) + parameter_for(x, offset);
  return is_16bit ? cast(y, x.dtype()) : y;
}

Tensor local_response_normalization(const Tensor& input, std::int64_t depth_radius, double bias,
                                    double alpha, double beta) {
  PLIMSOLL_CHECK(
      input.is_valid() && input.rank() == 4 && is_floating(input.dtype()), InvalidArgumentError,
      "local_response_normalization needs floating point input of rank 4, got {}",
      input.is_valid()
          ? fmt::format("{} of shape {}", dtype_word(input.dtype()), input.shape().to_string())
          : "an empty Tensor");
  const bool is_16bit = dtype_size(input.dtype()) == 2;
  const Tensor x = is_16bit ? cast(input, float32) : input;
  const Tensor sums = call(OpId::WindowSum, {square(x)}, {depth_radius});
  const Tensor base = sums * alpha + bias;
  const Tensor y =
      x * (beta == 0.5 ? math::rsqrt(base) : pow(base, fill(Shape(), -beta, base.dtype())));
  return is_16bit ? cast(y, input.dtype()) : y;
}

}  // namespace nn

namespace math {

Tensor l2_normalize(const Tensor& x, const std::vector<std::int64_t>& axis, double epsilon) {
  const Tensor sum = reduce_sum(square(x), axis, true);
  return x * rsqrt(maximum(sum, fill(Shape(), epsilon, x.dtype())));
}

}  // namespace math
}  // namespace plimsoll
