// Python functions that steps of a dataset call, on whatever thread.
//
// A step holds nothing of Python: the Python object of the dataset holds the function, so that the
// garbage collector sees cycles through it, and iterators hold the dataset. A function of tensors
// is traced for each shape of the elements and then runs by plan, without Python's lock; one that
// cannot be traced (it looks at values, at strings, or gets ever new shapes) is called for each
// element.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "plimsoll/data/dataset.h"
#include "plimsoll/function.h"

namespace plimsoll::python {

namespace nb = nanobind;

// Tuples, dictionaries, None; all else becomes a tensor, lists too.
data::Element to_dataset_element(nb::handle value);
nb::object from_dataset_element(const data::Element& element);
// The same with numpy arrays and scalars.
nb::object numpy_from_element(const data::Element& element);

// Throws Python's ResourceExhaustedError as C++'s: steps know it, and may try again.
void rethrow_shortage(nb::python_error& error);
// The next item of a Python iterator, or none at its end. pre: Python's lock is held. throws: what
// it raises, a shortage as above.
std::optional<nb::object> next_item(PyObject* iterator);

// What a step sees of a Python function.
class PyCallback {
 public:
  explicit PyCallback(std::string name) : name_(std::move(name)) {}

  // fn(*element) of a tuple, else fn(element). throws: what it raises.
  data::Element operator()(const data::Element& element);
  // The same, always with tensors that have values. pre: Python's lock is held.
  nb::object call_eagerly(const data::Element& element) const;
  // Shapes and types of what it gives for such elements, null if it cannot be traced. pre: the
  // lock is held. throws: what it raises.
  std::optional<Nest<TensorSpec>> trace(const Nest<TensorSpec>& element);

  // Python's lock, if it is called for each element.
  std::shared_ptr<void> enter() const;

  bool is_traced() const { return is_traced_; }
  void trim();  // gives back arenas of the trace
  // Traces it for such elements, if it can be: what the trace holds is there then.
  void prepare(const data::Element& element);

  PyObject* function = nullptr;  // of the Python object that has this; guarded by Python's lock

 private:
  std::vector<Tensor> run_body(std::span<const Tensor> inputs);
  std::shared_ptr<Function> function_for(const data::Element& element);
  data::Element run_traced(const data::Element& element);
  // False, and so from then on: it cannot be traced. throws: what the function raises.
  template <class F>
  bool try_traced(const data::Element& element, const F& run);
  void set_form(const Nest<bool>& form);
  nb::object python_function() const;

  const std::string name_;
  std::atomic<bool> is_traced_{true};
  std::mutex mutex_;  // guards what follows
  bool has_form_ = false;
  Nest<bool> in_form_;
  std::shared_ptr<Function> traced_;
  std::mutex out_mutex_;  // guards what follows: the last trace's results
  Nest<bool> out_form_;
  Nest<TensorSpec> out_specs_;
};

// plimsoll._core.DatasetFunction.
struct DatasetFunction {
  std::shared_ptr<PyCallback> callback;
  nb::object function;
  ~DatasetFunction() { callback->function = nullptr; }
};

// The C++ dataset of a Python object that has one in `_c`; it keeps the Python object, for datasets
// that functions make. throws: TypeError that names `what`.
data::Dataset to_kept_dataset(nb::handle value, const char* what);

void bind_dataset_function(nb::module_& m);

}  // namespace plimsoll::python
