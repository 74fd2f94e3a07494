// The classes that Keras knows by name: for fronts that make theirs from the same tables.
//
//   for (const std::string& name : keras::class_names(keras::ClassKind::kLayer)) ...
//   keras::default_config(keras::ClassKind::kLayer, "Dense");    // {"name": "", ..., "units": 0,
//   ...}
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plimsoll/json.h"
#include "plimsoll/keras/callback.h"
#include "plimsoll/keras/object.h"

namespace plimsoll::keras {

enum class ClassKind {
  kLayer,
  kOptimizer,
  kLoss,
  kMetric,
  kInitializer,
  kRegularizer,
  kConstraint,
  kSchedule,
};

std::vector<std::string> class_names(ClassKind kind);
// Names beside the class name by which one is found: "mse" of MeanSquaredError. Empty: none.
std::string class_alias(ClassKind kind, const std::string& class_name);
// The members that a class takes, in the order of get_config, with what they are by default.
// throws: NotFoundError.
Json default_config(ClassKind kind, const std::string& class_name);
// One of Keras's own, whatever users have registered under the name.
// throws: NotFoundError; InvalidArgumentError.
std::shared_ptr<Object> make_class(ClassKind kind, const std::string& class_name,
                                   const Json& config);

// What a maker of a registered name is to make now, on this thread: "loss", "layer", "initializer".
// Empty outside of one. For names that stand for functions.
const char* wanted_kind() noexcept;

// The same for callbacks that take no functions.
std::vector<std::string> callback_names();
Json default_callback_config(const std::string& class_name);
CallbackPtr make_callback(const std::string& class_name, const Json& config);

}  // namespace plimsoll::keras
