#include "dataset_function.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "convert.h"
#include "errors.h"
#include "gil.h"
#include "op_table.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"

namespace plimsoll::python {

using data::Element;

namespace {

constexpr int kMaxShapes = 16;  // of elements; a function of more is called for each of them

// The same structure with these leaves.
template <class Leaf>
Nest<Leaf> pack(const Nest<bool>& form, const std::vector<Leaf>& leaves) {
  std::size_t at = 0;
  return form.map([&](bool) { return leaves.at(at++); });
}

bool is_same_form(const Nest<bool>& a, const Nest<bool>& b) {
  if (a.is_leaf() != b.is_leaf() || a.is_list() != b.is_list() || a.is_dict() != b.is_dict() ||
      a.size() != b.size())
    return false;
  for (std::size_t i = 0; !a.is_leaf() && i < a.size(); ++i) {
    if (a.is_dict() && a.dict()[i].first != b.dict()[i].first) return false;
    if (!is_same_form(a[i], b[i])) return false;
  }
  return true;
}

// Python's state of a thread that Python did not make, for as long as the thread lives: making it
// for each call would take longer than the call.
class AttachedThread {
 public:
  AttachedThread() {
    if (PyGILState_GetThisThreadState()) return;
    state_ = PyGILState_Ensure();
    thread_ = PyEval_SaveThread();
  }
  ~AttachedThread() {
    if (!thread_ || !Py_IsInitialized()) return;
    PyEval_RestoreThread(thread_);
    PyGILState_Release(state_);
  }
  AttachedThread(const AttachedThread&) = delete;
  AttachedThread& operator=(const AttachedThread&) = delete;

 private:
  PyGILState_STATE state_{};
  PyThreadState* thread_ = nullptr;
};
void attach_thread() {
  static thread_local const AttachedThread attached;
}

// What a function does that is traced and looks at values.
bool is_untraceable(nb::python_error& error) {
  return error.matches(error_class("UnimplementedError")) ||
         error.matches(error_class("OperatorNotAllowedInGraphError")) ||
         error.matches(error_class("InaccessibleTensorError")) ||
         error.matches(error_class("FailedPreconditionError")) ||  // a value on the host
         error.matches(PyExc_NotImplementedError);
}

nb::object args_of(const Element& element) {
  if (element.is_list()) return from_dataset_element(element);
  return nb::make_tuple(from_dataset_element(element));
}

}  // namespace

Element to_dataset_element(nb::handle value) {
  if (value.is_none()) return {};
  if (PyDict_Check(value.ptr())) {
    Element::Dict members;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value)) {
      if (!PyUnicode_Check(key.ptr()))
        raise_type_error(
            fmt::format("keys of elements of a dataset are strings, got {}", repr_of(key)));
      members.emplace_back(nb::cast<std::string>(key), to_dataset_element(item));
    }
    return members;
  }
  if (PyTuple_Check(value.ptr())) {
    Element::List items;
    for (const nb::handle item : value) items.push_back(to_dataset_element(item));
    return items;
  }
  return to_tensor(value);
}

nb::object from_dataset_element(const Element& element) {
  if (element.is_none()) return nb::none();
  if (element.is_leaf()) return to_python(element.leaf());
  if (element.is_dict()) {
    nb::dict members;
    for (const auto& [key, item] : element.dict())
      members[nb::str(key.c_str(), key.size())] = from_dataset_element(item);
    return members;
  }
  nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(element.size())));
  if (!made.is_valid()) throw nb::python_error();
  Py_ssize_t i = 0;
  for (const Element& item : element.list())
    PyTuple_SET_ITEM(made.ptr(), i++, from_dataset_element(item).release().ptr());
  return made;
}

nb::object numpy_from_element(const Element& element) {
  if (element.is_none()) return nb::none();
  if (element.is_leaf()) {
    const nb::object tensor = to_python(element.leaf());
    return to_numpy(element.leaf(), tensor, true);
  }
  if (element.is_dict()) {
    nb::dict members;
    for (const auto& [key, item] : element.dict())
      members[nb::str(key.c_str(), key.size())] = numpy_from_element(item);
    return members;
  }
  nb::list items;
  for (const Element& item : element.list()) items.append(numpy_from_element(item));
  return nb::steal(PyList_AsTuple(items.ptr()));
}

nb::object PyCallback::python_function() const {
  if (!function) {
    throw FailedPreconditionError(
        fmt::format("the function of {} is gone: its dataset was collected", name_));
  }
  return nb::borrow(function);
}

nb::object PyCallback::call_eagerly(const Element& element) const {
  const nb::object fn = python_function();
  const nb::object args = args_of(element);
  const EagerScope now;
  nb::object returned = nb::steal(PyObject_Call(fn.ptr(), args.ptr(), nullptr));
  if (!returned.is_valid()) {
    // It would end who iterates, as if there were no more elements.
    if (PyErr_ExceptionMatches(PyExc_StopIteration)) {
      PyErr_Clear();
      throw InvalidArgumentError(fmt::format("the function of {} raised StopIteration", name_));
    }
    throw nb::python_error();
  }
  // A list of results is a tuple of them, as in TensorFlow.
  if (PyList_Check(returned.ptr())) return nb::steal(PyList_AsTuple(returned.ptr()));
  return returned;
}

// Called with symbolic tensors, once for each shape.
std::vector<Tensor> PyCallback::run_body(std::span<const Tensor> inputs) {
  const nb::gil_scoped_acquire lock;
  const std::vector<Tensor> leaves(inputs.begin(), inputs.end());
  const Element made = to_dataset_element(call_eagerly(pack(in_form_, leaves)));
  {
    std::scoped_lock out(out_mutex_);
    out_form_ = made.map([](const Tensor&) { return true; });
    out_specs_ = made.map([](const Tensor& t) { return TensorSpec{t.dtype(), t.shape()}; });
  }
  std::vector<Tensor> outputs = made.flatten();
  for (const Tensor& t : outputs) {
    if (t.dtype() == DType::kString)
      throw UnimplementedError("strings are no part of functions that are traced");
  }
  return outputs;
}

// pre: the mutex is held.
void PyCallback::set_form(const Nest<bool>& form) {
  if (has_form_ && is_same_form(form, in_form_)) return;
  in_form_ = form;
  has_form_ = true;
  traced_ = std::make_shared<Function>(
      [this](std::span<const Tensor> inputs) { return run_body(inputs); },
      FunctionOptions{.name = name_, .max_traces = kMaxShapes + 1});
}

std::shared_ptr<Function> PyCallback::function_for(const Element& element) {
  std::scoped_lock lock(mutex_);
  set_form(element.map([](const Tensor&) { return true; }));
  if (traced_->num_traces() > kMaxShapes) is_traced_ = false;
  return traced_;
}

Element PyCallback::run_traced(const Element& element) {
  const std::vector<Tensor> outputs = (*function_for(element))(element.flatten());
  std::scoped_lock lock(out_mutex_);
  return pack(out_form_, outputs);
}

void rethrow_shortage(nb::python_error& error) {
  if (error.matches(error_class("ResourceExhaustedError")))
    throw ResourceExhaustedError(text_of(error.value()));
}

std::optional<nb::object> next_item(PyObject* iterator) {
  nb::object item = nb::steal(PyIter_Next(iterator));
  if (item.is_valid()) return item;
  if (!PyErr_Occurred()) return {};
  nb::python_error error;
  rethrow_shortage(error);
  throw error;
}

std::shared_ptr<void> PyCallback::enter() const {
  if (is_traced_) return nullptr;
  attach_thread();
  return std::make_shared<nb::gil_scoped_acquire>();
}

void PyCallback::trim() {
  std::scoped_lock lock(mutex_);
  if (traced_) traced_->trim();
}

template <class F>
bool PyCallback::try_traced(const Element& element, const F& run) {
  element.for_each([&](const Tensor& t) {
    if (t.dtype() == DType::kString) is_traced_ = false;  // they are part of no trace
  });
  if (!is_traced_) return false;
  try {
    run();
    return true;
  } catch (nb::python_error& error) {
    const nb::gil_scoped_acquire lock;
    if (!is_untraceable(error)) throw;
  } catch (const UnimplementedError&) {
  }
  is_traced_ = false;
  return false;
}

void PyCallback::prepare(const Element& element) {
  try_traced(element, [&] {
    std::vector<TensorSpec> specs;
    element.for_each([&](const Tensor& t) { specs.push_back({t.dtype(), t.shape()}); });
    function_for(element)->prepare(specs);
  });
}

Element PyCallback::operator()(const Element& element) {
  Element made;
  if (try_traced(element, [&] { made = run_traced(element); })) return made;
  attach_thread();
  const nb::gil_scoped_acquire lock;
  try {
    return to_dataset_element(call_eagerly(element));
  } catch (nb::python_error& error) {
    rethrow_shortage(error);
    throw;
  }
}

std::optional<Nest<TensorSpec>> PyCallback::trace(const Nest<TensorSpec>& element) {
  const std::vector<TensorSpec> specs = element.flatten();
  for (const TensorSpec& spec : specs) {
    if (spec.dtype == DType::kString) return {};
  }
  try {
    const nb::gil_scoped_release release;
    std::scoped_lock lock(mutex_);
    set_form(element.map([](const TensorSpec&) { return true; }));
    traced_->plan(specs);
    return out_specs_;
  } catch (nb::python_error& error) {
    if (!is_untraceable(error)) throw;
  } catch (const UnimplementedError&) {
  }
  is_traced_ = false;
  return {};
}

data::Dataset to_kept_dataset(nb::handle value, const char* what) {
  if (!nb::hasattr(value, "_c") || !nb::isinstance<data::Dataset>(value.attr("_c"))) {
    raise_type_error(
        fmt::format("{} must return a `Dataset` object. Got {}.", what, class_repr(value)));
  }
  const data::Dataset inner = *nb::inst_ptr<data::Dataset>(value.attr("_c"));
  return inner.keeping(share(nb::borrow(value)));
}

namespace {

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<DatasetFunction>(self)->function.ptr());
  return 0;
}
int clear(PyObject* self) {
  auto* held = nb::inst_ptr<DatasetFunction>(self);
  held->callback->function = nullptr;
  held->function.reset();
  return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

// A structure of TensorSpecs without None.
Nest<TensorSpec> to_specs(nb::handle value) {
  if (value.is_none()) return {};
  if (PyDict_Check(value.ptr())) {
    Nest<TensorSpec>::Dict members;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value))
      members.emplace_back(nb::cast<std::string>(key), to_specs(item));
    return members;
  }
  if (PyTuple_Check(value.ptr())) {
    Nest<TensorSpec>::List items;
    for (const nb::handle item : value) items.push_back(to_specs(item));
    return items;
  }
  return TensorSpec{to_dtype(value.attr("dtype")), to_shape(value.attr("shape"))};
}

// (dtype, shape) for each leaf.
nb::object from_specs(const Nest<TensorSpec>& specs, nb::handle make) {
  if (specs.is_none()) return nb::none();
  if (specs.is_leaf()) {
    const TensorSpec& spec = specs.leaf();
    return make(shape_tuple(spec.shape), dtype_object(spec.dtype));
  }
  if (specs.is_dict()) {
    nb::dict members;
    for (const auto& [key, item] : specs.dict()) members[key.c_str()] = from_specs(item, make);
    return members;
  }
  nb::list items;
  for (const auto& item : specs.list()) items.append(from_specs(item, make));
  return nb::steal(PyList_AsTuple(items.ptr()));
}

}  // namespace

void bind_dataset_function(nb::module_& m) {
  nb::class_<DatasetFunction>(m, "DatasetFunction", nb::type_slots(slots))
      .def(
          "__init__",
          [](DatasetFunction* self, nb::object function, const std::string& name) {
            if (!PyCallable_Check(function.ptr()))
              raise_type_error(fmt::format("{} needs a function, got {}", name, repr_of(function)));
            new (self) DatasetFunction{std::make_shared<PyCallback>(name), function};
            self->callback->function = function.ptr();
          })
      .def("trace", [](DatasetFunction& self, nb::handle specs, nb::handle make) -> nb::object {
        const auto made = self.callback->trace(to_specs(specs));
        return made ? from_specs(*made, make) : nb::none();
      });
}

}  // namespace plimsoll::python
