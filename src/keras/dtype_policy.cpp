#include "plimsoll/keras/dtype_policy.h"

#include <mutex>

#include "base/check.h"

namespace plimsoll::keras {
namespace {

struct Global {
  std::mutex mutex;
  DTypePolicy policy{"float32"};
};
Global& global() {
  static Global one;
  return one;
}

}  // namespace

DTypePolicy::DTypePolicy() : DTypePolicy(mixed_precision::global_policy()) {}

DTypePolicy::DTypePolicy(std::string_view name) : name_(name) {
  if (name == "mixed_float16" || name == "mixed_bfloat16") {
    compute_ = name == "mixed_float16" ? DType::kFloat16 : DType::kBFloat16;
    return;
  }
  try {
    compute_ = variable_ = parse_dtype(name);
  } catch (const InvalidArgumentError&) {
    throw InvalidArgumentError(
        fmt::format("Cannot convert '{}' to a mixed precision DTypePolicy. Valid policies include "
                    "'mixed_float16', 'mixed_bfloat16', and the name of any float dtype such as "
                    "'float32'.",
                    name));
  }
}

Json to_config(const DTypePolicy& policy) {
  return Json::object({{"module", "keras"},
                       {"class_name", "DTypePolicy"},
                       {"config", Json::object({{"name", policy.name()}})},
                       {"registered_name", nullptr}});
}
void from_config(const Json& json, DTypePolicy& policy) {
  if (json.is_null()) {
    policy = DTypePolicy();
  } else if (json.is_string()) {
    policy = DTypePolicy(json.as_string());
  } else {
    policy = DTypePolicy(json.at("config").at("name").as_string());
  }
}

namespace mixed_precision {

void set_global_policy(const DTypePolicy& policy) {
  std::scoped_lock lock(global().mutex);
  global().policy = policy;
}
DTypePolicy global_policy() {
  std::scoped_lock lock(global().mutex);
  return global().policy;
}

}  // namespace mixed_precision
}  // namespace plimsoll::keras
