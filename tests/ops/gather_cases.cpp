#include <algorithm>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

using Ints = std::vector<std::int64_t>;
using enum Input::Kind;

// gather as out[b, p, i, s] = params[b, p, indices[b, i], s].
struct Sizes {
  std::int64_t batch, outer, n, count, slice;
};

auto gathered(Shape out, Sizes z) {
  return [out, z](const RefCall& c) {
    HostTensor made{out, {}};
    for (std::int64_t r = 0; r < z.batch * z.outer * z.count; ++r) {
      const std::int64_t group = r / z.count;
      const auto index = static_cast<std::int64_t>(
          c.in[1].values[static_cast<std::size_t>(group / z.outer * z.count + r % z.count)]);
      const auto from = c.in[0].values.begin() + (group * z.n + index) * z.slice;
      made.values.insert(made.values.end(), from, from + z.slice);
    }
    return std::vector{made};
  };
}

auto summed(Shape out, Sizes z) {
  return [out, z](const RefCall& c) {
    HostTensor made{out, std::vector<double>(static_cast<std::size_t>(out.num_elements()))};
    for (std::int64_t r = 0; r < z.batch * z.outer * z.count; ++r) {
      const std::int64_t group = r / z.count;
      const auto index = static_cast<std::int64_t>(
          c.in[1].values[static_cast<std::size_t>(group / z.outer * z.count + r % z.count)]);
      for (std::int64_t s = 0; s < z.slice; ++s)
        made.values[static_cast<std::size_t>((group * z.n + index) * z.slice + s)] +=
            c.in[0].values[static_cast<std::size_t>(r * z.slice + s)];
    }
    return std::vector{made};
  };
}

// Rows of updates into a [4, 3] tensor by its first dimension.
auto scattered(bool has_start, bool adds) {
  return [=](const RefCall& c) {
    HostTensor made{{4, 3}, std::vector<double>(12)};
    if (has_start) made.values = c.in[0].values;
    const HostTensor& indices = c.in[has_start ? 1 : 0];
    const HostTensor& updates = c.in[has_start ? 2 : 1];
    for (std::size_t r = 0; r < indices.values.size(); ++r) {
      for (std::size_t s = 0; s < 3; ++s) {
        double& to = made.values[static_cast<std::size_t>(indices.values[r]) * 3 + s];
        to = updates.values[r * 3 + s] + (adds ? to : 0);
      }
    }
    return std::vector{made};
  };
}

// A condition and the positions where it holds.
OpCase where_case(const char* name, const Shape& shape, std::vector<double> condition) {
  const std::vector<double> values = condition;
  const auto count = std::count(condition.begin(), condition.end(), 1.0);
  return {.name = name,
          .op = OpId::Where,
          .in = {{shape, 0, 1, kBool, std::move(condition)}},
          .attrs = {count},
          .ref =
              [shape, values, count](const RefCall&) {
                HostTensor made{{count, shape.rank()}, {}};
                for (std::size_t i = 0; i < values.size(); ++i) {
                  if (values[i] == 0) continue;
                  auto rest = static_cast<std::int64_t>(i);
                  std::vector<double> position;
                  for (int d = shape.rank() - 1; d >= 0; rest /= shape.dim(d--))
                    position.insert(position.begin(), static_cast<double>(rest % shape.dim(d)));
                  made.values.insert(made.values.end(), position.begin(), position.end());
                }
                return std::vector{made};
              },
          .dtypes = {DType::kBool}};
}

}  // namespace

std::vector<OpCase> gather_cases() {
  const Input indices{{2, 2}, 0, 0, kInt32, {2, 0, 1, 2}};
  const Input twice{{3, 1}, 0, 0, kInt64, {3, 1, 3}};
  const Input once{{2, 1}, 0, 0, kInt32, {3, 1}};
  const Input pairs{{2, 2}, 0, 0, kInt32, {3, 0, 1, 2}};
  const auto picked = [](const RefCall& c) {
    return std::vector{HostTensor{{2}, {c.in[0].values[9], c.in[0].values[5]}}};
  };
  return {
      {.name = "rows",
       .op = OpId::Gather,
       .in = {{{3, 4}}, indices},
       .attrs = {0, 0},
       .ref = gathered({2, 2, 4}, {1, 1, 3, 4, 4}),
       .dtypes = kNumberTypes},
      {.name = "columns",
       .op = OpId::Gather,
       .in = {{{2, 3}}, {{4}, 0, 0, kInt64, {2, 0, 2, 1}}},
       .attrs = {1, 0},
       .ref = gathered({2, 4}, {1, 2, 3, 4, 1})},
      {.name = "batch",
       .op = OpId::Gather,
       .in = {{{2, 2, 3, 2}}, indices},
       .attrs = {2, 1},
       .ref = gathered({2, 2, 2, 2}, {2, 2, 3, 2, 2})},
      {.name = "scalar_index",
       .op = OpId::Gather,
       .in = {{{3, 2}}, {{}, 0, 0, kInt32, {1}}},
       .attrs = {0, 0},
       .ref = gathered({2}, {1, 1, 3, 1, 2})},
      {.name = "nothing",
       .op = OpId::Gather,
       .in = {{{3, 2}}, {{0}, 0, 0, kInt32}},
       .attrs = {0, 0},
       .ref = gathered({0, 2}, {1, 1, 3, 0, 2})},
      {.name = "rows",
       .op = OpId::GatherGrad,
       .in = {{{2, 2, 4}}, indices},
       .attrs = {Shape{3, 4}, 0, 0},
       .ref = summed({3, 4}, {1, 1, 3, 4, 4}),
       .dtypes = kNumberTypes},
      {.name = "batch",
       .op = OpId::GatherGrad,
       .in = {{{2, 2, 2, 2}}, indices},
       .attrs = {Shape{2, 2, 3, 2}, 2, 1},
       .ref = summed({2, 2, 3, 2}, {2, 2, 3, 2, 2})},
      {.name = "rows",
       .op = OpId::GatherNd,
       .in = {{{4, 3}}, twice},
       .ref = gathered({3, 3}, {1, 1, 4, 3, 3}),
       .dtypes = kNumberTypes},
      {.name = "elements", .op = OpId::GatherNd, .in = {{{4, 3}}, pairs}, .ref = picked},
      {.name = "rows",
       .op = OpId::ScatterNd,
       .in = {twice, {{3, 3}}},
       .attrs = {Shape{4, 3}},
       .ref = scattered(false, true),
       .dtypes = kNumberTypes},
      {.name = "nothing",
       .op = OpId::ScatterNd,
       .in = {{{0, 1}, 0, 0, kInt32}, {{0, 3}}},
       .attrs = {Shape{4, 3}},
       .ref = scattered(false, true)},
      {.name = "rows",
       .op = OpId::TensorScatterAdd,
       .in = {{{4, 3}}, twice, {{3, 3}}},
       .ref = scattered(true, true),
       .dtypes = kNumberTypes},
      {.name = "rows",
       .op = OpId::TensorScatterUpdate,
       .in = {{{4, 3}}, once, {{2, 3}}},
       .ref = scattered(true, false),
       .dtypes = kNumberTypes},
      where_case("vector", {5}, {1, 0, 0, 1, 1}),
      where_case("cube", {2, 3, 2}, {0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1}),
      where_case("scalar", {}, {1}),
      where_case("never", {4}, {0, 0, 0, 0}),
      where_case("empty", {0, 3}, {}),
  };
}

}  // namespace plimsoll::testing_ops
