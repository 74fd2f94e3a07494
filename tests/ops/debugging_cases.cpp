// What they print and refuse is in tests/runtime/print_test.cpp; here nothing is printed, and
// everything holds.
#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> debugging_cases() {
  const auto nothing = [](const RefCall&) { return std::vector<HostTensor>(); };
  const Input no_text{{0}, 0, 0, Input::Kind::kUInt8}, text{{3}, 65, 90, Input::Kind::kUInt8};
  const Input yes{{}, 0, 0, Input::Kind::kBool, {1}};
  return {
      {.name = "no_text",
       .op = OpId::Print,
       .in = {no_text},
       .attrs = {3},
       .ref = nothing,
       .dtypes = {DType::kUInt8}},
      {.name = "silent",
       .op = OpId::Print,
       .in = {no_text, {{2, 3}}},
       .attrs = {-1},
       .ref = nothing,
       .dtypes = kNumberTypes},
      {.name = "holds",
       .op = OpId::Assert,
       .in = {yes, text, {{2, 3}}},
       .attrs = {3},
       .ref = nothing,
       .dtypes = kNumberTypes},
      {.name = "holds_without_data",
       .op = OpId::Assert,
       .in = {yes, text},
       .attrs = {3},
       .ref = nothing,
       .dtypes = {DType::kBool}},
  };
}

}  // namespace plimsoll::testing_ops
