#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> create_cases() {
  const auto same = [](const RefCall& c) { return c.map1([](double x) { return x; }); };
  const auto given = [](Shape shape, std::vector<double> values) {
    return [=](const RefCall&) { return std::vector<HostTensor>{{shape, values}}; };
  };
  std::vector<OpCase> cases = {
      {.name = "threes",
       .op = OpId::Fill,
       .in = {},
       .attrs = {DType::kFloat32, Shape{2, 3}, 3.0},
       .ref =
           [](const RefCall&) {
             return std::vector<HostTensor>{{{2, 3}, std::vector<double>(6, 3.0)}};
           },
       .dtypes = {DType::kFloat32}},
      {.name = "plain", .op = OpId::Copy, .in = {{{2, 3}}}, .ref = same},
      {.name = "plain", .op = OpId::StopGradient, .in = {{{2, 3}}}, .ref = same},
      {.name = "integers",
       .op = OpId::Range,
       .in = {},
       .attrs = {DType::kInt32, 4, 10, -3, 0.0, 0.0},
       .ref = given({4}, {10, 7, 4, 1}),
       .dtypes = {DType::kInt32}},
      {.name = "to_the_last_integer",
       .op = OpId::Range,
       .in = {},
       .attrs = {DType::kInt64, 2, INT64_MAX - 1, 1, 0.0, 0.0},
       .ref = given({2}, {static_cast<double>(INT64_MAX - 1), static_cast<double>(INT64_MAX)}),
       .dtypes = {DType::kInt64}},
      {.name = "floats",
       .op = OpId::Range,
       .in = {},
       .attrs = {DType::kFloat32, 3, 0, 0, 0.5, 0.25},
       .ref = given({3}, {0.5, 0.75, 1.0}),
       .dtypes = {DType::kFloat32}},
      {.name = "both_ends",
       .op = OpId::LinSpace,
       .in = {},
       .attrs = {DType::kFloat32, 4, 1.0, 7.0},
       .ref = given({4}, {1, 3, 5, 7}),
       .dtypes = {DType::kFloat32}},
      {.name = "one",
       .op = OpId::LinSpace,
       .in = {},
       .attrs = {DType::kFloat64, 1, 1.0, 7.0},
       .ref = given({1}, {1}),
       .dtypes = {DType::kFloat64}},
      {.name = "wide",
       .op = OpId::Eye,
       .in = {},
       .attrs = {DType::kFloat32, Shape{2, 2, 3}},
       .ref = given({2, 2, 3}, {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0}),
       .dtypes = {DType::kFloat32}},
      {.name = "last",
       .op = OpId::OneHot,
       .in = {{{3}, 0, 0, Input::Kind::kInt32, {1, -1, 2}}},
       .attrs = {3, -1, 5.0, -1.0, DType::kFloat32},
       .ref = given({3, 3}, {-1, 5, -1, -1, -1, -1, -1, -1, 5})},
      {.name = "first",
       .op = OpId::OneHot,
       .in = {{{1, 2}, 0, 0, Input::Kind::kInt64, {0, 1}}},
       .attrs = {3, 0, 1.0, 0.0, DType::kInt32},
       .ref = given({3, 1, 2}, {1, 0, 0, 1, 0, 0})},
      {.name = "plain", .op = OpId::Identity, .in = {{{2, 3}}}, .ref = same},
      {.name = "to_half",
       .op = OpId::Cast,
       .in = {{{2, 3}, 0, 1, {}, {0.5, 1.5, -2}}},
       .attrs = {DType::kFloat16},
       .ref = same,
       .dtypes = kNumberTypes,
       .has_grad = false},
      {.name = "to_double",
       .op = OpId::Cast,
       .in = {{{5}}},
       .attrs = {DType::kFloat64},
       .ref = same,
       .dtypes = kNumberTypes},
  };
  for (OpCase& c : cases) {
    if (c.op == OpId::Cast && c.name == "to_half") c.dtypes = kFloatTypes;
  }
  return cases;
}

}  // namespace plimsoll::testing_ops
