#include <cmath>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

// Calls f(element index of k) for each row of the axis, with its n.
template <class F>
void for_rows(const Shape& shape, std::int64_t axis, F&& f) {
  const int a = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  std::int64_t inner = 1;
  for (int d = a + 1; d < shape.rank(); ++d) inner *= shape.dim(d);
  const std::int64_t n = shape.dim(a);
  const std::int64_t outer = n && inner ? shape.num_elements() / n / inner : 0;
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i)
      f(n, [=](std::int64_t k) { return static_cast<std::size_t>((o * n + k) * inner + i); });
  }
}

std::vector<double> softmax(const HostTensor& x, std::int64_t axis, bool is_log) {
  std::vector<double> out(x.values.size());
  for_rows(x.shape, axis, [&](std::int64_t n, auto at) {
    double max = -HUGE_VAL, sum = 0;
    for (std::int64_t k = 0; k < n; ++k) max = std::max(max, x.values[at(k)]);
    for (std::int64_t k = 0; k < n; ++k) sum += std::exp(x.values[at(k)] - max);
    for (std::int64_t k = 0; k < n; ++k) {
      const double v = x.values[at(k)] - max;
      out[at(k)] = is_log ? v - std::log(sum) : std::exp(v) / sum;
    }
  });
  return out;
}

auto softmax_ref(bool is_log) {
  return [is_log](const RefCall& c) {
    return std::vector{HostTensor{c.in[0].shape, softmax(c.in[0], c.attrs[0].as_int(), is_log)}};
  };
}
auto softmax_grad_ref(bool is_log) {
  return [is_log](const RefCall& c) {
    HostTensor out = c.in[0];
    const auto& dy = c.in[0].values;
    const auto& y = c.in[1].values;
    for_rows(out.shape, c.attrs[0].as_int(), [&](std::int64_t n, auto at) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += dy[at(k)] * (is_log ? 1 : y[at(k)]);
      for (std::int64_t k = 0; k < n; ++k) {
        out.values[at(k)] =
            is_log ? dy[at(k)] - std::exp(y[at(k)]) * sum : (dy[at(k)] - sum) * y[at(k)];
      }
    });
    return std::vector{out};
  };
}

Shape rows_of(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<std::size_t>(shape.rank() - 1)));
}
// The label of element k of row r: dense, or 1 for the class.
double label(const HostTensor& labels, bool is_sparse, std::int64_t r, std::int64_t k,
             std::int64_t n) {
  if (is_sparse) return labels.values[static_cast<std::size_t>(r)] == static_cast<double>(k);
  return labels.values[static_cast<std::size_t>(r * n + k)];
}
auto loss_ref(bool is_sparse) {
  return [is_sparse](const RefCall& c) {
    const std::int64_t n = c.in[0].shape.dim(c.in[0].shape.rank() - 1);
    const auto log = softmax(c.in[0], -1, true);
    HostTensor out{rows_of(c.in[0].shape), {}};
    for (std::int64_t r = 0; r < out.shape.num_elements(); ++r) {
      double loss = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        const double l = label(c.in[1], is_sparse, r, k, n);
        if (l != 0) loss -= l * log[static_cast<std::size_t>(r * n + k)];
      }
      out.values.push_back(loss);
    }
    return std::vector{out};
  };
}
auto loss_grad_ref(bool is_sparse) {
  return [is_sparse](const RefCall& c) {
    const std::int64_t n = c.in[1].shape.dim(c.in[1].shape.rank() - 1);
    HostTensor out{c.in[1].shape, softmax(c.in[1], -1, false)};
    for (std::int64_t i = 0; i < out.shape.num_elements(); ++i) {
      auto& v = out.values[static_cast<std::size_t>(i)];
      v = (v - label(c.in[2], is_sparse, i / n, i % n, n)) *
          c.in[0].values[static_cast<std::size_t>(i / n)];
    }
    return std::vector{out};
  };
}

}  // namespace

std::vector<OpCase> softmax_cases() {
  std::vector<OpCase> cases;
  const struct {
    const char* name;
    Shape shape;
    int axis;
    double lo = -4, hi = 4;
  } shapes[] = {{"last", {3, 7}, -1},           {"first", {5, 3}, 0},   {"middle", {2, 5, 70}, 1},
                {"one_row", {19}, 0},           {"long", {2, 1500}, 1}, {"empty", {0, 3}, -1},
                {"large", {2, 9}, -1, 80, 700}, {"single", {4, 1}, -1}};
  for (const auto& s : shapes) {
    for (const bool is_log : {false, true}) {
      cases.push_back({.name = s.name,
                       .op = is_log ? OpId::LogSoftmax : OpId::Softmax,
                       .in = {{s.shape, s.lo, s.hi}},
                       .attrs = {s.axis},
                       .ref = softmax_ref(is_log),
                       .dtypes = kFloatTypes,
                       .has_grad = s.hi < 50});
      if (s.hi > 50) continue;
      cases.push_back({.name = s.name,
                       .op = is_log ? OpId::LogSoftmaxGrad : OpId::SoftmaxGrad,
                       .in = {{s.shape}, {s.shape, is_log ? -3.0 : 0.0, is_log ? -1.0 : 0.02}},
                       .attrs = {s.axis},
                       .ref = softmax_grad_ref(is_log),
                       .dtypes = kFloatTypes,
                       .tolerance = is_log ? 300.0 : 8.0});
    }
  }
  cases.push_back({.name = "infinite",
                   .op = OpId::Softmax,
                   .in = {{.shape = {2, 3}, .values = {-HUGE_VAL, 0, 1, -HUGE_VAL, 2, 2}}},
                   .attrs = {-1},
                   .ref = softmax_ref(false),
                   .has_grad = false});
  for (const auto& [name, shape] : {std::pair<const char*, Shape>{"rows", {3, 5}},
                                    {"cube", {2, 3, 4}},
                                    {"long", {2, 1100}},
                                    {"none", {0, 4}}}) {
    const std::int64_t n = shape.dim(shape.rank() - 1);
    // The same label for every class sums to 1, as the gradient takes it.
    const Input dense{.shape = shape, .values = {1 / static_cast<double>(n)}};
    const Input sparse{rows_of(shape), 0, static_cast<double>(n), Input::Kind::kInt32};
    const Input sparse64{rows_of(shape), 0, static_cast<double>(n), Input::Kind::kInt64};
    const Input logits{shape, -4, 4};
    cases.push_back({.name = name,
                     .op = OpId::SoftmaxCrossEntropy,
                     .in = {logits, dense},
                     .ref = loss_ref(false),
                     .dtypes = kFloatTypes,
                     .tolerance = 4});
    cases.push_back({.name = name,
                     .op = OpId::SoftmaxCrossEntropyGrad,
                     .in = {{rows_of(shape)}, logits, dense},
                     .ref = loss_grad_ref(false),
                     .dtypes = kFloatTypes});
    cases.push_back({.name = name,
                     .op = OpId::SparseSoftmaxCrossEntropy,
                     .in = {logits, sparse},
                     .ref = loss_ref(true),
                     .dtypes = kFloatTypes});
    cases.push_back({.name = name,
                     .op = OpId::SparseSoftmaxCrossEntropyGrad,
                     .in = {{rows_of(shape)}, logits, sparse64},
                     .ref = loss_grad_ref(true),
                     .dtypes = kFloatTypes});
  }
  cases.push_back({.name = "plain",
                   .op = OpId::SigmoidCrossEntropy,
                   .in = {{{4, 9}, -5, 5}, {{4, 9}, 0, 1}},
                   .ref =
                       [](const RefCall& c) {
                         return c.map2(
                             [](double x, double z) { return std::log1p(std::exp(x)) - x * z; });
                       },
                   .dtypes = kFloatTypes,
                   .tolerance = 2});
  return cases;
}

}  // namespace plimsoll::testing_ops
