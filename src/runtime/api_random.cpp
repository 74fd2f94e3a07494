#include <cmath>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/random_seeds.h"
#include "runtime/random_state.h"
#include "runtime/trace.h"

namespace plimsoll {
namespace {

// Counters that TensorFlow sets aside for each element of a result.
constexpr std::uint64_t kCountersPerElement = 256;

}  // namespace

Tensor random_state(OpId op, DType dtype, random::OpSeed seed, std::uint64_t num_counters) {
  const RandomState s = next_random_state(op, dtype, seed, num_counters);
  if (current_trace) return current_trace->random_state(s.key, s.high, num_counters);
  return constant<std::int64_t>({s.key, s.low, s.high});
}
Tensor random_state(OpId op, DType dtype, std::int64_t num_elements, random::OpSeed seed) {
  return random_state(op, dtype, seed,
                      static_cast<std::uint64_t>(num_elements) * kCountersPerElement);
}

namespace {

std::int64_t to_limit(double value, DType dtype) {
  const double largest = dtype == int32 ? 0x1p31 : 0x1p63;
  PLIMSOLL_CHECK(std::trunc(value) == value && value >= -largest && value < largest,
                 InvalidArgumentError, "random integers of type {} cannot be limited by {}",
                 dtype_name(dtype), value);
  return static_cast<std::int64_t>(value);
}

// From a state: floats, or integers.
Tensor uniform_from(const Tensor& state, const Shape& shape, double minval,
                    std::optional<double> maxval, DType dtype) {
  if (!is_integer(dtype)) {
    return call(OpId::RandomUniform, {state},
                {dtype, AttrValue(shape), minval, maxval.value_or(1)});
  }
  return call(OpId::RandomUniformInt, {state},
              {dtype, AttrValue(shape), to_limit(minval, dtype), to_limit(*maxval, dtype)});
}
void check_uniform(std::optional<double> maxval, DType dtype) {
  PLIMSOLL_CHECK(maxval || !is_integer(dtype), InvalidArgumentError,
                 "Must specify maxval for integer dtype {}", dtype_name(dtype));
}

void check_dropout(const Tensor& x, double rate) {
  PLIMSOLL_CHECK(x.is_valid() && is_floating(x.dtype()), InvalidArgumentError,
                 "`x.dtype` must be a floating point tensor as `x` will be "
                 "scaled. Received: "
                 "x_dtype={}",
                 x.is_valid() ? dtype_name(x.dtype()) : "an empty Tensor");
  PLIMSOLL_CHECK(rate >= 0 && rate < 1, InvalidArgumentError,
                 "`rate` must be a scalar tensor or a float in the range [0, "
                 "1). Received: rate={}",
                 rate);
}

}  // namespace

namespace random {

void set_seed(std::int64_t seed) {
  set_global_seed(seed);
}

Tensor uniform(const Shape& shape, double minval, std::optional<double> maxval, DType dtype,
               OpSeed seed) {
  check_uniform(maxval, dtype);
  const OpId op = is_integer(dtype) ? OpId::RandomUniformInt : OpId::RandomUniform;
  return uniform_from(random_state(op, dtype, shape.num_elements(), seed), shape, minval, maxval,
                      dtype);
}
Tensor normal(const Shape& shape, double mean, double stddev, DType dtype, OpSeed seed) {
  const Tensor state = random_state(OpId::RandomNormal, dtype, shape.num_elements(), seed);
  return call(OpId::RandomNormal, {state}, {dtype, AttrValue(shape), mean, stddev});
}
Tensor truncated_normal(const Shape& shape, double mean, double stddev, DType dtype, OpSeed seed) {
  const Tensor state = random_state(OpId::TruncatedNormal, dtype, shape.num_elements(), seed);
  return call(OpId::TruncatedNormal, {state}, {dtype, AttrValue(shape), mean, stddev});
}
Tensor shuffle(const Tensor& value, OpSeed seed) {
  PLIMSOLL_CHECK(value.is_valid(), InvalidArgumentError, "shuffle of an empty Tensor");
  const std::int64_t n = value.rank() == 0 ? 1 : value.shape().dim(0);
  const auto num_counters = static_cast<std::uint64_t>(n + 2) / 4;
  return call(OpId::RandomShuffle,
              {value, random_state(OpId::RandomShuffle, value.dtype(), seed, num_counters)});
}

Seed::Seed(std::int64_t a, std::int64_t b) : tensor_(constant<std::int64_t>({a, b})) {}

Tensor stateless_uniform(const Shape& shape, const Seed& seed, std::optional<double> minval,
                         std::optional<double> maxval, DType dtype) {
  if (is_integer(dtype) && !minval && !maxval) {
    return call(OpId::RandomBits, {seed.tensor()}, {dtype, AttrValue(shape)});
  }
  check_uniform(maxval, dtype);
  return uniform_from(seed.tensor(), shape, minval.value_or(0), maxval, dtype);
}
Tensor stateless_normal(const Shape& shape, const Seed& seed, double mean, double stddev,
                        DType dtype) {
  return call(OpId::RandomNormal, {seed.tensor()}, {dtype, AttrValue(shape), mean, stddev});
}
Tensor stateless_truncated_normal(const Shape& shape, const Seed& seed, double mean, double stddev,
                                  DType dtype) {
  return call(OpId::TruncatedNormal, {seed.tensor()}, {dtype, AttrValue(shape), mean, stddev});
}

}  // namespace random

namespace nn {

Tensor dropout(const Tensor& x, double rate, random::OpSeed seed) {
  check_dropout(x, rate);
  const Tensor state = random_state(OpId::RandomUniform, x.dtype(), x.num_elements(), seed);
  return rate == 0 ? x : call(OpId::Dropout, {x, state}, {rate});
}
Tensor dropout(const Tensor& x, double rate, const Shape& noise_shape, random::OpSeed seed) {
  check_dropout(x, rate);
  const Tensor noise = random::uniform(noise_shape, 0, 1, x.dtype(), seed);
  if (rate == 0) return x;
  const Tensor is_kept = greater_equal(noise, fill({}, rate, x.dtype()));
  return where(is_kept, x * (1 / (1 - rate)), fill({}, 0, x.dtype()));
}

namespace experimental {
Tensor stateless_dropout(const Tensor& x, double rate, const random::Seed& seed) {
  check_dropout(x, rate);
  return rate == 0 ? x : call(OpId::Dropout, {x, seed.tensor()}, {rate});
}
}  // namespace experimental
}  // namespace nn

}  // namespace plimsoll
