#include <cmath>

#include <fmt/format.h>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

// A tensor as rows of n, normalised along rows or along columns.
struct View {
  const HostTensor& t;
  std::size_t n, num;

  View(const HostTensor& tensor, const Shape& last)
      : t(tensor),
        n(static_cast<std::size_t>(last.num_elements())),
        num(n ? tensor.values.size() / n : 0) {}
};

double mean_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x;
  return sum / static_cast<double>(v.size());
}
// Calls f(indices, channel or -1) for what is normalised together.
template <class F>
void for_groups(std::size_t n, std::size_t num, bool is_batch, F&& f) {
  for (std::size_t i = 0; i < (is_batch ? n : num); ++i) {
    std::vector<std::size_t> at;
    for (std::size_t k = 0; k < (is_batch ? num : n); ++k)
      at.push_back(is_batch ? k * n + i : i * n + k);
    f(at, i);
  }
}
struct Stats {
  double mean, variance;
};
Stats stats_of(const std::vector<double>& x, const std::vector<std::size_t>& at, bool has_mean) {
  std::vector<double> values, squares;
  for (const std::size_t i : at) values.push_back(x[i]);
  const double mean = has_mean ? mean_of(values) : 0;
  for (const double v : values) squares.push_back((v - mean) * (v - mean));
  return {mean, mean_of(squares)};
}

std::vector<HostTensor> norm_ref(const RefCall& c, bool is_batch, bool has_mean) {
  const View v(c.in[0], c.in[1].shape);
  HostTensor y = c.in[0], mean = c.in[1], variance = c.in[1];
  for_groups(v.n, v.num, is_batch, [&](const std::vector<std::size_t>& at, std::size_t group) {
    const Stats s = stats_of(c.in[0].values, at, has_mean);
    if (is_batch) mean.values[group] = s.mean, variance.values[group] = s.variance;
    for (const std::size_t i : at) {
      const double normal =
          (c.in[0].values[i] - s.mean) / std::sqrt(s.variance + c.attrs[0].as_float());
      y.values[i] = normal * c.in[1].values[i % v.n] + (has_mean ? c.in[2].values[i % v.n] : 0);
    }
  });
  if (is_batch) return {y, mean, variance};
  return {y};
}
std::vector<HostTensor> norm_grad_ref(const RefCall& c, bool is_batch, bool has_mean) {
  const View v(c.in[1], c.in[2].shape);
  HostTensor dx = c.in[1], dscale = c.in[2], doffset = c.in[2];
  std::fill(dscale.values.begin(), dscale.values.end(), 0);
  std::fill(doffset.values.begin(), doffset.values.end(), 0);
  for_groups(v.n, v.num, is_batch, [&](const std::vector<std::size_t>& at, std::size_t group) {
    Stats s = stats_of(c.in[1].values, at, has_mean);
    if (is_batch) s = {c.in[3].values[group], c.in[4].values[group]};
    const double r = 1 / std::sqrt(s.variance + c.attrs[0].as_float());
    std::vector<double> g, gn;
    for (const std::size_t i : at) {
      const double normal = (c.in[1].values[i] - s.mean) * r;
      g.push_back(c.in[0].values[i] * c.in[2].values[i % v.n]);
      gn.push_back(g.back() * normal);
      dscale.values[i % v.n] += c.in[0].values[i] * normal;
      doffset.values[i % v.n] += c.in[0].values[i];
    }
    for (std::size_t k = 0; k < at.size(); ++k) {
      const double normal = (c.in[1].values[at[k]] - s.mean) * r;
      dx.values[at[k]] = r * (g[k] - (has_mean ? mean_of(g) : 0) - normal * mean_of(gn));
    }
  });
  if (has_mean) return {dx, dscale, doffset};
  return {dx, dscale};
}
std::vector<HostTensor> inference_ref(const RefCall& c) {
  const View v(c.in[0], c.in[1].shape);
  HostTensor y = c.in[0];
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    const std::size_t k = i % v.n;
    y.values[i] = (y.values[i] - c.in[3].values[k]) /
                      std::sqrt(c.in[4].values[k] + c.attrs[0].as_float()) * c.in[1].values[k] +
                  c.in[2].values[k];
  }
  return {y};
}

// The norm of the other ops, with something added and activated.
std::vector<HostTensor> activated_ref(const RefCall& c, bool is_training) {
  auto made = is_training ? norm_ref(c, true, true) : inference_ref(c);
  const bool adds = c.in.size() > (is_training ? 3 : 5);
  for (std::size_t i = 0; i < made[0].values.size(); ++i) {
    double& y = made[0].values[i];
    y = activated(c.attrs[1], y + (adds ? c.in.back().values[i] : 0));
  }
  return made;
}
// Inputs: dy, x, scale, mean, variance, offset.
std::vector<HostTensor> activated_grad_ref(const RefCall& c) {
  std::vector<HostTensor> in(c.in);
  const std::vector<HostTensor> forward{in[1], in[2], in[5], in[3], in[4]};
  const HostTensor y = inference_ref({forward, c.attrs})[0];
  for (std::size_t i = 0; i < y.values.size(); ++i) {
    if (activated(c.attrs[1], y.values[i]) != y.values[i]) in[0].values[i] = 0;
  }
  return norm_grad_ref({in, c.attrs}, true, true);
}

}  // namespace

std::vector<OpCase> norm_cases() {
  std::vector<OpCase> cases;
  const Attrs epsilon = {0.01};
  const struct {
    const char* name;
    Shape x, channels, row;
  } shapes[] = {{"image", {2, 3, 4, 5}, {5}, {5}},
                {"two_axes", {6, 3, 7}, {7}, {3, 7}},
                {"long", {3, 1100}, {1100}, {1100}},
                {"tall", {1500, 33}, {33}, {33}},
                {"one", {4, 1}, {1}, {1}}};
  for (const auto& s : shapes) {
    const bool is_large = s.x.num_elements() > 10000;
    const auto add = [&](OpId op, std::vector<Input> in, auto ref, bool has_grad) {
      cases.push_back({.name = s.name,
                       .op = op,
                       .in = std::move(in),
                       .attrs = epsilon,
                       .ref = ref,
                       .dtypes = {DType::kFloat32, DType::kFloat64},
                       .has_grad = has_grad && !is_large,
                       .tolerance = is_large ? 40.0 : 10.0});
    };
    const Input scale{s.channels, 0.5, 2}, offset{s.channels}, x{s.x, -1, 3}, dy{s.x};
    add(
        OpId::BatchNorm, {x, scale, offset},
        [](const RefCall& c) { return norm_ref(c, true, true); }, true);
    add(OpId::BatchNormInference, {x, scale, offset, offset, {s.channels, 0.5, 2}}, inference_ref,
        true);
    // Its gradient takes mean and variance for those of x, which differences do not: see
    // norm_errors_test.cpp for second derivatives.
    add(
        OpId::BatchNormGrad, {dy, x, scale, {s.channels, 0.9, 1.1}, {s.channels, 1, 1.2}},
        [](const RefCall& c) { return norm_grad_ref(c, true, true); }, false);
    for (const int activation : {0, 1, 2}) {
      for (const bool adds : {false, true}) {
        const auto add_activated = [&](OpId op, std::vector<Input> in, auto ref) {
          if (adds) in.push_back({s.x, -3, 8});
          cases.push_back({.name = fmt::format("{}_{}{}", s.name, activation, adds ? "_add" : ""),
                           .op = op,
                           .in = std::move(in),
                           .attrs = {0.01, activation},
                           .ref = ref,
                           .tolerance = is_large ? 40.0 : 10.0});
        };
        add_activated(OpId::BatchNormAct, {x, scale, offset},
                      [](const RefCall& c) { return activated_ref(c, true); });
        add_activated(OpId::BatchNormActInference, {x, scale, offset, offset, {s.channels, 0.5, 2}},
                      [](const RefCall& c) { return activated_ref(c, false); });
        if (adds) continue;
        add_activated(
            OpId::BatchNormActGrad,
            {dy, x, scale, {s.channels, 0.9, 1.1}, {s.channels, 0.1, 0.2}, {s.channels, -1, 4}},
            activated_grad_ref);
      }
    }
    const Input row_scale{s.row, 0.5, 2}, row_offset{s.row};
    add(
        OpId::LayerNorm, {x, row_scale, row_offset},
        [](const RefCall& c) { return norm_ref(c, false, true); }, true);
    add(
        OpId::LayerNormGrad, {dy, x, row_scale},
        [](const RefCall& c) { return norm_grad_ref(c, false, true); }, true);
    add(
        OpId::RmsNorm, {x, row_scale}, [](const RefCall& c) { return norm_ref(c, false, false); },
        true);
    add(
        OpId::RmsNormGrad, {dy, x, row_scale},
        [](const RefCall& c) { return norm_grad_ref(c, false, false); }, true);
  }
  return cases;
}

}  // namespace plimsoll::testing_ops
