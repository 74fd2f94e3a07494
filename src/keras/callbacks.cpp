#include "plimsoll/keras/callbacks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/log.h"
#include "keras/names.h"
#include "keras/progress.h"
#include "plimsoll/keras/model.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

std::string names_of(const Logs& logs) {
  std::vector<std::string_view> names;
  for (const auto& row : logs) names.push_back(row.first);
  return fmt::format("{}", fmt::join(names, ","));
}

double learning_rate_of(const Model& model) {
  return cast(model.optimizer()->learning_rate(), float64).item<double>();
}

// Keras's metrics know whether more is better; by class, so do these.
std::optional<bool> is_less_better(const Metric& metric) {
  constexpr std::string_view kUp[] = {"Accuracy",
                                      "BinaryAccuracy",
                                      "CategoricalAccuracy",
                                      "SparseCategoricalAccuracy",
                                      "TopKCategoricalAccuracy",
                                      "SparseTopKCategoricalAccuracy",
                                      "Precision",
                                      "Recall",
                                      "SensitivityAtSpecificity",
                                      "SpecificityAtSensitivity",
                                      "PrecisionAtRecall",
                                      "RecallAtPrecision",
                                      "AUC",
                                      "FBetaScore",
                                      "F1Score",
                                      "IoU",
                                      "BinaryIoU",
                                      "MeanIoU",
                                      "OneHotIoU",
                                      "OneHotMeanIoU",
                                      "CosineSimilarity",
                                      "R2Score",
                                      "PearsonCorrelation",
                                      "ConcordanceCorrelation"};
  constexpr std::string_view kUnknown[] = {
      "Mean", "Sum", "TruePositives", "TrueNegatives", "FalsePositives", "FalseNegatives"};
  const std::string name = metric.class_name();
  if (std::ranges::find(kUp, name) != std::end(kUp)) return false;
  if (std::ranges::find(kUnknown, name) != std::end(kUnknown)) return std::nullopt;
  return true;
}

std::string known_mode(std::string mode) {
  if (mode == "auto" || mode == "min" || mode == "max") return mode;
  log_warning(
      "the mode '{}' of a callback is unknown, fallback to auto mode; there are auto, min and max",
      mode);
  return "auto";
}

}  // namespace

MonitorCallback::MonitorCallback(std::string monitor, std::string mode, double min_delta,
                                 std::optional<double> best)
    : monitor_(std::move(monitor)),
      mode_(known_mode(std::move(mode))),
      min_delta_(std::abs(min_delta)),
      best_(best) {}

void MonitorCallback::find_direction() {
  if (is_less_) return;
  if (mode_ != "auto") {
    is_less_ = mode_ == "min";
    return;
  }
  const std::string name = monitor_.starts_with("val_") ? monitor_.substr(4) : monitor_;
  if (name == "loss" || name.ends_with("_loss")) is_less_ = true;
  for (const MetricPtr& metric : model()->model_metrics()) {
    if (metric->name() == name && name != "loss") is_less_ = is_less_better(*metric);
  }
  PLIMSOLL_CHECK(
      is_less_, InvalidArgumentError,
      "A callback received monitor={}, but it is not known whether that metric should be "
      "maximized or minimized. Pass mode 'max' or 'min'.",
      monitor_);
}

bool MonitorCallback::is_improvement(double value,
                                     const std::optional<double>& reference) const noexcept {
  if (!reference) return true;
  const auto than = static_cast<float>(*reference);  // Keras compares tensors
  return *is_less_ ? static_cast<float>(value + min_delta_) < than
                   : static_cast<float>(value - min_delta_) > than;
}

EarlyStoppingCallback::EarlyStoppingCallback(Config config)
    : MonitorCallback(config.monitor, config.mode, config.min_delta, {}),
      config_(std::move(config)) {}

void EarlyStoppingCallback::on_train_begin(const Logs&) {
  wait = stopped_epoch = best_epoch = 0;
  best_.reset();
  best_weights_.clear();
}

void EarlyStoppingCallback::on_epoch_end(std::int64_t epoch, Logs& logs) {
  find_direction();
  const double* current = logs.find(monitor_);
  if (!current) {
    log_warning(
        "Early stopping conditioned on metric `{}` which is not available. Available metrics are: "
        "{}",
        monitor_, names_of(logs));
    return;
  }
  if (epoch < config_.start_from_epoch) return;
  if (config_.restore_best_weights && best_weights_.empty()) {
    best_weights_ = model()->get_weights();
    best_epoch = epoch;
  }
  ++wait;
  if (is_improvement(*current, best_)) {
    best_ = *current;
    best_epoch = epoch;
    if (config_.restore_best_weights) best_weights_ = model()->get_weights();
    if (!config_.baseline || is_improvement(*current, config_.baseline)) wait = 0;
    return;
  }
  if (wait >= config_.patience && epoch > 0) {
    stopped_epoch = epoch;
    model()->stop_training = true;
  }
}

void EarlyStoppingCallback::on_train_end(const Logs&) {
  if (stopped_epoch > 0 && config_.verbose > 0)
    print_text(fmt::format("Epoch {}: early stopping\n", stopped_epoch + 1));
  if (!config_.restore_best_weights || best_weights_.empty()) return;
  if (config_.verbose > 0)
    print_text(fmt::format("Restoring model weights from the end of the best epoch: {}.\n",
                           best_epoch + 1));
  model()->set_weights(best_weights_);
  best_weights_.clear();
}

ReduceLROnPlateauCallback::ReduceLROnPlateauCallback(Config config)
    : MonitorCallback(config.monitor, config.mode, config.min_delta, {}),
      config_(std::move(config)) {
  PLIMSOLL_CHECK(config_.factor < 1, InvalidArgumentError,
                 "ReduceLROnPlateau does not support a factor >= 1.0. Received factor={}",
                 config_.factor);
}

void ReduceLROnPlateauCallback::on_train_begin(const Logs&) {
  best_.reset();
  wait_ = cooldown_left_ = 0;
}

void ReduceLROnPlateauCallback::on_epoch_end(std::int64_t epoch, Logs& logs) {
  find_direction();
  const double rate = learning_rate_of(*model());
  logs.set("learning_rate", rate);
  const double* current = logs.find(monitor_);
  if (!current) {
    log_warning(
        "Learning rate reduction is conditioned on metric `{}` which is not available. Available "
        "metrics are: {}.",
        monitor_, names_of(logs));
    return;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    wait_ = 0;
  }
  if (is_improvement(*current, best_)) {
    best_ = *current;
    wait_ = 0;
    return;
  }
  if (cooldown_left_ > 0 || ++wait_ < config_.patience) return;
  if (rate <= static_cast<double>(static_cast<float>(config_.min_lr))) return;
  const double lower = std::max(rate * config_.factor, config_.min_lr);
  model()->optimizer()->set_learning_rate(lower);
  if (config_.verbose > 0)
    print_text(fmt::format("\nEpoch {}: ReduceLROnPlateau reducing learning rate to {:g}.\n",
                           epoch + 1, lower));
  cooldown_left_ = config_.cooldown;
  wait_ = 0;
}

LearningRateSchedulerCallback::LearningRateSchedulerCallback(Config config)
    : config_(std::move(config)) {
  PLIMSOLL_CHECK(config_.schedule, InvalidArgumentError, "LearningRateScheduler needs a schedule");
}
void LearningRateSchedulerCallback::on_epoch_begin(std::int64_t epoch, const Logs&) {
  const double rate = config_.schedule(epoch, learning_rate_of(*model()));
  model()->optimizer()->set_learning_rate(rate);
  if (config_.verbose > 0)
    print_text(fmt::format("\nEpoch {}: LearningRateScheduler setting learning rate to {:g}.\n",
                           epoch + 1, rate));
}
void LearningRateSchedulerCallback::on_epoch_end(std::int64_t, Logs& logs) {
  logs.set("learning_rate", learning_rate_of(*model()));
}

CSVLoggerCallback::CSVLoggerCallback(Config config) : config_(std::move(config)) {}
CSVLoggerCallback::~CSVLoggerCallback() {
  if (file_) std::fclose(file_);
}

void CSVLoggerCallback::on_train_begin(const Logs&) {
  if (file_) std::fclose(file_);
  keys_.clear();
  file_ = std::fopen(config_.filename.c_str(), config_.append ? "a" : "w");
  PLIMSOLL_CHECK(file_, NotFoundError, "CSVLogger cannot write '{}'", config_.filename);
  std::fseek(file_, 0, SEEK_END);
  has_header_ = config_.append && std::ftell(file_) > 0;
}

void CSVLoggerCallback::on_epoch_end(std::int64_t epoch, Logs& logs) {
  if (!file_) return;
  if (keys_.empty()) {
    for (const auto& row : logs) keys_.push_back(row.first);
    std::ranges::sort(keys_);
    // Room for values that come with validation later.
    const bool has_validation =
        std::ranges::any_of(keys_, [](const std::string& key) { return key.starts_with("val_"); });
    const std::size_t num = has_validation ? 0 : keys_.size();
    for (std::size_t i = 0; i < num; ++i) keys_.push_back("val_" + keys_[i]);
    if (!has_header_) {
      std::string head = "epoch";
      for (const std::string& key : keys_) head += config_.separator + key;
      std::fprintf(file_, "%s\r\n", head.c_str());
    }
  }
  std::string line = std::to_string(epoch);
  for (const std::string& key : keys_) {
    const double* value = logs.find(key);
    line += config_.separator + (value ? number_text(*value) : "NA");
  }
  std::fprintf(file_, "%s\r\n", line.c_str());
  std::fflush(file_);
}

void CSVLoggerCallback::on_train_end(const Logs&) {
  if (file_) std::fclose(file_);
  file_ = nullptr;
}

void TerminateOnNaNCallback::on_train_batch_end(std::int64_t batch, const Logs& logs) {
  const double* loss = logs.find("loss");
  if (!loss || std::isfinite(*loss)) return;
  PLIMSOLL_CHECK(!config_.raise_error, FailedPreconditionError,
                 "NaN or Inf loss encountered at batch {}. Loss value: {}. Terminating training "
                 "immediately.",
                 batch, *loss);
  print_text(fmt::format("Batch {}: Invalid loss, terminating training\n", batch));
  model()->stop_training = true;
}

void LambdaCallbackImpl::on_epoch_begin(std::int64_t epoch, const Logs& logs) {
  if (config_.on_epoch_begin) config_.on_epoch_begin(epoch, logs);
}
void LambdaCallbackImpl::on_epoch_end(std::int64_t epoch, Logs& logs) {
  if (config_.on_epoch_end) config_.on_epoch_end(epoch, logs);
}
void LambdaCallbackImpl::on_train_batch_begin(std::int64_t batch, const Logs& logs) {
  if (config_.on_train_batch_begin) config_.on_train_batch_begin(batch, logs);
}
void LambdaCallbackImpl::on_train_batch_end(std::int64_t batch, const Logs& logs) {
  if (config_.on_train_batch_end) config_.on_train_batch_end(batch, logs);
}
void LambdaCallbackImpl::on_train_begin(const Logs& logs) {
  if (config_.on_train_begin) config_.on_train_begin(logs);
}
void LambdaCallbackImpl::on_train_end(const Logs& logs) {
  if (config_.on_train_end) config_.on_train_end(logs);
}

void MemoryCallbackImpl::on_epoch_end(std::int64_t, Logs& logs) {
  const memory::BudgetStats now = memory::stats(config_.device);
  logs.set("memory_in_use", static_cast<double>(now.in_use));
  logs.set("memory_peak", static_cast<double>(now.peak));
  if (config_.print_report) print_text(memory::report().to_string() + "\n");
}

}  // namespace plimsoll::keras
