#include "models/layers.h"

#include <cmath>
#include <utility>

#include "models/values.h"
#include "plimsoll/function.h"

namespace plimsoll::bench {
namespace {

constexpr double kBatchNormEpsilon = 1e-5, kLayerNormEpsilon = 1e-5;
constexpr double kMomentum = 0.9;  // of moving averages

// He's limit for uniform values.
double limit_of(std::int64_t fan_in) {
  return std::sqrt(6.0 / static_cast<double>(fan_in));
}

}  // namespace

Variable* Weights::add(const std::string& name, const Shape& shape, double limit) {
  return &variables.emplace_back(uniform_values(name, shape, limit), VariableOptions{.name = name});
}

Variable* Weights::add_constant(const std::string& name, const Shape& shape, double value,
                                VariableOptions options) {
  options.name = name;
  return &variables.emplace_back(fill(shape, value), std::move(options));
}

std::vector<const Variable*> Weights::trainable() const {
  std::vector<const Variable*> found;
  for (const Variable& v : variables) {
    if (v.trainable()) found.push_back(&v);
  }
  return found;
}

Dense::Dense(Weights& weights, std::string name, std::int64_t in, std::int64_t out)
    : name_(std::move(name)),
      kernel_(weights.add(name_ + "/kernel", {in, out}, limit_of(in) / 2)),
      bias_(weights.add_constant(name_ + "/bias", {out}, 0)) {}

Tensor Dense::operator()(const Tensor& x) const {
  const name_scope scope(name_);
  return nn::bias_add(matmul(x, *kernel_), *bias_);
}

Conv::Conv(Weights& weights, std::string name, std::int64_t kernel, std::int64_t in,
           std::int64_t out, ConvOptions options)
    : name_(std::move(name)), size_(kernel), options_(options) {
  const std::int64_t fan_in = kernel * kernel * (options_.is_depthwise ? 1 : in);
  const Shape shape =
      options_.is_depthwise ? Shape{kernel, kernel, in, 1} : Shape{kernel, kernel, in, out};
  kernel_ = weights.add(name_ + "/kernel", shape, limit_of(fan_in));
  if (options_.has_bias) bias_ = weights.add_constant(name_ + "/bias", {out}, 0);
}

Tensor Conv::operator()(const Tensor& x) const {
  const name_scope scope(name_);
  const nn::PaddingArg padding = padding_of(options_.pad, size_);
  const Tensor y = options_.is_depthwise
                       ? nn::depthwise_conv2d(x, *kernel_, options_.stride, padding)
                       : nn::conv2d(x, *kernel_, options_.stride, padding);
  return bias_ ? nn::bias_add(y, *bias_) : y;
}

BatchNorm::BatchNorm(Weights& weights, std::string name, std::int64_t channels)
    : name_(std::move(name)),
      gamma_(weights.add_constant(name_ + "/gamma", {channels}, 1)),
      beta_(weights.add_constant(name_ + "/beta", {channels}, 0)),
      mean_(weights.add_constant(name_ + "/mean", {channels}, 0, {.trainable = false})),
      variance_(weights.add_constant(name_ + "/variance", {channels}, 1, {.trainable = false})) {}

Tensor BatchNorm::operator()(const Tensor& x) const {
  const name_scope scope(name_);
  const auto now = nn::fused_batch_norm(x, *gamma_, *beta_, {}, {}, kBatchNormEpsilon);
  mean_->assign_sub((mean_->value() - now.mean) * (1 - kMomentum));
  variance_->assign_sub((variance_->value() - now.variance) * (1 - kMomentum));
  return now.y;
}

LayerNorm::LayerNorm(Weights& weights, std::string name, std::int64_t channels)
    : name_(std::move(name)),
      gamma_(weights.add_constant(name_ + "/gamma", {channels}, 1)),
      beta_(weights.add_constant(name_ + "/beta", {channels}, 0)) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
  const name_scope scope(name_);
  return nn::layer_norm(x, *gamma_, *beta_, kLayerNormEpsilon);
}

Attention::Attention(Weights& weights, std::string name, std::int64_t channels,
                     std::int64_t num_heads)
    : name_(std::move(name)),
      num_heads_(num_heads),
      qkv_(weights, name_ + "/qkv", channels, 3 * channels),
      out_(weights, name_ + "/out", channels, channels) {}

Tensor Attention::operator()(const Tensor& x) const {
  const std::int64_t batch = x.shape()[0], positions = x.shape()[1], channels = x.shape()[2];
  const std::int64_t size = channels / num_heads_;
  const Tensor joined = qkv_(x);
  Tensor mixed;
  {
    const name_scope scope(name_);
    // [batch, positions, 3, heads, size] -> 3 x [batch, heads, positions, size]
    const Tensor parts =
        transpose(reshape(joined, {batch, positions, 3, num_heads_, size}), {2, 0, 3, 1, 4});
    const std::vector<Tensor> qkv = unstack(parts);
    const Tensor scores =
        matmul(qkv[0], qkv[1], {.transpose_b = true}) * (1 / std::sqrt(static_cast<double>(size)));
    const Tensor heads = matmul(nn::softmax(scores), qkv[2]);
    mixed = reshape(transpose(heads, {0, 2, 1, 3}), {batch, positions, channels});
  }
  return out_(mixed);
}

Lstm::Lstm(Weights& weights, std::string name, std::int64_t in, std::int64_t units)
    : name_(std::move(name)),
      kernel_(weights.add(name_ + "/kernel", {in, 4 * units}, limit_of(in) / 2)),
      recurrent_(weights.add(name_ + "/recurrent_kernel", {units, 4 * units}, limit_of(units) / 2)),
      bias_(weights.add_constant(name_ + "/bias", {4 * units}, 0)) {}

Tensor Lstm::operator()(const Tensor& x) const {
  const name_scope scope(name_);
  return nn::lstm(x, *kernel_, *recurrent_, *bias_).h;
}

nn::PaddingArg padding_of(Pad pad, std::int64_t window) {
  const std::int64_t n = (window - 1) / 2;
  if (pad == Pad::kValid || n == 0) return "VALID";
  return {{0, 0}, {n, n}, {n, n}, {0, 0}};
}

Tensor global_average(const Tensor& images) {
  return reduce_mean(images, {1, 2});
}

}  // namespace plimsoll::bench
