// Losses, metrics, initializers, regularizers, constraints and schedules: calls of them, and those
// whose classes are written in Python.
#include <nanobind/stl/vector.h>

#include <set>

#include "convert.h"
#include "keras_nested.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

// What all classes in Python have of Object.
template <class Base>
class PyObjectOf : public Base {
 public:
  template <class... Args>
  PyObjectOf(nb::handle self, PythonClass described, Args&&... args)
      : Base(std::forward<Args>(args)...),
        self_(self, "class '" + described.name + "'"),
        class_(std::move(described)) {}

  std::string class_name() const override { return class_.name; }
  std::string module() const override { return class_.module; }
  std::string registered_name() const override { return class_.registered_name; }
  Json get_config() const override {
    const nb::gil_scoped_acquire lock;
    return to_json(self_.get().attr("_config_for_core")());
  }

 protected:
  PythonSelf self_;
  PythonClass class_;
};

class PyLoss : public PyObjectOf<keras::Loss> {
 public:
  using PyObjectOf::PyObjectOf;
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const nb::gil_scoped_acquire lock;
    return to_tensor(self_.get().attr("call")(to_python(y_true), to_python(y_pred)));
  }
};

class PyMetric : public PyObjectOf<keras::Metric> {
 public:
  using PyObjectOf::PyObjectOf;
  void update_state(std::span<const Tensor> args, const Tensor& sample_weight) override {
    const nb::gil_scoped_acquire lock;
    nb::list given;
    for (const Tensor& t : args) given.append(to_python(t));
    self_.get().attr("_from_core_update")(given, to_python(sample_weight));
  }
  Tensor result() const override {
    const nb::gil_scoped_acquire lock;
    return to_tensor(self_.get().attr("result")());
  }
  void reset_state() override {
    const nb::gil_scoped_acquire lock;
    self_.get().attr("reset_state")();
  }
  keras::VariablePtr add(const Shape& shape, const keras::InitializerArg& initializer,
                         const std::string& name, std::optional<DType> dtype) {
    return add_variable(shape, initializer, name, dtype);
  }
  void base_reset() { Metric::reset_state(); }
};

// The mean of a Python function of labels and predictions.
class PyMeanMetric : public PyObjectOf<keras::MeanMetricWrapper> {
 public:
  PyMeanMetric(nb::handle self, PythonClass described, keras::MetricOptions options)
      : PyObjectOf(self, std::move(described), std::move(options)) {}

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    const nb::gil_scoped_acquire lock;
    return to_tensor(self_.get().attr("_from_core_values")(to_python(y_true), to_python(y_pred)));
  }
};

class PyInitializer : public PyObjectOf<keras::Initializer> {
 public:
  using PyObjectOf::PyObjectOf;
  Tensor operator()(const Shape& shape, DType dtype) const override {
    const nb::gil_scoped_acquire lock;
    const Tensor made = to_tensor(
        self_.get().attr("_from_core")(shape_tuple(shape), std::string(dtype_name(dtype)).c_str()));
    return made.dtype() == dtype ? made : cast(made, dtype);
  }
};
class PyRegularizer : public PyObjectOf<keras::Regularizer> {
 public:
  using PyObjectOf::PyObjectOf;
  Tensor operator()(const Tensor& x) const override {
    const nb::gil_scoped_acquire lock;
    return to_tensor(self_.get().attr("_from_core")(to_python(x)));
  }
};
class PyConstraint : public PyObjectOf<keras::Constraint> {
 public:
  using PyObjectOf::PyObjectOf;
  Tensor operator()(const Tensor& w) const override {
    const nb::gil_scoped_acquire lock;
    return to_tensor(self_.get().attr("_from_core")(to_python(w)));
  }
};
class PySchedule : public PyObjectOf<keras::LearningRateSchedule> {
 public:
  using PyObjectOf::PyObjectOf;
  Tensor operator()(const Tensor& step) const override {
    const nb::gil_scoped_acquire lock;
    const Tensor rate = to_tensor(self_.get().attr("_from_core")(to_python(step)));
    return rate.dtype() == float32 ? rate : cast(rate, float32);
  }
};

keras::MetricOptions metric_options(nb::handle name, nb::handle dtype) {
  keras::MetricOptions options;
  if (!name.is_none()) options.name = to_text(name, "name");
  if (!dtype.is_none()) options.dtype = to_dtype(dtype);
  return options;
}

template <class Impl, class... Args>
nb::object make_handle(Args&&... args) {
  return nb::cast(KerasObject{std::make_shared<Impl>(std::forward<Args>(args)...)});
}

// A part of a class in Python, by its kind.
nb::object make_py_part(const std::string& kind, nb::handle self, nb::handle described) {
  const PythonClass about = read_class(described);
  if (kind == "initializers") return make_handle<PyInitializer>(self, about);
  if (kind == "regularizers") return make_handle<PyRegularizer>(self, about);
  if (kind == "constraints") return make_handle<PyConstraint>(self, about);
  return make_handle<PySchedule>(self, about);
}

// Labels and weights in the way in which Keras takes arrays.
Tensor to_data(nb::handle value) {
  return value.is_none() ? Tensor() : to_nested(value, true).leaf().tensor();
}

void bind_losses(nb::module_& m) {
  m.def(
      "loss_call",
      [](const KerasObject& o, nb::handle y_true, nb::handle y_pred, nb::handle weight) {
        const auto loss = as<keras::Loss>(o, "a loss");
        const Tensor labels = to_data(y_true), predicted = to_data(y_pred),
                     weights = to_data(weight);
        return to_python(keras_call([&] { return (*loss)(labels, predicted, weights); }));
      },
      nb::arg("loss"), nb::arg("y_true"), nb::arg("y_pred"), nb::arg("weight").none());
  m.def("loss_values", [](const KerasObject& o, nb::handle y_true, nb::handle y_pred) {
    const auto loss = as<keras::Loss>(o, "a loss");
    const Tensor labels = to_data(y_true);
    Tensor predicted = to_data(y_pred);
    if (!is_floating(predicted.dtype())) predicted = cast(predicted, loss->dtype());
    return to_python(keras_call([&] { return loss->call(labels, predicted); }));
  });
  m.def("loss_name", [](const KerasObject& o) { return as<keras::Loss>(o, "a loss")->name(); });
  m.def("loss_reduction",
        [](const KerasObject& o) { return as<keras::Loss>(o, "a loss")->reduction(); });
  m.def("loss_dtype", [](const KerasObject& o) {
    return std::string(dtype_name(as<keras::Loss>(o, "a loss")->dtype()));
  });
  m.def(
      "keras_py_loss",
      [](nb::handle self, nb::handle described, nb::handle name, const std::string& reduction,
         nb::handle dtype) {
        keras::LossOptions options{.reduction = reduction};
        if (!name.is_none()) options.name = to_text(name, "name");
        if (!dtype.is_none()) options.dtype = to_dtype(dtype);
        return keras_errors(
            [&] { return make_handle<PyLoss>(self, read_class(described), options); });
      },
      nb::arg("self"), nb::arg("described"), nb::arg("name").none(), nb::arg("reduction"),
      nb::arg("dtype").none());
}

keras::MetricPtr as_metric(const KerasObject& object) {
  return as<keras::Metric>(object, "a metric");
}

void bind_metrics(nb::module_& m) {
  m.def("metric_name", [](const KerasObject& o) { return as_metric(o)->name(); });
  m.def("metric_dtype",
        [](const KerasObject& o) { return std::string(dtype_name(as_metric(o)->dtype())); });
  m.def("metric_variables",
        [](const KerasObject& o) { return wrap_variables(as_metric(o)->variables()); });
  m.def(
      "metric_update",
      [](const KerasObject& o, nb::handle args, nb::handle weight) {
        std::vector<Tensor> given;
        for (const nb::handle arg : args) given.push_back(to_data(arg));
        const Tensor weights = to_data(weight);
        const keras::MetricPtr metric = as_metric(o);
        keras_call([&] { metric->update_state(given, weights); });
      },
      nb::arg("metric"), nb::arg("args"), nb::arg("weight").none());
  m.def("metric_result", [](const KerasObject& o) {
    const keras::MetricPtr metric = as_metric(o);
    return to_python(keras_call([&] { return metric->result(); }));
  });
  m.def("metric_reset", [](const KerasObject& o) {
    if (auto* python = dynamic_cast<PyMetric*>(o.ptr.get())) {
      python->base_reset();
    } else {
      as_metric(o)->reset_state();
    }
  });
  m.def(
      "metric_add_variable",
      [](const KerasObject& o, nb::handle shape, const KerasObject& initializer,
         const std::string& name, nb::handle dtype) {
        auto* metric = dynamic_cast<PyMetric*>(o.ptr.get());
        if (!metric) raise_type_error("this metric has its variables");
        const auto init = as<keras::Initializer>(initializer, "an initializer");
        std::optional<DType> type;
        if (!dtype.is_none()) type = to_dtype(dtype);
        return wrap_variable(metric->add(to_shape(shape), init, name, type));
      },
      nb::arg("metric"), nb::arg("shape"), nb::arg("initializer"), nb::arg("name"),
      nb::arg("dtype").none());
  m.def(
      "keras_py_metric",
      [](nb::handle self, nb::handle described, nb::handle name, nb::handle dtype, bool is_mean) {
        const PythonClass about = read_class(described);
        const keras::MetricOptions options = metric_options(name, dtype);
        return is_mean ? make_handle<PyMeanMetric>(self, about, options)
                       : make_handle<PyMetric>(self, about, options);
      },
      nb::arg("self"), nb::arg("described"), nb::arg("name").none(), nb::arg("dtype").none(),
      nb::arg("is_mean"));
}

}  // namespace

void bind_keras_parts(nb::module_& m) {
  bind_losses(m);
  bind_metrics(m);
  m.def("keras_py_part", &make_py_part);
  m.def("initializer_call", [](const KerasObject& o, nb::handle shape, nb::handle dtype) {
    const auto initializer = as<keras::Initializer>(o, "an initializer");
    const Shape wanted = to_shape(shape);
    const DType type = to_dtype(dtype);
    return to_python(keras_call([&] { return (*initializer)(wanted, type); }));
  });
  m.def("regularizer_call", [](const KerasObject& o, nb::handle x) {
    const Tensor given = to_tensor(x);
    return to_python((*as<keras::Regularizer>(o, "a regularizer"))(given));
  });
  m.def("constraint_call", [](const KerasObject& o, nb::handle x) {
    const Tensor given = to_tensor(x);
    return to_python((*as<keras::Constraint>(o, "a constraint"))(given));
  });
  m.def("schedule_call", [](const KerasObject& o, nb::handle step) {
    const Tensor given = to_tensor(step);
    return to_python((*as<keras::LearningRateSchedule>(o, "a schedule"))(given));
  });
  m.def("activation_call", [](const std::string& name, nb::handle x) {
    const Tensor given = to_tensor(x);
    return to_python(keras_errors([&] { return keras::Activation(name)(given); }));
  });
  m.def("activation_names", [] { return keras::activations::names(); });
}

}  // namespace plimsoll::python
