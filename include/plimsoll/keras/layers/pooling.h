// Pooling over series (1), images (2) and volumes (3): the largest or the mean of windows, or of
// everything.
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

enum class PoolMode { kMax, kAverage };

// internal: MaxPooling2D, GlobalMaxPooling2D, AdaptiveMaxPooling2D and so on.
enum class PoolKind { kWindows, kGlobal, kAdaptive };
inline constexpr const char* kPoolingNames[3][2][3] = {
    {{"MaxPooling1D", "MaxPooling2D", "MaxPooling3D"},
     {"AveragePooling1D", "AveragePooling2D", "AveragePooling3D"}},
    {{"GlobalMaxPooling1D", "GlobalMaxPooling2D", "GlobalMaxPooling3D"},
     {"GlobalAveragePooling1D", "GlobalAveragePooling2D", "GlobalAveragePooling3D"}},
    {{"AdaptiveMaxPooling1D", "AdaptiveMaxPooling2D", "AdaptiveMaxPooling3D"},
     {"AdaptiveAveragePooling1D", "AdaptiveAveragePooling2D", "AdaptiveAveragePooling3D"}}};
constexpr const char* pooling_class_name(PoolKind kind, PoolMode mode, int rank) {
  return kPoolingNames[static_cast<int>(kind)][static_cast<int>(mode)][rank - 1];
}

template <PoolMode mode, int rank>
struct PoolingConfig {
  static constexpr const char* kClassName = pooling_class_name(PoolKind::kWindows, mode, rank);
  Sizes pool_size = 2;
  Sizes strides = {};             // none: pool_size
  std::string padding = "valid";  // or same
  std::string data_format = "channels_last";
  void visit(ConfigVisitor& v) {
    v("pool_size", pool_size);
    v("padding", padding);
    v("strides", strides);
    v("data_format", data_format);
  }
};
template <PoolMode mode, int rank>
class PoolingLayer : public Configured<Layer, PoolingConfig<mode, rank>> {
 public:
  explicit PoolingLayer(PoolingConfig<mode, rank> config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

template <PoolMode mode, int rank>
struct GlobalPoolingConfig {
  static constexpr const char* kClassName = pooling_class_name(PoolKind::kGlobal, mode, rank);
  std::string data_format = "channels_last";
  bool keepdims = false;
  void visit(ConfigVisitor& v) {
    v("data_format", data_format);
    v("keepdims", keepdims);
  }
};
// GlobalAveragePooling1D leaves out the steps that a mask [batch, steps] hides.
template <PoolMode mode, int rank>
class GlobalPoolingLayer : public Configured<Layer, GlobalPoolingConfig<mode, rank>> {
 public:
  explicit GlobalPoolingLayer(GlobalPoolingConfig<mode, rank> config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
};

template <PoolMode mode, int rank>
struct AdaptivePoolingConfig {
  static constexpr const char* kClassName = pooling_class_name(PoolKind::kAdaptive, mode, rank);
  Sizes output_size = {};
  std::string data_format = "channels_last";
  void visit(ConfigVisitor& v) {
    v("output_size", output_size);
    v("data_format", data_format);
  }
};
// Windows that follow from how many there are to be.
template <PoolMode mode, int rank>
class AdaptivePoolingLayer : public Configured<Layer, AdaptivePoolingConfig<mode, rank>> {
 public:
  explicit AdaptivePoolingLayer(AdaptivePoolingConfig<mode, rank> config,
                                LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

namespace layers {
using MaxPooling1D = LayerRef<PoolingLayer<PoolMode::kMax, 1>>;
using MaxPooling2D = LayerRef<PoolingLayer<PoolMode::kMax, 2>>;
using MaxPooling3D = LayerRef<PoolingLayer<PoolMode::kMax, 3>>;
using AveragePooling1D = LayerRef<PoolingLayer<PoolMode::kAverage, 1>>;
using AveragePooling2D = LayerRef<PoolingLayer<PoolMode::kAverage, 2>>;
using AveragePooling3D = LayerRef<PoolingLayer<PoolMode::kAverage, 3>>;
using GlobalMaxPooling1D = LayerRef<GlobalPoolingLayer<PoolMode::kMax, 1>>;
using GlobalMaxPooling2D = LayerRef<GlobalPoolingLayer<PoolMode::kMax, 2>>;
using GlobalMaxPooling3D = LayerRef<GlobalPoolingLayer<PoolMode::kMax, 3>>;
using GlobalAveragePooling1D = LayerRef<GlobalPoolingLayer<PoolMode::kAverage, 1>>;
using GlobalAveragePooling2D = LayerRef<GlobalPoolingLayer<PoolMode::kAverage, 2>>;
using GlobalAveragePooling3D = LayerRef<GlobalPoolingLayer<PoolMode::kAverage, 3>>;
using AdaptiveMaxPooling1D = LayerRef<AdaptivePoolingLayer<PoolMode::kMax, 1>>;
using AdaptiveMaxPooling2D = LayerRef<AdaptivePoolingLayer<PoolMode::kMax, 2>>;
using AdaptiveMaxPooling3D = LayerRef<AdaptivePoolingLayer<PoolMode::kMax, 3>>;
using AdaptiveAveragePooling1D = LayerRef<AdaptivePoolingLayer<PoolMode::kAverage, 1>>;
using AdaptiveAveragePooling2D = LayerRef<AdaptivePoolingLayer<PoolMode::kAverage, 2>>;
using AdaptiveAveragePooling3D = LayerRef<AdaptivePoolingLayer<PoolMode::kAverage, 3>>;
// The other names that Keras has for them.
using MaxPool1D = MaxPooling1D;
using AvgPool1D = AveragePooling1D;
using GlobalMaxPool1D = GlobalMaxPooling1D;
using GlobalAvgPool1D = GlobalAveragePooling1D;
using MaxPool2D = MaxPooling2D;
using AvgPool2D = AveragePooling2D;
using GlobalMaxPool2D = GlobalMaxPooling2D;
using GlobalAvgPool2D = GlobalAveragePooling2D;
using MaxPool3D = MaxPooling3D;
using AvgPool3D = AveragePooling3D;
using GlobalMaxPool3D = GlobalMaxPooling3D;
using GlobalAvgPool3D = GlobalAveragePooling3D;
}  // namespace layers

}  // namespace plimsoll::keras
