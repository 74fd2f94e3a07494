// What is told of the progress of training, and may change it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plimsoll/json.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

class Model;

// Values by name, in order: {"loss", 0.3}, {"accuracy", 0.9}.
class Logs : public std::vector<std::pair<std::string, double>> {
 public:
  using std::vector<std::pair<std::string, double>>::vector;
  const double* find(std::string_view name) const noexcept;
  // throws: NotFoundError that lists the names.
  double at(std::string_view name) const;
  void set(std::string_view name, double value);
};
// The same as tensors, inside a step.
using StepLogs = std::vector<std::pair<std::string, Tensor>>;

// What a fit, an evaluation or a prediction is going to do.
struct CallbackParams {
  Json values;  // {"epochs", "steps", "verbose"}
};

class Callback {
 public:
  virtual ~Callback() = default;

  virtual void set_params(const CallbackParams& params) { params_ = params; }
  virtual void set_model(Model* model) { model_ = model; }
  Model* model() const noexcept { return model_; }
  const CallbackParams& params() const noexcept { return params_; }

  virtual void on_train_begin(const Logs&) {}
  virtual void on_train_end(const Logs&) {}
  virtual void on_epoch_begin(std::int64_t /*epoch*/, const Logs&) {}
  // Callbacks may add to the logs of an epoch: learning rates, memory.
  virtual void on_epoch_end(std::int64_t /*epoch*/, Logs&) {}
  virtual void on_train_batch_begin(std::int64_t /*batch*/, const Logs&) {}
  virtual void on_train_batch_end(std::int64_t /*batch*/, const Logs&) {}
  virtual void on_test_begin(const Logs&) {}
  virtual void on_test_end(const Logs&) {}
  virtual void on_test_batch_begin(std::int64_t /*batch*/, const Logs&) {}
  virtual void on_test_batch_end(std::int64_t /*batch*/, const Logs&) {}
  virtual void on_predict_begin(const Logs&) {}
  virtual void on_predict_end(const Logs&) {}
  virtual void on_predict_batch_begin(std::int64_t /*batch*/, const Logs&) {}
  virtual void on_predict_batch_end(std::int64_t /*batch*/, const Logs&) {}

 private:
  CallbackParams params_;
  Model* model_ = nullptr;
};
using CallbackPtr = std::shared_ptr<Callback>;

// The logs of all epochs, by name.
class History : public Callback {
 public:
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;

  std::vector<std::int64_t> epoch;
  std::vector<std::pair<std::string, std::vector<double>>> history;
  // throws: NotFoundError that lists the names.
  const std::vector<double>& at(std::string_view name) const;
  // The plan that was printed, and what the device held at most: equal, to the byte.
  std::uint64_t planned_peak_bytes = 0, measured_peak_bytes = 0;
};

}  // namespace plimsoll::keras
