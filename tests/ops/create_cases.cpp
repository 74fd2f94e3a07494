#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> create_cases() {
  const auto same = [](const RefCall& c) { return c.map1([](double x) { return x; }); };
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
  cases[2].dtypes = kFloatTypes;
  return cases;
}

}  // namespace plimsoll::testing_ops
