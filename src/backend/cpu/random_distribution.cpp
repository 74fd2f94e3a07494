// Distributions whose parameters are tensors. Every result has counters of the stream to itself, as
// in TensorFlow, whose methods these are: numbers do not depend on how work is shared.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/philox.h"
#include "backend/cpu/random_gamma.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::uint64_t kCounters = 256;    // of one result
constexpr std::uint64_t kFewCounters = 42;  // of one that is a sum of a few distances
constexpr std::int64_t kGrain = 512;        // results that are worth a thread

Philox state_of(const RunArgs& args, std::size_t i) noexcept {
  const std::int64_t size = args.call.in[i].shape.num_elements();
  return args.call.in[i].dtype == DType::kInt32
             ? Philox::from_state(args.in[i].as<const std::int32_t>(), size)
             : Philox::from_state(args.in[i].as<const std::int64_t>(), size);
}

double to_unit(std::uint32_t x0, std::uint32_t x1) noexcept {
  const std::uint64_t mantissa = std::uint64_t{x0 & 0xFFFFFU} << 32 | x1;
  return std::bit_cast<double>(0x3FF0000000000000U | mantissa) - 1.0;
}

// The numbers of one result: uniform and normal ones take counters in turn, each of which makes
// two, the second first.
class Source {
 public:
  Source(const Philox& start, std::int64_t result, std::uint64_t counters = kCounters) noexcept
      : at_(start) {
    at_.skip(static_cast<std::uint64_t>(result) * counters);
  }
  double uniform() noexcept {
    if (num_uniform_ == 0) {
      const auto x = next();
      uniform_[0] = to_unit(x[0], x[1]);
      uniform_[1] = to_unit(x[2], x[3]);
      num_uniform_ = 2;
    }
    return uniform_[--num_uniform_];
  }
  double normal() noexcept {
    if (num_normal_ == 0) {
      const auto x = next();
      const double u = std::max(to_unit(x[0], x[1]), 1.0e-7), v = 2 * M_PI * to_unit(x[2], x[3]);
      const double radius = std::sqrt(-2.0 * std::log(u));
      normal_[0] = std::sin(v) * radius;
      normal_[1] = std::cos(v) * radius;
      num_normal_ = 2;
    }
    return normal_[--num_normal_];
  }

 private:
  std::array<std::uint32_t, 4> next() noexcept {
    const auto x = at_();
    at_.skip(1);
    return x;
  }
  Philox at_;
  double uniform_[2], normal_[2];
  int num_uniform_ = 0, num_normal_ = 0;
};

// Marsaglia and Tsang's, for alpha < 1 through alpha + 1.
double draw_gamma(double alpha, Source source) noexcept {
  if (alpha == 1.0) return -std::log1p(-source.uniform());
  const bool is_small = alpha < 1;
  const double d = alpha + (is_small ? 2.0 / 3 : -1.0 / 3);
  const double c = 1.0 / 3 / std::sqrt(d);
  while (true) {
    const double x = source.normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = source.uniform();
    if (u < 1 - 0.0331 * (x * x) * (x * x) ||
        std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      return is_small ? d * v * std::pow(source.uniform(), 1 / alpha) : d * v;
    }
    if (!(alpha > 0)) return std::nan("");  // would not end
  }
}

// Knuth's for small rates, Hoermann's transformed rejection for others.
double draw_poisson(double rate, double largest, Source source) noexcept {
  if (!(rate >= 0)) return std::nan("");
  if (rate < 10) {
    const double limit = std::exp(-rate);
    double product = 1, x = 0;
    while (true) {
      product *= source.uniform();
      if (product <= limit && x <= largest) return x;
      x += 1;
    }
  }
  if (rate > largest) return rate;  // infinite, or more than the type has
  const double log_rate = std::log(rate);
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4);
  while (true) {
    const double u = source.uniform() - 0.5, v = source.uniform();
    const double shifted = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if (k > largest) continue;
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    const double s = std::log(v * inv_alpha / (a / (shifted * shifted) + b));
    if (s <= -rate + k * log_rate - log_gamma(k + 1)) return k;
  }
}

// Sums of geometric distances, where few are expected.
double draw_binomial_by_distances(double count, double p, Source source) noexcept {
  double distance = 0, found = 0;
  while (true) {
    distance += std::ceil(std::log(source.uniform()) / std::log1p(-p));
    if (distance > count) return found;
    found += 1;
  }
}
// log(k!) without Stirling's formula.
double stirling_rest(double k) noexcept {
  static constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k <= 9) return kFirst[static_cast<int>(k)];
  const double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}
// Hoermann's transformed rejection.
double draw_binomial_by_rejection(double count, double p, Source source) noexcept {
  const double stddev = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * stddev, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = count * p + 0.5, v_r = 0.92 - 4.2 / b, r = p / (1 - p);
  const double alpha = (2.83 + 5.1 / b) * stddev, m = std::floor((count + 1) * p);
  while (true) {
    const double u = source.uniform() - 0.5, v = source.uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + stirling_rest(m) +
                         stirling_rest(count - m) - stirling_rest(k) - stirling_rest(count - k);
    if (std::log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}
double draw_binomial(double count, double p, const Philox& start, std::int64_t result) noexcept {
  if (std::isnan(count) || std::isnan(p)) return std::nan("");
  if (count <= 0 || p <= 0) return 0;
  if (p >= 1) return count;
  const double q = std::min(p, 1 - p);
  const double drawn =
      count * q >= 10 ? draw_binomial_by_rejection(count, q, Source(start, result))
                      : draw_binomial_by_distances(count, q, Source(start, result, kFewCounters));
  return p <= 0.5 ? drawn : count - drawn;
}

double read(const DeviceSpan& span, DType dtype, std::int64_t i) noexcept {
  double value = 0;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    value = static_cast<double>(static_cast<compute_t<T>>(span.as<const T>()[i]));
  });
  return value;
}
void write(const DeviceSpan& span, DType dtype, std::int64_t i, double value) noexcept {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<T>>) {
      span.as<T>()[i] = static_cast<T>(static_cast<compute_t<T>>(value));
    } else {
      constexpr T kMax = std::numeric_limits<T>::max();
      span.as<T>()[i] = std::isnan(value)                    ? T(0)
                        : value >= static_cast<double>(kMax) ? kMax
                                                             : static_cast<T>(value);
    }
  });
}
double largest_of(DType dtype) noexcept {
  double largest = 0;
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, Half>) {
      largest = 65504;
    } else if constexpr (std::is_same_v<T, BFloat16>) {
      largest = 0x1.FEp127;
    } else {
      largest = static_cast<double>(std::numeric_limits<T>::max());
    }
  });
  return largest;
}

// Calls draw(parameter, start, number) for each result. Result s of parameter p is number p *
// samples + s of the stream, and stands at s * parameters + p.
template <class Draw>
void for_results(const RunArgs& args, std::size_t state, Draw&& draw) noexcept {
  const Philox start = state_of(args, state);
  const TensorSpec& out = args.call.out[0];
  const std::int64_t total = out.shape.num_elements();
  const std::int64_t parameters = args.call.in[0].shape.num_elements();
  if (total == 0) return;
  const std::int64_t samples = total / parameters;
  parallel_for(total, kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t p = i / samples, s = i % samples;
      write(args.out[0], out.dtype, s * parameters + p, draw(p, start, i));
    }
  });
}

Status run_gamma(const RunArgs& args) noexcept {
  const DType dtype = args.call.in[0].dtype;
  for_results(args, 1, [&](std::int64_t p, const Philox& start, std::int64_t i) {
    return draw_gamma(read(args.in[0], dtype, p), Source(start, i));
  });
  return {};
}
Status run_gamma_grad(const RunArgs& args) noexcept {
  const DType dtype = args.call.in[0].dtype;
  const std::int64_t n = args.call.in[0].shape.num_elements();
  parallel_for(
      args.call.out[0].shape.num_elements(), kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          write(args.out[0], dtype, i,
                gamma_sample_slope(read(args.in[0], dtype, i % n), read(args.in[1], dtype, i)));
        }
      });
  return {};
}
Status run_poisson(const RunArgs& args) noexcept {
  const DType dtype = args.call.in[0].dtype;
  const double largest = largest_of(args.call.out[0].dtype);
  for_results(args, 1, [&](std::int64_t p, const Philox& start, std::int64_t i) {
    return draw_poisson(read(args.in[0], dtype, p), largest, Source(start, i));
  });
  return {};
}
Status run_binomial(const RunArgs& args) noexcept {
  const DType dtype = args.call.in[0].dtype;
  for_results(args, 2, [&](std::int64_t p, const Philox& start, std::int64_t i) {
    return draw_binomial(read(args.in[0], dtype, p), read(args.in[1], dtype, p), start, i);
  });
  return {};
}

std::int64_t categorical_parts(const Shape& logits) noexcept {
  return std::clamp<std::int64_t>(logits.dim(0), 1, omp_get_max_threads());
}
struct CategoricalState final : KernelState {
  std::int64_t parts = 1;
};
KernelStatePtr prepare_categorical(const KernelCall& call, ScratchBook& book) {
  auto state = std::make_shared<CategoricalState>();
  state->parts = categorical_parts(call.in[0].shape);
  book.book(static_cast<std::uint64_t>(state->parts * call.in[0].shape.dim(1)) * sizeof(double));
  return state;
}
// A row's sums of exp(logit - largest), in which a number in [0, total) is searched.
double sum_up(const DeviceSpan& logits, DType dtype, std::int64_t first, std::int64_t n,
              double* sums) noexcept {
  double max = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    const double x = read(logits, dtype, first + j);
    if (std::isfinite(x)) max = std::max(max, x);
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const double x = read(logits, dtype, first + j);
    if (std::isfinite(x)) total += std::exp(x - max);
    sums[j] = total;
  }
  return total;
}
Status run_categorical(const RunArgs& args) noexcept {
  const Philox start = state_of(args, 1);
  const TensorSpec &logits = args.call.in[0], &out = args.call.out[0];
  const std::int64_t rows = logits.shape.dim(0), n = logits.shape.dim(1);
  const std::int64_t samples = out.shape.dim(1);
  const std::int64_t parts = static_cast<const CategoricalState*>(args.state)->parts;
  if (rows * samples == 0) return {};
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part) {
      double* sums = args.scratch[0].as<double>() + part * n;
      for (std::int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
        const double total = sum_up(args.in[0], logits.dtype, row * n, n, sums);
        for (std::int64_t i = row * samples; i < (row + 1) * samples; ++i) {
          Philox p = start;
          p.skip(static_cast<std::uint64_t>(i / 2));
          const auto x = p();
          const double u = i % 2 ? to_unit(x[2], x[3]) : to_unit(x[0], x[1]);
          const std::int64_t found = std::upper_bound(sums, sums + n, u * total) - sums;
          write(args.out[0], out.dtype, i, static_cast<double>(found));
        }
      }
    }
  });
  return {};
}

constexpr DTypeSet kStates{DType::kInt32, DType::kInt64};
Status run_bits(const RunArgs& args) noexcept {
  const Philox start = state_of(args, 0);
  const std::int64_t words =  // of 32 bits
      args.call.out[0].shape.num_elements() * dtype_size(args.call.out[0].dtype) / 4;
  std::uint32_t* out = args.out[0].as<std::uint32_t>();
  parallel_for((words + 3) / 4, 4096, [&](std::int64_t begin, std::int64_t end) {
    Philox p = start;
    p.skip(static_cast<std::uint64_t>(begin));
    for (std::int64_t i = begin; i < end; ++i, p.skip(1)) {
      const auto x = p();
      std::copy_n(x.begin(), std::min<std::int64_t>(4, words - 4 * i), out + 4 * i);
    }
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::RandomBits, .dtypes = kStates, .run = run_bits},
    {.op = OpId::RandomCategorical,
     .dtypes = kFloats,
     .prepare = prepare_categorical,
     .run = run_categorical},
    {.op = OpId::RandomGamma, .dtypes = kFloats, .run = run_gamma},
    {.op = OpId::RandomGammaGrad, .dtypes = kFloats, .run = run_gamma_grad},
    {.op = OpId::RandomPoisson, .dtypes = kFloats, .run = run_poisson},
    {.op = OpId::RandomBinomial, .dtypes = kFloats, .run = run_binomial},
};

}  // namespace

std::span<const KernelDef> random_distribution_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
