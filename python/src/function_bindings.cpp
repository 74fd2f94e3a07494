// plimsoll._core.Function and MemoryPlan.
#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "convert.h"
#include "errors.h"
#include "function.h"

namespace plimsoll::python {
namespace {

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<PyFunction>(self)->traverse(visit, arg) : 0;
}
int clear(PyObject* self) {
  nb::inst_ptr<PyFunction>(self)->clear();
  return 0;
}

PyObject* call(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  return guarded(
      [&] { return nb::inst_ptr<PyFunction>(self)->call(args, keywords).release().ptr(); });
}

const PyType_Slot kSlots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear)},
                              {Py_tp_call, reinterpret_cast<void*>(call)},
                              {0, nullptr}};

void make(PyFunction* self, nb::object python_function, const std::string& name, nb::list names,
          nb::list defaults, nb::dict word_defaults, bool takes_more, nb::object input_signature) {
  Signature signature;
  for (const nb::handle value : names) {
    PyObject* text = nb::object(nb::borrow(value)).release().ptr();
    PyUnicode_InternInPlace(&text);
    signature.names.push_back(nb::steal(text));
  }
  for (const nb::handle value : defaults) signature.defaults.push_back(nb::borrow(value));
  signature.word_defaults = word_defaults;
  signature.takes_more = takes_more;
  new (self) PyFunction(std::move(python_function), name, std::move(signature),
                        std::move(input_signature));
}

nb::dict rows_of(const std::vector<MemoryPlan::Row>& rows) {
  nb::dict made;
  for (const MemoryPlan::Row& row : rows) made[row.name.c_str()] = row.nbytes;
  return made;
}

void bind_plan(nb::module_& m) {
  nb::class_<MemoryPlan>(m, "MemoryPlan")
      .def_ro("function", &MemoryPlan::function)
      .def_ro("device", &MemoryPlan::device)
      .def_ro("peak_bytes", &MemoryPlan::peak_bytes)
      .def_ro("arena_bytes", &MemoryPlan::arena_bytes)
      .def_ro("lower_bound_bytes", &MemoryPlan::lower_bound_bytes)
      .def_ro("output_bytes", &MemoryPlan::output_bytes)
      .def_ro("input_bytes", &MemoryPlan::input_bytes)
      .def_ro("variable_bytes", &MemoryPlan::variable_bytes)
      .def_ro("constant_bytes", &MemoryPlan::constant_bytes)
      .def_ro("host_bytes", &MemoryPlan::host_bytes)
      .def_ro("num_steps", &MemoryPlan::num_steps)
      .def_prop_ro("reserve_bytes", &MemoryPlan::reserve_bytes)
      .def("by_tag", [](const MemoryPlan& plan) { return rows_of(plan.by_tag()); })
      .def("by_op", [](const MemoryPlan& plan) { return rows_of(plan.by_op()); })
      .def("by_layer", [](const MemoryPlan& plan) { return rows_of(plan.by_layer()); })
      .def("to_json", &MemoryPlan::to_json)
      .def("save", &MemoryPlan::save, nb::arg("path"))
      .def("__str__", &MemoryPlan::to_string)
      .def("__repr__", [](const MemoryPlan& plan) {
        return fmt::format("<MemoryPlan of '{}': peak {} bytes, arena {}, results {}>",
                           plan.function, plan.peak_bytes, plan.arena_bytes, plan.output_bytes);
      });
}

}  // namespace

void bind_function(nb::module_& m) {
  bind_plan(m);
  m.def("run_functions_eagerly", [](bool eagerly) { run_functions_eagerly = eagerly; });
  // Its subclass in Python has a dictionary, which Python itself goes through.
  nb::class_<PyFunction>(m, "Function", nb::type_slots(kSlots))
      .def("__init__", &make, nb::arg("python_function"), nb::arg("name"), nb::arg("names"),
           nb::arg("defaults"), nb::arg("word_defaults"), nb::arg("takes_more"),
           nb::arg("input_signature").none())
      .def("plan",
           [](PyFunction& f, nb::args args, nb::kwargs words) { return f.plan(args, words); })
      .def("graph_text",
           [](PyFunction& f, nb::args args, nb::kwargs words) { return f.graph_text(args, words); })
      .def("prepare",
           [](PyFunction& f, nb::args args, nb::kwargs words) { f.prepare(args, words); })
      .def("trim", &PyFunction::trim)
      .def_prop_ro("num_traces", &PyFunction::num_traces)
      .def_prop_ro("python_function", &PyFunction::python_function)
      .def_prop_ro("name", &PyFunction::name);
}

}  // namespace plimsoll::python
