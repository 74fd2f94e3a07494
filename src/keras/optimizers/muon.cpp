#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>

#include "keras/optimizers/adam.h"
#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

void MuonConfig::visit(ConfigVisitor& v) {
  v("adam_beta_1", adam_beta_1);
  v("adam_beta_2", adam_beta_2);
  v("epsilon", epsilon);
  v("exclude_layers", exclude_layers);
  v("muon_a", muon_a);
  v("muon_b", muon_b);
  v("muon_c", muon_c);
  v("adam_lr_ratio", adam_lr_ratio);
  v("momentum", momentum);
  v("ns_steps", ns_steps);
  v("nesterov", nesterov);
  v("exclude_embeddings", exclude_embeddings);
  v("adam_weight_decay", adam_weight_decay);
  v("rms_rate", rms_rate);
}

MuonOptimizer::MuonOptimizer(MuonConfig config, OptimizerOptions options)
    : ConfiguredOptimizer(std::move(config), std::move(options)) {
  if (!options_.weight_decay) options_.weight_decay = 0.004;
}

bool MuonOptimizer::is_for_adam(const Variable& variable) const {
  if (variable.shape().rank() != 2) return true;
  std::string path = variable.path();
  const auto matches = [&](const std::string& pattern) {
    return std::regex_search(variable.path(), std::regex(pattern));
  };
  if (std::ranges::any_of(config_.exclude_layers, matches)) return true;
  for (char& c : path) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return config_.exclude_embeddings && path.find("embedding") != std::string::npos;
}

std::optional<double> MuonOptimizer::weight_decay_of(const Variable& variable) const {
  return is_for_adam(variable) ? config_.adam_weight_decay : options_.weight_decay;
}

std::vector<SlotSpec> MuonOptimizer::slots(const Variable& variable) const {
  std::vector<SlotSpec> specs{{.name = "momentum"}};
  if (is_for_adam(variable)) specs.push_back({.name = "velocity"});
  return specs;
}

// By Newton and Schulz's iteration, which needs products alone.
Tensor MuonOptimizer::orthogonalised(const Tensor& given) const {
  const bool is_tall = given.shape()[0] > given.shape()[1];
  Tensor x = is_tall ? transpose(given) : given;
  x = x / (sqrt(reduce_sum(square(x), {-2, -1}, true)) + 1e-7);
  for (std::int64_t i = 0; i < config_.ns_steps; ++i) {
    const Tensor a = matmul(x, x, {.transpose_b = true});
    const Tensor b = config_.muon_b * a + matmul(config_.muon_c * a, a);
    x = config_.muon_a * x + matmul(b, x);
  }
  return is_tall ? transpose(x) : x;
}

void MuonOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                           const Tensor& learning_rate) {
  if (slots.size() == 2) {
    return update_adam({config_.adam_beta_1, config_.adam_beta_2, config_.epsilon}, gradient,
                       variable, slots, learning_rate * static_cast<double>(config_.adam_lr_ratio),
                       step(variable.dtype()));
  }
  Variable& m = *slots[0];
  m.assign_add(gradient + m * (config_.momentum - 1));
  const Tensor direction = config_.nesterov ? gradient + config_.momentum * m : m.value();
  Tensor change = learning_rate * orthogonalised(direction);
  if (config_.rms_rate) {
    const auto size = static_cast<double>(std::max(variable.shape()[0], variable.shape()[1]));
    change = change * std::sqrt(size) * *config_.rms_rate;
  }
  variable.assign_sub(change);
}

}  // namespace plimsoll::keras
