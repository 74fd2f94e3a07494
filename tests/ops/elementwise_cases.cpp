#include <cmath>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

OpCase unary(OpId op, double lo, double hi, double (*f)(double),
             std::vector<DType> dtypes = kFloatTypes) {
  return {.name = "plain",
          .op = op,
          .in = {{{3, 5}, lo, hi}},
          .ref = [f](const RefCall& c) { return c.map1(f); },
          .dtypes = std::move(dtypes)};
}

// The same op over equal shapes, broadcast ones, scalars and empty tensors.
void add_binary(std::vector<OpCase>& cases, OpId op, double (*f)(double, double),
                std::vector<DType> dtypes = kNumberTypes, double lo = -3, double hi = 3) {
  const struct {
    const char* name;
    Shape a, b;
  } shapes[] = {
      {"same", {4, 3}, {4, 3}},         {"row", {4, 3}, {3}},      {"column", {4, 1}, {4, 3}},
      {"outer", {4, 1}, {1, 3}},        {"scalar", {2, 3}, {}},    {"left_scalar", {}, {2, 3}},
      {"middle", {2, 1, 3}, {2, 4, 1}}, {"empty", {0, 3}, {1, 3}}, {"ranks", {3, 1, 2}, {5, 1}}};
  for (const auto& s : shapes) {
    cases.push_back({.name = s.name,
                     .op = op,
                     .in = {{s.a, lo, hi}, {s.b, lo, hi}},
                     .ref = [f](const RefCall& c) { return c.map2(f); },
                     .dtypes = dtypes});
  }
}

}  // namespace

std::vector<OpCase> elementwise_cases() {
  std::vector<OpCase> cases;
  add_binary(cases, OpId::Add, [](double x, double y) { return x + y; });
  add_binary(cases, OpId::Sub, [](double x, double y) { return x - y; },
             {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8,
              DType::kInt32, DType::kInt64});
  add_binary(cases, OpId::Mul, [](double x, double y) { return x * y; });
  add_binary(
      cases, OpId::Div, [](double x, double y) { return x / y; }, kFloatTypes, 0.5, 3);
  add_binary(cases, OpId::Maximum, [](double x, double y) { return std::max(x, y); });
  add_binary(cases, OpId::Minimum, [](double x, double y) { return std::min(x, y); });
  add_binary(
      cases, OpId::Pow, [](double x, double y) { return std::pow(x, y); },
      {DType::kFloat32, DType::kFloat64}, 0.5, 2);
  add_binary(cases, OpId::Equal, [](double x, double y) { return static_cast<double>(x == y); });
  add_binary(cases, OpId::Less, [](double x, double y) { return static_cast<double>(x < y); });
  add_binary(cases, OpId::Greater, [](double x, double y) { return static_cast<double>(x > y); });
  add_binary(cases, OpId::GreaterEqual,
             [](double x, double y) { return static_cast<double>(x >= y); });

  const std::vector<DType> kSigned = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                                      DType::kBFloat16, DType::kInt8,    DType::kInt16,
                                      DType::kInt32,    DType::kInt64};
  cases.push_back(unary(
      OpId::Neg, -3, 3, [](double x) { return -x; }, kSigned));
  cases.push_back(unary(
      OpId::Abs, -3, 3, [](double x) { return std::abs(x); }, kSigned));
  cases.push_back(unary(
      OpId::Sign, -3, 3, [](double x) { return static_cast<double>((x > 0) - (x < 0)); }, kSigned));
  cases.push_back(unary(
      OpId::Square, -3, 3, [](double x) { return x * x; }, kNumberTypes));
  cases.push_back(unary(OpId::Sqrt, 0.1, 4, [](double x) { return std::sqrt(x); }));
  cases.push_back(unary(OpId::Exp, -3, 3, [](double x) { return std::exp(x); }));
  cases.push_back(unary(OpId::Log, 0.1, 4, [](double x) { return std::log(x); }));
  cases.push_back(unary(OpId::Tanh, -4, 4, [](double x) { return std::tanh(x); }));
  cases.push_back(unary(OpId::Sigmoid, -6, 6, [](double x) { return 1 / (1 + std::exp(-x)); }));
  cases.push_back(unary(
      OpId::Relu, -3, 3, [](double x) { return std::max(x, 0.0); }, kNumberTypes));
  cases.push_back({.name = "plain",
                   .op = OpId::LogicalNot,
                   .in = {{{7}, 0, 1, Input::Kind::kBool}},
                   .ref = [](const RefCall& c) { return c.map1([](double x) { return x == 0; }); },
                   .dtypes = {DType::kBool}});
  for (const auto& [name, condition] :
       {std::pair<const char*, Shape>{"same", {2, 3}}, {"row", {3}}, {"scalar", {}}}) {
    cases.push_back({.name = name,
                     .op = OpId::Select,
                     .in = {{condition, 0, 1, Input::Kind::kBool}, {{2, 3}}, {{2, 3}}},
                     .ref =
                         [](const RefCall& c) {
                           HostTensor out{c.in[1].shape, {}};
                           for (std::size_t i = 0; i < c.in[1].values.size(); ++i) {
                             const bool first = c.in[0].values[i % c.in[0].values.size()] != 0;
                             out.values.push_back(c.in[first ? 1 : 2].values[i]);
                           }
                           return std::vector{out};
                         },
                     .dtypes = kNumberTypes});
  }
  return cases;
}

}  // namespace plimsoll::testing_ops
