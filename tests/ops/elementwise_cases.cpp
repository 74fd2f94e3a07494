#include <cmath>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> activation_cases();  // elementwise_activation_cases.cpp
std::vector<OpCase> unary_cases();       // elementwise_unary_cases.cpp

namespace {

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

// Given operands, and what TensorFlow makes of them: signs of quotients, shifts out of range, nan.
OpCase given(OpId op, const char* name, std::vector<double> x, std::vector<double> y,
             std::vector<double> wanted, DType dtype) {
  const auto n = static_cast<std::int64_t>(x.size());
  return {.name = name,
          .op = op,
          .in = {{.shape = {n}, .values = std::move(x)}, {.shape = {n}, .values = std::move(y)}},
          .ref =
              [wanted](const RefCall& c) {
                return std::vector{HostTensor{c.in[0].shape, wanted}};
              },
          .dtypes = {dtype},
          .has_grad = false};
}

const std::vector<DType> kIntTypes = {DType::kInt8,   DType::kUInt8, DType::kInt16,
                                      DType::kUInt16, DType::kInt32, DType::kInt64};

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
      cases, OpId::DivNoNan, [](double x, double y) { return y == 0 ? 0 : x / y; }, kFloatTypes,
      0.5, 3);
  add_binary(
      cases, OpId::FloorDiv, [](double x, double y) { return std::floor(x / y); },
      {DType::kFloat32, DType::kFloat64, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16,
       DType::kInt32, DType::kInt64},
      1, 9);
  add_binary(
      cases, OpId::FloorMod, [](double x, double y) { return x - y * std::floor(x / y); },
      {DType::kFloat32, DType::kFloat64, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kUInt16,
       DType::kInt32, DType::kInt64},
      1, 9);
  add_binary(
      cases, OpId::Pow, [](double x, double y) { return std::pow(x, y); }, kNumberTypes, 0.5, 3);
  add_binary(cases, OpId::SquaredDifference, [](double x, double y) { return (x - y) * (x - y); });
  add_binary(
      cases, OpId::Atan2, [](double x, double y) { return std::atan2(x, y); }, kFloatTypes);
  for (const auto& [op, f] :
       {std::pair<OpId, double (*)(double, double)>{
            OpId::BitwiseAnd,
            [](double x, double y) { return double(std::int64_t(x) & std::int64_t(y)); }},
        {OpId::BitwiseOr,
         [](double x, double y) { return double(std::int64_t(x) | std::int64_t(y)); }},
        {OpId::BitwiseXor,
         [](double x, double y) { return double(std::int64_t(x) ^ std::int64_t(y)); }},
        {OpId::LeftShift, [](double x, double y) { return x * std::pow(2, y); }},
        {OpId::RightShift, [](double x, double y) { return std::floor(x / std::pow(2, y)); }}}) {
    add_binary(cases, op, f, kIntTypes, 0, 4);
  }
  add_binary(
      cases, OpId::LogicalAnd, [](double x, double y) { return x * y; }, {DType::kBool}, 0, 1);
  add_binary(
      cases, OpId::LogicalOr, [](double x, double y) { return std::max(x, y); }, {DType::kBool}, 0,
      1);
  add_binary(cases, OpId::Equal, [](double x, double y) { return static_cast<double>(x == y); });
  add_binary(cases, OpId::NotEqual, [](double x, double y) { return static_cast<double>(x != y); });
  add_binary(cases, OpId::LessEqual,
             [](double x, double y) { return static_cast<double>(x <= y); });
  add_binary(cases, OpId::Less, [](double x, double y) { return static_cast<double>(x < y); });
  add_binary(cases, OpId::Greater, [](double x, double y) { return static_cast<double>(x > y); });
  add_binary(cases, OpId::GreaterEqual,
             [](double x, double y) { return static_cast<double>(x >= y); });

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
  for (const DType dtype : {DType::kInt8, DType::kInt32, DType::kInt64, DType::kFloat32}) {
    const std::string of = std::string("signs_") + std::string(dtype_name(dtype));
    cases.push_back(given(OpId::FloorDiv, of.c_str(), {7, -7, 7, -7, 6}, {3, 3, -3, -3, -3},
                          {2, -3, -3, 2, -2}, dtype));
    cases.push_back(given(OpId::FloorMod, of.c_str(), {7, -7, 7, -7, 6}, {3, 3, -3, -3, -3},
                          {1, 2, -2, -1, 0}, dtype));
  }
  cases.push_back(
      given(OpId::FloorDiv, "least", {-2147483648.0}, {-1}, {-2147483648.0}, DType::kInt32));
  cases.push_back(given(OpId::Add, "wraps", {2147483647}, {1}, {-2147483648.0}, DType::kInt32));
  cases.push_back(given(OpId::LeftShift, "clamped", {1, 1, 1}, {33, -1, 31},
                        {-2147483648.0, 1, -2147483648.0}, DType::kInt32));
  cases.push_back(
      given(OpId::RightShift, "clamped", {-8, 8, 1}, {33, -1, 1}, {-1, 8, 0}, DType::kInt32));
  cases.push_back(given(OpId::DivNoNan, "zeros", {1, 0, 7}, {0, 0, 0}, {0, 0, 0}, DType::kFloat32));
  for (const auto& [name, lo, hi] : {std::tuple<const char*, Shape, Shape>{"scalars", {}, {}},
                                     {"rows", {3}, {3}},
                                     {"mixed", {2, 3}, {1}}}) {
    cases.push_back({.name = name,
                     .op = OpId::ClipByValue,
                     .in = {{{2, 3}, -3, 3}, {lo, -2, -1}, {hi, 1, 2}},
                     .ref =
                         [](const RefCall& c) {
                           HostTensor out{c.in[0].shape, {}};
                           for (std::size_t i = 0; i < c.in[0].values.size(); ++i) {
                             const auto& l = c.in[1].values;
                             const auto& h = c.in[2].values;
                             out.values.push_back(std::max(
                                 std::min(c.in[0].values[i], h[i % h.size()]), l[i % l.size()]));
                           }
                           return std::vector{out};
                         },
                     .dtypes = kNumberTypes});
  }
  OpCase crossed = cases.back();
  crossed.name = "crossed";  // limits: the lower one wins
  crossed.in[1].values = {2};
  crossed.in[2].values = {1};
  crossed.has_grad = false;
  cases.push_back(std::move(crossed));
  // Runs that are long, that are short, and that leave a rest behind the vectors.
  cases.push_back(
      {.name = "long", .op = OpId::Add, .in = {{{70001}}, {{70001}}}, .ref = [](const RefCall& c) {
         return c.map2([](double x, double y) { return x + y; });
       }});
  cases.push_back(
      {.name = "short_runs",
       .op = OpId::Mul,
       .in = {{{401, 3}}, {{3}}},
       .ref = [](const RefCall& c) { return c.map2([](double x, double y) { return x * y; }); },
       .dtypes = kNumberTypes});
  for (auto more : {unary_cases(), activation_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

}  // namespace plimsoll::testing_ops
