#include "plimsoll/keras/initializers.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/registry.h"
#include "keras/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kInitializers[] = {
    {"Zeros", make_of_config<ZerosInitializer>, "zero"},
    {"Ones", make_of_config<OnesInitializer>, "one"},
    {"Constant", make_of_config<ConstantInitializer>},
    {"Identity", make_of_config<IdentityInitializer>, "IdentityInitializer"},
    {"RandomNormal", make_of_config<RandomNormalInitializer>, "normal"},
    {"TruncatedNormal", make_of_config<TruncatedNormalInitializer>},
    {"RandomUniform", make_of_config<RandomUniformInitializer>, "uniform"},
    {"VarianceScaling", make_of_config<VarianceScalingInitializer>},
    {"GlorotUniform", make_of_config<GlorotUniformInitializer>},
    {"GlorotNormal", make_of_config<GlorotNormalInitializer>},
    {"HeUniform", make_of_config<HeUniformInitializer>},
    {"HeNormal", make_of_config<HeNormalInitializer>},
    {"LecunUniform", make_of_config<LecunUniformInitializer>},
    {"LecunNormal", make_of_config<LecunNormalInitializer>},
    {"Orthogonal", make_of_config<OrthogonalInitializer>, "OrthogonalInitializer"},
};

struct Fans {
  double in, out;
};
double product_of(const Shape& shape, const Sizes& axes) {
  double product = 1;
  for (const std::int64_t axis : axes.values())
    product *= static_cast<double>(shape[normalize_axis(axis, shape.rank(), "an initializer")]);
  return product;
}
Fans fans_of(const Shape& shape, const Sizes& in, const Sizes& out) {
  if (!in.is_none() && !out.is_none()) return {product_of(shape, in), product_of(shape, out)};
  if (shape.rank() == 0) return {1, 1};
  if (shape.rank() == 1) return {static_cast<double>(shape[0]), static_cast<double>(shape[0])};
  double field = 1;
  for (int i = 0; i < shape.rank() - 2; ++i) field *= static_cast<double>(shape[i]);
  return {field * static_cast<double>(shape[shape.rank() - 2]),
          field * static_cast<double>(shape[shape.rank() - 1])};
}

// By what a configuration says of seed and axes.
template <class Config>
Tensor scaled(const Shape& shape, DType dtype, double scale, std::string_view mode,
              std::string_view distribution, const Config& config) {
  constexpr double kTruncatedStddev = 0.87962566103423978;  // of a normal cut at two deviations
  const Fans fans = fans_of(shape, config.input_axes, config.output_axes);
  const double fan = mode == "fan_in"    ? fans.in
                     : mode == "fan_out" ? fans.out
                                         : (fans.in + fans.out) / 2;
  scale /= std::max(1.0, fan);
  const random::Seed drawn = draw_seed(config.seed);
  if (distribution == "uniform") {
    const double limit = std::sqrt(3 * scale);
    return random::stateless_uniform(shape, drawn, -limit, limit, dtype);
  }
  if (distribution == "untruncated_normal")
    return random::stateless_normal(shape, drawn, 0, std::sqrt(scale), dtype);
  return random::stateless_truncated_normal(shape, drawn, 0, std::sqrt(scale) / kTruncatedStddev,
                                            dtype);
}

}  // namespace

std::span<const ClassRow> initializer_rows() {
  return kInitializers;
}

std::shared_ptr<Initializer> Initializer::get(const Json& identifier) {
  return make_object_of<Initializer>(identifier, kInitializers, "initializer");
}

Tensor ZerosInitializer::operator()(const Shape& shape, DType dtype) const {
  return zeros(shape, dtype);
}
Tensor OnesInitializer::operator()(const Shape& shape, DType dtype) const {
  return ones(shape, dtype);
}
Tensor ConstantInitializer::operator()(const Shape& shape, DType dtype) const {
  return fill(shape, config_.value, dtype);
}
Tensor IdentityInitializer::operator()(const Shape& shape, DType dtype) const {
  PLIMSOLL_CHECK(shape.rank() == 2, InvalidArgumentError,
                 "Identity matrix initializer can only be used for 2D matrices. Received: shape={} "
                 "of rank {}.",
                 shape.to_string(), shape.rank());
  const Tensor one = eye(shape[0], shape[1], {}, dtype);
  return config_.gain == 1 ? one : one * config_.gain;
}
Tensor RandomNormalInitializer::operator()(const Shape& shape, DType dtype) const {
  return random::stateless_normal(shape, draw_seed(config_.seed), config_.mean, config_.stddev,
                                  dtype);
}
Tensor TruncatedNormalInitializer::operator()(const Shape& shape, DType dtype) const {
  return random::stateless_truncated_normal(shape, draw_seed(config_.seed), config_.mean,
                                            config_.stddev, dtype);
}
Tensor RandomUniformInitializer::operator()(const Shape& shape, DType dtype) const {
  return random::stateless_uniform(shape, draw_seed(config_.seed), config_.minval, config_.maxval,
                                   dtype);
}

VarianceScalingInitializer::VarianceScalingInitializer(VarianceScalingConfig config)
    : Configured(std::move(config)) {
  PLIMSOLL_CHECK(config_.scale > 0, InvalidArgumentError,
                 "Argument `scale` must be positive float. Received: scale={}", config_.scale);
  const std::string_view modes[] = {"fan_in", "fan_out", "fan_avg"};
  PLIMSOLL_CHECK(std::ranges::find(modes, config_.mode) != std::end(modes), InvalidArgumentError,
                 "Invalid `mode` argument: {}. Please use one of fan_in, fan_out, fan_avg",
                 config_.mode);
  if (config_.distribution == "normal") config_.distribution = "truncated_normal";
  const std::string_view kinds[] = {"uniform", "truncated_normal", "untruncated_normal"};
  PLIMSOLL_CHECK(std::ranges::find(kinds, config_.distribution) != std::end(kinds),
                 InvalidArgumentError,
                 "Invalid `distribution` argument: {}. Please use one of uniform, "
                 "truncated_normal, untruncated_normal",
                 config_.distribution);
}
Tensor VarianceScalingInitializer::operator()(const Shape& shape, DType dtype) const {
  return scaled(shape, dtype, config_.scale, config_.mode, config_.distribution, config_);
}

Tensor GlorotUniformInitializer::operator()(const Shape& shape, DType dtype) const {
  return scaled(shape, dtype, 1, "fan_avg", "uniform", config_);
}
Tensor GlorotNormalInitializer::operator()(const Shape& shape, DType dtype) const {
  return scaled(shape, dtype, 1, "fan_avg", "truncated_normal", config_);
}
Tensor HeUniformInitializer::operator()(const Shape& shape, DType dtype) const {
  return scaled(shape, dtype, 2, "fan_in", "uniform", config_);
}
Tensor HeNormalInitializer::operator()(const Shape& shape, DType dtype) const {
  return scaled(shape, dtype, 2, "fan_in", "truncated_normal", config_);
}
Tensor LecunUniformInitializer::operator()(const Shape& shape, DType dtype) const {
  return scaled(shape, dtype, 1, "fan_in", "uniform", config_);
}
Tensor LecunNormalInitializer::operator()(const Shape& shape, DType dtype) const {
  return scaled(shape, dtype, 1, "fan_in", "truncated_normal", config_);
}

Tensor OrthogonalInitializer::operator()(const Shape& shape, DType dtype) const {
  PLIMSOLL_CHECK(shape.rank() >= 2, InvalidArgumentError,
                 "The tensor to initialize must be at least two-dimensional. Received: shape={} of "
                 "rank {}.",
                 shape.to_string(), shape.rank());
  const std::int64_t columns = shape[shape.rank() - 1];
  const std::int64_t rows = shape.num_elements() / std::max<std::int64_t>(1, columns);
  const Tensor drawn = random::stateless_normal({std::max(rows, columns), std::min(rows, columns)},
                                                draw_seed(config_.seed), 0, 1, dtype);
  const auto [q, r] = linalg::qr(drawn);
  Tensor made = q * sign(linalg::diag_part(r));  // uniform among the orthogonal matrices
  if (rows < columns) made = transpose(made);
  return reshape(made, shape.dims()) * config_.gain;
}

}  // namespace plimsoll::keras
