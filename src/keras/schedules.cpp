#include "plimsoll/keras/schedules.h"

#include <cmath>
#include <numbers>

#include "base/check.h"
#include "keras/registry.h"
#include "keras/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kSchedules[] = {
    {"ExponentialDecay", make_of_config<ExponentialDecaySchedule>},
    {"PiecewiseConstantDecay", make_of_config<PiecewiseConstantDecaySchedule>},
    {"PolynomialDecay", make_of_config<PolynomialDecaySchedule>},
    {"InverseTimeDecay", make_of_config<InverseTimeDecaySchedule>},
    {"CosineDecay", make_of_config<CosineDecaySchedule>},
    {"CosineDecayRestarts", make_of_config<CosineDecayRestartsSchedule>},
};

Tensor number(double value) {
  return fill({}, value);
}
Tensor as_float(const Tensor& step) {
  return step.dtype() == float32 ? step : cast(step, float32);
}

void check_steps(const char* name, double steps) {
  PLIMSOLL_CHECK(steps > 0, InvalidArgumentError, "Argument `{}` must be > 0. Received: {}={}",
                 name, name, steps);
}

// steps / decay_steps, whole if it is a staircase.
Tensor portion(const Tensor& step, double decay_steps, bool staircase) {
  const Tensor p = as_float(step) / decay_steps;
  return staircase ? floor(p) : p;
}

}  // namespace

std::span<const ClassRow> schedule_rows() {
  return kSchedules;
}

std::shared_ptr<LearningRateSchedule> LearningRateSchedule::get(const Json& identifier) {
  return make_object_of<LearningRateSchedule>(identifier, kSchedules, "learning rate schedule");
}

void ExponentialDecayConfig::visit(ConfigVisitor& v) {
  v("initial_learning_rate", initial_learning_rate);
  v("decay_steps", decay_steps);
  v("decay_rate", decay_rate);
  v("staircase", staircase);
  v("name", name);
}
ExponentialDecaySchedule::ExponentialDecaySchedule(ExponentialDecayConfig config)
    : Configured(std::move(config)) {
  check_steps("decay_steps", config_.decay_steps);
}
Tensor ExponentialDecaySchedule::operator()(const Tensor& step) const {
  const Tensor p = portion(step, config_.decay_steps, config_.staircase);
  return number(config_.initial_learning_rate) * pow(number(config_.decay_rate), p);
}

void PiecewiseConstantDecayConfig::visit(ConfigVisitor& v) {
  v("boundaries", boundaries);
  v("values", values);
  v("name", name);
}
PiecewiseConstantDecaySchedule::PiecewiseConstantDecaySchedule(PiecewiseConstantDecayConfig config)
    : Configured(std::move(config)) {
  PLIMSOLL_CHECK(config_.boundaries.size() + 1 == config_.values.size(), InvalidArgumentError,
                 "The length of boundaries should be 1 less than the length of values. Received: "
                 "boundaries={} "
                 "of length {}, and values={} of length {}.",
                 to_config(config_.boundaries).dump(), config_.boundaries.size(),
                 to_config(config_.values).dump(), config_.values.size());
}
Tensor PiecewiseConstantDecaySchedule::operator()(const Tensor& step) const {
  const auto is_behind = [&](std::size_t i) {
    return greater(step, fill({}, std::trunc(config_.boundaries[i]), step.dtype()));
  };
  Tensor rate = number(config_.values[0]);
  for (std::size_t i = 0; i < config_.boundaries.size(); ++i)
    rate = where(is_behind(i), number(config_.values[i + 1]), rate);
  return rate;
}

void PolynomialDecayConfig::visit(ConfigVisitor& v) {
  v("initial_learning_rate", initial_learning_rate);
  v("decay_steps", decay_steps);
  v("end_learning_rate", end_learning_rate);
  v("power", power);
  v("cycle", cycle);
  v("name", name);
}
PolynomialDecaySchedule::PolynomialDecaySchedule(PolynomialDecayConfig config)
    : Configured(std::move(config)) {
  check_steps("decay_steps", config_.decay_steps);
}
Tensor PolynomialDecaySchedule::operator()(const Tensor& step) const {
  Tensor at = as_float(step), steps = number(config_.decay_steps);
  if (config_.cycle) {
    const Tensor times = math::ceil(at / static_cast<double>(config_.decay_steps));
    steps = steps * where(equal(at, number(0)), number(1), times);
  } else {
    at = minimum(at, steps);
  }
  const Tensor range = number(config_.initial_learning_rate) - number(config_.end_learning_rate);
  return range * pow(1 - at / steps, number(config_.power)) + number(config_.end_learning_rate);
}

void InverseTimeDecayConfig::visit(ConfigVisitor& v) {
  v("initial_learning_rate", initial_learning_rate);
  v("decay_steps", decay_steps);
  v("decay_rate", decay_rate);
  v("staircase", staircase);
  v("name", name);
}
InverseTimeDecaySchedule::InverseTimeDecaySchedule(InverseTimeDecayConfig config)
    : Configured(std::move(config)) {
  check_steps("decay_steps", config_.decay_steps);
}
Tensor InverseTimeDecaySchedule::operator()(const Tensor& step) const {
  const Tensor p = portion(step, config_.decay_steps, config_.staircase);
  return number(config_.initial_learning_rate) / (1 + number(config_.decay_rate) * p);
}

void CosineDecayConfig::visit(ConfigVisitor& v) {
  v("initial_learning_rate", initial_learning_rate);
  v("decay_steps", decay_steps);
  v("alpha", alpha);
  v("name", name);
  v("warmup_target", warmup_target);
  v("warmup_steps", warmup_steps);
}
CosineDecaySchedule::CosineDecaySchedule(CosineDecayConfig config) : Configured(std::move(config)) {
  check_steps("decay_steps", config_.decay_steps);
}
Tensor CosineDecaySchedule::operator()(const Tensor& step) const {
  const double alpha = config_.alpha, decay_steps = config_.decay_steps;
  const Tensor initial = number(config_.initial_learning_rate);
  const auto decay = [&](const Tensor& at, const Tensor& from) {
    const Tensor cosine = 0.5 * (1 + cos(number(std::numbers::pi) * (at / decay_steps)));
    return from * ((1 - alpha) * cosine + alpha);
  };
  if (!config_.warmup_target) return decay(minimum(as_float(step), number(decay_steps)), initial);
  const double warmup_steps = config_.warmup_steps;
  const Tensor target = number(*config_.warmup_target);
  const Tensor at = minimum(as_float(step), number(decay_steps + warmup_steps));
  const Tensor warm = (target - initial) * (at / warmup_steps) + initial;
  return where(less(at, number(warmup_steps)), warm, decay(at - warmup_steps, target));
}

void CosineDecayRestartsConfig::visit(ConfigVisitor& v) {
  v("initial_learning_rate", initial_learning_rate);
  v("first_decay_steps", first_decay_steps);
  v("t_mul", t_mul);
  v("m_mul", m_mul);
  v("alpha", alpha);
  v("name", name);
}
CosineDecayRestartsSchedule::CosineDecayRestartsSchedule(CosineDecayRestartsConfig config)
    : Configured(std::move(config)) {
  check_steps("first_decay_steps", config_.first_decay_steps);
}
Tensor CosineDecayRestartsSchedule::operator()(const Tensor& step) const {
  const double alpha = config_.alpha;
  const Tensor t_mul = number(config_.t_mul);
  Tensor done = as_float(step) / static_cast<double>(config_.first_decay_steps), restarts;
  if (config_.t_mul == 1.0) {
    restarts = floor(done);
    done = done - restarts;
  } else {
    restarts = floor(math::log(1 - done * (1 - t_mul)) / math::log(t_mul));
    const Tensor before = (1 - pow(t_mul, restarts)) / (1 - t_mul);
    done = (done - before) / pow(t_mul, restarts);
  }
  const Tensor height = pow(number(config_.m_mul), restarts);
  const Tensor cosine = 0.5 * height * (1 + cos(number(std::numbers::pi) * done));
  return number(config_.initial_learning_rate) * ((1 - number(alpha)) * cosine + number(alpha));
}

}  // namespace plimsoll::keras
