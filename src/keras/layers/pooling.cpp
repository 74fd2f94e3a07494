#include "plimsoll/keras/layers/pooling.h"

#include "base/check.h"
#include "keras/layers/tables.h"
#include "keras/layers/windows.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

template <PoolMode mode, int rank>
constexpr ClassRow kWindows = {PoolingConfig<mode, rank>::kClassName,
                               make_layer_of_config<PoolingLayer<mode, rank>>};
template <PoolMode mode, int rank>
constexpr ClassRow kGlobal = {GlobalPoolingConfig<mode, rank>::kClassName,
                              make_layer_of_config<GlobalPoolingLayer<mode, rank>>};
template <PoolMode mode, int rank>
constexpr ClassRow kAdaptive = {AdaptivePoolingConfig<mode, rank>::kClassName,
                                make_layer_of_config<AdaptivePoolingLayer<mode, rank>>};

constexpr ClassRow kLayers[] = {
    kWindows<PoolMode::kMax, 1>,      kWindows<PoolMode::kMax, 2>,
    kWindows<PoolMode::kMax, 3>,      kWindows<PoolMode::kAverage, 1>,
    kWindows<PoolMode::kAverage, 2>,  kWindows<PoolMode::kAverage, 3>,
    kGlobal<PoolMode::kMax, 1>,       kGlobal<PoolMode::kMax, 2>,
    kGlobal<PoolMode::kMax, 3>,       kGlobal<PoolMode::kAverage, 1>,
    kGlobal<PoolMode::kAverage, 2>,   kGlobal<PoolMode::kAverage, 3>,
    kAdaptive<PoolMode::kMax, 1>,     kAdaptive<PoolMode::kMax, 2>,
    kAdaptive<PoolMode::kMax, 3>,     kAdaptive<PoolMode::kAverage, 1>,
    kAdaptive<PoolMode::kAverage, 2>, kAdaptive<PoolMode::kAverage, 3>,
};

// All axes but the batch and the channels.
Axes spatial_axes(int rank, std::string_view data_format) {
  Axes axes;
  for (int i = 0; i < rank; ++i) axes.push_back(first_spatial_axis(data_format) + i);
  return axes;
}

// `num` windows along one axis, from floor(i n / num) to ceil((i + 1) n / num).
Tensor adapt_axis(const Tensor& x, PoolMode mode, int axis, std::int64_t num) {
  const std::int64_t n = x.shape()[axis];
  if (n == num) return x;
  std::vector<Tensor> parts;
  for (std::int64_t i = 0; i < num; ++i) {
    const std::int64_t begin = i * n / num, end = ((i + 1) * n + num - 1) / num;
    std::vector<std::int64_t> from(static_cast<std::size_t>(x.rank()), 0);
    std::vector<std::int64_t> size(static_cast<std::size_t>(x.rank()), -1);
    from[static_cast<std::size_t>(axis)] = begin;
    size[static_cast<std::size_t>(axis)] = end - begin;
    const Tensor window = slice(x, from, size);
    parts.push_back(mode == PoolMode::kMax ? reduce_max(window, {axis}, true)
                                           : reduce_mean(window, {axis}, true));
  }
  return parts.size() == 1 ? parts[0] : concat(parts, axis);
}

}  // namespace

std::span<const ClassRow> pooling_layers() {
  return kLayers;
}

template <PoolMode mode, int rank>
PoolingLayer<mode, rank>::PoolingLayer(PoolingConfig<mode, rank> config, LayerOptions options)
    : Configured<Layer, PoolingConfig<mode, rank>>(std::move(config), std::move(options)) {
  auto& c = this->config_;
  if (c.strides.is_none()) c.strides = c.pool_size;
  c.pool_size = c.pool_size.repeated(rank, "pool_size");
  c.strides = c.strides.repeated(rank, "strides");
  c.padding = standardize_padding(c.padding);
  c.data_format = standardize_data_format(c.data_format);
  this->input_spec = {{.ndim = rank + 2}};
  this->set_built(true);
}

template <PoolMode mode, int rank>
Nested PoolingLayer<mode, rank>::call(const Nested& inputs, const CallArgs&) {
  const auto& c = this->config_;
  const Tensor& x = inputs.leaf().tensor();
  check_pool_output(x.shape(), {c.pool_size, c.strides, {}, c.padding, c.data_format});
  const auto pool = mode == PoolMode::kMax ? nn::max_pool : nn::avg_pool;
  return pool(x, c.pool_size.values(), c.strides.values(), op_padding(c.padding),
              op_data_format(rank, c.data_format));
}

template <PoolMode mode, int rank>
GlobalPoolingLayer<mode, rank>::GlobalPoolingLayer(GlobalPoolingConfig<mode, rank> config,
                                                   LayerOptions options)
    : Configured<Layer, GlobalPoolingConfig<mode, rank>>(std::move(config), std::move(options)) {
  this->config_.data_format = standardize_data_format(this->config_.data_format);
  this->input_spec = {{.ndim = rank + 2}};
  this->supports_masking_ = mode == PoolMode::kAverage && rank == 1;
  this->set_built(true);
}

template <PoolMode mode, int rank>
Nested GlobalPoolingLayer<mode, rank>::call(const Nested& inputs, const CallArgs& args) {
  const auto& c = this->config_;
  const Tensor& x = inputs.leaf().tensor();
  const Axes axes = spatial_axes(rank, c.data_format);
  if constexpr (mode == PoolMode::kMax) return reduce_max(x, axes, c.keepdims);
  if (!this->supports_masking_ || args.mask.is_none()) return reduce_mean(x, axes, c.keepdims);
  const Tensor mask = cast(expand_dims(args.mask, is_channels_first(c.data_format) ? 1 : 2), bool_);
  const Tensor kept = where(mask, x, zeros_like(x));
  return reduce_sum(kept, axes, c.keepdims) / reduce_sum(cast(mask, x.dtype()), axes, c.keepdims);
}

template <PoolMode mode, int rank>
Nested GlobalPoolingLayer<mode, rank>::compute_mask(const Nested&, const Nested&) {
  return {};
}

template <PoolMode mode, int rank>
AdaptivePoolingLayer<mode, rank>::AdaptivePoolingLayer(AdaptivePoolingConfig<mode, rank> config,
                                                       LayerOptions options)
    : Configured<Layer, AdaptivePoolingConfig<mode, rank>>(std::move(config), std::move(options)) {
  this->config_.output_size = this->config_.output_size.repeated(rank, "output_size");
  this->config_.data_format = standardize_data_format(this->config_.data_format);
  this->input_spec = {{.ndim = rank + 2}};
  this->set_built(true);
}

template <PoolMode mode, int rank>
Nested AdaptivePoolingLayer<mode, rank>::call(const Nested& inputs, const CallArgs&) {
  Tensor y = inputs;
  for (int i = 0; i < rank; ++i)
    y = adapt_axis(y, mode, first_spatial_axis(this->config_.data_format) + i,
                   this->config_.output_size[static_cast<std::size_t>(i)]);
  return y;
}

#define PLIMSOLL_POOLING(rank)                                 \
  template class PoolingLayer<PoolMode::kMax, rank>;           \
  template class PoolingLayer<PoolMode::kAverage, rank>;       \
  template class GlobalPoolingLayer<PoolMode::kMax, rank>;     \
  template class GlobalPoolingLayer<PoolMode::kAverage, rank>; \
  template class AdaptivePoolingLayer<PoolMode::kMax, rank>;   \
  template class AdaptivePoolingLayer<PoolMode::kAverage, rank>
PLIMSOLL_POOLING(1);
PLIMSOLL_POOLING(2);
PLIMSOLL_POOLING(3);
#undef PLIMSOLL_POOLING

}  // namespace plimsoll::keras
