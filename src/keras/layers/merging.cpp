#include "plimsoll/keras/layers/merging.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/layers/tables.h"
#include "keras/op_layer.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

template <MergeOp op>
constexpr ClassRow kElementwise = {MergeConfig<op>::kClassName,
                                   make_layer_of_config<ElementwiseMergeLayer<op>>};
constexpr ClassRow kLayers[] = {
    kElementwise<MergeOp::kAdd>,
    kElementwise<MergeOp::kSubtract>,
    kElementwise<MergeOp::kMultiply>,
    kElementwise<MergeOp::kAverage>,
    kElementwise<MergeOp::kMaximum>,
    kElementwise<MergeOp::kMinimum>,
    {"Concatenate", make_layer_of_config<ConcatenateLayer>},
    {"Dot", make_layer_of_config<DotLayer>},
};

std::string text(const Shapes& shapes) {
  if (!shapes.is_list()) return shapes.is_leaf() ? shapes.leaf().to_string() : "a dictionary";
  std::string all = "[";
  shapes.for_each(
      [&](const PartialShape& s) { all += (all.size() > 1 ? ", " : "") + s.to_string(); });
  return all + "]";
}

std::vector<PartialShape> list_of(const Shapes& shapes, const char* what) {
  PLIMSOLL_CHECK(shapes.is_list() && shapes.size() > 0, InvalidArgumentError,
                 "A {} layer should be called on a list of at least 1 input. Received: "
                 "input_shape={} (not a list of shapes)",
                 what, text(shapes));
  return shapes.flatten();
}

// What two shapes broadcast to, without the batch.
std::vector<std::int64_t> broadcast(const std::vector<std::int64_t>& a,
                                    const std::vector<std::int64_t>& b) {
  if (a.size() < b.size()) return broadcast(b, a);
  std::vector<std::int64_t> dims = a;
  for (std::size_t i = 0; i < b.size(); ++i) {
    std::int64_t& x = dims[a.size() - b.size() + i];
    const std::int64_t y = b[i];
    PLIMSOLL_CHECK(x == y || x == 1 || y == 1 || x == kNone || y == kNone, InvalidArgumentError,
                   "Inputs have incompatible shapes. Received shapes {} and {}",
                   PartialShape(a).to_string(), PartialShape(b).to_string());
    x = x == kNone || y == kNone ? kNone : x == 1 ? y : x;
  }
  return dims;
}

// A mask of as many dimensions as x.
Tensor widened(const Tensor& mask, const Tensor& x) {
  return broadcast_to(expand_dims(cast(mask, bool_), -1), x.shape());
}

// Where only some of the inputs count, those; masks that all have are joined.
Tensor pick(bool is_max, const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) {
  Tensor y = inputs[0];
  Tensor y_mask = masks[0].is_valid() ? widened(masks[0], y) : Tensor();
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    Tensor x = inputs[i];
    const Tensor mask = masks[i].is_valid() ? widened(masks[i], x) : Tensor();
    if (mask.is_valid()) x = where(mask, x, y);
    if (y_mask.is_valid()) y = where(y_mask, y, x);
    y_mask = mask.is_valid() && y_mask.is_valid() ? logical_or(y_mask, mask) : Tensor();
    y = is_max ? maximum(y, x) : minimum(y, x);
  }
  return y;
}

// What is masked is 1 on the way; where all are, 0 in the end.
Tensor multiply_masked(const std::vector<Tensor>& inputs, const std::vector<Tensor>& masks) {
  const bool all_masked = std::ranges::all_of(masks, [](const Tensor& m) { return m.is_valid(); });
  Tensor y, y_mask;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor x = inputs[i];
    if (masks[i].is_valid()) {
      const Tensor mask = widened(masks[i], x);
      x = where(mask, x, ones_like(x));
      if (all_masked) y_mask = y_mask.is_valid() ? logical_or(y_mask, mask) : mask;
    }
    y = y.is_valid() ? y * x : x;
  }
  return all_masked ? where(y_mask, y, zeros_like(y)) : y;
}

// One for each input; empty where it has none.
std::vector<Tensor> mask_list(const Nested& mask, std::size_t num) {
  std::vector<Tensor> masks(num);
  for (std::size_t i = 0; i < num && mask.is_list() && i < mask.size(); ++i) {
    if (mask[i].is_leaf()) masks[i] = mask[i];
  }
  return masks;
}

void check_mask_list(const Nested& inputs, const Nested& mask) {
  PLIMSOLL_CHECK(mask.is_list(), InvalidArgumentError, "`mask` should be a list of {} masks",
                 inputs.size());
  PLIMSOLL_CHECK(mask.size() == inputs.size(), InvalidArgumentError,
                 "The lists `inputs` and `mask` should have the same length. Received: inputs of "
                 "length {}, and mask of length {}",
                 inputs.size(), mask.size());
}

}  // namespace

std::span<const ClassRow> merging_layers() {
  return kLayers;
}

MergeLayer::MergeLayer(LayerOptions options) : Layer(std::move(options)) {
  supports_masking_ = true;
}

void MergeLayer::build(const Shapes& input_shapes) {
  const std::vector<PartialShape> shapes = list_of(input_shapes, "merge");
  std::set<std::int64_t> batch_sizes;
  for (const PartialShape& s : shapes) {
    if (s.rank() > 0 && s[0] != kNone) batch_sizes.insert(s[0]);
  }
  PLIMSOLL_CHECK(batch_sizes.size() <= 1, InvalidArgumentError,
                 "Cannot merge tensors with different batch sizes. Received tensors with shapes {}",
                 text(input_shapes));
  std::vector<std::int64_t> merged;
  for (const PartialShape& s : shapes) {
    const auto& dims = s.dims();
    const std::vector<std::int64_t> rest(dims.begin() + (dims.empty() ? 0 : 1), dims.end());
    merged = &s == &shapes[0] ? rest : broadcast(merged, rest);
  }
}

Nested MergeLayer::call(const Nested& inputs, const CallArgs& args) {
  PLIMSOLL_CHECK(inputs.is_list() && inputs.size() > 0, InvalidArgumentError,
                 "A merge layer should be called on a list of inputs. Received: one of shape {} "
                 "(not a list of tensors)",
                 text(shapes_of(inputs)));
  std::vector<Tensor> tensors;
  int rank = 0;
  for (const Nested& item : inputs.list()) {
    tensors.push_back(item);
    rank = std::max(rank, tensors.back().rank());
  }
  // Types are brought together, as Keras does.
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = result_type(dtype, t.dtype());
  for (Tensor& t : tensors) {
    if (t.dtype() != dtype) t = cast(t, dtype);
  }
  std::vector<Tensor> masks = mask_list(args.mask, tensors.size());
  for (std::size_t i = 0; reshapes_ && i < tensors.size(); ++i) {
    if (tensors[i].rank() == rank) continue;
    masks[i] = Tensor();  // does not fit any more
    std::vector<std::int64_t> dims(tensors[i].shape().dims().begin(),
                                   tensors[i].shape().dims().end());
    dims.insert(dims.begin() + (dims.empty() ? 0 : 1), static_cast<std::size_t>(rank) - dims.size(),
                1);
    tensors[i] = reshape(tensors[i], dims);
  }
  return merge(tensors, masks);
}

Nested MergeLayer::compute_mask(const Nested& inputs, const Nested& mask) {
  if (mask.is_none()) return {};
  check_mask_list(inputs, mask);
  Tensor joined;
  for (const Tensor& m : mask_list(mask, inputs.size())) {
    if (!m.is_valid()) return {};
    joined = joined.is_valid() ? logical_or(joined, m) : m;
  }
  return joined;
}

template <MergeOp op>
void ElementwiseMergeLayer<op>::build(const Shapes& input_shapes) {
  MergeLayer::build(input_shapes);
  if constexpr (op == MergeOp::kSubtract)
    PLIMSOLL_CHECK(input_shapes.size() == 2, InvalidArgumentError,
                   "A `Subtract` layer should be called on exactly 2 inputs. Received: "
                   "input_shape={}",
                   text(input_shapes));
}

template <MergeOp op>
Tensor ElementwiseMergeLayer<op>::merge(const std::vector<Tensor>& inputs,
                                        const std::vector<Tensor>& masks) {
  if constexpr (op == MergeOp::kMultiply) return multiply_masked(inputs, masks);
  if constexpr (op == MergeOp::kMaximum) return pick(true, inputs, masks);
  if constexpr (op == MergeOp::kMinimum) return pick(false, inputs, masks);
  if constexpr (op == MergeOp::kSubtract) {
    PLIMSOLL_CHECK(inputs.size() == 2, InvalidArgumentError,
                   "A `Subtract` layer should be called on exactly 2 inputs. Received: {}",
                   inputs.size());
    return inputs[0] - inputs[1];
  }
  Tensor y = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) y = y + inputs[i];
  return op == MergeOp::kAverage ? y / static_cast<double>(inputs.size()) : y;
}

template class ElementwiseMergeLayer<MergeOp::kAdd>;
template class ElementwiseMergeLayer<MergeOp::kSubtract>;
template class ElementwiseMergeLayer<MergeOp::kMultiply>;
template class ElementwiseMergeLayer<MergeOp::kAverage>;
template class ElementwiseMergeLayer<MergeOp::kMaximum>;
template class ElementwiseMergeLayer<MergeOp::kMinimum>;

ConcatenateLayer::ConcatenateLayer(ConcatenateConfig config, LayerOptions options)
    : Configured(config, std::move(options)) {
  reshapes_ = false;
}

void ConcatenateLayer::build(const Shapes& input_shapes) {
  const std::vector<PartialShape> shapes = list_of(input_shapes, "`Concatenate`");
  const PartialShape& first = shapes[0];
  for (const PartialShape& s : shapes) {
    bool fits = s.rank() == first.rank() && config_.axis < s.rank() && config_.axis >= -s.rank();
    for (int i = 0; fits && i < s.rank(); ++i) {
      const bool is_axis = i == config_.axis || i == config_.axis + s.rank();
      fits = is_axis || s[i] == first[i] || s[i] == kNone || first[i] == kNone;
    }
    PLIMSOLL_CHECK(fits, InvalidArgumentError,
                   "A `Concatenate` layer requires inputs with matching shapes except for the "
                   "concatenation axis. Received: input_shape={}",
                   text(input_shapes));
  }
}

Tensor ConcatenateLayer::merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) {
  return concat(inputs, config_.axis);
}

Nested ConcatenateLayer::compute_mask(const Nested& inputs, const Nested& mask) {
  if (mask.is_none()) return {};
  check_mask_list(inputs, mask);
  std::vector<Tensor> masks = mask_list(mask, inputs.size());
  if (std::ranges::none_of(masks, [](const Tensor& m) { return m.is_valid(); })) return {};
  for (std::size_t i = 0; i < masks.size(); ++i) {
    const Tensor& x = inputs[i].leaf().tensor();
    if (!masks[i].is_valid()) {
      masks[i] = fill(x.shape(), 1, bool_);
    } else if (masks[i].rank() < x.rank()) {
      masks[i] = widened(masks[i], x);
    }
  }
  return reduce_any(concat(masks, config_.axis), {-1});
}

namespace layers {

Nested add(const Nested& inputs) {
  return Add()(inputs);
}
Nested subtract(const Nested& inputs) {
  return Subtract()(inputs);
}
Nested multiply(const Nested& inputs) {
  return Multiply()(inputs);
}
Nested average(const Nested& inputs) {
  return Average()(inputs);
}
Nested maximum(const Nested& inputs) {
  return Maximum()(inputs);
}
Nested minimum(const Nested& inputs) {
  return Minimum()(inputs);
}
Nested concatenate(const Nested& inputs, std::int64_t axis) {
  return Concatenate({.axis = axis})(inputs);
}
Nested dot(const Nested& inputs, const Sizes& axes, bool normalize) {
  return Dot({.axes = axes, .normalize = normalize})(inputs);
}

}  // namespace layers
}  // namespace plimsoll::keras
