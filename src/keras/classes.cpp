#include "plimsoll/keras/classes.h"

#include "base/check.h"
#include "keras/layers/tables.h"
#include "keras/optimizers/tables.h"
#include "keras/tables.h"
#include "plimsoll/keras/callbacks.h"

namespace plimsoll::keras {
namespace {

std::span<const ClassRow> rows_of(ClassKind kind) {
  switch (kind) {
    case ClassKind::kLayer:
      return layer_rows();
    case ClassKind::kOptimizer:
      return optimizer_rows();
    case ClassKind::kLoss:
      return loss_rows();
    case ClassKind::kMetric:
      return metric_rows();
    case ClassKind::kInitializer:
      return initializer_rows();
    case ClassKind::kRegularizer:
      return regularizer_rows();
    case ClassKind::kConstraint:
      return constraint_rows();
    case ClassKind::kSchedule:
      return schedule_rows();
  }
  return {};
}

const ClassRow& row_of(ClassKind kind, const std::string& class_name) {
  for (const ClassRow& row : rows_of(kind)) {
    if (class_name == row.class_name) return row;
  }
  throw NotFoundError(fmt::format("there is no class '{}'", class_name));
}

// What `make` asks its configuration for.
template <class F>
Json list_members(const std::string& class_name, const F& make) {
  Json members = Json::object();
  const ConfigListing listing(class_name, members);
  try {
    make(Json::object());
  } catch (const ConfigListing::Done&) {
  }
  return members;
}

template <class Impl>
CallbackPtr make_callback_of(const Json& config, const char* class_name) {
  typename Impl::Config read;
  ConfigVisitor visitor(config, class_name);
  read.visit(visitor);
  visitor.finish();
  return std::make_shared<Impl>(std::move(read));
}

struct CallbackRow {
  const char* class_name;
  CallbackPtr (*make)(const Json& config, const char* class_name);
};
constexpr CallbackRow kCallbacks[] = {
    {"EarlyStopping", make_callback_of<EarlyStoppingCallback>},
    {"ReduceLROnPlateau", make_callback_of<ReduceLROnPlateauCallback>},
    {"CSVLogger", make_callback_of<CSVLoggerCallback>},
    {"TerminateOnNaN", make_callback_of<TerminateOnNaNCallback>},
    {"ModelCheckpoint", make_callback_of<ModelCheckpointCallback>},
    {"BackupAndRestore", make_callback_of<BackupAndRestoreCallback>},
    {"Memory", make_callback_of<MemoryCallbackImpl>},
};

const CallbackRow& callback_row(const std::string& class_name) {
  for (const CallbackRow& row : kCallbacks) {
    if (class_name == row.class_name) return row;
  }
  throw NotFoundError(fmt::format("there is no callback '{}'", class_name));
}

Json to_config(const SaveFreq& freq) {
  return freq.index() == 0 ? Json(std::get<0>(freq)) : Json(std::get<1>(freq));
}
void from_config(const Json& json, SaveFreq& freq) {
  if (json.is_string()) {
    freq = json.as_string();
  } else {
    freq = json.as_int();
  }
}

// A member of a type that has no to_config of its own beside it.
void visit_freq(ConfigVisitor& v, SaveFreq& freq) {
  Json json = to_config(freq);
  v("save_freq", json);
  from_config(json, freq);
}

}  // namespace

std::vector<std::string> class_names(ClassKind kind) {
  std::vector<std::string> names;
  for (const ClassRow& row : rows_of(kind)) names.emplace_back(row.class_name);
  return names;
}
std::string class_alias(ClassKind kind, const std::string& class_name) {
  const char* alias = row_of(kind, class_name).alias;
  return alias ? alias : "";
}
Json default_config(ClassKind kind, const std::string& class_name) {
  return list_members(class_name, row_of(kind, class_name).make);
}
std::shared_ptr<Object> make_class(ClassKind kind, const std::string& class_name,
                                   const Json& config) {
  return row_of(kind, class_name).make(config);
}

std::vector<std::string> callback_names() {
  std::vector<std::string> names;
  for (const CallbackRow& row : kCallbacks) names.emplace_back(row.class_name);
  return names;
}
Json default_callback_config(const std::string& class_name) {
  const CallbackRow& row = callback_row(class_name);
  return list_members(class_name, [&](const Json& config) { row.make(config, row.class_name); });
}
CallbackPtr make_callback(const std::string& class_name, const Json& config) {
  const CallbackRow& row = callback_row(class_name);
  return row.make(config, row.class_name);
}

void EarlyStoppingConfig::visit(ConfigVisitor& v) {
  v("monitor", monitor);
  v("min_delta", min_delta);
  v("patience", patience);
  v("verbose", verbose);
  v("mode", mode);
  v("baseline", baseline);
  v("restore_best_weights", restore_best_weights);
  v("start_from_epoch", start_from_epoch);
}
void ReduceLROnPlateauConfig::visit(ConfigVisitor& v) {
  v("monitor", monitor);
  v("factor", factor);
  v("patience", patience);
  v("verbose", verbose);
  v("mode", mode);
  v("min_delta", min_delta);
  v("cooldown", cooldown);
  v("min_lr", min_lr);
}
void CSVLoggerConfig::visit(ConfigVisitor& v) {
  v("filename", filename);
  v("separator", separator);
  v("append", append);
}
void TerminateOnNaNConfig::visit(ConfigVisitor& v) {
  v("raise_error", raise_error);
}
void ModelCheckpointConfig::visit(ConfigVisitor& v) {
  v("filepath", filepath);
  v("monitor", monitor);
  v("verbose", verbose);
  v("save_best_only", save_best_only);
  v("save_weights_only", save_weights_only);
  v("mode", mode);
  visit_freq(v, save_freq);
  v("initial_value_threshold", initial_value_threshold);
}
void BackupAndRestoreConfig::visit(ConfigVisitor& v) {
  v("backup_dir", backup_dir);
  visit_freq(v, save_freq);
  v("double_checkpoint", double_checkpoint);
  v("delete_checkpoint", delete_checkpoint);
}
void MemoryCallbackConfig::visit(ConfigVisitor& v) {
  v("device", device);
  v("print_report", print_report);
}

}  // namespace plimsoll::keras
