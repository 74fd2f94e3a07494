#include <cmath>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

constexpr double kSelu = 1.0507009873554805, kSeluAlpha = 1.6732632423543772;
constexpr double kAlpha = 0.3;  // of those that have one

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double softplus(double x) {
  return std::log1p(std::exp(x));
}
double relu6(double x) {
  return std::min(std::max(x, 0.0), 6.0);
}
double gelu(double x) {
  return 0.5 * x * std::erfc(-x / std::sqrt(2));
}
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double mish(double x) {
  return x * std::tanh(softplus(x));
}

// The slope of f at x, for gradient ops.
template <double (*f)(double)>
double slope(double x) {
  constexpr double kStep = 1e-3;  // with the next term of the error cancelled
  const auto central = [x](double h) { return (f(x + h) - f(x - h)) / (2 * h); };
  return (4 * central(kStep / 2) - central(kStep)) / 3;
}

}  // namespace

std::vector<OpCase> activation_cases() {
  std::vector<OpCase> cases;
  const auto add = [&](OpId op, double (*f)(double), Attrs attrs = {}, double lo = -4,
                       double hi = 4) {
    for (const std::int64_t n : {21, 1031}) {
      cases.push_back({.name = n == 21 ? "plain" : "long",
                       .op = op,
                       .in = {{{n}, lo, hi}},
                       .attrs = attrs,
                       .ref = [f](const RefCall& c) { return c.map1(f); },
                       .dtypes = kFloatTypes});
    }
  };
  add(OpId::Relu, [](double x) { return std::max(x, 0.0); });
  add(OpId::Relu6, relu6, {}, -8, 8);
  add(OpId::LeakyRelu, [](double x) { return x < 0 ? kAlpha * x : x; }, {kAlpha});
  add(OpId::Elu, [](double x) { return x < 0 ? std::expm1(x) : x; });
  add(OpId::Selu, [](double x) { return kSelu * (x < 0 ? kSeluAlpha * std::expm1(x) : x); });
  add(OpId::Celu, [](double x) { return x < 0 ? kAlpha * std::expm1(x / kAlpha) : x; }, {kAlpha});
  add(OpId::Sigmoid, sigmoid);
  add(OpId::Tanh, [](double x) { return std::tanh(x); });
  add(OpId::Gelu, gelu);
  add(OpId::GeluTanh, gelu_tanh);
  add(OpId::Silu, [](double x) { return x * sigmoid(x); });
  add(OpId::Softplus, softplus);
  add(OpId::Softsign, [](double x) { return x / (1 + std::abs(x)); });
  add(OpId::HardSigmoid, [](double x) { return relu6(x + 3) / 6; });
  add(OpId::HardSilu, [](double x) { return x * relu6(x + 3) / 6; });
  add(OpId::Mish, mish);

  const auto add_grad = [&](OpId op, double (*f)(double), Attrs attrs = {}, double tolerance = 1) {
    cases.push_back({.name = "plain",
                     .op = op,
                     .in = {{{4, 9}}, {{4, 9}, -4, 4}},
                     .attrs = attrs,
                     .ref =
                         [f](const RefCall& c) {
                           HostTensor out{c.in[0].shape, {}};
                           for (std::size_t i = 0; i < c.in[0].values.size(); ++i)
                             out.values.push_back(c.in[0].values[i] * f(c.in[1].values[i]));
                           return std::vector{out};
                         },
                     .dtypes = {DType::kFloat32, DType::kFloat16, DType::kBFloat16},
                     .tolerance = tolerance});
  };
  add_grad(OpId::ReluGrad, [](double y) { return double(y > 0); });
  add_grad(OpId::Relu6Grad, [](double y) { return double(y > 0 && y < 6); });
  add_grad(OpId::LeakyReluGrad, [](double y) { return y > 0 ? 1 : kAlpha; }, {kAlpha});
  add_grad(OpId::EluGrad, [](double y) { return y < 0 ? y + 1 : 1; });
  add_grad(OpId::SeluGrad, [](double y) { return y < 0 ? y + kSelu * kSeluAlpha : kSelu; });
  add_grad(OpId::CeluGrad, [](double y) { return y < 0 ? std::exp(y / kAlpha) : 1; }, {kAlpha});
  add_grad(OpId::SigmoidGrad, [](double y) { return y * (1 - y); });
  add_grad(OpId::TanhGrad, [](double y) { return 1 - y * y; });
  add_grad(OpId::GeluGrad, slope<gelu>);
  add_grad(OpId::GeluTanhGrad, slope<gelu_tanh>);
  add_grad(OpId::SiluGrad, [](double y) {
    const double s = sigmoid(y);
    return s * (1 + y * (1 - s));
  });
  add_grad(OpId::SoftplusGrad, sigmoid);
  add_grad(OpId::SoftsignGrad, [](double y) { return 1 / std::pow(1 + std::abs(y), 2); });
  add_grad(OpId::HardSigmoidGrad, [](double y) { return std::abs(y) < 3 ? 1.0 / 6 : 0; });
  add_grad(OpId::HardSiluGrad, [](double y) { return y < -3 ? 0 : (y > 3 ? 1 : y / 3 + 0.5); });
  add_grad(OpId::MishGrad, slope<mish>);
  return cases;
}

}  // namespace plimsoll::testing_ops
