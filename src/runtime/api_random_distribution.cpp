#include <limits>
#include <vector>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/random_state.h"

namespace plimsoll::random {
namespace {

Tensor in_dtype(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : cast(x, dtype);
}
// Parameters of floating results in their type, of others in float64.
Tensor as_parameter(const Tensor& x, DType dtype, const char* name) {
  PLIMSOLL_CHECK(x.is_valid(), InvalidArgumentError, "{} is an empty Tensor", name);
  return in_dtype(x, is_floating(dtype) ? dtype : float64);
}
Shape joined(const Shape& first, const Shape& second) {
  std::vector<std::int64_t> dims(first.dims().begin(), first.dims().end());
  dims.insert(dims.end(), second.dims().begin(), second.dims().end());
  return Shape(dims);
}
double smallest_normal(DType dtype) {
  if (dtype == float16) return 0x1p-14;
  return dtype == float64 ? std::numeric_limits<double>::min()
                          : static_cast<double>(std::numeric_limits<float>::min());
}

// `make_state` is asked once the result's shape is known.
template <class Shaped, class State>
Tensor gamma_of(const Tensor& alpha, const Tensor& beta, DType dtype, Shaped&& result_shape,
                State&& make_state) {
  PLIMSOLL_CHECK(is_floating(dtype), InvalidArgumentError, "gamma makes no {}; floating types",
                 dtype_name(dtype));
  Tensor a = as_parameter(alpha, dtype, "alpha"), b;
  if (beta.is_valid()) {
    b = in_dtype(beta, dtype);
    const Shape both = broadcast_shapes(a.shape(), b.shape(), "RandomGamma");
    if (a.shape() != both) a = broadcast_to(a, both);
  }
  const Shape shape = result_shape(a.shape());
  Tensor drawn = call(OpId::RandomGamma, {a, make_state(shape)}, {AttrValue(shape)});
  if (b.is_valid()) drawn = drawn / b;
  return maximum(fill({}, smallest_normal(dtype), dtype), drawn);
}

}  // namespace

Tensor categorical(const Tensor& logits, std::int64_t num_samples, DType dtype, OpSeed seed) {
  PLIMSOLL_CHECK(logits.is_valid() && logits.rank() == 2, InvalidArgumentError,
                 "logits should be a matrix, got {}",
                 logits.is_valid() ? logits.shape().to_string() : "an empty Tensor");
  const std::int64_t samples = (std::max<std::int64_t>(num_samples, 0) + 3) / 4 * 4;
  const Tensor state =
      random_state(OpId::RandomCategorical, dtype, logits.shape().dim(0) * samples * 2, seed);
  return call(OpId::RandomCategorical, {logits, state}, {dtype, num_samples});
}
Tensor gamma(const Shape& shape, const Tensor& alpha, const Tensor& beta, DType dtype,
             OpSeed seed) {
  return gamma_of(
      alpha, beta, dtype, [&](const Shape& end) { return joined(shape, end); },
      [&](const Shape& all) {
        return random_state(OpId::RandomGamma, dtype, all.num_elements(), seed);
      });
}
Tensor poisson(const Shape& shape, const Tensor& lam, DType dtype, OpSeed seed) {
  const Tensor rate = as_parameter(lam, dtype, "lam");
  const Shape all = joined(shape, rate.shape());
  const Tensor state = random_state(OpId::RandomPoisson, dtype, all.num_elements(), seed);
  return call(OpId::RandomPoisson, {rate, state}, {dtype, AttrValue(all)});
}
Tensor bernoulli(const Shape& shape, double p, DType dtype, OpSeed seed) {
  PLIMSOLL_CHECK(p >= 0 && p <= 1, InvalidArgumentError, "p must be in [0, 1]. Received: p={}", p);
  return cast(less(uniform(shape, 0, 1, float32, seed), fill({}, p)), dtype);
}

Tensor stateless_categorical(const Tensor& logits, std::int64_t num_samples, const Seed& seed,
                             DType dtype) {
  return call(OpId::RandomCategorical, {logits, seed.tensor()}, {dtype, num_samples});
}
Tensor stateless_gamma(const Shape& shape, const Seed& seed, const Tensor& alpha,
                       const Tensor& beta, DType dtype) {
  return gamma_of(
      alpha, beta, dtype, [&](const Shape&) { return shape; },
      [&](const Shape&) { return seed.tensor(); });
}
Tensor stateless_poisson(const Shape& shape, const Seed& seed, const Tensor& lam, DType dtype) {
  return call(OpId::RandomPoisson, {as_parameter(lam, dtype, "lam"), seed.tensor()},
              {dtype, AttrValue(shape)});
}
Tensor stateless_binomial(const Shape& shape, const Seed& seed, const Tensor& counts,
                          const Tensor& probs, DType output_dtype) {
  Tensor n = as_parameter(counts, output_dtype, "counts");
  Tensor p = as_parameter(probs, output_dtype, "probs");
  const Shape both = broadcast_shapes(n.shape(), p.shape(), "RandomBinomial");
  if (n.shape() != both) n = broadcast_to(n, both);
  if (p.shape() != both) p = broadcast_to(p, both);
  return call(OpId::RandomBinomial, {n, p, seed.tensor()}, {output_dtype, AttrValue(shape)});
}

namespace experimental {
Tensor stateless_shuffle(const Tensor& value, const Seed& seed) {
  return call(OpId::RandomShuffle, {value, seed.tensor()});
}
}  // namespace experimental

}  // namespace plimsoll::random
