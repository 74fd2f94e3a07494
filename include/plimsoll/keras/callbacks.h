// Keras's callbacks, and one for memory.
//
//   model->fit(x, y, {.callbacks = {
//       callbacks::EarlyStopping({.monitor = "val_loss", .patience = 3}),
//       callbacks::CSVLogger({.filename = "log.csv"})}});
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plimsoll/keras/callback.h"
#include "plimsoll/keras/object.h"

namespace plimsoll::keras {

// Watches a value of the logs and knows what "better" is.
class MonitorCallback : public Callback {
 public:
  // mode: "min", "max", or "auto": by the name or the metric.
  MonitorCallback(std::string monitor, std::string mode, double min_delta,
                  std::optional<double> best);

 protected:
  // By the metrics of the model. throws: InvalidArgumentError if "auto" cannot tell.
  void find_direction();
  bool is_improvement(double value, const std::optional<double>& reference) const noexcept;

  const std::string monitor_, mode_;
  const double min_delta_;
  std::optional<double> best_;

 private:
  std::optional<bool> is_less_;  // none: not asked yet
};

struct EarlyStoppingConfig {
  std::string monitor = "val_loss";
  double min_delta = 0;
  std::int64_t patience = 0;
  std::int64_t verbose = 0;
  std::string mode = "auto";
  std::optional<double> baseline = {};
  bool restore_best_weights = false;  // memory: a copy of the weights
  std::int64_t start_from_epoch = 0;
  void visit(ConfigVisitor& v);
};
class EarlyStoppingCallback : public MonitorCallback {
 public:
  using Config = EarlyStoppingConfig;
  explicit EarlyStoppingCallback(Config config);
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;
  void on_train_end(const Logs& logs) override;

  std::int64_t wait = 0, stopped_epoch = 0, best_epoch = 0;

 private:
  const Config config_;
  std::vector<Tensor> best_weights_;
};

struct ReduceLROnPlateauConfig {
  std::string monitor = "val_loss";
  double factor = 0.1;
  std::int64_t patience = 10;
  std::int64_t verbose = 0;
  std::string mode = "auto";
  double min_delta = 1e-4;
  std::int64_t cooldown = 0;
  double min_lr = 0;
  void visit(ConfigVisitor& v);
};
class ReduceLROnPlateauCallback : public MonitorCallback {
 public:
  using Config = ReduceLROnPlateauConfig;
  explicit ReduceLROnPlateauCallback(Config config);
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;

 private:
  const Config config_;
  std::int64_t wait_ = 0, cooldown_left_ = 0;
};

struct LearningRateSchedulerConfig {
  std::function<double(std::int64_t epoch, double learning_rate)> schedule;
  std::int64_t verbose = 0;
};
class LearningRateSchedulerCallback : public Callback {
 public:
  using Config = LearningRateSchedulerConfig;
  explicit LearningRateSchedulerCallback(Config config);
  void on_epoch_begin(std::int64_t epoch, const Logs& logs) override;
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;

 private:
  const Config config_;
};

struct CSVLoggerConfig {
  std::string filename;
  std::string separator = ",";
  bool append = false;
  void visit(ConfigVisitor& v);
};
class CSVLoggerCallback : public Callback {
 public:
  using Config = CSVLoggerConfig;
  explicit CSVLoggerCallback(Config config);
  ~CSVLoggerCallback() override;
  // throws: NotFoundError if the file cannot be written.
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;
  void on_train_end(const Logs& logs) override;

 private:
  const Config config_;
  std::FILE* file_ = nullptr;
  bool has_header_ = false;
  std::vector<std::string> keys_;
};

struct TerminateOnNaNConfig {
  bool raise_error = false;
  void visit(ConfigVisitor& v);
};
class TerminateOnNaNCallback : public Callback {
 public:
  using Config = TerminateOnNaNConfig;
  explicit TerminateOnNaNCallback(Config config) : config_(config) {}
  // throws: FailedPreconditionError with the loss, if that was asked for.
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;

 private:
  const Config config_;
};

// "epoch", or so many batches.
using SaveFreq = std::variant<std::string, std::int64_t>;

// Counts batches over epochs, and says when it is time.
class SaveClock {
 public:
  // throws: InvalidArgumentError for a word other than "epoch", or less than one batch.
  explicit SaveClock(SaveFreq freq, const char* what);
  bool is_by_epoch() const noexcept { return num_batches_ == 0; }
  bool is_time(std::int64_t batch) noexcept;

 private:
  std::int64_t num_batches_ = 0;  // 0: by epoch
  std::int64_t num_seen_ = 0, last_ = -1;
};

struct ModelCheckpointConfig {
  std::string filepath;  // may hold {epoch:02d}, {val_loss:.2f}, {batch}
  std::string monitor = "val_loss";
  std::int64_t verbose = 0;
  bool save_best_only = false;
  bool save_weights_only = false;
  std::string mode = "auto";
  SaveFreq save_freq = "epoch";
  std::optional<double> initial_value_threshold = {};
  void visit(ConfigVisitor& v);
};
class ModelCheckpointCallback : public MonitorCallback {
 public:
  using Config = ModelCheckpointConfig;
  // throws: InvalidArgumentError for a path that does not end as the format wants it.
  explicit ModelCheckpointCallback(Config config);
  void on_epoch_begin(std::int64_t epoch, const Logs&) override { epoch_ = epoch; }
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;

  // Where a checkpoint goes. throws: InvalidArgumentError for a name that the logs do not have.
  std::string path_for(std::int64_t epoch, std::optional<std::int64_t> batch,
                       const Logs& logs) const;

 protected:
  virtual void write(const std::string& path);

 private:
  void save(std::optional<std::int64_t> batch, const Logs& logs);
  bool is_wanted(const Logs& logs, const std::string& path);

  const Config config_;
  SaveClock clock_;
  std::int64_t epoch_ = 0;
};

struct BackupAndRestoreConfig {
  std::string backup_dir;
  SaveFreq save_freq = "epoch";
  bool double_checkpoint = false;
  bool delete_checkpoint = true;
  void visit(ConfigVisitor& v);
};
// Writes weights and the optimizer's state now and then, and begins there if a run was interrupted.
class BackupAndRestoreCallback : public Callback {
 public:
  using Config = BackupAndRestoreConfig;
  explicit BackupAndRestoreCallback(Config config);
  void on_train_begin(const Logs& logs) override;
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;
  void on_train_end(const Logs& logs) override;

 private:
  void save(std::int64_t epoch, std::int64_t batch);

  const Config config_;
  SaveClock clock_;
  std::int64_t epoch_ = 0;
};

struct LambdaCallbackConfig {
  std::function<void(std::int64_t epoch, const Logs&logs)> on_epoch_begin, on_epoch_end;
  std::function<void(std::int64_t batch, const Logs&logs)> on_train_batch_begin, on_train_batch_end;
  std::function<void(const Logs&logs)> on_train_begin, on_train_end;
};
class LambdaCallbackImpl : public Callback {
 public:
  using Config = LambdaCallbackConfig;
  explicit LambdaCallbackImpl(Config config) : config_(std::move(config)) {}
  void on_epoch_begin(std::int64_t epoch, const Logs& logs) override;
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;
  void on_train_batch_begin(std::int64_t batch, const Logs& logs) override;
  void on_train_batch_end(std::int64_t batch, const Logs& logs) override;
  void on_train_begin(const Logs& logs) override;
  void on_train_end(const Logs& logs) override;

 private:
  const Config config_;
};

struct MemoryCallbackConfig {
  std::string device = {};    // "GPU:0"; none: all together
  bool print_report = false;  // who holds what, after each epoch
  void visit(ConfigVisitor& v);
};
// Adds to the logs of each epoch what the device holds, and held at most, in bytes:
// memory_in_use and memory_peak.
class MemoryCallbackImpl : public Callback {
 public:
  using Config = MemoryCallbackConfig;
  explicit MemoryCallbackImpl(Config config) : config_(std::move(config)) {}
  void on_epoch_end(std::int64_t epoch, Logs& logs) override;

 private:
  const Config config_;
};

namespace callbacks {
using EarlyStopping = Ref<EarlyStoppingCallback>;
using ReduceLROnPlateau = Ref<ReduceLROnPlateauCallback>;
using LearningRateScheduler = Ref<LearningRateSchedulerCallback>;
using CSVLogger = Ref<CSVLoggerCallback>;
using TerminateOnNaN = Ref<TerminateOnNaNCallback>;
using ModelCheckpoint = Ref<ModelCheckpointCallback>;
using BackupAndRestore = Ref<BackupAndRestoreCallback>;
using LambdaCallback = Ref<LambdaCallbackImpl>;
using Memory = Ref<MemoryCallbackImpl>;
}  // namespace callbacks

}  // namespace plimsoll::keras
