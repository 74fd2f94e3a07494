// plimsoll.GradientTape.
#include <fmt/format.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <optional>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "nest.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"
#include "variable.h"

namespace plimsoll::python {
namespace {

// Python makes a tape first and enters it later.
class PyTape {
 public:
  PyTape(bool persistent, bool watch_accessed_variables, bool only_variables)
      : options_{persistent, watch_accessed_variables, only_variables} {}

  void enter() {
    if (tape_) {
      config_errors([&] { tape_->resume(); });
    } else {
      tape_ = std::make_unique<GradientTape>(options_);
    }
  }
  void exit() {
    if (tape_) tape_->stop();
  }
  void reset() { made().reset(); }

  GradientTape& made() {
    if (!tape_) tape_ = std::make_unique<GradientTape>(options_);
    return *tape_;
  }
  GradientTape& used() {
    if (!tape_)
      raise(PyExc_RuntimeError,
            "GradientTape: nothing was recorded; use `with tf.GradientTape() as "
            "tape:` around what is to be differentiated");
    return *tape_;
  }
  bool is_persistent() const { return options_.persistent; }

 private:
  GradientTapeOptions options_;
  std::unique_ptr<GradientTape> tape_;
};

void watch(PyTape& tape, nb::handle structure) {
  for_each_leaf(structure, [&](nb::handle leaf) {
    if (const Variable* variable = as_variable(leaf)) {
      tape.made().watch(*variable);
      return;
    }
    if (!is_tensor(leaf.ptr()) && !nb::hasattr(leaf, "__tf_tensor__")) {
      raise_value_error(
          fmt::format("Passed in object {} of type {}, not tf.Tensor or tf.Variable or "
                      "ExtensionType.",
                      repr_of(leaf), class_repr(leaf)));
    }
    const Tensor tensor = to_tensor(leaf);
    if (!is_floating(tensor.dtype())) {
      const std::string text =
          fmt::format("The dtype of the watched tensor must be floating (e.g. tf.float32), got {}",
                      repr_of(dtype_object(tensor.dtype())));
      if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw nb::python_error();
      return;
    }
    tape.made().watch(tensor);
  });
}

UnconnectedGradients to_unconnected(nb::handle value) {
  nb::object text =
      nb::hasattr(value, "value") ? nb::object(value.attr("value")) : nb::borrow(value);
  const std::string word = text.is_none() ? "none" : to_text(text, "unconnected_gradients");
  if (word == "none") return UnconnectedGradients::kNone;
  if (word == "zero") return UnconnectedGradients::kZero;
  raise_value_error(fmt::format("Unknown value for unconnected_gradients: {}", repr_of(value)));
}

std::vector<GradientTape::Source> to_sources(nb::handle structure) {
  std::vector<GradientTape::Source> sources;
  for_each_leaf(structure, [&](nb::handle leaf) {
    if (const Variable* variable = as_variable(leaf)) {
      sources.push_back({.variable = variable});
      return;
    }
    if (!is_tensor(leaf.ptr()) && !nb::hasattr(leaf, "__tf_tensor__")) {
      raise_value_error(
          fmt::format("GradientTape.gradient: a source must be a tensor or a variable, "
                      "got {}",
                      repr_of(leaf)));
    }
    sources.push_back({.tensor = to_tensor(leaf)});
  });
  return sources;
}

std::vector<Tensor> to_targets(nb::handle structure) {
  std::vector<Tensor> targets;
  for_each_leaf(structure, [&](nb::handle leaf) {
    if (leaf.is_none()) {
      raise_type_error(
          "Argument `target` should be a list or nested structure of Tensors, Variables or "
          "CompositeTensors to be differentiated, but received None.");
    }
    targets.push_back(to_tensor(leaf));
  });
  return targets;
}

nb::object gradient(PyTape& tape, nb::handle target, nb::handle sources,
                    nb::handle output_gradients, nb::handle unconnected) {
  const UnconnectedGradients kind = to_unconnected(unconnected);
  const std::vector<Tensor> targets = to_targets(target);
  const std::vector<GradientTape::Source> from = to_sources(sources);
  std::vector<Tensor> given;
  if (!output_gradients.is_none()) {
    for_each_leaf(output_gradients, [&](nb::handle leaf) {
      given.push_back(leaf.is_none() ? Tensor() : to_tensor(leaf));
    });
  }
  GradientTape& used = tape.used();
  const std::vector<Tensor> made = config_errors(
      [&] { return without_gil([&] { return used.gradient(targets, from, given, kind); }); });
  std::vector<nb::object> leaves;
  for (const Tensor& t : made) leaves.push_back(to_python(t));
  return pack_as(sources, leaves);
}

nb::object jacobian(PyTape& tape, nb::handle target, nb::handle sources, nb::handle unconnected,
                    nb::handle, nb::handle) {
  const UnconnectedGradients kind = to_unconnected(unconnected);
  const Tensor of = to_tensor(target);
  const std::vector<GradientTape::Source> from = to_sources(sources);
  GradientTape& used = tape.used();
  const std::vector<Tensor> made =
      config_errors([&] { return without_gil([&] { return used.jacobian(of, from, kind); }); });
  std::vector<nb::object> leaves;
  for (const Tensor& t : made) leaves.push_back(to_python(t));
  return pack_as(sources, leaves);
}

nb::object batch_jacobian(PyTape& tape, nb::handle target, nb::handle source,
                          nb::handle unconnected, nb::handle, nb::handle) {
  const UnconnectedGradients kind = to_unconnected(unconnected);
  const Tensor of = to_tensor(target);
  const std::vector<GradientTape::Source> from = to_sources(source);
  if (from.size() != 1) {
    raise_value_error(fmt::format("batch_jacobian takes one source, got {}", repr_of(source)));
  }
  GradientTape& used = tape.used();
  return to_python(config_errors(
      [&] { return without_gil([&] { return used.batch_jacobian(of, from[0], kind); }); }));
}

nb::tuple watched_variables(PyTape& tape) {
  nb::list found;
  for (Variable& variable : tape.made().watched_variables())
    found.append(variable_object(std::move(variable)));
  return nb::tuple(found);
}

// Recording stops while it is entered.
struct Pause {
  explicit Pause(GradientTape& asked) : tape(asked) {}
  void enter() { stop = std::make_unique<Held>(tape); }
  void exit() { stop.reset(); }

  struct Held {
    explicit Held(GradientTape& asked) : stop(asked.stop_recording()) {}
    GradientTape::StopRecording stop;
  };
  GradientTape& tape;
  std::unique_ptr<Held> stop;
};

}  // namespace

void bind_tape(nb::module_& m) {
  nb::class_<Pause>(m, "TapePause")
      .def("__enter__", [](Pause& pause) { pause.enter(); })
      .def("__exit__", [](Pause& pause, nb::args) { pause.exit(); });
  nb::class_<PyTape>(m, "GradientTape")
      .def(nb::init<bool, bool, bool>(), nb::arg("persistent") = false,
           nb::arg("watch_accessed_variables") = true, nb::arg("_only_variables") = false,
           "Records calls, to differentiate them later.")
      .def("__enter__",
           [](nb::handle self) {
             nb::inst_ptr<PyTape>(self)->enter();
             return nb::borrow(self);
           })
      .def("__exit__", [](PyTape& tape, nb::args) { tape.exit(); })
      .def("watch", &watch, nb::arg("tensor"))
      .def("reset", &PyTape::reset)
      .def(
          "stop_recording", [](PyTape& tape) { return std::make_unique<Pause>(tape.made()); },
          nb::keep_alive<0, 1>())
      .def("gradient", &gradient, nb::arg("target").none(), nb::arg("sources").none(),
           nb::arg("output_gradients").none() = nb::none(),
           nb::arg("unconnected_gradients").none() = nb::none())
      .def("jacobian", &jacobian, nb::arg("target"), nb::arg("sources"),
           nb::arg("unconnected_gradients").none() = nb::none(),
           nb::arg("parallel_iterations").none() = nb::none(),
           nb::arg("experimental_use_pfor") = true)
      .def("batch_jacobian", &batch_jacobian, nb::arg("target"), nb::arg("source"),
           nb::arg("unconnected_gradients").none() = nb::none(),
           nb::arg("parallel_iterations").none() = nb::none(),
           nb::arg("experimental_use_pfor") = true)
      .def("watched_variables", &watched_variables)
      .def_prop_ro("_persistent", &PyTape::is_persistent);
}

}  // namespace plimsoll::python
