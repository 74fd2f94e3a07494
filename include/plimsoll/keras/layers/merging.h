// Layers that make one tensor of several.
//
//   keras::Nested sum = keras::layers::Add()({x, y});
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

// What all of them share: they are called on a list, whose shapes are checked when they are built.
class MergeLayer : public Layer {
 public:
  explicit MergeLayer(LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

 protected:
  // masks[i] is empty where inputs[i] has none.
  virtual Tensor merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) = 0;
  bool reshapes_ = true;  // inputs of fewer dimensions get more
};

enum class MergeOp { kAdd, kSubtract, kMultiply, kAverage, kMaximum, kMinimum };

inline constexpr const char* kMergeNames[] = {"Add",     "Subtract", "Multiply",
                                              "Average", "Maximum",  "Minimum"};

template <MergeOp op>
struct MergeConfig {
  static constexpr const char* kClassName = kMergeNames[static_cast<int>(op)];
  void visit(ConfigVisitor&) {}
};
// Element by element; shapes broadcast.
template <MergeOp op>
class ElementwiseMergeLayer : public Configured<MergeLayer, MergeConfig<op>> {
 public:
  explicit ElementwiseMergeLayer(MergeConfig<op> config, LayerOptions options = {})
      : Configured<MergeLayer, MergeConfig<op>>(config, std::move(options)) {}
  void build(const Shapes& input_shapes) override;

 protected:
  Tensor merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) override;
};
extern template class ElementwiseMergeLayer<MergeOp::kAdd>;
extern template class ElementwiseMergeLayer<MergeOp::kSubtract>;
extern template class ElementwiseMergeLayer<MergeOp::kMultiply>;
extern template class ElementwiseMergeLayer<MergeOp::kAverage>;
extern template class ElementwiseMergeLayer<MergeOp::kMaximum>;
extern template class ElementwiseMergeLayer<MergeOp::kMinimum>;

struct ConcatenateConfig {
  static constexpr const char* kClassName = "Concatenate";
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) { v("axis", axis); }
};
class ConcatenateLayer : public Configured<MergeLayer, ConcatenateConfig> {
 public:
  explicit ConcatenateLayer(ConcatenateConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

 protected:
  Tensor merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) override;
};

struct DotConfig {
  static constexpr const char* kClassName = "Dot";
  Sizes axes = {};         // one for both, or two
  bool normalize = false;  // to length 1 along the axes, before
  void visit(ConfigVisitor& v) {
    v("axes", axes);
    v("normalize", normalize);
  }
};
// Sums products along an axis of each of two tensors, example by example.
class DotLayer : public Configured<MergeLayer, DotConfig> {
 public:
  explicit DotLayer(DotConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;

 protected:
  Tensor merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) override;
};

namespace layers {
using Add = LayerRef<ElementwiseMergeLayer<MergeOp::kAdd>>;
using Subtract = LayerRef<ElementwiseMergeLayer<MergeOp::kSubtract>>;
using Multiply = LayerRef<ElementwiseMergeLayer<MergeOp::kMultiply>>;
using Average = LayerRef<ElementwiseMergeLayer<MergeOp::kAverage>>;
using Maximum = LayerRef<ElementwiseMergeLayer<MergeOp::kMaximum>>;
using Minimum = LayerRef<ElementwiseMergeLayer<MergeOp::kMinimum>>;
using Concatenate = LayerRef<ConcatenateLayer>;
using Dot = LayerRef<DotLayer>;

// The same without a layer of one's own.
Nested add(const Nested& inputs);
Nested subtract(const Nested& inputs);
Nested multiply(const Nested& inputs);
Nested average(const Nested& inputs);
Nested maximum(const Nested& inputs);
Nested minimum(const Nested& inputs);
Nested concatenate(const Nested& inputs, std::int64_t axis = -1);
Nested dot(const Nested& inputs, const Sizes& axes = -1, bool normalize = false);
}  // namespace layers

}  // namespace plimsoll::keras
