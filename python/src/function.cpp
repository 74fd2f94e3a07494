#include "function.h"

#include <fmt/format.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "nest.h"
#include "op_table.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"
#include "variable.h"

namespace plimsoll::python {

bool run_functions_eagerly = false;

namespace {

// Stands for a tensor in arguments and results that are kept.
nb::handle hole() {
  static PyObject* made = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  return made;
}

bool is_spec(nb::handle value) {
  return nb::hasattr(value, "_is_tensor_spec");
}

bool is_array(nb::handle value) {
  return nb::hasattr(value, "__array_interface__") || nb::hasattr(value, "__tf_tensor__");
}

template <class T>
void append(std::string& key, char kind, const T& value) {
  key.push_back(kind);
  key.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void append_spec(std::string& key, const TensorSpec& spec) {
  append(key, 'T', spec.dtype);
  for (const std::int64_t dim : spec.shape.dims()) append(key, ',', dim);
  key.push_back(';');
}

// The same structure with a hole for each tensor.
nb::object with_holes(nb::handle structure) {
  std::vector<nb::object> leaves;
  for_each_leaf(structure, [&](nb::handle leaf) {
    const bool is_input =
        is_tensor(leaf.ptr()) || (!as_variable(leaf) && is_array(leaf)) || is_spec(leaf);
    leaves.push_back(nb::borrow(is_input ? hole() : leaf));
  });
  return pack_as(structure, leaves);
}

// And back, with these tensors, beginning at `at`.
nb::object without_holes(nb::handle structure, std::span<const Tensor> tensors, std::size_t& at) {
  if (structure.ptr() == hole().ptr()) return to_python(tensors[at++]);
  std::vector<nb::object> leaves;
  for_each_leaf(structure, [&](nb::handle leaf) {
    leaves.push_back(leaf.ptr() == hole().ptr() ? to_python(tensors[at++]) : nb::borrow(leaf));
  });
  return pack_as(structure, leaves);
}

// "x:0", "x_1:0": inputs are called after their arguments.
std::vector<std::string> input_names(const FlatCall& call, const Signature& signature) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, nb::handle value) {
    int num = 0;
    for_each_leaf(value, [&](nb::handle leaf) {
      if (as_variable(leaf) || !(is_tensor(leaf.ptr()) || is_array(leaf) || is_spec(leaf))) return;
      names.push_back(num ? fmt::format("{}_{}:0", name, num) : name + ":0");
      ++num;
    });
  };
  std::size_t i = 0;
  for (const nb::handle value : call.places) {
    add(i < signature.names.size() ? text_of(signature.names[i]) : fmt::format("args_{}", i),
        value);
    ++i;
  }
  for (const nb::handle key : nb::steal<nb::list>(PyDict_Keys(call.words.ptr())))
    add(text_of(key), call.words[key]);
  return names;
}

TensorSpec to_spec(nb::handle spec, bool& has_unknown) {
  std::vector<std::int64_t> dims;
  const nb::object shape = spec.attr("shape");
  if (shape.attr("rank").is_none()) {
    has_unknown = true;
  } else {
    for (const nb::handle dim : shape) {
      has_unknown = has_unknown || dim.is_none();
      dims.push_back(dim.is_none() ? 0 : to_int(dim, "shape"));
    }
  }
  return {to_dtype(spec.attr("dtype")), Shape(std::span<const std::int64_t>(dims))};
}

}  // namespace

PyFunction::PyFunction(nb::object python_function, std::string name, Signature signature,
                       nb::object input_signature)
    : python_function_(std::move(python_function)),
      name_(std::move(name)),
      signature_(std::move(signature)),
      input_signature_(std::move(input_signature)) {}

// Each argument in its place, with defaults: f(x), f(x=x) and f(x, None) are one call.
void PyFunction::bind_places(FlatCall& call, nb::handle args, nb::handle keywords) const {
  const auto num_given = static_cast<std::size_t>(PyTuple_GET_SIZE(args.ptr()));
  for (const nb::handle value : nb::borrow<nb::tuple>(args)) call.places.append(value);
  const std::size_t num_names = signature_.names.size();
  if (num_given > num_names && !signature_.takes_more) {
    raise_type_error(fmt::format("{}() takes {} positional arguments but {} were given", name_,
                                 num_names, num_given));
  }
  std::size_t num_used = 0;
  for (std::size_t i = num_given; i < num_names; ++i) {
    PyObject* word = keywords.is_valid()
                         ? PyDict_GetItemWithError(keywords.ptr(), signature_.names[i].ptr())
                         : nullptr;
    const std::size_t num_needed = num_names - signature_.defaults.size();
    if (word) {
      ++num_used;
    } else if (i >= num_needed) {
      word = signature_.defaults[i - num_needed].ptr();
    } else {
      raise_type_error(fmt::format("{}() missing 1 required positional argument: {}", name_,
                                   repr_of(signature_.names[i])));
    }
    call.places.append(nb::handle(word));
  }
  if (nb::len(signature_.word_defaults)) call.words.update(signature_.word_defaults);
  if (!keywords.is_valid() || nb::len(nb::borrow<nb::dict>(keywords)) == num_used) return;
  for (const auto& [key, value] : nb::borrow<nb::dict>(keywords)) {
    bool is_place = false;
    for (std::size_t i = 0; i < num_names && !is_place; ++i) {
      if (PyUnicode_Compare(signature_.names[i].ptr(), key.ptr()) != 0) continue;
      is_place = true;
      if (i < num_given)
        raise_type_error(
            fmt::format("{}() got multiple values for argument {}", name_, repr_of(key)));
    }
    if (!is_place) call.words[key] = value;
  }
}

// With an input_signature every argument is a tensor of the type that it says.
nb::object PyFunction::fit_to_spec(nb::handle spec, nb::handle value) const {
  if (is_spec(value)) return nb::borrow(value);
  if (PyDict_Check(spec.ptr())) {
    nb::dict made;
    for (const auto& [key, inner] : nb::borrow<nb::dict>(spec))
      made[key] = fit_to_spec(inner, value[key]);
    return made;
  }
  if (is_nested(spec)) {
    if (!is_nested(value) || nb::len(value) != nb::len(spec)) {
      raise_type_error(fmt::format("{}() has {} in its input_signature, got {}", name_,
                                   repr_of(spec), repr_of(value)));
    }
    nb::list made;
    for (std::size_t i = 0; i < nb::len(spec); ++i) made.append(fit_to_spec(spec[i], value[i]));
    return made;
  }
  nb::object tensor = to_python(to_tensor(value, to_dtype(spec.attr("dtype"))));
  if (!nb::cast<bool>(spec.attr("shape").attr("is_compatible_with")(tensor.attr("shape")))) {
    raise_type_error(
        fmt::format("Binding inputs to tf.function failed: {}() has {} in its "
                    "input_signature, got a tensor of shape {} and type {}",
                    name_, repr_of(spec), text_of(tensor.attr("shape")),
                    text_of(tensor.attr("dtype").attr("name"))));
  }
  return tensor;
}

void PyFunction::apply_signature(FlatCall& call) const {
  if (input_signature_.is_none()) return;
  const std::size_t num_specs = nb::len(input_signature_);
  if (nb::len(call.places) < num_specs) {
    raise_type_error(fmt::format("{}() has an input_signature of {} arguments, got {}", name_,
                                 num_specs, nb::len(call.places)));
  }
  for (std::size_t i = 0; i < num_specs; ++i)
    call.places[i] = fit_to_spec(input_signature_[i], call.places[i]);
}

// What is no tensor and no plain value: equal objects are one if they say so themselves.
void PyFunction::add_object(FlatCall& call, nb::handle value) {
  const bool compares = Py_TYPE(value.ptr())->tp_richcompare != PyBaseObject_Type.tp_richcompare;
  const Py_hash_t hash = compares ? PyObject_Hash(value.ptr()) : -1;
  if (compares && hash == -1) PyErr_Clear();
  if (compares && hash != -1) {
    PyObject* number = PyDict_GetItemWithError(equal_objects_.ptr(), value.ptr());
    if (!number) {
      if (PyErr_Occurred()) throw nb::python_error();
      equal_objects_[value] = nb::len(equal_objects_);
      number = PyDict_GetItem(equal_objects_.ptr(), value.ptr());
    }
    append(call.key, 'E', PyLong_AsLong(number));
    return;
  }
  append(call.key, 'O', value.ptr());
  call.kept.push_back(nb::borrow(value));
}

void PyFunction::add_leaf(FlatCall& call, nb::handle leaf) {
  PyObject* value = leaf.ptr();
  const auto add_tensor = [&](const Tensor& tensor) {
    call.inputs.push_back(tensor);
    call.specs.push_back({tensor.dtype(), tensor.shape()});
    append_spec(call.key, call.specs.back());
  };
  if (is_tensor(value)) {
    add_tensor(tensor_of(value));
  } else if (value == Py_None) {
    call.key.push_back('n');
  } else if (PyBool_Check(value)) {
    call.key.push_back(value == Py_True ? 't' : 'f');
  } else if (PyLong_CheckExact(value)) {
    call.key += "i" + text_of(leaf) + ";";
  } else if (PyFloat_CheckExact(value)) {
    append(call.key, 'd', PyFloat_AS_DOUBLE(value));
  } else if (PyUnicode_CheckExact(value) || PyBytes_CheckExact(value)) {
    const std::string text = to_text(leaf, "argument");
    append(call.key, PyUnicode_CheckExact(value) ? 's' : 'b', text.size());
    call.key += text;
  } else if (as_variable(leaf)) {
    append(call.key, 'V', value);
    call.kept.push_back(nb::borrow(leaf));
  } else if (is_spec(leaf)) {
    call.specs.push_back(to_spec(leaf, call.has_unknown));
    append_spec(call.key, call.specs.back());
  } else if (is_array(leaf)) {
    add_tensor(to_tensor(leaf));
  } else {
    add_object(call, leaf);
  }
}

void PyFunction::add_structure(FlatCall& call, nb::handle value) {
  PyObject* object = value.ptr();
  if (PyDict_Check(object)) {
    const nb::list keys = nb::steal<nb::list>(PyDict_Keys(object));
    if (PyList_Sort(keys.ptr()) != 0) throw nb::python_error();
    append(call.key, '{', Py_TYPE(object));
    append(call.key, '#', nb::len(keys));
    for (const nb::handle key : keys) {
      add_structure(call, key);
      add_structure(call, PyDict_GetItem(object, key.ptr()));
    }
  } else if (is_nested(value)) {
    append(call.key, '(', Py_TYPE(object));
    append(call.key, '#', nb::len(value));
    for (const nb::handle item : value) add_structure(call, item);
  } else {
    add_leaf(call, value);
  }
}

FlatCall PyFunction::flatten_call(nb::handle args, nb::handle keywords) {
  FlatCall call;
  bind_places(call, args, keywords);
  apply_signature(call);
  for (const nb::handle value : call.places) add_structure(call, value);
  if (nb::len(call.words)) add_structure(call, call.words);
  return call;
}

std::shared_ptr<Traced> PyFunction::find(FlatCall& call) {
  if (const auto found = by_key_.find(call.key); found != by_key_.end()) {
    traces_.splice(traces_.begin(), traces_, found->second);
    return *found->second;
  }
  auto made = std::make_shared<Traced>();
  made->key = call.key;
  made->places = with_holes(call.places);
  made->words = with_holes(call.words);
  made->kept = std::move(call.kept);
  made->specs = call.specs;
  made->names = input_names(call, signature_);
  if (!arenas_) {
    arenas_ =
        std::make_unique<Function>([](std::span<const Tensor>) { return std::vector<Tensor>(); },
                                   FunctionOptions{.name = name_});
  }
  made->function = std::make_unique<Function>(
      [this, traced = made.get()](std::span<const Tensor> inputs) {
        const nb::gil_scoped_acquire lock;
        return run_body(*traced, inputs);
      },
      FunctionOptions{.name = name_, .shares_arenas_with = arenas_.get()});
  traces_.push_front(made);
  by_key_[made->key] = traces_.begin();
  while (traces_.size() > kMaxTraces) {
    by_key_.erase(traces_.back()->key);
    traces_.pop_back();
  }
  return made;
}

// Calls the Python function with symbolic tensors.
std::vector<Tensor> PyFunction::run_body(Traced& traced, std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    interop::set_symbolic_name(inputs[i], traced.names[i]);
  std::size_t at = 0;
  const nb::object places = without_holes(traced.places, inputs, at);
  const nb::object words = without_holes(traced.words, inputs, at);
  const nb::object args = nb::steal(PyList_AsTuple(places.ptr()));
  const nb::object returned =
      nb::steal(PyObject_Call(python_function_.ptr(), args.ptr(), words.ptr()));
  if (!returned.is_valid()) throw nb::python_error();
  std::vector<Tensor> outputs;
  std::vector<nb::object> leaves;
  for_each_leaf(returned, [&](nb::handle leaf) {
    if (leaf.is_none()) {
      leaves.push_back(nb::none());
      return;
    }
    try {
      outputs.push_back(to_tensor(leaf));
    } catch (nb::python_error&) {
      raise_type_error(fmt::format(
          "To be compatible with tf.function, Python functions must return zero or more Tensors or "
          "ExtensionTypes or None values; in {}, got {} as a return value, which is not a Tensor "
          "or "
          "ExtensionType.",
          name_, repr_of(leaf)));
    }
    leaves.push_back(nb::borrow(hole()));
  });
  if (!traced.result.is_valid()) {  // not for another batch, of which only the plan is wanted
    traced.result = pack_as(returned, leaves);
    ++num_traces_;
  }
  return outputs;
}

nb::object PyFunction::call(nb::handle args, nb::handle keywords) {
  // Becomes part of the function or the graph that calls it. Under several tapes each op is
  // recorded.
  if (interop::is_tracing() || interop::needs_each_op() || run_functions_eagerly || is_building()) {
    const nb::object made =
        nb::steal(PyObject_Call(python_function_.ptr(), args.ptr(), keywords.ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
  }
  FlatCall call = flatten_call(args, keywords);
  const std::shared_ptr<Traced> traced = find(call);
  std::vector<Tensor> outputs;
  try {
    outputs =
        without_gil([&] { return (*traced->function)(std::span<const Tensor>(call.inputs)); });
  } catch (...) {
    if (!traced->result.is_valid()) {  // it was never traced to its end
      if (const auto found = by_key_.find(traced->key); found != by_key_.end()) {
        traces_.erase(found->second);
        by_key_.erase(found);
      }
    }
    throw;
  }
  std::size_t at = 0;
  return without_holes(traced->result, outputs, at);
}

MemoryPlan PyFunction::plan(nb::handle args, nb::handle keywords) {
  FlatCall call = flatten_call(args, keywords);
  if (call.has_unknown)
    raise_value_error(fmt::format("a plan of {}() needs shapes without None", name_));
  const std::shared_ptr<Traced> traced = find(call);
  return without_gil([&] { return traced->function->plan(call.specs); });
}

std::string PyFunction::graph_text(nb::handle args, nb::handle keywords) {
  FlatCall call = flatten_call(args, keywords);
  const std::shared_ptr<Traced> traced = find(call);
  return without_gil([&] { return traced->function->graph_text(call.specs); });
}

void PyFunction::prepare(nb::handle args, nb::handle keywords) {
  FlatCall call = flatten_call(args, keywords);
  if (call.has_unknown) return;  // each shape is traced when it comes
  const std::shared_ptr<Traced> traced = find(call);
  without_gil([&] { traced->function->prepare(call.specs); });
}

void PyFunction::trim() const {
  if (arenas_) arenas_->trim();
  for (const auto& traced : traces_) traced->function->trim();
}

int PyFunction::traverse(visitproc visit, void* arg) const {
  Py_VISIT(python_function_.ptr());
  Py_VISIT(input_signature_.ptr());
  Py_VISIT(equal_objects_.ptr());
  for (const nb::object& value : signature_.defaults) Py_VISIT(value.ptr());
  for (const auto& traced : traces_) {
    Py_VISIT(traced->places.ptr());
    Py_VISIT(traced->words.ptr());
    Py_VISIT(traced->result.ptr());
    for (const nb::object& value : traced->kept) Py_VISIT(value.ptr());
  }
  return 0;
}

void PyFunction::clear() noexcept {
  by_key_.clear();
  traces_.clear();
  equal_objects_ = nb::dict();
  signature_.defaults.clear();
  input_signature_ = nb::none();
  python_function_ = nb::none();
}

}  // namespace plimsoll::python
