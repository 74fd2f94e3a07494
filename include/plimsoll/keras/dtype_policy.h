// In which types a layer computes and keeps its weights.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/dtype.h"
#include "plimsoll/json.h"

namespace plimsoll::keras {

class DTypePolicy {
 public:
  DTypePolicy();  // the global one
  // "float32" and other types, "mixed_float16", "mixed_bfloat16".
  // throws: InvalidArgumentError.
  DTypePolicy(std::string_view name);
  DTypePolicy(const char* name) : DTypePolicy(std::string_view(name)) {}
  DTypePolicy(const std::string& name) : DTypePolicy(std::string_view(name)) {}
  DTypePolicy(DType dtype) : DTypePolicy(dtype_name(dtype)) {}

  const std::string& name() const noexcept { return name_; }
  DType compute_dtype() const noexcept { return compute_; }
  DType variable_dtype() const noexcept { return variable_; }
  bool is_mixed() const noexcept { return compute_ != variable_; }

  friend bool operator==(const DTypePolicy&, const DTypePolicy&) = default;
  friend Json to_config(const DTypePolicy& policy);
  friend void from_config(const Json& json, DTypePolicy& policy);

 private:
  std::string name_;
  DType compute_ = DType::kFloat32, variable_ = DType::kFloat32;
};

namespace mixed_precision {
// For layers that are made from now on, on all threads.
void set_global_policy(const DTypePolicy& policy);
DTypePolicy global_policy();
}  // namespace mixed_precision

}  // namespace plimsoll::keras
