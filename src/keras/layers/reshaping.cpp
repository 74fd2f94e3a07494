#include "plimsoll/keras/layers/reshaping.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "keras/layers/tables.h"
#include "keras/layers/windows.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"Flatten", make_layer_of_config<FlattenLayer>},
    {"Reshape", make_layer_of_config<ReshapeLayer>},
    {"Permute", make_layer_of_config<PermuteLayer>},
    {"RepeatVector", make_layer_of_config<RepeatVectorLayer>},
    {"UpSampling1D", make_layer_of_config<UpSampling1DLayer>},
    {"UpSampling2D", make_layer_of_config<UpSampling2DLayer>},
    {"UpSampling3D", make_layer_of_config<UpSampling3DLayer>},
    {"ZeroPadding1D", make_layer_of_config<ZeroPaddingLayer<1>>},
    {"ZeroPadding2D", make_layer_of_config<ZeroPaddingLayer<2>>},
    {"ZeroPadding3D", make_layer_of_config<ZeroPaddingLayer<3>>},
    {"Cropping1D", make_layer_of_config<CroppingLayer<1>>},
    {"Cropping2D", make_layer_of_config<CroppingLayer<2>>},
    {"Cropping3D", make_layer_of_config<CroppingLayer<3>>},
};

}  // namespace

std::span<const ClassRow> reshaping_layers() {
  return kLayers;
}

FlattenLayer::FlattenLayer(FlattenConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  config_.data_format = standardize_data_format(config_.data_format);
  input_spec = {{.min_ndim = 1}};
}

Nested FlattenLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor x = inputs;
  if (config_.data_format == "channels_first" && x.rank() > 1) {
    std::vector<std::int64_t> order{0};
    for (int i = 2; i < x.rank(); ++i) order.push_back(i);
    order.push_back(1);
    x = transpose(x, order);
  }
  const std::int64_t batch = x.shape()[0];
  return reshape(x, {batch, batch ? x.num_elements() / batch : 0});
}

ReshapeLayer::ReshapeLayer(ReshapeConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  const auto& target = config_.target_shape;
  PLIMSOLL_CHECK(std::ranges::count(target, -1) <= 1, InvalidArgumentError,
                 "There must be at most one unknown dimension (-1) in `target_shape`. Received: "
                 "target_shape={}.",
                 tuple_text(target));
  PLIMSOLL_CHECK(std::ranges::all_of(target, [](std::int64_t d) { return d >= -1; }),
                 InvalidArgumentError,
                 "Dimensions of `target_shape` must be positive, or -1. Received: target_shape={}.",
                 to_config(target).dump());
  set_built(true);
}

Nested ReshapeLayer::call(const Nested& inputs, const CallArgs&) {
  const Tensor& x = inputs.leaf().tensor();
  PLIMSOLL_CHECK(x.rank() > 0, InvalidArgumentError, "Reshape needs inputs with a batch");
  const PartialShape input(
      std::vector<std::int64_t>(x.shape().dims().begin() + 1, x.shape().dims().end()));
  std::int64_t size = 1, known = 1;
  for (const std::int64_t d : input.dims()) size *= d;
  for (const std::int64_t d : config_.target_shape) known *= d == -1 ? 1 : d;
  const bool is_open = std::ranges::count(config_.target_shape, -1) > 0;
  PLIMSOLL_CHECK(is_open ? known > 0 && size % known == 0 : size == known, InvalidArgumentError,
                 "The total size of the tensor must be unchanged. Received: input_shape={}, "
                 "target_shape={}",
                 input.to_string(), to_config(config_.target_shape).dump());
  std::vector<std::int64_t> dims{x.shape()[0]};
  for (const std::int64_t d : config_.target_shape) dims.push_back(d == -1 ? size / known : d);
  return reshape(x, dims);
}

// Where dimensions are not known, the target says what comes out.
Nested ReshapeLayer::compute_output_spec(const Nested& inputs, const CallArgs& args) {
  PartialShape shape = inputs.leaf().shape();
  if (shape.rank() > 0) shape[0] = 1;
  if (shape.is_known()) return Layer::compute_output_spec(inputs, args);
  std::vector<std::int64_t> dims{inputs.leaf().shape()[0]};
  for (const std::int64_t d : config_.target_shape) dims.push_back(d == -1 ? kNone : d);
  return KerasTensor(PartialShape(std::move(dims)), inputs.leaf().dtype(), name());
}

PermuteLayer::PermuteLayer(PermuteConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  std::vector<std::int64_t> sorted = config_.dims;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    PLIMSOLL_CHECK(sorted[i] == static_cast<std::int64_t>(i) + 1, InvalidArgumentError,
                   "Invalid permutation argument `dims` for Permute Layer. The set of indices in "
                   "`dims` must be consecutive and start from 1. Received dims={}",
                   tuple_text(config_.dims));
  input_spec = {{.ndim = static_cast<int>(sorted.size()) + 1}};
}

Nested PermuteLayer::call(const Nested& inputs, const CallArgs&) {
  std::vector<std::int64_t> order{0};
  order.insert(order.end(), config_.dims.begin(), config_.dims.end());
  return transpose(inputs, order);
}

RepeatVectorLayer::RepeatVectorLayer(RepeatVectorConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  PLIMSOLL_CHECK(config_.n > 0, InvalidArgumentError,
                 "Argument `n` should be a positive integer. Received: n={}", config_.n);
  input_spec = {{.ndim = 2}};
}

Nested RepeatVectorLayer::call(const Nested& inputs, const CallArgs&) {
  return repeat(expand_dims(inputs, 1), config_.n, 1);
}

UpSampling1DLayer::UpSampling1DLayer(UpSampling1DConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  PLIMSOLL_CHECK(config_.size > 0, InvalidArgumentError,
                 "Argument `size` should be a positive integer. Received: size={}", config_.size);
  input_spec = {{.ndim = 3}};
}

Nested UpSampling1DLayer::call(const Nested& inputs, const CallArgs&) {
  return repeat(inputs, config_.size, 1);
}

UpSampling2DLayer::UpSampling2DLayer(UpSampling2DConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  constexpr std::array kNames = {"bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area"};
  config_.size = config_.size.repeated(2, "size");
  config_.data_format = standardize_data_format(config_.data_format);
  PLIMSOLL_CHECK(std::ranges::count(kNames, config_.interpolation) == 1, InvalidArgumentError,
                 "Invalid value for argument `interpolation`. Expected of one ('bilinear', "
                 "'nearest', 'lanczos3', 'lanczos5', 'bicubic', 'area'). Received: "
                 "interpolation={}",
                 config_.interpolation);
  input_spec = {{.ndim = 4}};
}

Nested UpSampling2DLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor x = inputs;
  const bool is_first = is_channels_first(config_.data_format);
  const int first = is_first ? 2 : 1;
  if (config_.interpolation == "nearest")
    return repeat(repeat(x, config_.size[0], first), config_.size[1], first + 1);
  if (is_first) x = transpose(x, {0, 2, 3, 1});
  Tensor y = image::resize(x, {x.shape()[1] * config_.size[0], x.shape()[2] * config_.size[1]},
                           config_.interpolation);
  if (y.dtype() != x.dtype()) y = cast(y, x.dtype());
  return is_first ? transpose(y, {0, 3, 1, 2}) : y;
}

UpSampling3DLayer::UpSampling3DLayer(UpSampling3DConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  config_.size = config_.size.repeated(3, "size");
  config_.data_format = standardize_data_format(config_.data_format);
  input_spec = {{.ndim = 5}};
}

Nested UpSampling3DLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor y = inputs;
  const int first = first_spatial_axis(config_.data_format);
  for (int i = 0; i < 3; ++i) y = repeat(y, config_.size[static_cast<std::size_t>(i)], first + i);
  return y;
}

}  // namespace plimsoll::keras
