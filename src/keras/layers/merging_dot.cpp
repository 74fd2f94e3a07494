// Dot: products of two tensors, example by example.
#include "base/check.h"
#include "keras/backend.h"
#include "plimsoll/keras/layers/merging.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

// An axis of each input, from the front. pre: config has one or two axes.
std::pair<int, int> axes_of(const Sizes& axes, const PartialShape& x, const PartialShape& y) {
  const auto from_front = [&](std::int64_t axis, const PartialShape& shape) {
    PLIMSOLL_CHECK(axis < shape.rank() && axis >= -shape.rank(), InvalidArgumentError,
                   "A `Dot` layer has no axis {} in inputs of shapes {} and {}. Received: axes={}",
                   axis, x.to_string(), y.to_string(), to_config(axes).dump());
    return static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  };
  return {from_front(axes[0], x), from_front(axes.values().back(), y)};
}

// The order of axes with one of them moved.
std::vector<std::int64_t> moved_axis(int rank, int from, int to) {
  std::vector<std::int64_t> order;
  for (int i = 0; i < rank; ++i) {
    if (i != from) order.push_back(i);
  }
  order.insert(order.begin() + to, from);
  return order;
}

// keras.src.layers.merging.dot.batch_dot: a matrix product with the batch in front.
Tensor batch_dot(const Tensor& x, int x_axis, const Tensor& y, int y_axis) {
  const auto moved = [](const Tensor& t, int from, int to) {
    return from == to ? t : transpose(t, moved_axis(t.rank(), from, to));
  };
  const Tensor a = moved(x, x_axis, x.rank() - 1), b = moved(y, y_axis, 1);
  std::vector<std::int64_t> dims(a.shape().dims().begin(), a.shape().dims().end() - 1);
  for (int i = 2; i < b.rank(); ++i) dims.push_back(b.shape()[i]);
  if (dims.size() == 1) dims.push_back(1);
  const std::int64_t batch = a.shape()[0], n = b.shape()[1];
  const Tensor product = matmul(reshape(a, {batch, -1, n}), reshape(b, {batch, n, -1}));
  return reshape(product, dims);
}

}  // namespace

DotLayer::DotLayer(DotConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  const auto& axes = config_.axes.values();
  PLIMSOLL_CHECK(!axes.empty() && axes.size() <= 2, InvalidArgumentError,
                 "Invalid format for argument `axes`: it should contain two elements. Received: "
                 "axes={}",
                 to_config(config_.axes).dump());
  reshapes_ = false;
}

void DotLayer::build(const Shapes& input_shapes) {
  PLIMSOLL_CHECK(input_shapes.is_list() && input_shapes.size() == 2, InvalidArgumentError,
                 "A `Dot` layer should be called on a list of 2 inputs. Received: {}",
                 input_shapes.size());
  const PartialShape &x = input_shapes[0].leaf(), &y = input_shapes[1].leaf();
  const auto [a, b] = axes_of(config_.axes, x, y);
  PLIMSOLL_CHECK(x[a] == y[b], InvalidArgumentError,
                 "Incompatible input shapes: axis values {} (at axis {}) != {} (at axis {}). Full "
                 "input shapes: {}, {}",
                 x[a], a, y[b], b, x.to_string(), y.to_string());
}

Tensor DotLayer::merge(const std::vector<Tensor>& inputs, const std::vector<Tensor>&) {
  PLIMSOLL_CHECK(inputs.size() == 2, InvalidArgumentError,
                 "A `Dot` layer should be called on exactly 2 inputs. Received: {}", inputs.size());
  Tensor x = inputs[0], y = inputs[1];
  const PartialShape x_shape = x.shape(), y_shape = y.shape();
  const auto shapes = [&] { return x_shape.to_string() + " and " + y_shape.to_string(); };
  PLIMSOLL_CHECK(x.rank() >= 2 && y.rank() >= 2, InvalidArgumentError,
                 "Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes {}.",
                 shapes());
  PLIMSOLL_CHECK(x_shape[0] == y_shape[0], InvalidArgumentError,
                 "Cannot do batch_dot on inputs with different batch sizes. Received inputs with "
                 "shapes {}.",
                 shapes());
  const auto [a, b] = axes_of(config_.axes, x_shape, y_shape);
  PLIMSOLL_CHECK(
      a != 0 && b != 0, InvalidArgumentError,
      "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy "
      "batch dimension to your inputs using expand_dims(x, 0)");
  PLIMSOLL_CHECK(x_shape[a] == y_shape[b], InvalidArgumentError,
                 "Cannot do batch_dot on inputs with shapes {} with axes=[{}, {}]. x.shape[{}] != "
                 "y.shape[{}] ({} != {}).",
                 shapes(), a, b, a, b, x_shape[a], y_shape[b]);
  if (config_.normalize) {
    x = normalize(x, {a});
    y = normalize(y, {b});
  }
  return batch_dot(x, a, y, b);
}

Nested DotLayer::compute_mask(const Nested&, const Nested&) {
  return {};
}

}  // namespace plimsoll::keras
