// Ops with arguments beside tensors: axes, shapes, slices.
#include "base/check.h"
#include "keras/op_layer.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

const Json* OpArgs::find(std::string_view name) const noexcept {
  for (const Json* given : {call.options.find(name), config.find(name)}) {
    if (given && !given->is_null()) return given;
  }
  return nullptr;
}

Tensor OpArgs::tensor(std::string_view name) const {
  if (const Nested* given = call.find(name)) return given->leaf().tensor();
  const Json* number = find(name);
  return number ? fill({}, number->as_double(), x().dtype()) : Tensor();
}
std::int64_t OpArgs::integer(std::string_view name, std::int64_t otherwise) const {
  const Json* given = find(name);
  return given ? given->as_int() : otherwise;
}
double OpArgs::number(std::string_view name, double otherwise) const {
  const Json* given = find(name);
  return given ? given->as_double() : otherwise;
}
bool OpArgs::flag(std::string_view name, bool otherwise) const {
  const Json* given = find(name);
  return given ? given->as_bool() : otherwise;
}
std::vector<std::int64_t> OpArgs::integers(std::string_view name) const {
  std::vector<std::int64_t> values;
  const Json* given = find(name);
  if (!given) return values;
  if (given->is_int()) return {given->as_int()};
  for (const Json& item : given->as_array()) values.push_back(item.is_null() ? -1 : item.as_int());
  return values;
}

namespace {

template <Tensor (*kReduce)(const Tensor&, const Axes&, bool)>
Tensor reduce(const OpArgs& a) {
  return kReduce(a.x(), a.integers("axis"), a.flag("keepdims"));
}
// Means of integers are floating.
Tensor mean(const OpArgs& a) {
  const Tensor x = is_floating(a.x().dtype()) ? a.x() : cast(a.x(), float32);
  return reduce_mean(x, a.integers("axis"), a.flag("keepdims"));
}
template <Tensor (*kReduce)(const Tensor&, const Axes&, bool)>
Tensor reduce_bool(const OpArgs& a) {
  const Tensor x = a.x().dtype() == DType::kBool ? a.x() : cast(a.x(), bool_);
  return kReduce(x, a.integers("axis"), a.flag("keepdims"));
}

std::optional<std::int64_t> bound(const Json& slice, const char* name) {
  const Json* given = slice.find(name);
  return given && given->is_int() ? std::optional(given->as_int()) : std::nullopt;
}
// 3, {"class_name": "__slice__", "config": {...}}, {"start": ...}, "...", null.
Index index_of(const Json& key) {
  if (key.is_null()) return newaxis;
  if (key.is_int()) return Index(key.as_int());
  const Json* config = key.is_object() ? key.find("config") : nullptr;
  const Json* class_name = key.is_object() ? key.find("class_name") : nullptr;
  if (class_name && class_name->is_string() && class_name->as_string() == "__ellipsis__")
    return ellipsis;
  const Json& slice = config && config->is_object() ? *config : key;
  PLIMSOLL_CHECK(slice.is_object() && slice.find("start"), UnimplementedError,
                 "a tensor cannot be indexed with {} in a model", key.dump().substr(0, 100));
  return Index(bound(slice, "start"), bound(slice, "stop"), bound(slice, "step").value_or(1));
}
Tensor get_item(const OpArgs& a) {
  const Json* key = a.find("key");
  PLIMSOLL_CHECK(key, InvalidArgumentError, "GetItem was called without a key");
  std::vector<Index> spec;
  if (key->is_array()) {
    for (const Json& item : key->as_array()) spec.push_back(index_of(item));
  } else {
    spec.push_back(index_of(*key));
  }
  return getitem(a.x(), spec);
}

Tensor reshaped(const OpArgs& a) {
  return reshape(a.x(), a.integers("newshape"));
}
Tensor transposed(const OpArgs& a) {
  return transpose(a.x(), a.integers("axes"));
}
Tensor expanded(const OpArgs& a) {
  const auto axes = a.integers("axis");
  PLIMSOLL_CHECK(axes.size() == 1, UnimplementedError, "ExpandDims takes one axis, received {}",
                 axes.size());
  return expand_dims(a.x(), axes[0]);
}
Tensor squeezed(const OpArgs& a) {
  return squeeze(a.x(), a.integers("axis"));
}
std::vector<Tensor> of_one_type(const OpArgs& a) {
  DType dtype = a.x().dtype();
  for (const Tensor& x : a.xs) dtype = result_type(dtype, x.dtype());
  std::vector<Tensor> same;
  for (const Tensor& x : a.xs) same.push_back(x.dtype() == dtype ? x : cast(x, dtype));
  return same;
}
Tensor concatenated(const OpArgs& a) {
  return concat(of_one_type(a), a.integer("axis", 0));
}
Tensor stacked(const OpArgs& a) {
  return stack(of_one_type(a), a.integer("axis", 0));
}
Tensor clipped(const OpArgs& a) {
  return clip_by_value(a.x(), a.tensor("x_min"), a.tensor("x_max"));
}
Tensor chosen(const OpArgs& a) {
  const Tensor x = a.tensor("x1"), y = a.tensor("x2");
  PLIMSOLL_CHECK(x.is_valid() && y.is_valid(), UnimplementedError,
                 "Where takes three arguments in a model");
  const DType dtype = result_type(x.dtype(), y.dtype());
  return where(a.x().dtype() == DType::kBool ? a.x() : cast(a.x(), bool_), cast(x, dtype),
               cast(y, dtype));
}
Tensor softmaxed(const OpArgs& a) {
  return nn::softmax(a.x(), a.integer("axis", -1));
}
Tensor log_softmaxed(const OpArgs& a) {
  return nn::log_softmax(a.x(), a.integer("axis", -1));
}
Tensor gelued(const OpArgs& a) {
  return nn::gelu(a.x(), a.flag("approximate", true));
}
Tensor leaky(const OpArgs& a) {
  return nn::leaky_relu(a.x(), a.number("negative_slope", 0.2));
}
Tensor casted(const OpArgs& a) {
  const Json* dtype = a.find("dtype");
  PLIMSOLL_CHECK(dtype, InvalidArgumentError, "Cast was called without a dtype");
  return cast(a.x(), parse_dtype(dtype->as_string()));
}
Tensor one_hotted(const OpArgs& a) {
  return one_hot(a.x(), a.integer("num_classes", 0), 1, 0, a.integer("axis", -1));
}
Tensor repeated(const OpArgs& a) {
  const auto times = a.integers("repeats");
  const Json* axis = a.find("axis");
  return repeat(a.x(), times, axis ? std::optional(axis->as_int()) : std::nullopt);
}
Tensor tiled(const OpArgs& a) {
  return tile(a.x(), a.integers("repeats"));
}
Tensor largest_at(const OpArgs& a) {
  return argmax(a.x(), a.integer("axis", 0), int32);
}

OpRow row(const char* class_name, Tensor (*run)(const OpArgs&), std::vector<std::string> arguments,
          const char* module = "numpy") {
  return {class_name, nullptr, nullptr, false, module, run, std::move(arguments)};
}

}  // namespace

std::span<const OpRow> general_ops() {
  static const std::vector<OpRow> rows{
      row("GetItem", get_item, {"key"}),
      row("Reshape", reshaped, {"newshape"}),
      row("Transpose", transposed, {"axes"}),
      row("ExpandDims", expanded, {"axis"}),
      row("Squeeze", squeezed, {"axis"}),
      row("Concatenate", concatenated, {"axis"}),
      row("Stack", stacked, {"axis"}),
      row("Clip", clipped, {"x_min", "x_max"}),
      row("Where", chosen, {"x1", "x2"}),
      row("Mean", mean, {"axis", "keepdims"}),
      row("Sum", reduce<reduce_sum>, {"axis", "keepdims"}),
      row("Max", reduce<reduce_max>, {"axis", "keepdims"}),
      row("Min", reduce<reduce_min>, {"axis", "keepdims"}),
      row("Prod", reduce<reduce_prod>, {"axis", "keepdims"}),
      row("Any", reduce_bool<reduce_any>, {"axis", "keepdims"}),
      row("All", reduce_bool<reduce_all>, {"axis", "keepdims"}),
      row("Argmax", largest_at, {"axis"}),
      row("Repeat", repeated, {"repeats", "axis"}),
      row("Tile", tiled, {"repeats"}),
      row("Softmax", softmaxed, {"axis"}, "nn"),
      row("LogSoftmax", log_softmaxed, {"axis"}, "nn"),
      row("Gelu", gelued, {"approximate"}, "nn"),
      row("LeakyRelu", leaky, {"negative_slope"}, "nn"),
      row("OneHot", one_hotted, {"num_classes", "axis"}, "nn"),
      row("Cast", casted, {"dtype"}, "core"),
  };
  return rows;
}

}  // namespace plimsoll::keras
