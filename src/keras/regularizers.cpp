#include "plimsoll/keras/regularizers.h"

#include <cmath>

#include "base/check.h"
#include "keras/registry.h"
#include "keras/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kRegularizers[] = {
    {"L1", make_of_config<L1Regularizer>, "l1"},
    {"L2", make_of_config<L2Regularizer>, "l2"},
    {"L1L2", make_of_config<L1L2Regularizer>, "l1_l2"},
    {"OrthogonalRegularizer", make_of_config<OrthogonalRegularizer>, "orthogonal"},
};

void check_factor(const char* name, double value) {
  PLIMSOLL_CHECK(std::isfinite(value) && value >= 0, InvalidArgumentError,
                 "Invalid value for argument {}: expected a non-negative float. Received: {}", name,
                 value);
}

}  // namespace

std::span<const ClassRow> regularizer_rows() {
  return kRegularizers;
}

std::shared_ptr<Regularizer> Regularizer::get(const Json& identifier) {
  return make_object_of<Regularizer>(identifier, kRegularizers, "regularizer");
}

L1Regularizer::L1Regularizer(L1Config config) : Configured(config) {
  check_factor("l1", config.l1);
}
Tensor L1Regularizer::operator()(const Tensor& x) const {
  return reduce_sum(abs(x)) * config_.l1;
}

L2Regularizer::L2Regularizer(L2Config config) : Configured(config) {
  check_factor("l2", config.l2);
}
Tensor L2Regularizer::operator()(const Tensor& x) const {
  return reduce_sum(square(x)) * config_.l2;
}

L1L2Regularizer::L1L2Regularizer(L1L2Config config) : Configured(config) {
  check_factor("l1", config.l1);
  check_factor("l2", config.l2);
}
Tensor L1L2Regularizer::operator()(const Tensor& x) const {
  Tensor sum = fill(Shape(), 0, x.dtype());
  if (config_.l1 != 0) sum = sum + reduce_sum(abs(x)) * config_.l1;
  if (config_.l2 != 0) sum = sum + reduce_sum(square(x)) * config_.l2;
  return sum;
}

OrthogonalRegularizer::OrthogonalRegularizer(OrthogonalRegularizerConfig config)
    : Configured(std::move(config)) {
  PLIMSOLL_CHECK(config_.mode == "rows" || config_.mode == "columns", InvalidArgumentError,
                 "Invalid value for argument `mode`. Expected one of {{'rows', 'columns'}}. "
                 "Received: mode={}",
                 config_.mode);
}
Tensor OrthogonalRegularizer::operator()(const Tensor& x) const {
  PLIMSOLL_CHECK(x.rank() == 2, InvalidArgumentError,
                 "Inputs to OrthogonalRegularizer must have rank 2. Received: inputs.shape={}",
                 x.shape().to_string());
  const bool is_rows = config_.mode == "rows";
  const Tensor unit = math::l2_normalize(x, {is_rows ? 1 : 0});
  const Tensor products = matmul(unit, unit, {.transpose_a = !is_rows, .transpose_b = is_rows});
  const std::int64_t size = x.shape()[is_rows ? 0 : 1];
  const Tensor others = products * (1.0 - eye(size, {}, {}, x.dtype()));
  const double num_pairs = static_cast<double>(size * (size - 1)) / 2;
  return reduce_sum(abs(others)) * (config_.factor * 0.5 / num_pairs);
}

}  // namespace plimsoll::keras
