#include "plimsoll/keras/optimizer.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "keras/names.h"
#include "keras/optimizers/tables.h"
#include "keras/registry.h"
#include "plimsoll/device.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {
namespace {

std::string shown(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "None";
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

Json to_config(const LearningRate& rate) {
  if (rate.schedule_) return serialize_keras_object(rate.schedule_.get());
  return static_cast<double>(static_cast<float>(rate.value_));  // as the variable has it
}
void from_config(const Json& json, LearningRate& rate) {
  rate = json.is_number() ? LearningRate(json.as_double())
                          : LearningRate(LearningRateSchedule::get(json));
}

void visit_optimizer_options(ConfigVisitor& v, LearningRate& rate, OptimizerOptions& options) {
  v("name", options.name);
  v("learning_rate", rate);
  v("weight_decay", options.weight_decay);
  v("clipnorm", options.clipnorm);
  v("global_clipnorm", options.global_clipnorm);
  v("clipvalue", options.clipvalue);
  v("use_ema", options.use_ema);
  v("ema_momentum", options.ema_momentum);
  v("ema_overwrite_frequency", options.ema_overwrite_frequency);
  v("loss_scale_factor", options.loss_scale_factor);
  v("gradient_accumulation_steps", options.gradient_accumulation_steps);
  v.ignore("is_legacy_optimizer");
}

Optimizer::Optimizer(LearningRate learning_rate, OptimizerOptions options)
    : options_(std::move(options)), rate_(std::move(learning_rate)), name_(options_.name) {
  const OptimizerOptions& o = options_;
  PLIMSOLL_CHECK(o.gradient_accumulation_steps.value_or(2) >= 2, InvalidArgumentError,
                 "`gradient_accumulation_steps` must be an integer >= 2. Received: "
                 "gradient_accumulation_steps={}",
                 *o.gradient_accumulation_steps);
  PLIMSOLL_CHECK(!o.use_ema || (o.ema_momentum >= 0 && o.ema_momentum <= 1), InvalidArgumentError,
                 "`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={}",
                 o.ema_momentum);
  PLIMSOLL_CHECK(!o.use_ema || o.ema_overwrite_frequency.value_or(1) >= 1, InvalidArgumentError,
                 "`ema_overwrite_frequency` must be an integer >= 1 or None. Received: "
                 "ema_overwrite_frequency={}",
                 *o.ema_overwrite_frequency);
  const int num_clips = (o.clipnorm ? 1 : 0) + (o.clipvalue ? 1 : 0) + (o.global_clipnorm ? 1 : 0);
  PLIMSOLL_CHECK(num_clips <= 1, InvalidArgumentError,
                 "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                 "clipnorm={}, clipvalue={}, global_clipnorm={}",
                 shown(o.clipnorm), shown(o.clipvalue), shown(o.global_clipnorm));
}

const std::string& Optimizer::name() const {
  if (name_.empty()) name_ = unique_name(to_snake_case(class_name()));
  return name_;
}

Json Optimizer::get_config() const {
  OptimizerOptions options = options_;
  options.name = name();
  LearningRate rate = rate_;
  if (rate_variable_) rate = static_cast<double>(rate_variable_->raw().value().item<float>());
  Json config = Json::object();
  ConfigVisitor visitor(config);
  visit_optimizer_options(visitor, rate, options);
  const_cast<Optimizer*>(this)->visit(visitor);  // a writing visitor changes nothing
  return config;
}

std::shared_ptr<Optimizer> Optimizer::get(const Json& identifier) {
  Json exact = identifier;
  Json* name = identifier.is_string() ? &exact : nullptr;
  if (identifier.is_object() && identifier.find("class_name")) name = &exact["class_name"];
  if (name && name->is_string()) {
    for (const ClassRow& row : optimizer_rows()) {
      if (lower(row.class_name) == lower(name->as_string())) *name = Json(row.class_name);
    }
  }
  return make_object_of<Optimizer>(exact, optimizer_rows(), "optimizer");
}

VariableInfo Optimizer::info_of(const std::string& variable_name) const {
  return {.name = variable_name,
          .path = name() + "/" + variable_name,
          .trainable = false,
          .autocast = false,
          .tag = memory::Tag::kOptimizer};
}

VariablePtr Optimizer::add_variable(const Tensor& value, const std::string& variable_name) {
  variables_.push_back(std::make_shared<Variable>(value, info_of(variable_name)));
  return variables_.back();
}

VariablePtr Optimizer::add_slot(const Variable& variable, const SlotSpec& spec) {
  std::string path = variable.path().empty() ? variable.name() : variable.path();
  std::ranges::replace(path, '/', '_');
  const WithoutValuesScope as_the_weight(!variable.has_value());
  variables_.push_back(std::make_shared<Variable>(
      TensorSpec{variable.dtype(), spec.shape.value_or(variable.shape())},
      initializers::Constant({spec.initial_value}), info_of(path + "_" + spec.name)));
  return variables_.back();
}

void Optimizer::make_own_variables() const {
  if (iterations_) return;
  const TracingScope now(nullptr);
  auto* self = const_cast<Optimizer*>(this);
  iterations_ = self->add_variable(zeros({}, int64), "iteration");
  if (!rate_.schedule())
    rate_variable_ = self->add_variable(fill({}, rate_.value()), "learning_rate");
}

// A function runs on one device, and single integers would stay on the host.
void Optimizer::move_own_variables(const std::string& name_of_device) {
  const TracingScope now(nullptr);
  const DeviceScope there = device(name_of_device);
  for (VariablePtr* variable : {&iterations_, &rate_variable_}) {
    if (!*variable || (*variable)->raw().value().device() == name_of_device) continue;
    const VariablePtr old = *variable;
    *variable = add_variable(old->raw().value(), old->name());
    variables_.pop_back();
    std::ranges::replace(variables_, old, *variable);
  }
}

void Optimizer::build(std::span<const VariablePtr> given) {
  if (built_) {
    for (const VariablePtr& v : given) {
      PLIMSOLL_CHECK(std::ranges::find(trainable_, v) != trainable_.end(), InvalidArgumentError,
                     "Unknown variable: {}. This optimizer can only be called for the variables it "
                     "was originally built with. When working with a new set of variables, you "
                     "should recreate a new optimizer instance.",
                     v->path());
    }
    return;
  }
  make_own_variables();
  const TracingScope now(nullptr);
  if (given.empty()) {
    built_ = true;
    return;
  }
  const std::string where = given[0]->device();
  move_own_variables(where);
  const DeviceScope there = device(where);
  trainable_.assign(given.begin(), given.end());
  if (options_.use_ema) {
    for (const VariablePtr& v : trainable_)
      averages_.push_back(v->overwrite_with_gradient ? nullptr : add_slot(*v, {.name = "average"}));
  }
  if (options_.gradient_accumulation_steps) {
    for (const VariablePtr& v : trainable_)
      accumulators_.push_back(add_slot(*v, {.name = "gradient_accumulator"}));
  }
  slots_.resize(trainable_.size());
  std::vector<std::vector<SlotSpec>> specs;
  int last_group = 0;
  for (std::size_t i = 0; i < trainable_.size(); ++i) {
    specs.push_back(trainable_[i]->overwrite_with_gradient ? std::vector<SlotSpec>()
                                                           : slots(*trainable_[i]));
    slots_[i].resize(specs[i].size());
    for (const SlotSpec& spec : specs[i]) last_group = std::max(last_group, spec.group);
  }
  for (int group = 0; group <= last_group; ++group) {
    for (std::size_t i = 0; i < trainable_.size(); ++i) {
      for (std::size_t k = 0; k < specs[i].size(); ++k) {
        if (specs[i][k].group == group) slots_[i][k] = add_slot(*trainable_[i], specs[i][k]);
      }
    }
  }
  build_own(trainable_);
  built_ = true;
}

std::vector<VariablePtr> Optimizer::variables() const {
  make_own_variables();
  return variables_;
}

void Optimizer::set_weights(std::span<const Tensor> values) {
  PLIMSOLL_CHECK(built_, FailedPreconditionError,
                 "You are calling `set_weights()` on an optimizer that has not yet been built. "
                 "Please call `optimizer.build(trainable_variables)` to create the optimizer "
                 "weights before calling `set_weights()`.");
  const std::vector<VariablePtr> own = variables();
  PLIMSOLL_CHECK(values.size() == own.size(), InvalidArgumentError,
                 "optimizer '{}' has {} variables, received {} values", name(), own.size(),
                 values.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    PLIMSOLL_CHECK(own[i]->shape() == values[i].shape(), InvalidArgumentError,
                   "Optimizer variable {} has shape {} not compatible with provided weight shape "
                   "{}.",
                   own[i]->path(), own[i]->shape().to_string(), values[i].shape().to_string());
  }
  for (std::size_t i = 0; i < own.size(); ++i) own[i]->assign(values[i]);
}

Tensor Optimizer::learning_rate() const {
  make_own_variables();
  return rate_variable_ ? rate_variable_->value() : (*rate_.schedule())(iterations_->value());
}

void Optimizer::set_learning_rate(double value) {
  PLIMSOLL_CHECK(!rate_.schedule(), InvalidArgumentError,
                 "This optimizer was created with a `LearningRateSchedule` object as its "
                 "`learning_rate` constructor argument, hence its learning rate is not settable. "
                 "If you need the learning rate to be settable, you should instantiate the "
                 "optimizer with a float `learning_rate` argument.");
  make_own_variables();
  const TracingScope now(nullptr);
  rate_variable_->assign(fill({}, value));
}

const VariablePtr& Optimizer::iterations_variable() const {
  make_own_variables();
  return iterations_;
}

std::int64_t Optimizer::iterations() const {
  return iterations_variable()->raw().value().item<std::int64_t>() /
         options_.gradient_accumulation_steps.value_or(1);
}

Tensor Optimizer::scale_loss(const Tensor& loss) const {
  return options_.loss_scale_factor ? loss * *options_.loss_scale_factor : loss;
}

}  // namespace plimsoll::keras
