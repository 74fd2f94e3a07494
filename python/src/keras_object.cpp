#include "keras_object.h"

#include <nanobind/stl/vector.h>

#include <map>

#include "convert.h"
#include "gil.h"

namespace plimsoll::python {
namespace {

constexpr const char* kInConfig = "__object__";  // stands in a configuration for one that is there

constinit thread_local ObjectsInConfig* in_config = nullptr;

const std::map<std::string, keras::saving::ObjectMaker>& makers_in_config() {
  static const std::map<std::string, keras::saving::ObjectMaker> makers{
      {kInConfig, [](const Json& number) {
         return in_config->objects.at(static_cast<std::size_t>(number.as_int()));
       }}};
  return makers;
}

keras::ClassKind to_kind(const std::string& kind) {
  static const std::map<std::string, keras::ClassKind> kinds{
      {"layers", keras::ClassKind::kLayer},
      {"optimizers", keras::ClassKind::kOptimizer},
      {"losses", keras::ClassKind::kLoss},
      {"metrics", keras::ClassKind::kMetric},
      {"initializers", keras::ClassKind::kInitializer},
      {"regularizers", keras::ClassKind::kRegularizer},
      {"constraints", keras::ClassKind::kConstraint},
      {"schedules", keras::ClassKind::kSchedule},
  };
  return kinds.at(kind);
}

std::string key_text(nb::handle key) {
  return PyUnicode_Check(key.ptr()) ? nb::cast<std::string>(key) : nb::str(key).c_str();
}

// By name or configuration, as T::get takes it.
std::shared_ptr<keras::Object> get_object(const std::string& kind, const Json& identifier) {
  switch (to_kind(kind)) {
    case keras::ClassKind::kLayer:
      return keras::Layer::get(identifier);
    case keras::ClassKind::kOptimizer:
      return keras::Optimizer::get(identifier);
    case keras::ClassKind::kLoss:
      return keras::Loss::get(identifier);
    case keras::ClassKind::kMetric:
      return keras::Metric::get(identifier);
    case keras::ClassKind::kInitializer:
      return keras::Initializer::get(identifier);
    case keras::ClassKind::kRegularizer:
      return keras::Regularizer::get(identifier);
    case keras::ClassKind::kConstraint:
      return keras::Constraint::get(identifier);
    case keras::ClassKind::kSchedule:
      return keras::LearningRateSchedule::get(identifier);
  }
  return nullptr;
}

// Numbers in names follow the order in which objects are made.
void settle_name(keras::Object& object) {
  if (auto* layer = dynamic_cast<keras::Layer*>(&object)) layer->name();
  if (auto* optimizer = dynamic_cast<keras::Optimizer*>(&object)) optimizer->name();
  if (auto* metric = dynamic_cast<keras::Metric*>(&object)) metric->name();
}

nb::object make(const std::string& kind, const std::string& class_name, nb::handle config) {
  ObjectsInConfig objects;
  const Json json = to_json(config, &objects);
  auto made = keras_call([&] { return keras::make_class(to_kind(kind), class_name, json); });
  settle_name(*made);
  return nb::cast(KerasObject{std::move(made)});
}

nb::object get(const std::string& kind, nb::handle identifier) {
  ObjectsInConfig objects;
  const Json json = to_json(identifier, &objects);
  auto made = keras_call([&] { return get_object(kind, json); });
  if (!made) return nb::none();
  settle_name(*made);
  return nb::cast(KerasObject{std::move(made)});
}

// Calls a Python function that makes an object of its configuration.
keras::saving::ObjectMaker to_maker(nb::object make) {
  // Registered for as long as the process lives, or as its scope does.
  return [kept = share(std::move(make))](const Json& config) -> std::shared_ptr<keras::Object> {
    const nb::gil_scoped_acquire lock;
    const nb::object made = nb::borrow(kept.get())(to_python(config));
    const KerasObject* handle = find_handle(made);
    if (!handle)
      raise_type_error(fmt::format(
          "a class that Keras is to make gave {}, which is no object of Keras", repr_of(made)));
    return handle->ptr;
  };
}

// keras.saving.custom_object_scope: names that are known while it is entered.
class Scope {
 public:
  explicit Scope(nb::dict makers) {
    for (const auto& [name, make] : makers)
      makers_.emplace(key_text(name), to_maker(nb::borrow(make)));
  }
  void enter() { scope_ = std::make_unique<keras::CustomObjectScope>(makers_); }
  void exit() { scope_.reset(); }

 private:
  std::map<std::string, keras::saving::ObjectMaker> makers_;
  std::unique_ptr<keras::CustomObjectScope> scope_;
};

}  // namespace

const KerasObject* find_handle(nb::handle object) {
  if (nb::isinstance<KerasObject>(object)) return nb::inst_ptr<KerasObject>(object);
  const nb::object inner = nb::getattr(object, "_c", nb::none());
  return nb::isinstance<KerasObject>(inner) ? nb::inst_ptr<KerasObject>(inner) : nullptr;
}

ObjectsInConfig::ObjectsInConfig() : outer_(in_config), scope_(makers_in_config()) {
  in_config = this;
}
ObjectsInConfig::~ObjectsInConfig() {
  in_config = outer_;
}

Json to_json(nb::handle value, ObjectsInConfig* objects) {
  PyObject* object = value.ptr();
  if (object == Py_None) return Json();
  if (PyBool_Check(object)) return Json(object == Py_True);
  if (PyLong_Check(object)) return Json(to_int(value, "configuration"));
  if (PyFloat_Check(object)) return Json(PyFloat_AS_DOUBLE(object));
  if (PyUnicode_Check(object)) return Json(nb::cast<std::string>(value));
  if (PyList_Check(object) || PyTuple_Check(object)) {
    Json list = Json::array();
    for (const nb::handle item : value) list.push_back(to_json(item, objects));
    return list;
  }
  if (PyDict_Check(object)) {
    Json members = Json::object();
    for (const auto& [key, item] : nb::borrow<nb::dict>(value))
      members[key_text(key)] = to_json(item, objects);
    return members;
  }
  if (const KerasObject* handle = objects ? find_handle(value) : nullptr) {
    objects->objects.push_back(handle->ptr);
    return Json::object({{"class_name", kInConfig}, {"config", objects->objects.size() - 1}});
  }
  raise_type_error(fmt::format("{} cannot stand in a configuration: it is of {}", repr_of(value),
                               class_repr(value)));
}

nb::object to_python(const Json& json) {
  if (json.is_bool()) return nb::bool_(json.as_bool());
  if (json.is_int()) return nb::int_(json.as_int());
  if (json.is_double()) return nb::float_(json.as_double());
  if (json.is_string()) return nb::str(json.as_string().c_str(), json.as_string().size());
  if (json.is_array()) {
    nb::list list;
    for (const Json& item : json.as_array()) list.append(to_python(item));
    return list;
  }
  if (json.is_object()) {
    nb::dict members;
    for (const auto& [key, item] : json.as_object()) members[key.c_str()] = to_python(item);
    return members;
  }
  return nb::none();
}

PythonSelf::PythonSelf(nb::handle self, std::string what)
    : reference_(PyWeakref_NewRef(self.ptr(), nullptr)), what_(std::move(what)) {
  if (!reference_) throw nb::python_error();
}
PythonSelf::~PythonSelf() {
  if (!Py_IsInitialized()) return;
  const nb::gil_scoped_acquire lock;
  Py_DECREF(reference_);
}
nb::object PythonSelf::get() const {
  PyObject* object = PyWeakref_GetObject(reference_);
  if (object == Py_None)
    throw FailedPreconditionError(fmt::format(
        "the Python object of {} is gone: keep it as long as what it is part of", what_));
  return nb::borrow(object);
}

void raise_in_keras(const char* class_name, const Error& error) {
  raise(nb::module_::import_("plimsoll.keras._base").attr(class_name), error.what());
}

PythonClass read_class(nb::handle description) {
  return {nb::cast<std::string>(description[0]), nb::cast<std::string>(description[1]),
          nb::cast<std::string>(description[2])};
}

void bind_keras_object(nb::module_& m) {
  nb::class_<KerasObject>(m, "KerasObject", nb::is_weak_referenceable())
      .def_prop_ro(
          "address",
          [](const KerasObject& o) { return reinterpret_cast<std::uintptr_t>(o.ptr.get()); })
      .def_prop_ro("class_name", [](const KerasObject& o) { return o.ptr->class_name(); })
      .def_prop_ro("module", [](const KerasObject& o) { return o.ptr->module(); })
      .def("get_config", [](const KerasObject& o) { return to_python(o.ptr->get_config()); })
      .def("serialize", [](const KerasObject& o) {
        return to_python(keras::serialize_keras_object(o.ptr.get()));
      });
  m.def("keras_names", [](const std::string& kind) { return keras::class_names(to_kind(kind)); });
  m.def("keras_alias", [](const std::string& kind, const std::string& name) {
    return keras::class_alias(to_kind(kind), name);
  });
  m.def("keras_defaults", [](const std::string& kind, const std::string& name) {
    return to_python(keras::default_config(to_kind(kind), name));
  });
  m.def("keras_wanted_kind", [] { return std::string(keras::wanted_kind()); });
  m.def("keras_make", &make);
  m.def("keras_get", &get, nb::arg("kind"), nb::arg("identifier").none());
  m.def("keras_register", [](const std::string& package, const std::string& name,
                             nb::object make_one) {
    keras_errors([&] {
      keras::saving::register_keras_serializable(package, name, to_maker(std::move(make_one)));
    });
  });
  nb::class_<Scope>(m, "KerasScope")
      .def(nb::init<nb::dict>())
      .def("enter", &Scope::enter)
      .def("exit", &Scope::exit);
}

}  // namespace plimsoll::python
