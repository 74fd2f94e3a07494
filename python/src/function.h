// plimsoll.function: Python functions that are traced once and then run by plan.
//
// A call is flattened: tensors and arrays become inputs, everything else (numbers, strings, None,
// objects, the structure itself) is part of a key. For each key, which also has the shapes and
// types of the inputs, there is one trace: a plimsoll::Function whose body calls the Python
// function with symbolic tensors in the places of the inputs. The last kMaxTraces are kept; they
// share arenas.
#pragma once

#include <nanobind/nanobind.h>

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "plimsoll/function.h"

namespace plimsoll::python {

namespace nb = nanobind;

inline constexpr std::size_t kMaxTraces = 64;

// Arguments, flattened.
struct FlatCall {
  std::string key;
  std::vector<Tensor> inputs;
  std::vector<TensorSpec> specs;  // of the inputs
  std::vector<nb::object> kept;   // objects that the key knows by their address
  nb::list places;                // what the Python function is called with
  nb::dict words;
  bool has_unknown = false;  // a TensorSpec with a dimension of any size
};

// One way in which a function was called.
struct Traced {
  std::string key;
  nb::object places, words;       // the arguments, with a hole for each tensor
  nb::object result;              // what it returned, with a hole for each tensor; invalid: not yet
  std::vector<nb::object> kept;   // as in FlatCall
  std::vector<TensorSpec> specs;  // of the inputs
  std::vector<std::string> names;  // of the inputs: "x:0"
  std::unique_ptr<Function> function;
};

// What Python's inspect says of a function.
struct Signature {
  std::vector<nb::object> names;     // of arguments that may be given by place
  std::vector<nb::object> defaults;  // as many, from the end
  nb::dict word_defaults;            // of arguments that are given by name only
  bool takes_more = false;           // *args
};

extern bool run_functions_eagerly;  // tf.config.run_functions_eagerly

class PyFunction {
 public:
  PyFunction(nb::object python_function, std::string name, Signature signature,
             nb::object input_signature);

  nb::object call(nb::handle args, nb::handle keywords);
  MemoryPlan plan(nb::handle args, nb::handle keywords);
  std::string graph_text(nb::handle args, nb::handle keywords);
  // Traces such a call, whose arguments may be TensorSpecs, without running it.
  void prepare(nb::handle args, nb::handle keywords);

  int num_traces() const { return num_traces_; }
  const nb::object& python_function() const { return python_function_; }
  const std::string& name() const { return name_; }
  void trim() const;

  int traverse(visitproc visit, void* arg) const;
  void clear() noexcept;

 private:
  FlatCall flatten_call(nb::handle args, nb::handle keywords);
  void bind_places(FlatCall& call, nb::handle args, nb::handle keywords) const;
  void apply_signature(FlatCall& call) const;
  nb::object fit_to_spec(nb::handle spec, nb::handle value) const;
  void add_leaf(FlatCall& call, nb::handle leaf);
  void add_structure(FlatCall& call, nb::handle value);
  void add_object(FlatCall& call, nb::handle value);
  std::shared_ptr<Traced> find(FlatCall& call);
  std::vector<Tensor> run_body(Traced& traced, std::span<const Tensor> inputs);

  nb::object python_function_;
  const std::string name_;
  Signature signature_;
  nb::object input_signature_;  // None, or a list of TensorSpecs
  nb::dict equal_objects_;      // by object that has its own ==: its number in keys
  int num_traces_ = 0;
  std::list<std::shared_ptr<Traced>> traces_;  // used last first
  std::unordered_map<std::string, std::list<std::shared_ptr<Traced>>::iterator> by_key_;
  std::unique_ptr<Function> arenas_;  // whose arenas all traces share
};

}  // namespace plimsoll::python
