#include <algorithm>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

using enum Input::Kind;

// Updates into a tensor, by vectors of indices into its first dimensions.
auto scattered(double (*combine)(double, double)) {
  return [combine](const RefCall& c) {
    HostTensor made{c.in[0].shape, c.in[0].values};
    const HostTensor& indices = c.in[1];
    const std::int64_t depth = indices.shape.dim(indices.shape.rank() - 1);
    std::int64_t slice = 1;
    for (int d = made.shape.rank() - 1; d >= depth; --d) slice *= made.shape.dim(d);
    const auto rows = static_cast<std::int64_t>(indices.values.size()) / depth;
    for (std::int64_t r = 0; r < rows; ++r) {
      std::int64_t at = 0;
      for (int d = 0; d < depth; ++d)
        at = at * made.shape.dim(d) +
             static_cast<std::int64_t>(indices.values[static_cast<std::size_t>(r * depth + d)]);
      for (std::int64_t s = 0; s < slice; ++s) {
        double& to = made.values[static_cast<std::size_t>(at * slice + s)];
        to = combine(to, c.in[2].values[static_cast<std::size_t>(r * slice + s)]);
      }
    }
    return std::vector{made};
  };
}

}  // namespace

std::vector<OpCase> scatter_cases() {
  const auto largest = scattered([](double a, double b) { return std::max(a, b); });
  const auto smallest = scattered([](double a, double b) { return std::min(a, b); });
  const auto sum = scattered([](double a, double b) { return a + b; });
  const Input twice{{3, 1}, 0, 0, kInt64, {3, 1, 3}};
  const Input pairs{{2, 2}, 0, 0, kInt32, {3, 0, 1, 2}};
  std::vector<OpCase> cases;
  for (const bool is_max : {true, false}) {
    const OpId op = is_max ? OpId::TensorScatterMax : OpId::TensorScatterMin;
    const auto& ref = is_max ? largest : smallest;
    cases.push_back({.name = "rows",
                     .op = op,
                     .in = {{{4, 3}}, twice, {{3, 3}}},
                     .ref = ref,
                     .dtypes = kNumberTypes});
    cases.push_back({.name = "elements", .op = op, .in = {{{4, 3}}, pairs, {{2}}}, .ref = ref});
    cases.push_back({.name = "nothing",
                     .op = op,
                     .in = {{{4, 3}}, {{0, 1}, 0, 0, kInt32}, {{0, 3}}},
                     .ref = ref});
  }
  // Rows that several threads share.
  cases.push_back({.name = "wide",
                   .op = OpId::TensorScatterMax,
                   .in = {{{2, 50001}}, {{3, 1}, 0, 0, kInt32, {1, 0, 1}}, {{3, 50001}}},
                   .ref = largest,
                   .has_grad = false});
  cases.push_back({.name = "wide",
                   .op = OpId::TensorScatterAdd,
                   .in = {{{2, 50001}}, {{3, 1}, 0, 0, kInt32, {1, 0, 1}}, {{3, 50001}}},
                   .ref = sum,
                   .dtypes = kFloatTypes,
                   .has_grad = false});
  return cases;
}

}  // namespace plimsoll::testing_ops
