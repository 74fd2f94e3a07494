#include "plimsoll/keras/keras_tensor.h"

#include <algorithm>

#include "base/check.h"
#include "keras/names.h"
#include "keras/node.h"

namespace plimsoll::keras {

bool PartialShape::is_known() const noexcept {
  return std::ranges::all_of(dims_, [](std::int64_t d) { return d >= 0; });
}

Shape PartialShape::with_unknown(std::int64_t n) const {
  std::vector<std::int64_t> dims = dims_;
  for (std::int64_t& d : dims) {
    if (d < 0) d = n;
  }
  return Shape(dims);
}

std::string PartialShape::to_string() const {
  std::string text = "(";
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    if (i) text += ", ";
    text += dims_[i] < 0 ? "None" : std::to_string(dims_[i]);
  }
  return text + (dims_.size() == 1 ? ",)" : ")");
}

Json to_config(const PartialShape& shape) {
  Json list = Json::array();
  for (const std::int64_t d : shape.dims()) list.push_back(d < 0 ? Json() : Json(d));
  return list;
}
void from_config(const Json& json, PartialShape& shape) {
  std::vector<std::int64_t> dims;
  for (const Json& d : json.as_array()) dims.push_back(d.is_null() ? kNone : d.as_int());
  shape = PartialShape(std::move(dims));
}

KerasTensor::KerasTensor(PartialShape shape, DType dtype, std::string name)
    : state_(std::make_shared<KerasTensorState>()) {
  state_->shape = std::move(shape);
  state_->dtype = dtype;
  state_->name = name.empty() ? unique_name("keras_tensor") : std::move(name);
}
const PartialShape& KerasTensor::shape() const noexcept {
  return state_->shape;
}
DType KerasTensor::dtype() const noexcept {
  return state_->dtype;
}
const std::string& KerasTensor::name() const noexcept {
  return state_->name;
}
bool operator==(const KerasTensor& a, const KerasTensor& b) noexcept {
  if (a.state_ == b.state_) return true;
  return a.state_->node && a.state_->node == b.state_->node && a.state_->index == b.state_->index;
}

const Tensor& Value::tensor() const {
  PLIMSOLL_CHECK(!is_symbolic(), InvalidArgumentError,
                 "A KerasTensor of shape {} has no values: it is a placeholder of a functional "
                 "model. Use layers, or a layer of your own, on it",
                 shape().to_string());
  return std::get<Tensor>(value_);
}
const KerasTensor& Value::symbolic() const {
  PLIMSOLL_CHECK(is_symbolic(), InvalidArgumentError,
                 "expected a KerasTensor, received a tensor with values of shape {}",
                 shape().to_string());
  return std::get<KerasTensor>(value_);
}
DType Value::dtype() const noexcept {
  return is_symbolic() ? std::get<KerasTensor>(value_).dtype() : std::get<Tensor>(value_).dtype();
}
PartialShape Value::shape() const {
  if (is_symbolic()) return std::get<KerasTensor>(value_).shape();
  return std::get<Tensor>(value_).shape();
}

Shapes shapes_of(const Nested& values) {
  return values.map([](const Value& v) { return v.shape(); });
}

std::vector<KerasTensor> Node::input_tensors() const {
  std::vector<KerasTensor> found;
  const auto add = [&](const Value& v) {
    if (v.is_symbolic()) found.push_back(v.symbolic());
  };
  inputs.for_each(add);
  args.named.for_each(add);
  args.mask.for_each(add);
  return found;
}

KerasTensor Node::output_tensor(const OutputSpec& spec) {
  auto state = std::make_shared<KerasTensorState>();
  state->shape = spec.shape;
  state->dtype = spec.dtype;
  state->name = layer->name();
  state->node = shared_from_this();
  state->index = spec.index;
  return KerasTensor(std::move(state));
}
Nested Node::output_tensors() {
  return outputs.map([&](const OutputSpec& spec) { return Value(output_tensor(spec)); });
}

bool has_symbolic(const Nested& values) {
  bool found = false;
  values.for_each([&](const Value& v) { found = found || v.is_symbolic(); });
  return found;
}

}  // namespace plimsoll::keras
