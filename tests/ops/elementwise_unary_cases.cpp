#include <cmath>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> unary_cases() {
  const std::vector<DType> kSigned = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                                      DType::kBFloat16, DType::kInt8,    DType::kInt16,
                                      DType::kInt32,    DType::kInt64};
  const struct {
    OpId op;
    double lo, hi;
    double (*f)(double);
    std::vector<DType> dtypes = kFloatTypes;
  } rows[] = {
      {OpId::Neg, -3, 3, [](double x) { return -x; }, kSigned},
      {OpId::Abs, -3, 3, [](double x) { return std::abs(x); }, kSigned},
      {OpId::Sign, -3, 3, [](double x) { return std::isnan(x) ? x : double((x > 0) - (x < 0)); },
       kSigned},
      {OpId::Square, -3, 3, [](double x) { return x * x; }, kNumberTypes},
      {OpId::Sqrt, 0.1, 4, [](double x) { return std::sqrt(x); }},
      {OpId::Rsqrt, 0.1, 4, [](double x) { return 1 / std::sqrt(x); }},
      {OpId::Reciprocal, 0.2, 4, [](double x) { return 1 / x; }},
      {OpId::Exp, -3, 3, [](double x) { return std::exp(x); }},
      {OpId::Expm1, -2, 2, [](double x) { return std::expm1(x); }},
      {OpId::Log, 0.1, 4, [](double x) { return std::log(x); }},
      {OpId::Log1p, -0.5, 4, [](double x) { return std::log1p(x); }},
      {OpId::Sin, -9, 9, [](double x) { return std::sin(x); }},
      {OpId::Cos, -9, 9, [](double x) { return std::cos(x); }},
      {OpId::Tan, -1.2, 1.2, [](double x) { return std::tan(x); }},
      {OpId::Asin, -0.9, 0.9, [](double x) { return std::asin(x); }},
      {OpId::Acos, -0.9, 0.9, [](double x) { return std::acos(x); }},
      {OpId::Atan, -3, 3, [](double x) { return std::atan(x); }},
      {OpId::Sinh, -3, 3, [](double x) { return std::sinh(x); }},
      {OpId::Cosh, -3, 3, [](double x) { return std::cosh(x); }},
      {OpId::Asinh, -3, 3, [](double x) { return std::asinh(x); }},
      {OpId::Acosh, 1.2, 3, [](double x) { return std::acosh(x); }},
      {OpId::Atanh, -0.9, 0.9, [](double x) { return std::atanh(x); }},
      {OpId::Erf, -3, 3, [](double x) { return std::erf(x); }},
      {OpId::Erfc, -3, 5, [](double x) { return std::erfc(x); }},
      {OpId::Floor, -5, 5, [](double x) { return std::floor(x); }},
      {OpId::Ceil, -5, 5, [](double x) { return std::ceil(x); }},
      {OpId::Round, -5, 5, [](double x) { return std::nearbyint(x); }},
      {OpId::Invert, -5, 5, [](double x) { return -1 - x; }, {DType::kInt8, DType::kInt32}},
      {OpId::LogicalNot, 0, 1, [](double x) { return double(x == 0); }, {DType::kBool}},
      {OpId::IsNan, -1, 1, [](double x) { return double(std::isnan(x)); }},
      {OpId::IsInf, -1, 1, [](double x) { return double(std::isinf(x)); }},
      {OpId::IsFinite, -1, 1, [](double x) { return double(std::isfinite(x)); }},
  };
  std::vector<OpCase> cases;
  for (const auto& row : rows) {
    const auto ref = [f = row.f](const RefCall& c) { return c.map1(f); };
    cases.push_back({.name = "plain",
                     .op = row.op,
                     .in = {{{3, 7}, row.lo, row.hi}},
                     .ref = ref,
                     .dtypes = row.dtypes});
    cases.push_back({.name = "long",  // more than one tile of 16-bit numbers, and a rest
                     .op = row.op,
                     .in = {{{1031}, row.lo, row.hi}},
                     .ref = ref,
                     .dtypes = row.dtypes,
                     .has_grad = false});
  }
  return cases;
}

}  // namespace plimsoll::testing_ops
