#include "plimsoll/keras/object.h"

#include <map>
#include <mutex>

#include "base/check.h"
#include "base/nearest.h"
#include "keras/names.h"
#include "keras/registry.h"
#include "plimsoll/keras/classes.h"

namespace plimsoll::keras {
namespace {

struct Registered {
  std::mutex mutex;
  std::map<std::string, saving::ObjectMaker, std::less<>> makers;  // by "package>name"
};
Registered& registered() {
  static Registered all;
  return all;
}

constinit thread_local const CustomObjectScope* custom_objects = nullptr;
constinit thread_local const char* wanted = "";

std::shared_ptr<Object> make_wanted(const saving::ObjectMaker& make, const Json& config,
                                    const char* kind) {
  struct Restore {
    const char* outer = wanted;
    ~Restore() { wanted = outer; }
  } const restore;
  wanted = kind;
  return make(config);
}

}  // namespace

struct CustomObjects {
  static saving::ObjectMaker find(std::string_view name) {
    const std::string bare(name.substr(name.rfind('>') + 1));  // without its package
    for (const CustomObjectScope* scope = custom_objects; scope; scope = scope->outer_) {
      for (const std::string& key : {std::string(name), bare}) {
        const auto found = scope->objects_.find(key);
        if (found != scope->objects_.end()) return found->second;
      }
    }
    return nullptr;
  }
};

CustomObjectScope::CustomObjectScope(
    const std::map<std::string, saving::ObjectMaker>& objects) noexcept
    : objects_(objects), outer_(custom_objects) {
  custom_objects = this;
}
CustomObjectScope::~CustomObjectScope() {
  custom_objects = outer_;
}

namespace {

saving::ObjectMaker find_registered(std::string_view name) {
  if (auto make = CustomObjects::find(name)) return make;
  Registered& all = registered();
  std::scoped_lock lock(all.mutex);
  if (const auto found = all.makers.find(name); found != all.makers.end()) return found->second;
  for (const auto& [full, make] : all.makers) {  // without its package
    if (full.size() > name.size() && full.ends_with(name) &&
        full[full.size() - name.size() - 1] == '>')
      return make;
  }
  return nullptr;
}

const ClassRow* find_row(std::span<const ClassRow> rows, std::string_view name) {
  for (const ClassRow& row : rows) {
    if (name == row.class_name || (row.alias && name == row.alias)) return &row;
  }
  for (const ClassRow& row : rows) {
    if (name == to_snake_case(row.class_name)) return &row;
  }
  return nullptr;
}

[[noreturn]] void unknown_name(const std::string& name, std::span<const ClassRow> rows,
                               const char* kind) {
  std::vector<std::string> words;
  for (const ClassRow& row : rows) {
    words.push_back(to_snake_case(row.class_name));
    words.emplace_back(row.class_name);
  }
  const std::vector<std::string_view> known(words.begin(), words.end());
  const std::string_view near = nearest(name, known);
  throw InvalidArgumentError(
      fmt::format("Unknown {}: '{}'. {}A class of your own has to be registered with "
                  "saving::register_keras_serializable first",
                  kind, name, near.empty() ? "" : fmt::format("Did you mean '{}'? ", near)));
}

}  // namespace

const char* wanted_kind() noexcept {
  return wanted;
}

bool is_registered(std::string_view name) {
  return find_registered(name) != nullptr;
}

Json Object::get_config() const {
  Json config = Json::object();
  ConfigVisitor visitor(config);
  const_cast<Object*>(this)->visit(visitor);  // a writing visitor changes nothing
  return config;
}

Json serialize_keras_object(const Object* object) {
  if (!object) return Json();
  const std::string registered = object->registered_name();
  return Json::object({{"module", object->module()},
                       {"class_name", object->class_name()},
                       {"config", object->get_config()},
                       {"registered_name", registered.empty() ? Json() : Json(registered)}});
}

std::shared_ptr<Object> make_object(const Json& identifier, std::span<const ClassRow> rows,
                                    const char* kind) {
  static const Json no_config = Json::object();
  std::string name;
  const Json* config = &no_config;
  if (identifier.is_string()) {
    name = identifier.as_string();
  } else if (const Json* class_name = identifier.find("class_name")) {
    name = class_name->as_string();
    if (const Json* given = identifier.find("config"); given && !given->is_null()) config = given;
    if (const Json* full = identifier.find("registered_name"); full && full->is_string()) {
      if (const auto make = find_registered(full->as_string()))
        return make_wanted(make, *config, kind);
    }
  } else {
    throw InvalidArgumentError(fmt::format("Could not interpret {} identifier: {}", kind,
                                           identifier.dump().substr(0, 200)));
  }
  if (const auto make = find_registered(name)) return make_wanted(make, *config, kind);
  const ClassRow* row = find_row(rows, name);
  // Keras 2 writes some of its own as Custom>Adam.
  if (!row && name.starts_with("Custom>")) row = find_row(rows, std::string_view(name).substr(7));
  if (!row) unknown_name(name, rows, kind);
  return row->make(*config);
}

namespace saving {

void register_keras_serializable(const std::string& package, const std::string& name,
                                 ObjectMaker make) {
  PLIMSOLL_CHECK(make, InvalidArgumentError, "class '{}' is registered without a way to make it",
                 name);
  Registered& all = registered();
  std::scoped_lock lock(all.mutex);
  const std::string full = package + ">" + name;
  PLIMSOLL_CHECK(all.makers.emplace(full, std::move(make)).second, InvalidArgumentError,
                 "{} has already been registered", full);
}

}  // namespace saving
}  // namespace plimsoll::keras
