// Layers that bring data into a form that models take. Some learn about the data first:
//
//   auto norm = keras::layers::Normalization();
//   norm->adapt(x);          // its mean and variance
//   tf::Tensor y = norm(x);
#pragma once

#include <span>

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

// A layer that can look at data before it is used.
class AdaptableLayer : public Layer {
 public:
  using Layer::Layer;
  void adapt(const Tensor& data) { adapt(std::span(&data, 1)); }
  // Batch by batch. What was learnt before is forgotten.
  virtual void adapt(std::span<const Tensor> batches) = 0;
};

struct RescalingConfig {
  static constexpr const char* kClassName = "Rescaling";
  Json scale = 1.0;  // a number, or a list of them for the last dimension
  Json offset = 0.0;
  void visit(ConfigVisitor& v);
};
// inputs * scale + offset.
class RescalingLayer : public Configured<Layer, RescalingConfig> {
 public:
  explicit RescalingLayer(RescalingConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

struct NormalizationConfig {
  static constexpr const char* kClassName = "Normalization";
  Sizes axis = -1;      // that have a mean and a variance each; none: one for all
  Json mean = {};       // given instead of learnt: a number or a list
  Json variance = {};   // with mean
  bool invert = false;  // back from normalised values
  void visit(ConfigVisitor& v);
};
// (inputs - mean) / sqrt(variance).
class NormalizationLayer : public Configured<AdaptableLayer, NormalizationConfig> {
 public:
  explicit NormalizationLayer(NormalizationConfig config, LayerOptions options = {});
  using AdaptableLayer::adapt;
  void adapt(std::span<const Tensor> batches) override;
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  std::vector<std::int64_t> keep_axes_, reduce_axes_, broadcast_shape_;
  VariablePtr adapt_mean_, adapt_variance_, count_;
};

struct CategoryEncodingConfig {
  static constexpr const char* kClassName = "CategoryEncoding";
  std::int64_t num_tokens = 0;
  std::string output_mode = "multi_hot";  // one_hot, count
  void visit(ConfigVisitor& v);
};
// Numbers below num_tokens as vectors. Named tensors: "count_weights".
class CategoryEncodingLayer : public Configured<Layer, CategoryEncodingConfig> {
 public:
  explicit CategoryEncodingLayer(CategoryEncodingConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
  std::vector<std::string> call_argument_names() const override { return {"count_weights"}; }
};

struct DiscretizationConfig {
  static constexpr const char* kClassName = "Discretization";
  std::optional<std::vector<double>> bin_boundaries = {};  // or
  std::optional<std::int64_t> num_bins = {};               // learnt by adapt, so many
  double epsilon = 0.01;                                   // of what adapt keeps of the data
  std::string output_mode = "int";                         // one_hot, multi_hot, count
  void visit(ConfigVisitor& v);
};
// Which bin a number falls into.
class DiscretizationLayer : public Configured<AdaptableLayer, DiscretizationConfig> {
 public:
  explicit DiscretizationLayer(DiscretizationConfig config, LayerOptions options = {});
  using AdaptableLayer::adapt;
  void adapt(std::span<const Tensor> batches) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Json get_config() const override;
};

namespace layers {
using Rescaling = LayerRef<RescalingLayer>;
using Normalization = LayerRef<NormalizationLayer>;
using CategoryEncoding = LayerRef<CategoryEncodingLayer>;
using Discretization = LayerRef<DiscretizationLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
