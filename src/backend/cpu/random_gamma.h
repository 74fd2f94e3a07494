// Functions of the gamma distribution.
#pragma once

namespace plimsoll::cpu {

double log_gamma(double x) noexcept;  // unlike std::lgamma without a global sign
// How a sample of Gamma(alpha, 1) moves with alpha, by implicit reparameterisation: -(dP / dalpha)
// / p at the sample, where P is the distribution and p its density.
double gamma_sample_slope(double alpha, double sample) noexcept;

}  // namespace plimsoll::cpu
