#include "keras/compile_utils.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "plimsoll/keras/metrics.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

// Of a list or dictionary by output, none where nothing is said; of one: nothing.
template <class Leaf>
std::vector<Nest<Leaf>> by_output(const Nest<Leaf>& spec, const NamedOutputs& outputs,
                                  const char* what) {
  std::vector<Nest<Leaf>> found(outputs.names.size());
  if (spec.is_dict()) {
    for (const auto& [key, item] : spec.dict()) {
      const auto at = std::ranges::find(outputs.names, key);
      PLIMSOLL_CHECK(at != outputs.names.end(), InvalidArgumentError,
                     "Expected keys [{}] in `{}`, but found key '{}'",
                     fmt::join(outputs.names, ", "), what, key);
      found[static_cast<std::size_t>(at - outputs.names.begin())] = item;
    }
    return found;
  }
  PLIMSOLL_CHECK(spec.size() == found.size(), InvalidArgumentError,
                 "For a model with {} outputs (named [{}]), `{}` has to be a list of as many or a "
                 "dictionary by name. Received: {} of them",
                 found.size(), fmt::join(outputs.names, ", "), what, spec.size());
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = spec[i];
  return found;
}

}  // namespace

NamedOutputs name_outputs(const Nested& y_pred, const std::vector<std::string>& names) {
  NamedOutputs outputs;
  y_pred.for_each([&](const Value& v) { outputs.values.push_back(v.tensor()); });
  if (y_pred.is_dict()) {
    for (const auto& member : y_pred.dict()) outputs.names.push_back(member.first);
  } else if (names.size() == outputs.values.size()) {
    outputs.names = names;
  }
  for (std::size_t i = outputs.names.size(); i < outputs.values.size(); ++i)
    outputs.names.push_back("output_" + std::to_string(i + 1));
  return outputs;
}

std::vector<Tensor> match_outputs(const Nested& given, const NamedOutputs& outputs,
                                  const char* what) {
  std::vector<Tensor> matched(outputs.names.size());
  if (given.is_none()) return matched;
  if (given.is_leaf()) {
    std::ranges::fill(matched, given.leaf().tensor());
    return matched;
  }
  const auto found = by_output(given, outputs, what);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!found[i].is_none()) matched[i] = found[i].leaf().tensor();
  }
  return matched;
}

void CompileLoss::build(const NamedOutputs& outputs) {
  const std::size_t num = outputs.names.size();
  losses_.resize(num);
  scale_.resize(num);
  if (spec_.is_leaf()) {
    std::ranges::fill(losses_, spec_.leaf());
  } else {
    const auto found = by_output(spec_, outputs, "loss");
    for (std::size_t i = 0; i < num; ++i) {
      if (!found[i].is_none()) losses_[i] = found[i].leaf();
    }
  }
  if (weights_.is_leaf()) {
    std::ranges::fill(scale_, weights_.leaf());
  } else if (!weights_.is_none()) {
    const auto found = by_output(weights_, outputs, "loss_weights");
    for (std::size_t i = 0; i < num; ++i) {
      if (!found[i].is_none()) scale_[i] = found[i].leaf();
    }
  }
  std::size_t num_losses = 0;
  for (const LossArg& loss : losses_) num_losses += loss ? 1 : 0;
  for (std::size_t i = 0; num_losses > 1 && i < num; ++i) {
    trackers_.push_back(losses_[i] ? std::make_shared<MeanMetric>(
                                         MeanConfig{}, MetricOptions{outputs.names[i] + "_loss"})
                                   : nullptr);
  }
  is_built_ = true;
}

Tensor CompileLoss::operator()(const Nested& y, const NamedOutputs& outputs,
                               const Nested& sample_weight) {
  if (!has_loss()) return {};
  if (!is_built_) build(outputs);
  PLIMSOLL_CHECK(losses_.size() == outputs.values.size(), InvalidArgumentError,
                 "the model gave {} outputs and had {} when it was compiled", outputs.values.size(),
                 losses_.size());
  const std::vector<Tensor> wanted = match_outputs(y, outputs, "y");
  const std::vector<Tensor> weights = match_outputs(sample_weight, outputs, "sample_weight");
  Tensor total;
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    if (!losses_[i]) continue;
    PLIMSOLL_CHECK(wanted[i].is_valid(), InvalidArgumentError,
                   "output '{}' has a loss, but `y` has nothing for it", outputs.names[i]);
    Tensor value = (*losses_[i])(wanted[i], outputs.values[i], weights[i]);
    if (i < trackers_.size() && trackers_[i]) {
      const double batch = static_cast<double>(outputs.values[i].shape()[0]);
      trackers_[i]->update_with(value, fill(Shape(), batch));
    }
    if (scale_[i]) value = value * *scale_[i];
    total = total.is_valid() ? total + value : value;
  }
  return total;
}

CompileMetrics::CompileMetrics(MetricSpec metrics, MetricSpec weighted)
    : spec_(std::move(metrics)), weighted_(std::move(weighted)) {}

void CompileMetrics::add_row(const MetricSpecItem& item, std::size_t output, bool is_weighted,
                             const std::vector<Tensor>& y, const NamedOutputs& outputs) {
  PLIMSOLL_CHECK(y[output].is_valid(), InvalidArgumentError,
                 "output '{}' has a metric, but `y` has nothing for it", outputs.names[output]);
  MetricPtr metric = item.metric();
  if (!metric) {
    const bool is_accuracy = item.name() == "accuracy" || item.name() == "acc";
    metric = is_accuracy
                 ? resolve_accuracy(item.name(), y[output].shape(), outputs.values[output].shape())
                 : Metric::get(Json(item.name()));
    metric->set_name(item.name());
  }
  std::string name = metric->name();
  if (outputs.names.size() > 1) name = outputs.names[output] + "_" + name;
  const auto is_taken = [&](const std::string& n) {
    return std::ranges::any_of(rows_, [&](const Row& row) { return row.name == n; });
  };
  if (is_weighted && is_taken(name)) {
    name = "weighted_" + metric->name();
    if (outputs.names.size() > 1) name = outputs.names[output] + "_" + name;
  }
  std::string free_name = name;
  for (int i = 1; is_taken(free_name); ++i) free_name = name + "_" + std::to_string(i);
  rows_.push_back({std::move(free_name), std::move(metric), output, is_weighted});
}

void CompileMetrics::add_rows(const MetricSpec& spec, bool is_weighted,
                              const std::vector<Tensor>& y, const NamedOutputs& outputs,
                              const char* what) {
  if (spec.is_none()) return;
  if (outputs.names.size() == 1 && !spec.is_dict()) {
    spec.for_each([&](const MetricSpecItem& item) { add_row(item, 0, is_weighted, y, outputs); });
    return;
  }
  const auto found = by_output(spec, outputs, what);
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].for_each(
        [&](const MetricSpecItem& item) { add_row(item, i, is_weighted, y, outputs); });
  }
}

void CompileMetrics::build(const std::vector<Tensor>& y, const NamedOutputs& outputs) {
  add_rows(spec_, false, y, outputs, "metrics");
  add_rows(weighted_, true, y, outputs, "weighted_metrics");
  is_built_ = true;
}

void CompileMetrics::update_state(const Nested& y, const NamedOutputs& outputs,
                                  const Nested& sample_weight) {
  if (spec_.is_none() && weighted_.is_none()) return;
  const std::vector<Tensor> wanted = match_outputs(y, outputs, "y");
  const std::vector<Tensor> weights = match_outputs(sample_weight, outputs, "sample_weight");
  if (!is_built_) build(wanted, outputs);
  for (const Row& row : rows_) {
    row.metric->update_with(wanted[row.output], outputs.values[row.output],
                            row.is_weighted ? weights[row.output] : Tensor());
  }
}

}  // namespace plimsoll::keras
