#include "keras_py_layer.h"

#include <nanobind/stl/set.h>
#include <nanobind/stl/vector.h>

namespace plimsoll::python {
namespace {

bool is_sequence(nb::handle value) {
  return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
}

bool has_tuple(nb::handle value) {
  if (PyTuple_Check(value.ptr())) return true;
  if (PyList_Check(value.ptr())) {
    for (const nb::handle item : value) {
      if (has_tuple(item)) return true;
    }
  }
  if (PyDict_Check(value.ptr())) {
    for (const auto& [key, item] : nb::borrow<nb::dict>(value)) {
      if (has_tuple(item)) return true;
    }
  }
  return false;
}

// The structure with None for its leaves.
nb::object skeleton(nb::handle value) {
  if (PyDict_Check(value.ptr())) {
    nb::dict members;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value)) members[key] = skeleton(item);
    return members;
  }
  if (!is_sequence(value)) return nb::none();
  nb::list items;
  for (const nb::handle item : value) items.append(skeleton(item));
  if (PyList_Check(value.ptr())) return items;
  if (nb::hasattr(value, "_fields")) return value.type()(*items);
  return nb::steal(PyList_AsTuple(items.ptr()));
}

nb::dict to_dict(const keras::Nested& named) {
  nb::dict members;
  if (named.is_dict()) {
    for (const auto& [name, value] : named.dict()) members[name.c_str()] = from_nested(value);
  }
  return members;
}

keras::LayerOptions read_options(nb::handle name, bool trainable, nb::handle dtype,
                                 nb::handle regularizer) {
  keras::LayerOptions options{.trainable = trainable};
  if (!name.is_none()) options.name = to_text(name, "name");
  if (!dtype.is_none()) options.dtype = keras::DTypePolicy(nb::cast<std::string>(dtype));
  if (const KerasObject* handle = regularizer.is_none() ? nullptr : find_handle(regularizer))
    options.activity_regularizer = as<keras::Regularizer>(*handle, "a regularizer");
  return options;
}

template <class Impl, class... Args>
nb::object make_handle(Args&&... args) {
  auto made = std::make_shared<Impl>(std::forward<Args>(args)...);
  made->name();
  return nb::cast(KerasObject{std::move(made)});
}

std::vector<keras::SequentialItem> to_items(nb::handle layers) {
  std::vector<keras::SequentialItem> items;
  for (const nb::handle item : layers) {
    if (nb::isinstance<keras::KerasTensor>(item)) {
      items.emplace_back(*nb::inst_ptr<keras::KerasTensor>(item));
    } else if (const KerasObject* handle = find_handle(item)) {
      items.emplace_back(as_layer(*handle));
    }
  }
  return items;
}

// A layer or a model of a class in Python. kind: "layer", "model", "functional", "sequential".
nb::object make_py_layer(const std::string& kind, nb::handle self, nb::handle described,
                         const std::set<std::string>& overrides, nb::handle options,
                         nb::handle inputs, nb::handle outputs) {
  return keras_errors([&] {
    const keras::LayerOptions given =
        read_options(options[0], nb::cast<bool>(options[1]), options[2], options[3]);
    const PythonClass about = read_class(described);
    if (kind == "model") return make_handle<PyModelOf<keras::Model>>(self, about, overrides, given);
    if (kind == "functional")
      return make_handle<PyModelOf<keras::FunctionalModel>>(
          self, about, overrides, to_nested(inputs), to_nested(outputs), given);
    if (kind == "sequential")
      return make_handle<PyModelOf<keras::SequentialModel>>(self, about, overrides,
                                                            to_items(inputs), given);
    return make_handle<PyLayerOf<keras::Layer>>(self, about, overrides, given);
  });
}

std::shared_ptr<PyLayer> python_layer(const KerasObject& object) {
  return as<PyLayer>(object, "a layer of a class in Python");
}

void bind_tracking(nb::module_& m) {
  m.def("keras_retrack", [](const KerasObject& object, nb::handle layers, nb::handle metrics) {
    std::vector<keras::NamedLayer> rows;
    for (const nb::handle row : layers)
      rows.push_back({nb::cast<std::string>(row[0]), as_layer(*find_handle(row[1]))});
    std::vector<keras::MetricPtr> found;
    for (const nb::handle metric : metrics)
      found.push_back(as<keras::Metric>(*find_handle(metric), "a metric"));
    python_layer(object)->retrack(rows, found);
  });
  m.def("keras_track_variable", [](const KerasObject& object, nb::handle variable) {
    const keras::VariablePtr wanted = to_keras_variable(variable);
    for (const keras::VariablePtr& known : as_layer(object)->weights()) {
      if (known == wanted) return;
    }
    python_layer(object)->add_variable(wanted);
  });
  m.def("keras_set_flag", [](const KerasObject& object, const std::string& name, bool value) {
    const auto layer = python_layer(object);
    if (name == "built") {
      layer->mark_built(value);
    } else if (name == "supports_masking") {
      layer->set_supports_masking(value);
    } else {
      layer->set_autocast(value);
    }
  });
}

}  // namespace

PyLayer::~PyLayer() {
  if (!Py_IsInitialized()) {
    result_like_.release();
    return;
  }
  const nb::gil_scoped_acquire lock;
  result_like_.reset();
}

void PyLayer::build_in_python(const keras::Shapes& shapes) {
  const nb::gil_scoped_acquire lock;
  self().attr(kFromCoreBuild)(from_shapes(shapes));
}

keras::Nested PyLayer::call_in_python(const keras::Nested& inputs, const keras::CallArgs& args) {
  const nb::gil_scoped_acquire lock;
  const nb::object training = args.training ? nb::object(nb::bool_(*args.training)) : nb::none();
  const nb::object result =
      self().attr(kFromCoreCall)(from_nested(inputs), to_dict(args.named), to_python(args.options),
                                 training, from_nested(args.mask));
  result_like_ = has_tuple(result) ? skeleton(result) : nb::none();
  return to_nested(result);
}

keras::Nested PyLayer::mask_in_python(const keras::Nested& inputs, const keras::Nested& mask) {
  const nb::gil_scoped_acquire lock;
  return to_nested(self().attr("compute_mask")(from_nested(inputs), from_nested(mask)));
}

keras::Nested PyLayer::spec_in_python(const keras::Nested& inputs, DType dtype,
                                      const std::string& name) {
  const nb::gil_scoped_acquire lock;
  const nb::object shapes =
      self().attr("compute_output_shape")(from_shapes(keras::shapes_of(inputs)));
  return to_shapes(shapes).map([&](const keras::PartialShape& shape) {
    return keras::Value(keras::KerasTensor(shape, dtype, name));
  });
}

Json PyLayer::config_in_python() const {
  const nb::gil_scoped_acquire lock;
  return to_json(self().attr("_config_for_core")());
}

std::vector<std::string> PyLayer::names_in_python() const {
  const nb::gil_scoped_acquire lock;
  return nb::cast<std::vector<std::string>>(self().attr("_call_argument_names")());
}

nb::object data_to_python(const keras::Nested& data) {
  if (data[1].is_none() && data[2].is_none()) {
    const nb::object x = from_nested(data[0]);
    return is_sequence(x) ? nb::object(nb::make_tuple(x)) : x;
  }
  if (data[2].is_none()) return nb::make_tuple(from_nested(data[0]), from_nested(data[1]));
  return nb::make_tuple(from_nested(data[0]), from_nested(data[1]), from_nested(data[2]));
}

keras::StepLogs logs_from_python(nb::handle logs) {
  keras::StepLogs made;
  if (logs.is_none()) return made;
  if (!PyDict_Check(logs.ptr())) {
    raise_value_error(fmt::format("a step has to return a dictionary of names and scalars, got {}",
                                  repr_of(logs)));
  }
  for (const auto& [name, value] : nb::borrow<nb::dict>(logs)) {
    if (PyDict_Check(value.ptr())) {  // of all compiled metrics together
      for (auto& row : logs_from_python(value)) made.push_back(std::move(row));
    } else {
      made.emplace_back(nb::cast<std::string>(name), to_tensor(value));
    }
  }
  return made;
}

nb::dict logs_to_python(const keras::StepLogs& logs) {
  nb::dict made;
  for (const auto& [name, value] : logs) made[name.c_str()] = to_python(value);
  return made;
}

void bind_keras_py_layer(nb::module_& m) {
  m.def("keras_py_layer", &make_py_layer, nb::arg("kind"), nb::arg("self"), nb::arg("described"),
        nb::arg("overrides"), nb::arg("options"), nb::arg("inputs").none() = nb::none(),
        nb::arg("outputs").none() = nb::none());
  m.def("keras_functional", [](nb::handle inputs, nb::handle outputs, nb::handle options) {
    return keras_errors([&] {
      return make_handle<keras::FunctionalModel>(
          to_nested(inputs), to_nested(outputs),
          read_options(options[0], nb::cast<bool>(options[1]), options[2], options[3]));
    });
  });
  m.def("keras_sequential", [](nb::handle layers, nb::handle options) {
    return keras_errors([&] {
      return make_handle<keras::SequentialModel>(
          to_items(layers),
          read_options(options[0], nb::cast<bool>(options[1]), options[2], options[3]));
    });
  });
  m.def("keras_is_python", [](const KerasObject& object) {
    return std::dynamic_pointer_cast<PyLayer>(object.ptr) != nullptr;
  });
  bind_tracking(m);
}

}  // namespace plimsoll::python
