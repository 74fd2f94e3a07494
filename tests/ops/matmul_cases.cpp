#include "ops/op_case.h"

namespace plimsoll::testing_ops {

std::vector<OpCase> matmul_cases() {
  std::vector<OpCase> cases;
  for (int t = 0; t < 4; ++t) {
    const bool ta = t & 1, tb = t & 2;
    cases.push_back(
        {.name = std::string(ta ? "t" : "n") + (tb ? "t" : "n"),
         .op = OpId::MatMul,
         .in = {{ta ? Shape{4, 3} : Shape{3, 4}}, {tb ? Shape{5, 4} : Shape{4, 5}}},
         .attrs = {ta, tb},
         .ref =
             [ta, tb](const RefCall& c) {
               HostTensor out{{3, 5}, {}};
               for (int i = 0; i < 3; ++i) {
                 for (int j = 0; j < 5; ++j) {
                   double sum = 0;
                   for (int k = 0; k < 4; ++k) {
                     sum += c.in[0].values[static_cast<std::size_t>(ta ? k * 3 + i : i * 4 + k)] *
                            c.in[1].values[static_cast<std::size_t>(tb ? j * 4 + k : k * 5 + j)];
                   }
                   out.values.push_back(sum);
                 }
               }
               return std::vector{out};
             },
         .dtypes = kFloatTypes,
         .tolerance = 4});
  }
  return cases;
}

}  // namespace plimsoll::testing_ops
