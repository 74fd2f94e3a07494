#include "keras/saving/late_members.h"

namespace plimsoll::keras {
namespace {

struct LateMember {
  const char* name;
  const char* by_default;  // as JSON
};
constexpr LateMember kLate[] = {
    {"quantization_config", "null"},
    {"input_axes", "null"},
    {"output_axes", "null"},
    {"use_gate", "false"},
    {"sliding_window", "null"},
    {"optional", "false"},
    {"ragged", "false"},
    {"renorm", "false"},
    {"renorm_clipping", "null"},
    {"renorm_momentum", "0.99"},
    {"antialias", "false"},
    {"seed", "null"},
    {"value_range", "[0, 255]"},
    {"oov_method", "\"floormod\""},
    {"salt", "null"},
};

bool says_nothing(const std::string& name, const Json& value) {
  for (const LateMember& late : kLate) {
    if (name == late.name && value.dump() == late.by_default) return true;
  }
  return false;
}

}  // namespace

Json without_late_members(const Json& config) {
  if (config.is_array()) {
    Json list = Json::array();
    for (const Json& item : config.as_array()) list.push_back(without_late_members(item));
    return list;
  }
  if (!config.is_object()) return config;
  Json kept = Json::object();
  for (const auto& [name, value] : config.as_object()) {
    if (!says_nothing(name, value)) kept[name] = without_late_members(value);
  }
  return kept;
}

}  // namespace plimsoll::keras
