// Callbacks that write files.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/log.h"
#include "keras/names.h"
#include "keras/progress.h"
#include "plimsoll/keras/callbacks.h"
#include "plimsoll/keras/model.h"

namespace plimsoll::keras {

namespace fs = std::filesystem;

SaveClock::SaveClock(SaveFreq freq, const char* what) {
  if (const auto* word = std::get_if<std::string>(&freq)) {
    PLIMSOLL_CHECK(*word == "epoch", InvalidArgumentError,
                   "Unrecognized save_freq of {}: {}. Expected save_freq are 'epoch' or integer "
                   "values",
                   what, *word);
    return;
  }
  num_batches_ = std::get<std::int64_t>(freq);
  PLIMSOLL_CHECK(num_batches_ > 0, InvalidArgumentError,
                 "save_freq of {} has to be 'epoch' or a number of batches. Received: {}", what,
                 num_batches_);
}

bool SaveClock::is_time(std::int64_t batch) noexcept {
  if (is_by_epoch()) return false;
  num_seen_ += batch <= last_ || last_ < 0 ? batch + 1 : batch - last_;
  last_ = batch;
  if (num_seen_ < num_batches_) return false;
  num_seen_ = 0;
  return true;
}

ModelCheckpointCallback::ModelCheckpointCallback(Config config)
    : MonitorCallback(config.monitor, config.mode, 0, config.initial_value_threshold),
      config_(std::move(config)),
      clock_(config_.save_freq, "ModelCheckpoint") {
  const std::string& path = config_.filepath;
  PLIMSOLL_CHECK(!config_.save_weights_only || path.ends_with(".weights.h5"), InvalidArgumentError,
                 "When using `save_weights_only=True` in `ModelCheckpoint`, the filepath provided "
                 "must end in `.weights.h5` (Keras weights format). Received: filepath={}",
                 path);
  PLIMSOLL_CHECK(
      config_.save_weights_only || path.ends_with(".keras") || path.ends_with(".h5"),
      InvalidArgumentError,
      "The filepath provided must end in `.keras` (Keras model format). Received: filepath={}",
      path);
}

namespace {

// One number in a path, as Python's format writes it: "" or ":.2f" behind its name.
std::string format_number(double value, bool is_whole, std::string spec) {
  const auto whole = static_cast<std::int64_t>(value);
  if (spec.empty()) return is_whole ? std::to_string(whole) : number_text(value);
  if (!std::isfinite(value) && spec.find_first_of("<>^=") == std::string::npos) spec = ">" + spec;
  const std::string format = "{:" + spec + "}";
  return is_whole ? fmt::format(fmt::runtime(format), whole)
                  : fmt::format(fmt::runtime(format), value);
}

}  // namespace

std::string ModelCheckpointCallback::path_for(std::int64_t epoch, std::optional<std::int64_t> batch,
                                              const Logs& logs) const {
  const std::string& path = config_.filepath;
  const auto field = [&](const std::string& name, const std::string& spec) {
    if (name == "epoch") return format_number(static_cast<double>(epoch + 1), true, spec);
    if (const double* value = logs.find(name)) return format_number(*value, false, spec);
    if (name != "batch" || !batch) throw fmt::format_error("'" + name + "' is not there");
    return format_number(static_cast<double>(*batch + 1), true, spec);
  };
  try {
    std::string made;
    for (std::size_t i = 0; i < path.size(); ++i) {
      const bool is_double = i + 1 < path.size() && path[i + 1] == path[i];
      if ((path[i] == '{' || path[i] == '}') && is_double) {
        made += path[i++];
      } else if (path[i] == '{') {
        const std::size_t end = path.find('}', i);
        if (end == std::string::npos) throw fmt::format_error("a '{' without its '}'");
        const std::string inside = path.substr(i + 1, end - i - 1);
        const std::size_t colon = inside.find(':');
        made += field(inside.substr(0, colon),
                      colon == std::string::npos ? "" : inside.substr(colon + 1));
        i = end;
      } else {
        made += path[i];
      }
    }
    return made;
  } catch (const fmt::format_error& e) {
    std::string names = batch ? "epoch, batch" : "epoch";
    for (const auto& row : logs) names += ", " + row.first;
    throw InvalidArgumentError(
        fmt::format("Failed to format this callback filepath: \"{}\". Reason: {}; names that are "
                    "known: {}",
                    path, e.what(), names));
  }
}

void ModelCheckpointCallback::on_epoch_end(std::int64_t epoch, Logs& logs) {
  find_direction();
  epoch_ = epoch;
  if (clock_.is_by_epoch()) save({}, logs);
}
void ModelCheckpointCallback::on_train_batch_end(std::int64_t batch, const Logs& logs) {
  if (clock_.is_time(batch)) {
    find_direction();
    save(batch, logs);
  }
}

bool ModelCheckpointCallback::is_wanted(const Logs& logs, const std::string& path) {
  const auto say = [&](const std::string& what) {
    if (config_.verbose > 0) print_text(fmt::format("\nEpoch {}: {}\n", epoch_ + 1, what));
  };
  if (!config_.save_best_only) {
    say("saving model to " + path);
    return true;
  }
  const double* current = logs.find(monitor_);
  if (!current) {
    log_warning("Can save best model only with {} available.", monitor_);
    return true;
  }
  const std::string before = best_ ? fmt::format("{:.5f}", *best_) : "None";
  if (!is_improvement(*current, best_)) {
    say(fmt::format("{} did not improve from {}", monitor_, before));
    return false;
  }
  say(fmt::format("{} improved from {} to {:.5f}, saving model to {}", monitor_, before, *current,
                  path));
  best_ = *current;
  return true;
}

void ModelCheckpointCallback::save(std::optional<std::int64_t> batch, const Logs& logs) {
  const std::string path = path_for(epoch_, batch, logs);
  if (!is_wanted(logs, path)) return;
  PLIMSOLL_CHECK(!fs::is_directory(path), InvalidArgumentError,
                 "Please specify a non-directory filepath for ModelCheckpoint. Filepath used is an "
                 "existing directory: {}",
                 path);
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty())
    fs::create_directories(folder);
  write(path);
}

void ModelCheckpointCallback::write(const std::string& path) {
  if (config_.save_weights_only) {
    model()->save_weights(path);
  } else {
    model()->save(path);
  }
}

BackupAndRestoreCallback::BackupAndRestoreCallback(Config config)
    : config_(std::move(config)), clock_(config_.save_freq, "BackupAndRestore") {
  PLIMSOLL_CHECK(!config_.backup_dir.empty(), InvalidArgumentError,
                 "Empty `backup_dir` argument passed");
}

namespace {

struct BackupFiles {
  fs::path weights, metadata;
  explicit BackupFiles(const std::string& folder)
      : weights(fs::path(folder) / "latest.weights.h5"),
        metadata(fs::path(folder) / "training_metadata.json") {}
  static fs::path previous(const fs::path& file) { return file.string() + ".bkp"; }
};

}  // namespace

void BackupAndRestoreCallback::on_train_begin(const Logs&) {
  PLIMSOLL_CHECK(model()->built(), FailedPreconditionError,
                 "To use the BackupAndRestore callback, your model must be built before you call "
                 "`fit()`. Model '{}' is unbuilt. You can build it beforehand by calling it on a "
                 "batch of data.",
                 model()->name());
  const BackupFiles files(config_.backup_dir);
  const auto load = [&] {
    if (!fs::exists(files.weights)) return;
    if (!model()->optimizer()->built()) model()->optimizer()->build(model()->trainable_weights());
    model()->load_weights(files.weights.string());
    if (!fs::exists(files.metadata)) return;
    std::ifstream in(files.metadata);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    model()->first_epoch = Json::parse(text).at("epoch").as_int();
  };
  try {
    load();
  } catch (const Error&) {  // perhaps damaged: the one before
    if (!fs::exists(BackupFiles::previous(files.weights))) throw;
    fs::copy_file(BackupFiles::previous(files.weights), files.weights,
                  fs::copy_options::overwrite_existing);
    if (fs::exists(BackupFiles::previous(files.metadata)))
      fs::copy_file(BackupFiles::previous(files.metadata), files.metadata,
                    fs::copy_options::overwrite_existing);
    load();
  }
}

void BackupAndRestoreCallback::on_epoch_end(std::int64_t epoch, Logs&) {
  epoch_ = epoch + 1;
  if (clock_.is_by_epoch()) save(epoch_, 0);
}
void BackupAndRestoreCallback::on_train_batch_end(std::int64_t batch, const Logs&) {
  if (clock_.is_time(batch)) save(epoch_, batch);
}

void BackupAndRestoreCallback::save(std::int64_t epoch, std::int64_t batch) {
  const BackupFiles files(config_.backup_dir);
  fs::create_directories(config_.backup_dir);
  for (const fs::path& file : {files.weights, files.metadata}) {
    if (config_.double_checkpoint && fs::exists(file))
      fs::copy_file(file, BackupFiles::previous(file), fs::copy_options::overwrite_existing);
  }
  model()->save_weights(files.weights.string());
  std::ofstream out(files.metadata);
  out << Json::object({{"epoch", epoch}, {"batch", batch}}).dump();
  PLIMSOLL_CHECK(out.flush(), NotFoundError, "BackupAndRestore cannot write '{}'",
                 files.metadata.string());
}

void BackupAndRestoreCallback::on_train_end(const Logs&) {
  if (config_.delete_checkpoint) fs::remove_all(config_.backup_dir);
}

}  // namespace plimsoll::keras
