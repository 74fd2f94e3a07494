// How a layer is called: on tensors, or on KerasTensors.
#include "base/check.h"
#include "keras/backend.h"
#include "keras/node.h"
#include "plimsoll/function.h"
#include "plimsoll/keras/layer.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {
namespace {

// The calls that are under way on this thread, one inside the other.
struct CallContext {
  int depth = 0;
  std::optional<bool> training;
};
constinit thread_local CallContext context;

class InsideCall {
 public:
  explicit InsideCall(std::optional<bool> training) noexcept : outer_(context) {
    ++context.depth;
    context.training = training;
  }
  ~InsideCall() { context = outer_; }
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;

 private:
  CallContext outer_;
};

// What the tensors carry; none if none of them does.
Nested masks_of(const Nested& values) {
  bool has_mask = false;
  Nested masks;
  if (values.is_leaf()) {
    const Tensor mask = keras_mask(values.leaf().tensor());
    return mask.is_valid() ? Nested(mask) : Nested();
  }
  if (values.is_list()) {
    Nested::List list;
    for (const Nested& item : values.list()) {
      list.push_back(masks_of(item));
      has_mask = has_mask || !list.back().is_none();
    }
    if (has_mask) masks = Nested(std::move(list));
  }
  if (values.is_dict()) {
    Nested::Dict dict;
    for (const auto& [key, item] : values.dict()) {
      dict.emplace_back(key, masks_of(item));
      has_mask = has_mask || !dict.back().second.is_none();
    }
    if (has_mask) masks = Nested(std::move(dict));
  }
  return masks;
}

// Notes masks on outputs, one by one; a single mask is for the first output.
void note_masks(const Nested& outputs, const Nested& masks) {
  if (masks.is_none()) return;
  if (outputs.is_leaf()) {
    if (masks.is_leaf() && !keras_mask(outputs.leaf().tensor()).is_valid())
      set_keras_mask(outputs.leaf().tensor(), masks.leaf().tensor());
    return;
  }
  if (masks.is_leaf()) {
    if (outputs.size() > 0) note_masks(outputs[0], masks);
    return;
  }
  for (std::size_t i = 0; i < outputs.size() && i < masks.size(); ++i)
    note_masks(outputs[i], masks[i]);
}

// Sizes that stand for dimensions that are not known; a dimension of the output is not known if the
// two give two sizes.
constexpr std::int64_t kProbes[] = {67, 193};

}  // namespace

// By a call on tensors without memory, once or, where dimensions are not known, for two sizes.
Nested Layer::compute_output_spec(const Nested& inputs, const CallArgs& args) {
  bool is_known = true;
  const auto look = [&](const Value& v) { is_known = is_known && v.shape().is_known(); };
  inputs.for_each(look);
  args.named.for_each(look);
  args.mask.for_each(look);
  std::vector<std::vector<TensorSpec>> found;  // by probe
  Nested outputs;
  for (const std::int64_t probe : kProbes) {
    Trace trace;
    const TracingScope scope(&trace);
    const auto stand_in = [&](const Value& v) {
      return Value(trace.add_input({v.dtype(), v.shape().with_unknown(probe)}));
    };
    CallArgs probed = args;
    probed.named = args.named.map(stand_in);
    probed.mask = args.mask.map(stand_in);
    outputs = call_eager(convert(inputs.map(stand_in)), probed);
    std::vector<TensorSpec>& specs = found.emplace_back();
    outputs.for_each([&](const Value& v) { specs.push_back({v.dtype(), v.tensor().shape()}); });
    if (is_known) break;
  }
  std::size_t next = 0;
  return outputs.map([&](const Value&) {
    const TensorSpec& spec = found[0][next];
    PartialShape shape = spec.shape;
    if (found.size() > 1) {
      const Shape& other = found[1][next].shape;
      for (int i = 0; i < shape.rank() && i < other.rank(); ++i) {
        if (other[i] != spec.shape[i]) shape[i] = kNone;
      }
    }
    ++next;
    return Value(KerasTensor(std::move(shape), spec.dtype, name()));
  });
}

Shapes Layer::compute_output_shape(const Shapes& input_shapes) {
  const Nested inputs = input_shapes.map([&](const PartialShape& shape) {
    return Value(KerasTensor(shape, compute_dtype(), "probe"));
  });
  ensure_built(input_shapes);
  return shapes_of(compute_output_spec(inputs, {}));
}

// Floating tensors in the layer's compute type.
Nested Layer::convert(const Nested& values) const {
  if (!autocast_ || !is_floating(compute_dtype())) return values;
  bool is_needed = false;
  const auto is_other = [&](const Value& v) {
    return !v.is_symbolic() && is_floating(v.dtype()) && v.dtype() != compute_dtype();
  };
  values.for_each([&](const Value& v) { is_needed = is_needed || is_other(v); });
  if (!is_needed) return values;
  return values.map([&](const Value& v) {
    if (!is_other(v)) return v;
    Tensor made = cast(v.tensor(), compute_dtype());
    if (const Tensor mask = keras_mask(v.tensor()); mask.is_valid()) set_keras_mask(made, mask);
    return Value(std::move(made));
  });
}

void Layer::check_inputs(const Nested& inputs) const {
  if (input_spec.empty()) return;
  const std::vector<Value> flat = inputs.flatten();
  PLIMSOLL_CHECK(flat.size() == input_spec.size(), InvalidArgumentError,
                 "Layer \"{}\" expects {} input(s), but it received {} input tensors.", name(),
                 input_spec.size(), flat.size());
  for (std::size_t i = 0; i < flat.size(); ++i) {
    const InputSpec& spec = input_spec[i];
    const PartialShape shape = flat[i].shape();
    const std::string where =
        fmt::format("Input {} with name '{}' of layer '{}' is incompatible with the layer: ", i,
                    spec.name.empty() ? "None" : spec.name, name());
    const int ndim = shape.rank();
    const int wanted = spec.shape ? spec.shape->rank() : spec.ndim.value_or(ndim);
    PLIMSOLL_CHECK(ndim == wanted, InvalidArgumentError,
                   "{}expected ndim={}, found ndim={}. Full shape received: {}", where, wanted,
                   ndim, shape.to_string());
    PLIMSOLL_CHECK(!spec.max_ndim || ndim <= *spec.max_ndim, InvalidArgumentError,
                   "{}expected max_ndim={}, found ndim={}", where, *spec.max_ndim, ndim);
    PLIMSOLL_CHECK(!spec.min_ndim || ndim >= *spec.min_ndim, InvalidArgumentError,
                   "{}expected min_ndim={}, found ndim={}. Full shape received: {}", where,
                   *spec.min_ndim, ndim, shape.to_string());
    PLIMSOLL_CHECK(!spec.dtype || flat[i].dtype() == *spec.dtype, InvalidArgumentError,
                   "{}expected dtype={}, found dtype={}", where, dtype_name(*spec.dtype),
                   dtype_name(flat[i].dtype()));
    for (const auto& [axis, value] : spec.axes) {
      const std::int64_t there = axis < ndim && axis >= -ndim ? shape[axis] : kNone;
      PLIMSOLL_CHECK(there == value || there == kNone, InvalidArgumentError,
                     "{}expected axis {} of input shape to have value {}, but received input with "
                     "shape {}",
                     where, axis, value, shape.to_string());
    }
    for (int axis = 0; spec.shape && axis < ndim; ++axis) {
      const std::int64_t a = (*spec.shape)[axis], b = shape[axis];
      PLIMSOLL_CHECK(a == b || a == kNone || b == kNone, InvalidArgumentError,
                     "{}expected shape={}, found shape={}", where, spec.shape->to_string(),
                     shape.to_string());
    }
  }
}

Nested Layer::operator()(const Nested& inputs, const CallArgs& args) {
  PLIMSOLL_CHECK(!inputs.is_none(), InvalidArgumentError, "layer '{}' was called without inputs",
                 name());
  inputs.for_each([&](const Value& v) {
    PLIMSOLL_CHECK(v.is_symbolic() || v.tensor().is_valid(), InvalidArgumentError,
                   "layer '{}' was called on an empty Tensor", name());
  });
  check_inputs(inputs);
  if (!built_) {
    ensure_built(shapes_of(inputs), shapes_of(args.named));
    check_inputs(inputs);
  }
  if (has_symbolic(inputs) || has_symbolic(args.named) || has_symbolic(args.mask))
    return call_symbolic(inputs, args);
  return call_eager(convert(inputs), args);
}

Nested Layer::call_symbolic(const Nested& inputs, const CallArgs& args) {
  const Nested specs = compute_output_spec(inputs, args);
  auto node = std::make_shared<Node>();
  node->layer = shared_from_this();
  node->inputs = inputs;
  node->args = args;
  int index = 0;
  node->outputs = specs.map([&](const Value& v) {
    return OutputSpec{v.shape(), v.dtype(), index++};
  });
  nodes_.push_back(node);
  return node->output_tensors();
}

Nested Layer::call_eager(const Nested& inputs, const CallArgs& args) {
  CallArgs resolved = args;
  if (!resolved.training) resolved.training = context.training;
  if (!args.named.is_none()) resolved.named = convert(args.named);
  if (resolved.mask.is_none()) resolved.mask = masks_of(inputs);
  if (context.depth == 0) clear_losses();
  const InsideCall inside(resolved.training);
  const name_scope scope(name());
  const bool is_mixed = policy_.is_mixed() && autocast_;
  const AutocastScope types(is_mixed || AutocastScope::current()
                                ? (autocast_ && is_floating(compute_dtype())
                                       ? std::optional<DType>(compute_dtype())
                                       : std::nullopt)
                                : std::nullopt);
  Nested outputs = call(inputs, resolved);
  if (activity_regularizer_) {
    outputs.for_each([&](const Value& v) {
      const Tensor& y = v.tensor();
      const double batch = y.rank() > 0 ? static_cast<double>(y.shape()[0]) : 1;
      losses_.push_back((*activity_regularizer_)(y) / batch);
    });
  }
  note_masks(outputs, compute_mask(inputs, resolved.mask));
  return outputs;
}

Nested Layer::compute_mask(const Nested&, const Nested& mask) {
  return supports_masking_ ? mask : Nested();
}

namespace {

Nested only_node(const Layer& layer, const char* what, bool is_input) {
  std::vector<std::shared_ptr<Node>> alive;
  for (const auto& weak : layer.inbound_nodes()) {
    if (auto node = weak.lock()) alive.push_back(std::move(node));
  }
  PLIMSOLL_CHECK(!alive.empty(), FailedPreconditionError,
                 "The layer {} has never been called and thus has no defined {}.", layer.name(),
                 what);
  PLIMSOLL_CHECK(alive.size() == 1, FailedPreconditionError,
                 "The layer {} has multiple inbound nodes, hence the notion of \"layer {}\" is "
                 "ill-defined.",
                 layer.name(), what);
  return is_input ? alive[0]->inputs : alive[0]->output_tensors();
}

}  // namespace

Nested Layer::input() const {
  return only_node(*this, "input", true);
}
Nested Layer::output() const {
  return only_node(*this, "output", false);
}

}  // namespace plimsoll::keras
