#include "models/optimizers.h"

#include "plimsoll/error.h"
#include "plimsoll/function.h"

namespace plimsoll::bench {
namespace {

constexpr VariableOptions kSlot{.trainable = false, .tag = memory::Tag::kOptimizer};

struct Trained {
  Variable* variable;
  Variable* first;             // momentum
  Variable* second = nullptr;  // Adam's mean of squares
};

std::vector<Trained> add_slots(Weights& weights, bool has_second) {
  std::vector<Variable*> variables;
  for (Variable& v : weights.variables) {
    if (v.trainable()) variables.push_back(&v);
  }
  std::vector<Trained> trained;
  for (Variable* v : variables) {
    Trained t{.variable = v};
    t.first = weights.add_constant(v->name() + "/m", v->shape(), 0, kSlot);
    if (has_second) t.second = weights.add_constant(v->name() + "/v", v->shape(), 0, kSlot);
    trained.push_back(t);
  }
  return trained;
}

Optimizer make_sgd(Weights& weights) {
  constexpr double kRate = 0.001, kMomentum = 0.9;
  return [trained = add_slots(weights, false)](std::span<const Tensor> gradients) {
    const name_scope scope("sgd");
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const auto& [variable, momentum, unused] = trained[i];
      momentum->assign(momentum->value() * kMomentum + gradients[i]);
      variable->assign_sub(momentum->value() * kRate);
    }
  };
}

Optimizer make_adam(Weights& weights) {
  constexpr double kRate = 0.001, kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-7;
  Variable* power1 = weights.add_constant("beta1_power", {}, 1, kSlot);
  Variable* power2 = weights.add_constant("beta2_power", {}, 1, kSlot);
  return [trained = add_slots(weights, true), power1, power2](std::span<const Tensor> gradients) {
    const name_scope scope("adam");
    power1->assign(power1->value() * kBeta1);
    power2->assign(power2->value() * kBeta2);
    const Tensor rate = kRate * sqrt(1 - power2->value()) / (1 - power1->value());
    for (std::size_t i = 0; i < trained.size(); ++i) {
      const auto& [variable, m, v] = trained[i];
      m->assign_add((gradients[i] - m->value()) * (1 - kBeta1));
      v->assign_add((square(gradients[i]) - v->value()) * (1 - kBeta2));
      variable->assign_sub(rate * m->value() / (sqrt(v->value()) + kEpsilon));
    }
  };
}

}  // namespace

Optimizer make_optimizer(std::string_view name, Weights& weights) {
  if (name == "sgd") return make_sgd(weights);
  if (name == "adam") return make_adam(weights);
  throw InvalidArgumentError("no optimizer is called '" + std::string(name) +
                             "'; there are: sgd, adam");
}

}  // namespace plimsoll::bench
