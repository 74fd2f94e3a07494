#include <algorithm>
#include <cmath>

#include "ops/op_case.h"
#include "ops/random_stream.h"

namespace plimsoll::testing_ops {
namespace {

// The numbers of one result: a counter makes two, the second first.
class Draws {
 public:
  Draws(const Stream& stream, std::uint64_t result, std::uint64_t counters = 256)
      : stream_(stream), next_(result * counters) {}
  double uniform() {
    if (uniforms_.empty()) {
      const Four x = stream_.at(next_++);
      uniforms_ = {unit64(x[0], x[1]), unit64(x[2], x[3])};
    }
    return take(uniforms_);
  }
  double normal() {
    if (normals_.empty()) normals_ = normals(stream_.at(next_++), DType::kFloat64);
    return take(normals_);
  }

 private:
  static double take(std::vector<double>& from) {
    const double last = from.back();
    from.pop_back();
    return last;
  }
  const Stream& stream_;
  std::uint64_t next_;
  std::vector<double> uniforms_, normals_;
};

double gamma_number(double alpha, Draws draws) {
  if (alpha == 1) return -std::log1p(-draws.uniform());
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3;
  while (true) {
    const double x = draws.normal(), v = std::pow(1 + x / std::sqrt(9 * d), 3);
    if (v <= 0) continue;
    const double u = draws.uniform();
    // The squeeze accepts nothing that this does not.
    if (std::log(u) >= 0.5 * x * x + d * (1 - v + std::log(v))) continue;
    return alpha < 1 ? d * v * std::pow(draws.uniform(), 1 / alpha) : d * v;
  }
}
double poisson_number(double rate, Draws draws) {
  if (rate < 10) {
    double product = draws.uniform(), count = 0;
    for (; product > std::exp(-rate); ++count) product *= draws.uniform();
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  while (true) {
    const double u = draws.uniform() - 0.5, v = draws.uniform(), us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    const double accepted = std::log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b));
    if (accepted <= k * std::log(rate) - rate - std::lgamma(k + 1)) return k;
  }
}

// Results by parameter, then by sample; parameters are the last axes.
template <class F>
std::vector<HostTensor> drawn(const Shape& shape, const std::vector<double>& state,
                              std::int64_t parameters, F&& number, std::uint64_t counters = 256) {
  const Stream stream(state);
  HostTensor out{shape, std::vector<double>(static_cast<std::size_t>(shape.num_elements()))};
  const std::int64_t samples = parameters ? shape.num_elements() / parameters : 0;
  for (std::int64_t p = 0; p < parameters; ++p) {
    for (std::int64_t s = 0; s < samples; ++s) {
      out.values[static_cast<std::size_t>(s * parameters + p)] =
          number(static_cast<std::size_t>(p),
                 Draws(stream, static_cast<std::uint64_t>(p * samples + s), counters));
    }
  }
  return {out};
}
std::vector<HostTensor> gamma_ref(const RefCall& c) {
  return drawn(Shape(c.attrs[0].as_ints()), c.in[1].values, c.in[0].shape.num_elements(),
               [&](std::size_t p, const Draws& d) { return gamma_number(c.in[0].values[p], d); });
}
std::vector<HostTensor> poisson_ref(const RefCall& c) {
  return drawn(Shape(c.attrs[1].as_ints()), c.in[1].values, c.in[0].shape.num_elements(),
               [&](std::size_t p, const Draws& d) { return poisson_number(c.in[0].values[p], d); });
}
// Few trials: distances between successes.
std::vector<HostTensor> binomial_ref(const RefCall& c) {
  return drawn(
      Shape(c.attrs[1].as_ints()), c.in[2].values, c.in[0].shape.num_elements(),
      [&](std::size_t p, Draws d) {
        const double n = c.in[0].values[p], success = c.in[1].values[p];
        const double rare = std::min(success, 1 - success);
        double at = 0, found = 0;
        while (true) {
          at += std::ceil(std::log(d.uniform()) / std::log1p(-rare));
          if (at > n) break;
          ++found;
        }
        return success > 0.5 ? n - found : found;
      },
      42);
}
std::vector<HostTensor> categorical_ref(const RefCall& c) {
  const Stream stream(c.in[1].values);
  const std::int64_t rows = c.in[0].shape.dim(0), n = c.in[0].shape.dim(1);
  const std::int64_t samples = c.attrs[1].as_int();
  HostTensor out{{rows, samples}, {}};
  for (std::int64_t i = 0; i < rows * samples; ++i) {
    const double* logits = c.in[0].values.data() + i / samples * n;
    double total = 0, sum = 0;
    for (std::int64_t k = 0; k < n; ++k) total += std::exp(logits[k]);
    const double wanted =
        uniform_at(stream, DType::kFloat64, static_cast<std::uint64_t>(i)) * total;
    std::int64_t k = 0;
    while (k < n && (sum += std::exp(logits[k])) <= wanted) ++k;
    out.values.push_back(static_cast<double>(k));
  }
  return {out};
}
std::vector<HostTensor> bits_ref(const RefCall& c) {
  const Stream stream(c.in[0].values);
  HostTensor out{Shape(c.attrs[1].as_ints()), {}};
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(out.shape.num_elements()); ++i)
    out.values.push_back(static_cast<double>(static_cast<std::int32_t>(stream.at(i / 4)[i % 4])));
  return {out};
}

// Simpson's rule for P(a, x), and differences of it by a.
double lower_gamma(double a, double x) {
  const int n = 20000;  // t = s^4: smooth at 0 for a > 1/2
  double sum = 0;
  const double end = std::pow(x, 0.25);
  for (int i = 0; i <= n; ++i) {
    const double s = end * i / n, t = s * s * s * s;
    const double f = i == 0 ? 0 : 4 * std::pow(s, 4 * a - 1) * std::exp(-t);
    sum += f * (i == 0 || i == n ? 1 : i % 2 ? 4 : 2);
  }
  return sum * end / n / 3 / std::tgamma(a);
}
std::vector<HostTensor> gamma_grad_ref(const RefCall& c) {
  HostTensor out{c.in[1].shape, {}};
  for (std::size_t i = 0; i < c.in[1].values.size(); ++i) {
    const double a = c.in[0].values[i % c.in[0].values.size()], x = c.in[1].values[i], h = 1e-4;
    const auto central = [&](double step) {
      return (lower_gamma(a + step, x) - lower_gamma(a - step, x)) / (2 * step);
    };
    const double slope = (4 * central(h) - central(2 * h)) / 3;
    out.values.push_back(-slope / (std::pow(x, a - 1) * std::exp(-x) / std::tgamma(a)));
  }
  return {out};
}

Input state(std::vector<double> values) {
  return {.shape = {static_cast<std::int64_t>(values.size())},
          .kind = Input::Kind::kInt64,
          .values = std::move(values)};
}

}  // namespace

std::vector<OpCase> random_distribution_cases() {
  std::vector<OpCase> cases;
  const Input pair = state({1, 2}), other = state({123456789012, -5});
  for (const auto& [name, from] : {std::pair("pair", pair), std::pair("negative", other)}) {
    cases.push_back({.name = name,
                     .op = OpId::RandomGamma,
                     .in = {{.shape = {4}, .values = {0.25, 1, 2.5, 30}}, from},
                     .attrs = {AttrValue(Shape({50, 4}))},
                     .ref = gamma_ref,
                     .dtypes = kFloatTypes,
                     .has_grad = false,  // its numbers jump where a draw is refused
                     .tolerance = 4});
    for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kInt64}) {
      const bool is_float = is_floating(dtype);
      const std::string typed = std::string(name) + "_" + std::string(dtype_name(dtype));
      cases.push_back({.name = typed,
                       .op = OpId::RandomPoisson,
                       .in = {{.shape = {2, 2}, .values = {0, 0.5, 9.5, 40}}, from},
                       .attrs = {dtype, AttrValue(Shape({25, 2, 2}))},
                       .ref = poisson_ref,
                       .dtypes = {is_float ? dtype : DType::kFloat32}});
      cases.push_back({.name = typed,
                       .op = OpId::RandomBinomial,
                       .in = {{.shape = {3}, .values = {4, 9, 12}},
                              {.shape = {3}, .values = {0.25, 0.75, 0.5}},
                              from},
                       .attrs = {dtype, AttrValue(Shape({20, 3}))},
                       .ref = binomial_ref,
                       .dtypes = {is_float ? dtype : DType::kFloat32}});
    }
    for (const DType dtype : {DType::kInt32, DType::kInt64}) {
      cases.push_back({.name = std::string(name) + "_" + std::string(dtype_name(dtype)),
                       .op = OpId::RandomCategorical,
                       .in = {{{3, 7}}, from},
                       .attrs = {dtype, 33},
                       .ref = categorical_ref,
                       .dtypes = kFloatTypes});
    }
    cases.push_back({.name = name,
                     .op = OpId::RandomBits,
                     .in = {from},
                     .attrs = {DType::kInt32, AttrValue(Shape({3, 7}))},
                     .ref = bits_ref,
                     .dtypes = {DType::kInt32}});
  }
  cases.push_back({.name = "none",
                   .op = OpId::RandomGamma,
                   .in = {{{0}}, pair},
                   .attrs = {AttrValue(Shape({3, 0}))},
                   .ref = gamma_ref,
                   .has_grad = false});
  cases.push_back({.name = "no_samples",
                   .op = OpId::RandomCategorical,
                   .in = {{{2, 3}}, pair},
                   .attrs = {DType::kInt64, 0},
                   .ref = categorical_ref});
  cases.push_back({.name = "both_sides",
                   .op = OpId::RandomGammaGrad,
                   .in = {{.shape = {3}, .values = {0.75, 2, 6.5}},
                          {.shape = {4, 3}, .values = {0.1, 0.5, 2, 1, 1.5, 5, 2, 4, 7, 5, 8, 16}}},
                   .ref = gamma_grad_ref,
                   .dtypes = {DType::kFloat32},
                   .has_grad = false,
                   .tolerance = 8});
  return cases;
}

}  // namespace plimsoll::testing_ops
