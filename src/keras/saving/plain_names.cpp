#include "keras/saving/plain_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace plimsoll::keras {
namespace {

using Names = std::map<std::string, std::string>;  // old, new

const std::string* layer_name(const Json& json) {
  const Json* config = json.find("class_name") ? json.find("config") : nullptr;
  const Json* name = config ? config->find("name") : nullptr;
  return name && name->is_string() ? &name->as_string() : nullptr;
}

void collect(const Json& json, std::set<std::string>& found) {
  if (json.is_array()) {
    for (const Json& item : json.as_array()) collect(item, found);
  } else if (json.is_object()) {
    if (const std::string* name = layer_name(json)) found.insert(*name);
    for (const auto& [key, value] : json.as_object()) collect(value, found);
  }
}

Names new_names(std::set<std::string> taken) {
  Names names;
  for (const std::string& old : std::set<std::string>(taken)) {
    if (old.find('/') == std::string::npos) continue;
    std::string plain = old;
    std::ranges::replace(plain, '/', '_');
    const std::string stem = plain;
    for (int i = 1; !taken.insert(plain).second; ++i) plain = stem + "_" + std::to_string(i);
    names[old] = plain;
  }
  return names;
}

Json renamed(const Json& json, const Names& names);

Json replace(const Json& json, const Names& names) {
  const auto found = json.is_string() ? names.find(json.as_string()) : names.end();
  return found == names.end() ? json : Json(found->second);
}

// ["layer", 0, 0], and lists and dictionaries of these.
Json renamed_history(const Json& json, const Names& names) {
  if (!json.is_array()) return renamed(json, names);
  Json list = Json::array();
  for (const Json& item : json.as_array())
    list.push_back(item.is_string() ? replace(item, names) : renamed_history(item, names));
  return list;
}

Json renamed(const Json& json, const Names& names) {
  if (json.is_array()) {
    Json list = Json::array();
    for (const Json& item : json.as_array()) list.push_back(renamed(item, names));
    return list;
  }
  if (!json.is_object()) return json;
  Json made = Json::object();
  for (const auto& [key, value] : json.as_object()) {
    if (key == "name") {
      made[key] = replace(value, names);
    } else if (key == "keras_history" || key == "input_layers" || key == "output_layers") {
      made[key] = renamed_history(value, names);
    } else {
      made[key] = renamed(value, names);
    }
  }
  return made;
}

}  // namespace

Json with_plain_names(const Json& config) {
  std::set<std::string> found;
  collect(config, found);
  const Names names = new_names(std::move(found));
  return names.empty() ? config : renamed(config, names);
}

}  // namespace plimsoll::keras
