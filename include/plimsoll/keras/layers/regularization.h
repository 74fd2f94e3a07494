// Layers that disturb their input while a model is trained.
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct DropoutConfig {
  static constexpr const char* kClassName = "Dropout";
  double rate = 0;
  ConfigSeed seed = {};
  std::optional<PartialShape> noise_shape = {};  // None: as the input has it
  void visit(ConfigVisitor& v) {
    v("rate", rate);
    v("seed", seed);
    v("noise_shape", noise_shape);
  }
};
// memory: no mask is kept for the gradient.
class DropoutLayer : public Configured<Layer, DropoutConfig> {
 public:
  explicit DropoutLayer(DropoutConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

template <int rank>
struct SpatialDropoutConfig {
  static constexpr const char* kClassName = rank == 1   ? "SpatialDropout1D"
                                            : rank == 2 ? "SpatialDropout2D"
                                                        : "SpatialDropout3D";
  double rate = 0;
  std::string data_format = "channels_last";  // of series always
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v) {
    v("rate", rate);
    v("seed", seed);
    if constexpr (rank > 1) v("data_format", data_format);
  }
};
// Drops whole channels.
template <int rank>
class SpatialDropoutLayer : public Configured<Layer, SpatialDropoutConfig<rank>> {
 public:
  explicit SpatialDropoutLayer(SpatialDropoutConfig<rank> config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Json get_config() const override;
};
extern template class SpatialDropoutLayer<1>;
extern template class SpatialDropoutLayer<2>;
extern template class SpatialDropoutLayer<3>;

struct GaussianNoiseConfig {
  static constexpr const char* kClassName = "GaussianNoise";
  double stddev = 0;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v) {
    v("stddev", stddev);
    v("seed", seed);
  }
};
// Adds numbers about 0.
class GaussianNoiseLayer : public Configured<Layer, GaussianNoiseConfig> {
 public:
  explicit GaussianNoiseLayer(GaussianNoiseConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct GaussianDropoutConfig {
  static constexpr const char* kClassName = "GaussianDropout";
  double rate = 0;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v) {
    v("rate", rate);
    v("seed", seed);
  }
};
// Multiplies by numbers about 1, which vary as dropout at this rate does.
class GaussianDropoutLayer : public Configured<Layer, GaussianDropoutConfig> {
 public:
  explicit GaussianDropoutLayer(GaussianDropoutConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct AlphaDropoutConfig {
  static constexpr const char* kClassName = "AlphaDropout";
  double rate = 0;
  std::optional<PartialShape> noise_shape = {};  // None: as the input has it
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v) {
    v("rate", rate);
    v("seed", seed);
    v("noise_shape", noise_shape);
  }
};
// Dropout after selu: mean and variance stay as they are.
class AlphaDropoutLayer : public Configured<Layer, AlphaDropoutConfig> {
 public:
  explicit AlphaDropoutLayer(AlphaDropoutConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct ActivityRegularizationConfig {
  static constexpr const char* kClassName = "ActivityRegularization";
  double l1 = 0, l2 = 0;
  void visit(ConfigVisitor& v) {
    v("l1", l1);
    v("l2", l2);
  }
};
// Passes everything on, and adds a penalty on it to the loss.
class ActivityRegularizationLayer : public Configured<Layer, ActivityRegularizationConfig> {
 public:
  explicit ActivityRegularizationLayer(ActivityRegularizationConfig config,
                                       LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Json get_config() const override;
};

namespace layers {
using Dropout = LayerRef<DropoutLayer>;
using SpatialDropout1D = LayerRef<SpatialDropoutLayer<1>>;
using SpatialDropout2D = LayerRef<SpatialDropoutLayer<2>>;
using SpatialDropout3D = LayerRef<SpatialDropoutLayer<3>>;
using GaussianNoise = LayerRef<GaussianNoiseLayer>;
using GaussianDropout = LayerRef<GaussianDropoutLayer>;
using AlphaDropout = LayerRef<AlphaDropoutLayer>;
using ActivityRegularization = LayerRef<ActivityRegularizationLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
