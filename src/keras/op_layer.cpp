#include "keras/op_layer.h"

#include "base/check.h"
#include "keras/node.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

const OpRow kOps[] = {
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
    {"Sin", plimsoll::sin, nullptr, true},
    {"Cos", plimsoll::cos, nullptr, true},
    {"Log1p", math::log1p, nullptr, true},
    {"Reciprocal", math::reciprocal, nullptr, true},
    {"Floor", plimsoll::floor, nullptr},
    {"Ceil", math::ceil, nullptr},
    {"Sign", plimsoll::sign, nullptr},
    {"Relu", nn::relu, nullptr, false, "nn"},
    {"Relu6", nn::relu6, nullptr, false, "nn"},
    {"Sigmoid", plimsoll::sigmoid, nullptr, false, "nn"},
    {"Silu", [](const Tensor& x) { return nn::silu(x); }, nullptr, false, "nn"},
    {"Softplus", math::softplus, nullptr, false, "nn"},
    {"Softsign", nn::softsign, nullptr, false, "nn"},
    {"HardSigmoid", nn::hard_sigmoid, nullptr, false, "nn"},
    {"HardSilu", nn::hard_silu, nullptr, false, "nn"},
    {"Rsqrt", math::rsqrt, nullptr, true, "math"},
    {"Equal", nullptr, plimsoll::equal},
    {"NotEqual", nullptr, plimsoll::not_equal},
    {"Greater", nullptr, plimsoll::greater},
    {"GreaterEqual", nullptr, plimsoll::greater_equal},
    {"Less", nullptr, plimsoll::less},
    {"LessEqual", nullptr, plimsoll::less_equal},
    {"LogicalAnd", nullptr, plimsoll::logical_and},
    {"LogicalOr", nullptr, plimsoll::logical_or},
    {"LogicalNot", plimsoll::logical_not, nullptr},
    {"Matmul", nullptr, [](const Tensor& x, const Tensor& y) { return matmul(x, y); }},
};

const OpRow* find_op(std::string_view class_name) {
  for (const std::span<const OpRow> rows : {std::span<const OpRow>(kOps), general_ops()}) {
    for (const OpRow& row : rows) {
      if (class_name == row.class_name) return &row;
    }
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
  if (is_floating(a)) return DType::kFloat32;                 // float16, bfloat16
  return dtype_size(a) == 1 ? DType::kInt16 : DType::kInt32;  // one with a sign, one without
}

OpLayer::OpLayer(const OpRow& row, std::string name, Json config)
    : Layer({.name = std::move(name)}), row_(&row), config_(std::move(config)) {
  autocast_ = false;
  set_built(true);
  this->name();
}

std::vector<std::string> OpLayer::call_argument_names() const {
  return row_->binary ? std::vector<std::string>{"x2"} : row_->arguments;
}

Json OpLayer::get_config() const {
  Json config = Json::object({{"name", name()}});
  for (const auto& [key, value] : config_.as_object()) config[key] = value;
  return config;
}

Nested OpLayer::call(const Nested& inputs, const CallArgs& args) {
  if (row_->general) {
    std::vector<Tensor> xs;
    inputs.for_each([&](const Value& v) { xs.push_back(v.tensor()); });
    PLIMSOLL_CHECK(!xs.empty(), InvalidArgumentError, "{} was called on nothing", row_->class_name);
    return row_->general({xs, args, config_});
  }
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

bool is_known_op(std::string_view class_name) noexcept {
  return find_op(class_name) != nullptr;
}

LayerPtr make_op_layer(const Json& identifier) {
  const std::string& class_name = identifier.at("class_name").as_string();
  const OpRow* row = find_op(class_name);
  if (!row) {
    std::string names;
    for (const std::span<const OpRow> rows : {std::span<const OpRow>(kOps), general_ops()}) {
      for (const OpRow& known : rows)
        names += (names.empty() ? "" : ", ") + std::string(known.class_name);
    }
    throw UnimplementedError("the op " + class_name + " cannot be a node of a model here; " +
                             names + " can");
  }
  std::string name;
  Json made_with = Json::object();
  if (const Json* config = identifier.find("config"); config && config->is_object()) {
    for (const auto& [key, value] : config->as_object()) {
      if (key != "name") made_with[key] = value;
    }
    if (const Json* given = config->find("name"); given && given->is_string())
      name = given->as_string();
  }
  return std::make_shared<OpLayer>(*row, std::move(name), std::move(made_with));
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
