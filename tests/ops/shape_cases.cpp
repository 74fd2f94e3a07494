#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> shape_cases() {
  const auto copy_to = [](Shape out, std::vector<int> from) {
    return [out, from](const RefCall& c) {
      HostTensor t{out, {}};
      for (const int i : from) t.values.push_back(c.in[0].values[static_cast<std::size_t>(i)]);
      return std::vector{t};
    };
  };
  return {
      {.name = "plain",
       .op = OpId::Reshape,
       .in = {{{2, 3}}},
       .attrs = {Shape{3, 2}},
       .ref = copy_to({3, 2}, {0, 1, 2, 3, 4, 5}),
       .dtypes = kNumberTypes},
      {.name = "rows",
       .op = OpId::BroadcastTo,
       .in = {{{3}}},
       .attrs = {Shape{2, 3}},
       .ref = copy_to({2, 3}, {0, 1, 2, 0, 1, 2}),
       .dtypes = kNumberTypes},
      {.name = "columns",
       .op = OpId::BroadcastTo,
       .in = {{{2, 1}}},
       .attrs = {Shape{2, 3}},
       .ref = copy_to({2, 3}, {0, 0, 0, 1, 1, 1})},
  };
}

}  // namespace plimsoll::testing_ops
