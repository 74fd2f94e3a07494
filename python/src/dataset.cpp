// plimsoll._core.Dataset: the steps of a dataset, and runs through it.
#include "plimsoll/data/dataset.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <set>

#include "convert.h"
#include "dataset_function.h"
#include "errors.h"
#include "gil.h"
#include "op_table.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

using data::Dataset;
using data::Element;

// One run through a dataset, which threads may share.
class DatasetRun {
 public:
  explicit DatasetRun(const Dataset& dataset) {
    without_gil([&] {
      const interop::InitScope now;
      run_ = dataset.make_iterator();
    });
    std::scoped_lock lock(all_mutex);
    all.insert(this);
  }
  ~DatasetRun() {
    {
      std::scoped_lock lock(all_mutex);
      all.erase(this);
    }
    close();
  }

  std::optional<Element> next() {
    const nb::gil_scoped_release release;
    std::scoped_lock lock(mutex_);
    if (!run_) return {};
    std::optional<Element> element;
    if (interop::is_tracing() || interop::is_recording()) {
      const interop::InitScope now;
      element = run_->next();
    } else {
      element = run_->next();
    }
    if (!element) run_.reset();
    return element;
  }
  // Its threads end, and its memory is back.
  void close() {
    const nb::gil_scoped_release release;
    std::scoped_lock lock(mutex_);
    run_.reset();
  }
  static void close_all() {
    while (true) {
      DatasetRun* one = nullptr;
      {
        std::scoped_lock lock(all_mutex);
        if (all.empty()) return;
        one = *all.begin();
        all.erase(one);
      }
      one->close();
    }
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<data::Iterator> run_;

  inline static std::mutex all_mutex;
  inline static std::set<DatasetRun*> all;
};

nb::object next_of(DatasetRun& run, bool as_numpy) {
  const std::optional<Element> element = run.next();
  if (!element) throw nb::stop_iteration();
  return as_numpy ? numpy_from_element(*element) : from_dataset_element(*element);
}

const Dataset& core_of(nb::handle value) {
  return *nb::inst_ptr<Dataset>(value);
}
Nest<Dataset> to_datasets(nb::handle value) {
  if (PyDict_Check(value.ptr())) {
    Nest<Dataset>::Dict members;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value))
      members.emplace_back(nb::cast<std::string>(key), to_datasets(item));
    return members;
  }
  if (PyTuple_Check(value.ptr())) {
    Nest<Dataset>::List items;
    for (const nb::handle item : value) items.push_back(to_datasets(item));
    return items;
  }
  return core_of(value);
}

// What the Python function gives. throws: what it raises; ResourceExhaustedError as C++'s. pre:
// Python's lock is held.
nb::object call_for_step(const PyCallback& callback, const Element& element) {
  try {
    return callback.call_eagerly(element);
  } catch (nb::python_error& error) {
    rethrow_shortage(error);
    throw;
  }
}

// fn(element) as something else than an element.
data::WorkOptions work_of(const DatasetFunction& fn) {
  return {.keeps_work = [callback = fn.callback] { return callback->is_traced(); },
          .trim = [callback = fn.callback] { callback->trim(); },
          .prepare = [callback = fn.callback](const Element& e) { callback->prepare(e); }};
}

std::function<bool(const Element&)> to_predicate(const DatasetFunction& fn, const char* what) {
  return [callback = fn.callback, what](const Element& element) {
    const Element made = (*callback)(element);
    if (!made.is_leaf() || made.leaf().dtype() != bool_ || made.leaf().rank() != 0) {
      throw InvalidArgumentError(
          fmt::format("`predicate` of {} must return a scalar boolean tensor", what));
    }
    return made.leaf().item<bool>();
  };
}
Dataset::DatasetFn to_dataset_fn(const DatasetFunction& fn, const char* what, bool is_parallel) {
  return [callback = fn.callback, what, is_parallel](const Element& element) {
    const nb::gil_scoped_acquire lock;
    const Dataset made = to_kept_dataset(call_for_step(*callback, element), what);
    return is_parallel ? made.prefetch(data::kAutotune) : made;
  };
}

// Elements of what a Python function gives to iterate over, for each run anew.
Dataset from_python_generator(const DatasetFunction& fn) {
  return Dataset::from_generator([callback = fn.callback]() -> Dataset::Generator {
    const nb::gil_scoped_acquire lock;
    return [items = share(call_for_step(*callback, Element::List()))]() -> std::optional<Element> {
      const nb::gil_scoped_acquire inner;
      const EagerScope now;
      const std::optional<nb::object> item = next_item(items.get());
      return item ? std::optional(to_dataset_element(*item)) : std::nullopt;
    };
  });
}

data::PaddedBatchOptions to_padding(const std::vector<std::vector<std::int64_t>>& shapes,
                                    const std::vector<double>& values,
                                    const std::vector<std::string>& texts, bool drop_remainder) {
  return {.padded_shapes = shapes,
          .padding_values = values,
          .padding_texts = texts,
          .drop_remainder = drop_remainder};
}

// Threads that wait for others, and long loops, let Python see to its signals.
void check_signals() {
  if (!PyGILState_GetThisThreadState()) return;  // no thread of Python
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

Element reduce(const Dataset& dataset, nb::handle initial, const DatasetFunction& fn) {
  Element state = to_dataset_element(initial);
  const nb::gil_scoped_release release;
  const interop::InitScope now;
  const std::unique_ptr<data::Iterator> run = dataset.make_iterator();
  for (std::int64_t i = 1; auto element = run->next(); ++i) {
    state = (*fn.callback)(Element(Element::List{std::move(state), std::move(*element)}));
    if (i % 256 == 0) check_signals();
  }
  return state;
}

Dataset scan(const Dataset& dataset, nb::handle initial, const DatasetFunction& fn) {
  return dataset.scan(
      to_dataset_element(initial),
      [callback = fn.callback](const Element& state, const Element& element) {
        const Element made = (*callback)(Element(Element::List{state, element}));
        if (!made.is_list() || made.size() != 2)
          throw InvalidArgumentError(
              "The scan function must return a pair comprising the new state and the output value");
        return std::pair(made[0], made[1]);
      });
}

std::int64_t length_of(PyCallback& callback, const Element& element, const char* what) {
  const nb::gil_scoped_acquire lock;
  return to_int(call_for_step(callback, element), what);
}

Dataset group_by_window(const Dataset& dataset, const DatasetFunction& key,
                        const DatasetFunction& reduce, const DatasetFunction& window_size) {
  return dataset.group_by_window(
      {.key = [callback =
                   key.callback](const Element& e) { return length_of(*callback, e, "key_func"); },
       .reduce =
           [callback = reduce.callback](std::int64_t of, const Dataset& window) {
             const nb::gil_scoped_acquire lock;
             const nb::object fn = nb::borrow(callback->function);
             const EagerScope now;
             return to_kept_dataset(fn(of, window), "`reduce_func` of group_by_window");
           },
       .window_size =
           [callback = window_size.callback](std::int64_t of) {
             return length_of(*callback, Element(constant(of)), "window_size_func");
           }});
}

// Whether the exception that is handled is one of Python's that a dataset may leave out.
bool is_python_error_to_ignore() {
  try {
    throw;
  } catch (nb::python_error& error) {
    const nb::gil_scoped_acquire lock;
    return error.matches(PyExc_Exception) && !error.matches(error_class("ResourceExhaustedError"));
  } catch (...) {
    return false;
  }
}

// What a source is made of. throws: UnimplementedError for tensors of a trace, which have no values
// yet: a function that makes datasets is called for each element.
Element to_source(nb::handle value) {
  Element made = to_dataset_element(value);
  made.for_each([](const Tensor& t) {
    if (interop::is_symbolic(t))
      throw UnimplementedError("a dataset of tensors that have no values yet is not built");
  });
  return made;
}

using Class = nb::class_<Dataset>;

void bind_sources(Class& c) {
  c.def_static("from_tensor_slices",
               [](nb::handle tensors) { return Dataset::from_tensor_slices(to_source(tensors)); })
      .def_static("from_tensors",
                  [](nb::handle tensors) { return Dataset::from_tensors(to_source(tensors)); })
      .def_static("from_elements",
                  [](nb::list elements) {
                    std::vector<Element> items;
                    for (const nb::handle item : elements) items.push_back(to_source(item));
                    return Dataset::from_elements(std::move(items));
                  })
      .def_static("range", [](std::int64_t start, std::int64_t stop,
                              std::int64_t step) { return Dataset::range(start, stop, step); })
      .def_static("from_generator", &from_python_generator)
      .def_static("zip", [](nb::handle datasets) { return Dataset::zip(to_datasets(datasets)); });
}

void bind_choosing(Class& c) {
  c.def("concatenate", [](const Dataset& d, const Dataset& other) { return d.concatenate(other); })
      .def("filter",
           [](const Dataset& d, const DatasetFunction& fn) {
             return d.filter(to_predicate(fn, "filter"), work_of(fn));
           })
      .def("take_while",
           [](const Dataset& d, const DatasetFunction& fn) {
             return d.take_while(to_predicate(fn, "take_while"), work_of(fn));
           })
      .def("enumerate", [](const Dataset& d, std::int64_t start) { return d.enumerate(start); })
      .def("shard", [](const Dataset& d, std::int64_t num,
                       std::int64_t index) { return d.shard(num, index); })
      .def("repeat", [](const Dataset& d, std::int64_t count) { return d.repeat(count); })
      .def("take", [](const Dataset& d, std::int64_t count) { return d.take(count); })
      .def("skip", [](const Dataset& d, std::int64_t count) { return d.skip(count); })
      .def(
          "shuffle",
          [](const Dataset& d, std::int64_t buffer_size, std::optional<std::int64_t> seed,
             bool reshuffles) {
            return d.shuffle(buffer_size, {.seed = seed, .reshuffle_each_iteration = reshuffles});
          },
          nb::arg("buffer_size"), nb::arg("seed").none(), nb::arg("reshuffles"))
      .def("cache", [](const Dataset& d) { return d.cache(); })
      .def("prefetch", [](const Dataset& d, std::int64_t size) { return d.prefetch(size); });
}

void bind_batching(Class& c) {
  c.def("batch", [](const Dataset& d, std::int64_t size,
                    bool drop) { return d.batch(size, {.drop_remainder = drop}); })
      .def("unbatch", [](const Dataset& d) { return d.unbatch(); })
      .def("padded_batch",
           [](const Dataset& d, std::int64_t size,
              const std::vector<std::vector<std::int64_t>>& shapes,
              const std::vector<double>& values, const std::vector<std::string>& texts,
              bool drop) { return d.padded_batch(size, to_padding(shapes, values, texts, drop)); })
      .def("bucket_by_sequence_length",
           [](const Dataset& d, const DatasetFunction& fn,
              const std::vector<std::int64_t>& boundaries, const std::vector<std::int64_t>& sizes,
              const std::vector<std::vector<std::int64_t>>& shapes,
              const std::vector<double>& values, const std::vector<std::string>& texts,
              bool to_boundary, bool drop) {
             return d.bucket_by_sequence_length(
                 [callback = fn.callback](const Element& e) {
                   return length_of(*callback, e, "element_length_func");
                 },
                 {.bucket_boundaries = boundaries,
                  .bucket_batch_sizes = sizes,
                  .padding = to_padding(shapes, values, texts, drop),
                  .pad_to_bucket_boundary = to_boundary});
           })
      .def(
          "window",
          [](const Dataset& d, std::int64_t size, std::optional<std::int64_t> shift,
             std::int64_t stride, bool drop) {
            return d.window(
                {.size = size, .shift = shift, .stride = stride, .drop_remainder = drop});
          },
          nb::arg("size"), nb::arg("shift").none(), nb::arg("stride"), nb::arg("drop"));
}

void bind_functions(Class& c) {
  c.def("map",
        [](const Dataset& d, const DatasetFunction& fn, std::int64_t num_parallel_calls) {
          return d.map([callback = fn.callback](const Element& e) { return (*callback)(e); },
                       {.num_parallel_calls = num_parallel_calls,
                        .enter = [callback = fn.callback] { return callback->enter(); },
                        .work = work_of(fn)});
        })
      .def("flat_map",
           [](const Dataset& d, const DatasetFunction& fn) {
             return d.flat_map(to_dataset_fn(fn, "`map_func` of flat_map", false));
           })
      .def("interleave",
           [](const Dataset& d, const DatasetFunction& fn, std::int64_t cycle, std::int64_t block,
              bool is_parallel) {
             return d.interleave(to_dataset_fn(fn, "`map_func` of interleave", is_parallel),
                                 {.cycle_length = cycle, .block_length = block});
           })
      .def("scan", &scan)
      .def("group_by_window", &group_by_window)
      .def("unique", [](const Dataset& d) { return d.unique(); })
      .def("ignore_errors",
           [](const Dataset& d) { return d.ignore_errors(&is_python_error_to_ignore); })
      .def("reduce", [](const Dataset& d, nb::handle initial, const DatasetFunction& fn) {
        return from_dataset_element(reduce(d, initial, fn));
      });
}

}  // namespace

void bind_dataset(nb::module_& m) {
  Class c(m, "Dataset");
  bind_sources(c);
  bind_choosing(c);
  bind_batching(c);
  bind_functions(c);
  c.def("cardinality", [](const Dataset& d) { return d.cardinality(); });
  nb::class_<DatasetRun>(m, "DatasetRun")
      .def(nb::init<const Dataset&>())
      .def("next", [](DatasetRun& run) { return next_of(run, false); })
      .def("next_numpy", [](DatasetRun& run) { return next_of(run, true); })
      .def("close", [](DatasetRun& run) { run.close(); });
  m.def("close_dataset_runs", [] { DatasetRun::close_all(); });
  data::set_wait_check(&check_signals);
}

}  // namespace plimsoll::python
