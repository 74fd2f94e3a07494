// Branches and loops: tf.cond, tf.while_loop, tf.scan, tf.map_fn over structures of tensors.
#include "plimsoll/control_flow.h"

#include <fmt/format.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "nest.h"
#include "plimsoll/interop.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

std::vector<Tensor> tensors_of(nb::handle structure) {
  std::vector<Tensor> made;
  for_each_leaf(structure, [&](nb::handle leaf) { made.push_back(to_tensor(leaf)); });
  return made;
}

nb::object pack_tensors(nb::handle structure, std::span<const Tensor> tensors) {
  std::vector<nb::object> leaves;
  for (const Tensor& t : tensors) leaves.push_back(to_python(t));
  return pack_as(structure, leaves);
}

// Of a branch: None stays what it is.
struct Returned {
  nb::object structure;
  std::vector<Tensor> tensors;
};
Returned flatten_result(nb::object value) {
  Returned made{std::move(value), {}};
  for_each_leaf(made.structure, [&](nb::handle leaf) {
    if (!leaf.is_none()) made.tensors.push_back(to_tensor(leaf));
  });
  return made;
}

nb::object cond(nb::handle pred, nb::object true_fn, nb::object false_fn) {
  for (const nb::handle f : {true_fn, false_fn}) {
    if (!PyCallable_Check(f.ptr()))
      raise_type_error("true_fn and false_fn must be callable, got " + repr_of(f));
  }
  const bool is_plain = PyBool_Check(pred.ptr());
  if (is_plain) return pred.ptr() == Py_True ? true_fn() : false_fn();
  const Tensor chosen = to_tensor(pred);
  nb::object structure;  // of what was called last: both must agree
  const auto branch = [&](const nb::object& f) {
    return [&structure, &f] {
      const nb::gil_scoped_acquire lock;
      Returned made = flatten_result(f());
      structure = std::move(made.structure);
      return std::move(made.tensors);
    };
  };
  const std::vector<Tensor> out =
      without_gil([&] { return internal::cond(chosen, branch(true_fn), branch(false_fn)); });
  std::vector<nb::object> leaves;
  std::size_t at = 0;
  for_each_leaf(structure, [&](nb::handle leaf) {
    leaves.push_back(leaf.is_none() ? nb::none() : to_python(out[at++]));
  });
  return pack_as(structure, leaves);
}

// What a body returns has the structure of its loop variables; one of one may come without its
// list.
std::vector<Tensor> next_states(nb::object made, std::span<const Tensor> states) {
  std::vector<nb::object> leaves = flatten(made);
  if (leaves.size() != states.size()) {
    raise_value_error(
        fmt::format("The two structures don't have the same nested structure: there are "
                    "{} loop variables, and the body returned {}",
                    states.size(), leaves.size()));
  }
  std::vector<Tensor> next;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    next.push_back(to_tensor(leaves[i], states[i].dtype()));
  return next;
}

nb::object call_with(const nb::object& f, const nb::object& structure) {
  if (PyDict_Check(structure.ptr())) return f(structure);
  return f(*nb::borrow<nb::tuple>(nb::steal(PySequence_Tuple(structure.ptr()))));
}

nb::object while_loop(nb::object cond_fn, nb::object body_fn, nb::handle loop_vars,
                      nb::handle maximum_iterations) {
  const std::vector<Tensor> states = tensors_of(loop_vars);
  WhileLoopOptions options;
  if (!maximum_iterations.is_none())
    options.maximum_iterations = to_int(maximum_iterations, "maximum_iterations");
  const Function::Body ask = [&](std::span<const Tensor> now) {
    const nb::gil_scoped_acquire lock;
    return std::vector<Tensor>{to_tensor(call_with(cond_fn, pack_tensors(loop_vars, now)))};
  };
  const Function::Body advance = [&](std::span<const Tensor> now) {
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return next_states(call_with(body_fn, pack_tensors(loop_vars, now)), now);
  };
  const std::vector<Tensor> out =
      without_gil([&] { return internal::while_loop(ask, advance, states, options); });
  return pack_tensors(loop_vars, out);
}

nb::object scan_op(nb::object fn, nb::handle elems, nb::handle initializer, bool reverse) {
  const std::vector<Tensor> rows = tensors_of(elems);
  const nb::object shape_of_states =
      initializer.is_none() ? nb::borrow(elems) : nb::borrow(initializer);
  std::vector<Tensor> first;
  if (!initializer.is_none()) first = tensors_of(initializer);
  const ScanFn step = [&](std::span<const Tensor> a, std::span<const Tensor> x) {
    const nb::gil_scoped_acquire lock;
    return next_states(fn(pack_tensors(shape_of_states, a), pack_tensors(elems, x)), a);
  };
  const std::vector<Tensor> out =
      without_gil([&] { return scan(step, rows, first, {.reverse = reverse}); });
  return pack_tensors(shape_of_states, out);
}

nb::object map_op(nb::object fn, nb::handle elems) {
  const std::vector<Tensor> rows = tensors_of(elems);
  nb::object structure;
  const Function::Body step = [&](std::span<const Tensor> x) {
    const nb::gil_scoped_acquire lock;
    Returned made = flatten_result(fn(pack_tensors(elems, x)));
    structure = std::move(made.structure);
    return std::move(made.tensors);
  };
  const std::vector<Tensor> out = without_gil([&] { return map_fn(step, rows); });
  return pack_tensors(structure, out);
}

}  // namespace

void bind_control_flow(nb::module_& m) {
  m.def("cond", &cond, nb::arg("pred"), nb::arg("true_fn"), nb::arg("false_fn"));
  m.def("while_loop", &while_loop, nb::arg("cond"), nb::arg("body"), nb::arg("loop_vars"),
        nb::arg("maximum_iterations").none());
  m.def("scan", &scan_op, nb::arg("fn"), nb::arg("elems"), nb::arg("initializer").none(),
        nb::arg("reverse"));
  m.def("map_fn", &map_op, nb::arg("fn"), nb::arg("elems"));
}

}  // namespace plimsoll::python
