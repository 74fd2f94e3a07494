#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> reduce_cases() {
  const auto sum_to = [](Shape out, std::vector<int> pick) {
    // pick[i] is the output element that input element i belongs to
    return [out, pick](const RefCall& c) {
      HostTensor t{out, std::vector<double>(static_cast<std::size_t>(out.num_elements()))};
      for (std::size_t i = 0; i < pick.size(); ++i)
        t.values[static_cast<std::size_t>(pick[i])] += c.in[0].values[i];
      return std::vector{t};
    };
  };
  const auto axes = [](std::vector<std::int64_t> a) {
    return AttrValue(std::span<const std::int64_t>(a));
  };
  return {
      {.name = "all",
       .op = OpId::ReduceSum,
       .in = {{{2, 3}}},
       .attrs = {axes({}), false},
       .ref = sum_to({}, {0, 0, 0, 0, 0, 0}),
       .dtypes = kNumberTypes},
      {.name = "last",
       .op = OpId::ReduceSum,
       .in = {{{2, 3}}},
       .attrs = {axes({-1}), false},
       .ref = sum_to({2}, {0, 0, 0, 1, 1, 1})},
      {.name = "first_kept",
       .op = OpId::ReduceSum,
       .in = {{{2, 3}}},
       .attrs = {axes({0}), true},
       .ref = sum_to({1, 3}, {0, 1, 2, 0, 1, 2})},
      {.name = "two",
       .op = OpId::ReduceSum,
       .in = {{{2, 2, 2}}},
       .attrs = {axes({0, 2}), false},
       .ref = sum_to({2}, {0, 0, 1, 1, 0, 0, 1, 1})},
      {.name = "empty",
       .op = OpId::ReduceSum,
       .in = {{{0, 2}}},
       .attrs = {axes({0}), false},
       .ref = sum_to({2}, {})},
  };
}

}  // namespace plimsoll::testing_ops
