#include "backend/cpu/random_gamma.h"

#include <cmath>

namespace plimsoll::cpu {
namespace {

constexpr int kMaxTerms = 200000;
constexpr double kEpsilon = 1e-16;

// d/dx log_gamma(x) for x > 0: upwards by recurrence, then the asymptotic series.
double digamma(double x) noexcept {
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  const double r = 1 / (x * x);
  const double series =
      r *
      (1.0 / 12 -
       r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760))))));
  return shift + std::log(x) - 0.5 / x - series;
}

// A number with its derivative by alpha.
struct Dual {
  double v, d = 0;
};
Dual operator+(Dual a, Dual b) noexcept {
  return {a.v + b.v, a.d + b.d};
}
Dual operator*(Dual a, Dual b) noexcept {
  return {a.v * b.v, a.d * b.v + a.v * b.d};
}
Dual operator/(Dual a, Dual b) noexcept {
  const double q = a.v / b.v;
  return {q, (a.d - q * b.d) / b.v};
}

// P = x^a e^-x / gamma(a + 1) * sum of x^n / ((a + 1) ... (a + n)), the sum here.
Dual lower_series(double a, double x) noexcept {
  Dual term{1}, sum{1};
  for (int n = 1; n < kMaxTerms; ++n) {
    term = term * Dual{x} / Dual{a + n, 1};
    sum = sum + term;
    if (term.v < kEpsilon * sum.v && std::abs(term.d) <= kEpsilon * std::abs(sum.d)) break;
  }
  return sum;
}
// 1 - P = x^a e^-x / gamma(a) * a continued fraction, here, by Lentz's method.
Dual upper_fraction(double a, double x) noexcept {
  constexpr double kTiny = 1e-300;
  Dual b{x + 1 - a, -1};
  if (b.v == 0) b.v = kTiny;
  Dual d = Dual{1} / b, c{1 / kTiny}, result = d;
  for (int n = 1; n < kMaxTerms; ++n) {
    const Dual an{n * (a - n), static_cast<double>(n)};
    b = b + Dual{2};
    d = an * d + b;
    if (d.v == 0) d.v = kTiny;
    d = Dual{1} / d;
    c = b + an / c;
    if (c.v == 0) c.v = kTiny;
    const Dual step = c * d;
    result = result * step;
    if (std::abs(step.v - 1) < kEpsilon * 4 && std::abs(step.d) < kEpsilon * 4) break;
  }
  return result;
}

}  // namespace

double log_gamma(double x) noexcept {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double gamma_sample_slope(double alpha, double sample) noexcept {
  if (sample == 0) return 0;
  if (!(alpha > 0) || std::isnan(sample) || sample < 0) return std::nan("");
  if (std::isinf(sample) || std::isinf(alpha)) return 0;
  const double log_x = std::log(sample);
  if (sample < alpha + 1) {
    const Dual s = lower_series(alpha, sample);
    return -sample / alpha * (s.v * (log_x - digamma(alpha + 1)) + s.d);
  }
  const Dual f = upper_fraction(alpha, sample);
  return sample * (f.v * (log_x - digamma(alpha)) + f.d);
}

}  // namespace plimsoll::cpu
