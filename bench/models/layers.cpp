#include "models/layers.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/values.h"

namespace plimsoll::bench {
namespace {

struct NamedValuesConfig {
  static constexpr const char* kClassName = "NamedValues";
  std::string name = {};
  double scale = 1;
  void visit(keras::ConfigVisitor& v) {
    v("name", name);
    v("scale", scale);
  }
};
class NamedValuesInitializer : public keras::Configured<keras::Initializer, NamedValuesConfig> {
 public:
  using Configured::Configured;
  Tensor operator()(const Shape& shape, DType) const override {
    const bool is_depthwise = shape.rank() == 4 && shape[3] == 1;
    std::int64_t fan_in = 1;
    for (int i = 0; i < shape.rank() - (is_depthwise ? 2 : 1); ++i) fan_in *= shape[i];
    return uniform_values(config_.name, shape,
                          config_.scale * std::sqrt(6.0 / static_cast<double>(fan_in)));
  }
};

nn::PaddingArg padding_around(std::int64_t window) {
  const std::int64_t n = (window - 1) / 2;
  return {{0, 0}, {n, n}, {n, n}, {0, 0}};
}

}  // namespace

keras::InitializerArg named_values(std::string name, double scale) {
  return std::make_shared<NamedValuesInitializer>(NamedValuesConfig{std::move(name), scale});
}

std::string layer_name(std::string name) {
  std::ranges::replace(name, '/', '.');
  return name;
}

std::string peer_name(const keras::Variable& variable) {
  std::string name = variable.path();
  name.erase(0, name.find('/') + 1);  // the model
  std::ranges::replace(name, '.', '/');
  constexpr std::string_view kCell = "/lstm_cell";
  if (const auto at = name.find(kCell); at != std::string::npos) name.erase(at, kCell.size());
  return name;
}

void PaddedConv2DConfig::visit(keras::ConfigVisitor& v) {
  v("filters", filters);
  v("kernel_size", kernel_size);
  v("strides", strides);
  v("kernel_initializer", kernel_initializer);
}

void PaddedConv2DLayer::build(const keras::Shapes& input_shapes) {
  const std::int64_t size = config_.kernel_size, in = input_shapes.leaf()[-1];
  const Shape shape =
      config_.filters ? Shape{size, size, in, config_.filters} : Shape{size, size, in, 1};
  kernel_ =
      add_weight({.name = "kernel", .shape = shape, .initializer = config_.kernel_initializer});
}

keras::Nested PaddedConv2DLayer::call(const keras::Nested& inputs, const keras::CallArgs&) {
  const auto conv = config_.filters ? nn::conv2d : nn::depthwise_conv2d;
  return conv(inputs, *kernel_, config_.strides, padding_around(config_.kernel_size), "NHWC", 1);
}

void PaddedMaxPooling2DConfig::visit(keras::ConfigVisitor& v) {
  v("pool_size", pool_size);
  v("strides", strides);
}

keras::Nested PaddedMaxPooling2DLayer::call(const keras::Nested& inputs, const keras::CallArgs&) {
  return nn::max_pool2d(inputs, config_.pool_size, config_.strides,
                        padding_around(config_.pool_size));
}

void SelfAttentionConfig::visit(keras::ConfigVisitor& v) {
  v("num_heads", num_heads);
  v("values_name", values_name);
}

void SelfAttentionLayer::build(const keras::Shapes& input_shapes) {
  const std::int64_t channels = input_shapes.leaf()[-1];
  const auto add = [&](const std::string& name, std::int64_t units) {
    const auto values = named_values(config_.values_name + "/" + name + "/kernel", 0.5);
    auto dense = track(keras::layers::Dense({.units = units, .kernel_initializer = values},
                                            {.name = name, .dtype = dtype_policy()}));
    dense->ensure_built(input_shapes);
    return dense;
  };
  qkv_ = add("qkv", 3 * channels);
  out_ = add("out", channels);
}

keras::Nested SelfAttentionLayer::call(const keras::Nested& inputs, const keras::CallArgs&) {
  const Tensor joined = (*qkv_)(inputs);
  const std::int64_t batch = joined.shape()[0], positions = joined.shape()[1];
  const std::int64_t channels = joined.shape()[2] / 3, size = channels / config_.num_heads;
  // [batch, positions, 3, heads, size] -> 3 x [batch, heads, positions, size]
  const Tensor parts =
      transpose(reshape(joined, {batch, positions, 3, config_.num_heads, size}), {2, 0, 3, 1, 4});
  const std::vector<Tensor> qkv = unstack(parts);
  const Tensor scores =
      matmul(qkv[0], qkv[1], {.transpose_b = true}) * (1 / std::sqrt(static_cast<double>(size)));
  const Tensor heads = matmul(nn::softmax(scores), qkv[2]);
  return (*out_)(reshape(transpose(heads, {0, 2, 1, 3}), {batch, positions, channels}));
}

}  // namespace plimsoll::bench
