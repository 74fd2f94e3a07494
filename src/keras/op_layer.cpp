#include "keras/op_layer.h"

#include "base/check.h"
#include "keras/node.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr OpRow kOps[] = {
    {"Add", nullptr, plimsoll::add},
    {"Subtract", nullptr, plimsoll::subtract},
    {"Multiply", nullptr, plimsoll::multiply},
    {"TrueDivide", nullptr, plimsoll::divide, true},
    {"Divide", nullptr, plimsoll::divide, true},
    {"FloorDivide", nullptr, plimsoll::floordiv},
    {"Mod", nullptr, plimsoll::floormod},
    {"Power", nullptr, plimsoll::pow},
    {"Maximum", nullptr, plimsoll::maximum},
    {"Minimum", nullptr, plimsoll::minimum},
    {"Negative", plimsoll::negative, nullptr},
    {"Absolute", plimsoll::abs, nullptr},
    {"Square", plimsoll::square, nullptr},
    {"Sqrt", plimsoll::sqrt, nullptr, true},
    {"Exp", plimsoll::exp, nullptr, true},
    {"Log", math::log, nullptr, true},
    {"Tanh", plimsoll::tanh, nullptr, true},
};

const OpRow* find_op(std::string_view class_name) {
  for (const OpRow& row : kOps) {
    if (class_name == row.class_name) return &row;
  }
  return nullptr;
}

Tensor as(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : cast(x, dtype);
}

// A number beside a tensor: its type counts only where the tensor's cannot hold it.
Tensor number_beside(const Json& number, const Tensor& x) {
  const bool is_whole = number.is_int();
  const DType dtype = is_floating(x.dtype()) || (is_whole && x.dtype() != DType::kBool) ? x.dtype()
                      : is_whole                                                        ? int32
                                                                                        : float32;
  return fill({}, number.as_double(), dtype);
}

Tensor compute(const OpRow& row, Tensor x, Tensor y) {
  DType dtype = y.is_valid() ? result_type(x.dtype(), y.dtype()) : x.dtype();
  if (row.makes_floats && !is_floating(dtype)) dtype = float32;
  return y.is_valid() ? row.binary(as(x, dtype), as(y, dtype)) : row.unary(as(x, dtype));
}

// The op on tensors, or a node.
Nested apply(const char* op, const Nested& x, const Nested& y) {
  const OpRow& row = *find_op(op);
  if (!has_symbolic(x) && !has_symbolic(y))
    return compute(row, x, y.is_none() ? Tensor() : y.leaf().tensor());
  CallArgs args;
  if (!y.is_none()) args.named = Nested::dict({{"x2", y}});
  return (*std::make_shared<OpLayer>(row))(x, args);
}
Nested apply(const char* op, const Nested& x, double number, bool is_first) {
  const OpRow& row = *find_op(op);
  if (has_symbolic(x)) {
    CallArgs args;
    args.options = Json::object({{is_first ? "x1" : "x2", number}});
    return (*std::make_shared<OpLayer>(row))(x, args);
  }
  const Tensor y = number_beside(number, x);
  return is_first ? compute(row, y, x) : compute(row, x, y);
}

}  // namespace

DType result_type(DType a, DType b) noexcept {
  if (a == b) return a;
  if (is_floating(a) != is_floating(b)) return is_floating(a) ? a : b;
  if (a == DType::kBool || b == DType::kBool) return a == DType::kBool ? b : a;
  if (dtype_size(a) != dtype_size(b)) return dtype_size(a) > dtype_size(b) ? a : b;
  return is_floating(a) ? DType::kFloat32 : DType::kInt16;  // float16, bfloat16; int8, uint8
}

OpLayer::OpLayer(const OpRow& row, std::string name)
    : Layer({.name = std::move(name)}), row_(&row) {
  autocast_ = false;
  set_built(true);
  this->name();
}

std::vector<std::string> OpLayer::call_argument_names() const {
  return row_->binary ? std::vector<std::string>{"x2"} : std::vector<std::string>{};
}

Json OpLayer::get_config() const {
  return Json::object({{"name", name()}});
}

Nested OpLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  if (row_->unary) return compute(*row_, x, Tensor());
  if (const Nested* second = args.find("x2")) return compute(*row_, x, *second);
  if (const Json* number = args.options.find("x2"))
    return compute(*row_, x, number_beside(*number, x));
  const Json* number = args.options.find("x1");
  PLIMSOLL_CHECK(number, InvalidArgumentError, "{} was called with one argument, it takes two",
                 row_->class_name);
  return compute(*row_, number_beside(*number, x), x);
}

bool is_op(const Json& identifier) noexcept {
  const Json* module = identifier.is_object() ? identifier.find("module") : nullptr;
  if (!module || !module->is_string()) return false;
  const std::string& name = module->as_string();
  return name.starts_with("keras.src.ops") || name.starts_with("keras.ops");
}

LayerPtr make_op_layer(const Json& identifier) {
  const std::string& class_name = identifier.at("class_name").as_string();
  const OpRow* row = find_op(class_name);
  if (!row) {
    std::string names;
    for (const OpRow& known : kOps)
      names += (names.empty() ? "" : ", ") + std::string(known.class_name);
    throw UnimplementedError("the op " + class_name + " cannot be a node of a model here; " +
                             names + " can");
  }
  std::string name;
  if (const Json* config = identifier.find("config")) {
    if (const Json* given = config->find("name"); given && given->is_string())
      name = given->as_string();
  }
  return std::make_shared<OpLayer>(*row, std::move(name));
}

Nested operator+(const Nested& x, const Nested& y) {
  return apply("Add", x, y);
}
Nested operator-(const Nested& x, const Nested& y) {
  return apply("Subtract", x, y);
}
Nested operator*(const Nested& x, const Nested& y) {
  return apply("Multiply", x, y);
}
Nested operator/(const Nested& x, const Nested& y) {
  return apply("TrueDivide", x, y);
}
Nested operator+(const Nested& x, double y) {
  return apply("Add", x, y, false);
}
Nested operator-(const Nested& x, double y) {
  return apply("Subtract", x, y, false);
}
Nested operator*(const Nested& x, double y) {
  return apply("Multiply", x, y, false);
}
Nested operator/(const Nested& x, double y) {
  return apply("TrueDivide", x, y, false);
}
Nested operator+(double x, const Nested& y) {
  return apply("Add", y, x, true);
}
Nested operator-(double x, const Nested& y) {
  return apply("Subtract", y, x, true);
}
Nested operator*(double x, const Nested& y) {
  return apply("Multiply", y, x, true);
}
Nested operator/(double x, const Nested& y) {
  return apply("TrueDivide", y, x, true);
}
Nested operator-(const Nested& x) {
  return apply("Negative", x, Nested());
}

}  // namespace plimsoll::keras
