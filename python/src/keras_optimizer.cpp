// Optimizers: what Python asks of them, and those whose classes are written in Python.
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "convert.h"
#include "keras_nested.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

class PyOptimizer : public keras::Optimizer {
 public:
  PyOptimizer(nb::handle self, PythonClass described, keras::LearningRate rate,
              keras::OptimizerOptions options)
      : Optimizer(std::move(rate), std::move(options)),
        self_(self, "optimizer class '" + described.name + "'"),
        class_(std::move(described)) {}

  std::string class_name() const override { return class_.name; }
  std::string module() const override { return class_.module; }
  std::string registered_name() const override { return class_.registered_name; }
  Json get_config() const override {
    const nb::gil_scoped_acquire lock;
    return to_json(self_.get().attr("_config_for_core")());
  }
  Json base_config() const { return Optimizer::get_config(); }
  keras::VariablePtr add_slot_for(const keras::Variable& variable, const keras::SlotSpec& spec) {
    return add_slot(variable, spec);
  }
  keras::VariablePtr add(const Tensor& value, const std::string& name) {
    return add_variable(value, name);
  }

 protected:
  void build_own(std::span<const keras::VariablePtr> variables) override {
    const nb::gil_scoped_acquire lock;
    self_.get().attr("build")(wrap_variables({variables.begin(), variables.end()}));
  }
  void update(const Tensor& gradient, keras::Variable& variable, keras::Slots,
              const Tensor& learning_rate) override {
    const nb::gil_scoped_acquire lock;
    const auto& known = trainable_variables();
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& v) { return v.get() == &variable; });
    self_.get().attr("update_step")(to_python(gradient), wrap_variable(*found),
                                    to_python(learning_rate));
  }

 private:
  PythonSelf self_;
  PythonClass class_;
};

keras::OptimizerPtr as_optimizer(const KerasObject& object) {
  return as<keras::Optimizer>(object, "an optimizer");
}

std::vector<Tensor> to_gradients(nb::handle gradients) {
  std::vector<Tensor> made;
  for (const nb::handle g : gradients) made.push_back(g.is_none() ? Tensor() : to_tensor(g));
  return made;
}
std::vector<keras::VariablePtr> to_variables(nb::handle variables) {
  std::vector<keras::VariablePtr> made;
  for (const nb::handle v : variables) made.push_back(to_keras_variable(v));
  return made;
}

void apply(const KerasObject& object, nb::handle gradients, nb::handle variables) {
  const keras::OptimizerPtr optimizer = as_optimizer(object);
  const std::vector<Tensor> given = to_gradients(gradients);
  if (variables.is_none()) {
    keras_call([&] { optimizer->apply(given); });
    return;
  }
  const std::vector<keras::VariablePtr> trained = to_variables(variables);
  keras_call([&] { optimizer->apply(given, trained); });
}

// Numbers or a schedule, and the options that all optimizers have, as a configuration.
nb::object make_py_optimizer(nb::handle self, nb::handle described, nb::handle config) {
  ObjectsInConfig objects;
  const Json json = to_json(config, &objects);
  return keras_errors([&] {
    keras::LearningRate rate;
    keras::OptimizerOptions options;
    const PythonClass about = read_class(described);
    keras::ConfigVisitor visitor(json, about.name);
    keras::visit_optimizer_options(visitor, rate, options);
    visitor.finish();
    auto made = std::make_shared<PyOptimizer>(self, about, rate, std::move(options));
    made->name();
    return nb::cast(KerasObject{std::move(made)});
  });
}

PyOptimizer& python_optimizer(const KerasObject& object) {
  return *as<PyOptimizer>(object, "an optimizer of a class in Python");
}

void bind_python(nb::module_& m) {
  m.def("keras_py_optimizer", &make_py_optimizer);
  m.def("optimizer_base_config",
        [](const KerasObject& o) { return to_python(python_optimizer(o).base_config()); });
  m.def("optimizer_add_slot", [](const KerasObject& o, nb::handle variable, const std::string& name,
                                 double initial_value) {
    return wrap_variable(python_optimizer(o).add_slot_for(
        *to_keras_variable(variable), {.name = name, .initial_value = initial_value}));
  });
  m.def("optimizer_add_variable",
        [](const KerasObject& o, nb::handle value, const std::string& name) {
          return wrap_variable(python_optimizer(o).add(to_tensor(value), name));
        });
}

}  // namespace

void bind_keras_optimizer(nb::module_& m) {
  m.def("optimizer_name", [](const KerasObject& o) { return as_optimizer(o)->name(); });
  m.def("optimizer_build", [](const KerasObject& o, nb::handle variables) {
    const keras::OptimizerPtr optimizer = as_optimizer(o);
    const std::vector<keras::VariablePtr> trained = to_variables(variables);
    keras_call([&] { optimizer->build(trained); });
  });
  m.def("optimizer_built", [](const KerasObject& o) { return as_optimizer(o)->built(); });
  m.def("optimizer_apply", &apply, nb::arg("optimizer"), nb::arg("gradients"),
        nb::arg("variables").none());
  m.def("optimizer_scale_loss", [](const KerasObject& o, nb::handle loss) {
    return to_python(as_optimizer(o)->scale_loss(to_tensor(loss)));
  });
  m.def("optimizer_rate",
        [](const KerasObject& o) { return to_python(as_optimizer(o)->learning_rate()); });
  m.def("optimizer_set_rate", [](const KerasObject& o, double value) {
    keras_errors([&] { as_optimizer(o)->set_learning_rate(value); });
  });
  m.def("optimizer_iterations",
        [](const KerasObject& o) { return wrap_variable(as_optimizer(o)->iterations_variable()); });
  m.def("optimizer_variables",
        [](const KerasObject& o) { return wrap_variables(as_optimizer(o)->variables()); });
  m.def("optimizer_trained", [](const KerasObject& o) {
    return wrap_variables(as_optimizer(o)->trainable_variables());
  });
  m.def("optimizer_set_weights", [](const KerasObject& o, nb::handle values) {
    std::vector<Tensor> tensors;
    for (const nb::handle value : values) tensors.push_back(to_tensor(value));
    keras_errors([&] { as_optimizer(o)->set_weights(tensors); });
  });
  m.def("optimizer_finalize", [](const KerasObject& o) {
    const keras::OptimizerPtr optimizer = as_optimizer(o);
    keras_call([&] { optimizer->finalize_variable_values(); });
  });
  m.def("optimizer_exclude",
        [](const KerasObject& o, nb::handle variables, const std::vector<std::string>& names) {
          as_optimizer(o)->exclude_from_weight_decay(to_variables(variables), names);
        });
  bind_python(m);
}

}  // namespace plimsoll::python
