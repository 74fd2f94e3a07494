// What the tests of branches and loops share: a body that is run as a function and eagerly.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "ops/wave.h"
#include "plimsoll/control_flow.h"
#include "plimsoll/ops.h"

namespace plimsoll {

using Tensors = std::vector<Tensor>;

inline Tensor number(int value) {
  return constant<std::int32_t>({value}, {});
}

// The elements of all results, of a function or of its body run eagerly.
template <class F>
std::vector<std::vector<float>> values_of(F body, const Tensors& in, bool is_traced) {
  Function f(body);
  const Tensors out = is_traced ? f(in) : body(in);
  std::vector<std::vector<float>> values;
  for (const Tensor& t : out) values.push_back(cast(t, float32).to_vector<float>());
  return values;
}
template <class F>
void expect_same(F body, const Tensors& in) {
  EXPECT_EQ(values_of(body, in, true), values_of(body, in, false));
}
// As above, where sums may be rounded otherwise.
template <class F>
void expect_near(F body, const Tensors& in) {
  const auto traced = values_of(body, in, true), eager = values_of(body, in, false);
  ASSERT_EQ(traced.size(), eager.size());
  for (std::size_t i = 0; i < traced.size(); ++i) {
    ASSERT_EQ(traced[i].size(), eager[i].size());
    for (std::size_t k = 0; k < traced[i].size(); ++k)
      EXPECT_NEAR(traced[i][k], eager[i][k], 1e-5 * (1 + std::abs(eager[i][k]))) << i << " " << k;
  }
}

}  // namespace plimsoll
