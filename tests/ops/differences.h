// For functions that are made of several ops: numbers to try them on, and their gradients against
// finite differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "ops/op_case.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll::testing_ops {

// Numbers from -1 to 1 in float64, other ones for each seed.
inline HostTensor numbers(const Shape& shape, std::uint64_t seed = 1) {
  HostTensor t{shape, {}};
  std::uint64_t state = seed * 7919;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    t.values.push_back(static_cast<double>(state >> 11) * 0x1p-52 - 1);
  }
  return t;
}

inline void expect_values(const Tensor& got, const HostTensor& wanted, double tolerance = 1e-12) {
  ASSERT_EQ(got.shape(), wanted.shape);
  const HostTensor host = to_host(got);
  for (std::size_t i = 0; i < wanted.values.size(); ++i)
    ASSERT_NEAR(host.values[i], wanted.values[i], tolerance) << "element " << i;
}

// The gradient of sum(w * f(in)) by each element of each input.
inline void expect_gradients(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                             const std::vector<HostTensor>& in) {
  Tensor weights;
  const auto weigh = [&](const std::vector<Tensor>& given) {
    const Tensor y = f(given);
    if (!weights.is_valid()) weights = to_device(numbers(y.shape(), 99));
    return reduce_sum(y * weights);
  };
  const auto on_device = [](const std::vector<HostTensor>& host) {
    std::vector<Tensor> made;
    for (const HostTensor& t : host) made.push_back(to_device(t));
    return made;
  };
  const auto given = on_device(in);
  GradientTape tape;
  for (const Tensor& t : given) tape.watch(t);
  const Tensor target = weigh(given);
  const auto gradients =
      tape.gradient(std::span(&target, 1), given, {}, UnconnectedGradients::kZero);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const HostTensor got = to_host(gradients[i]);
    ASSERT_EQ(got.shape, in[i].shape);
    for (std::size_t k = 0; k < in[i].values.size(); ++k) {
      double sides[2];
      for (const int side : {0, 1}) {
        auto moved = in;
        moved[i].values[k] += side ? kStep : -kStep;
        sides[side] = weigh(on_device(moved)).item<double>();
      }
      const double wanted = (sides[1] - sides[0]) / (2 * kStep);
      ASSERT_NEAR(got.values[k], wanted, 2e-5 * std::max(1.0, std::abs(wanted)))
          << "input " << i << " element " << k;
    }
  }
}

}  // namespace plimsoll::testing_ops
