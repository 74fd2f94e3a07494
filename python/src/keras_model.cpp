// Models: compile, fit, evaluate, predict, files.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "convert.h"
#include "dataset_function.h"
#include "gil.h"
#include "keras_callback.h"
#include "keras_py_layer.h"
#include "plimsoll/device.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

keras::ModelPtr as_model(const KerasObject& object) {
  return as<keras::Model>(object, "a model");
}

nb::object wrap(std::shared_ptr<keras::Object> object) {
  if (!object) return nb::none();
  return nb::cast(KerasObject{std::move(object)});
}
template <class T>
nb::list wrap_all(const std::vector<std::shared_ptr<T>>& objects) {
  nb::list all;
  for (const auto& object : objects) all.append(wrap(object));
  return all;
}

// A structure of names, handles and numbers.
template <class Leaf, class F>
Nest<Leaf> to_spec(nb::handle value, const F& leaf) {
  if (value.is_none()) return {};
  if (PyDict_Check(value.ptr())) {
    typename Nest<Leaf>::Dict members;
    for (const auto& [key, item] : nb::borrow<nb::dict>(value))
      members.emplace_back(nb::cast<std::string>(key), to_spec<Leaf>(item, leaf));
    return members;
  }
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    typename Nest<Leaf>::List items;
    for (const nb::handle item : value) items.push_back(to_spec<Leaf>(item, leaf));
    return items;
  }
  return Nest<Leaf>(leaf(value));
}

keras::LossArg to_loss(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return keras::LossArg(nb::cast<std::string>(value));
  return keras::LossArg(as<keras::Loss>(*find_handle(value), "a loss"));
}
keras::MetricSpecItem to_metric(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return keras::MetricSpecItem(nb::cast<std::string>(value));
  return keras::MetricSpecItem(as<keras::Metric>(*find_handle(value), "a metric"));
}

void compile(const KerasObject& object, const KerasObject& optimizer, nb::handle loss,
             nb::handle metrics, nb::handle weighted_metrics, nb::handle loss_weights,
             const std::string& memory_budget, bool run_eagerly, bool auto_scale_loss) {
  const keras::ModelPtr model = as_model(object);
  keras_errors([&] {
    keras::CompileOptions options{
        .optimizer = as<keras::Optimizer>(optimizer, "an optimizer"),
        .loss = to_spec<keras::LossArg>(loss, to_loss),
        .metrics = to_spec<keras::MetricSpecItem>(metrics, to_metric),
        .weighted_metrics = to_spec<keras::MetricSpecItem>(weighted_metrics, to_metric),
        .loss_weights = to_spec<double>(
            loss_weights, [](nb::handle value) { return to_double(value, "loss_weights"); }),
        .memory_budget = memory_budget,
        .run_eagerly = run_eagerly,
        .auto_scale_loss = auto_scale_loss};
    model->compile(std::move(options));
  });
}

keras::Verbose to_verbose(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return keras::Verbose::kAuto;
  return static_cast<keras::Verbose>(to_int(value, "verbose"));
}
std::optional<std::int64_t> maybe_int(nb::handle value, const char* what) {
  return value.is_none() ? std::nullopt : std::optional(to_int(value, what));
}

// Arrays and batches of a caller: they stay on the host, and batches go where the step runs.
keras::Nested to_data(nb::handle value) {
  const DeviceScope on_host = device("CPU:0");
  return to_nested(value, true);
}

data::Element to_element(nb::handle value) {
  return to_data(value).map([](const keras::Value& v) { return v.tensor(); });
}

// Batches of a Python object: make() gives an iterator for each run through the data.
data::Dataset batches_of(nb::handle make, std::optional<std::int64_t> num_batches,
                         bool is_one_shot) {
  return data::Dataset::from_generator(
      [kept = share(nb::borrow(make))]() -> data::Dataset::Generator {
        const nb::gil_scoped_acquire lock;
        return [iterator = share(nb::borrow(kept.get())())]() -> std::optional<data::Element> {
          const nb::gil_scoped_acquire inner;
          const std::optional<nb::object> item = next_item(iterator.get());
          return item ? std::optional(to_element(*item)) : std::nullopt;
        };
      },
      {.num_elements = num_batches.value_or(data::kUnknown), .is_one_shot = is_one_shot});
}

// What fit is told, as plimsoll/keras/_training.py collects it.
keras::FitOptions to_fit_options(nb::dict given, nb::handle model) {
  keras::FitOptions options;
  options.batch_size = to_int(given["batch_size"], "batch_size");
  options.epochs = to_int(given["epochs"], "epochs");
  options.verbose = to_verbose(given["verbose"]);
  options.callbacks = to_callbacks(given["callbacks"], model);
  options.validation_split = to_double(given["validation_split"], "validation_split");
  const nb::object validation = given["validation_data"];
  if (!validation.is_none()) {
    options.validation_data = {borrow_nested(validation[0]), borrow_nested(validation[1]),
                               borrow_nested(validation[2])};
  }
  if (!nb::object(given["validation_dataset"]).is_none())
    options.validation_dataset = nb::cast<data::Dataset>(given["validation_dataset"]);
  options.shuffle = to_bool(given["shuffle"], "shuffle");
  for (const auto& [number, weight] : nb::borrow<nb::dict>(given["class_weight"]))
    options.class_weight[to_int(number, "class_weight")] = to_double(weight, "class_weight");
  options.sample_weight = borrow_nested(given["sample_weight"]);
  options.initial_epoch = to_int(given["initial_epoch"], "initial_epoch");
  options.steps_per_epoch = maybe_int(given["steps_per_epoch"], "steps_per_epoch");
  options.validation_steps = maybe_int(given["validation_steps"], "validation_steps");
  options.validation_batch_size =
      maybe_int(given["validation_batch_size"], "validation_batch_size");
  options.validation_freq = to_int(given["validation_freq"], "validation_freq");
  return options;
}

nb::object history_to_python(const keras::History& history) {
  nb::dict rows;
  for (const auto& [name, values] : history.history) rows[name.c_str()] = nb::cast(values);
  return nb::make_tuple(nb::cast(history.epoch), rows, history.planned_peak_bytes,
                        history.measured_peak_bytes);
}

nb::object fit(const KerasObject& object, nb::handle python_model, nb::handle x, nb::handle y,
               nb::handle dataset, nb::dict given) {
  const keras::ModelPtr model = as_model(object);
  keras::FitOptions options = to_fit_options(given, python_model);
  if (!dataset.is_none()) {
    const auto batches = nb::cast<data::Dataset>(dataset);
    return history_to_python(*keras_call([&] { return model->fit(batches, std::move(options)); }));
  }
  const keras::Nested data = borrow_nested(x), labels = borrow_nested(y);
  return history_to_python(
      *keras_call([&] { return model->fit(data, labels, std::move(options)); }));
}

nb::object evaluate(const KerasObject& object, nb::handle python_model, nb::handle x, nb::handle y,
                    nb::handle dataset, nb::dict given) {
  const keras::ModelPtr model = as_model(object);
  keras::EvaluateOptions options;
  options.batch_size = to_int(given["batch_size"], "batch_size");
  options.verbose = to_verbose(given["verbose"]);
  options.sample_weight = borrow_nested(given["sample_weight"]);
  options.steps = maybe_int(given["steps"], "steps");
  options.callbacks = to_callbacks(given["callbacks"], python_model);
  if (!dataset.is_none()) {
    const auto batches = nb::cast<data::Dataset>(dataset);
    return logs_to_dict(keras_call([&] { return model->evaluate(batches, options); }));
  }
  const keras::Nested data = borrow_nested(x), labels = borrow_nested(y);
  return logs_to_dict(keras_call([&] { return model->evaluate(data, labels, options); }));
}

nb::object predict(const KerasObject& object, nb::handle python_model, nb::handle x,
                   nb::handle dataset, nb::dict given) {
  const keras::ModelPtr model = as_model(object);
  keras::PredictOptions options;
  options.batch_size = to_int(given["batch_size"], "batch_size");
  options.verbose = to_verbose(given["verbose"]);
  options.steps = maybe_int(given["steps"], "steps");
  options.callbacks = to_callbacks(given["callbacks"], python_model);
  if (!dataset.is_none()) {
    const auto batches = nb::cast<data::Dataset>(dataset);
    return numpy_from_nested(keras_call([&] { return model->predict(batches, options); }));
  }
  const keras::Nested data = borrow_nested(x);
  return numpy_from_nested(keras_call([&] { return model->predict(data, options); }));
}

nb::object train_on_batch(const KerasObject& object, nb::handle x, nb::handle y, nb::handle weight,
                          nb::handle class_weight) {
  const keras::ModelPtr model = as_model(object);
  std::map<std::int64_t, double> by_class;
  for (const auto& [number, w] : nb::borrow<nb::dict>(class_weight))
    by_class[to_int(number, "class_weight")] = to_double(w, "class_weight");
  const keras::Nested data = borrow_nested(x), labels = borrow_nested(y),
                      weights = borrow_nested(weight);
  return logs_to_dict(
      keras_call([&] { return model->train_on_batch(data, labels, weights, by_class); }));
}
nb::object test_on_batch(const KerasObject& object, nb::handle x, nb::handle y, nb::handle weight) {
  const keras::ModelPtr model = as_model(object);
  const keras::Nested data = to_data(x), labels = to_data(y), weights = to_data(weight);
  return logs_to_dict(keras_call([&] { return model->test_on_batch(data, labels, weights); }));
}

nb::dict plan_to_python(const keras::FitPlan& plan) {
  nb::dict made;
  made["peak_bytes"] = plan.peak_bytes;
  made["limit_bytes"] = plan.limit_bytes;
  made["limit_origin"] = plan.limit_origin;
  made["weights_bytes"] = plan.weights_bytes;
  made["optimizer_bytes"] = plan.optimizer_bytes;
  made["arena_bytes"] = plan.arena_bytes;
  made["batch_bytes"] = plan.batch_bytes;
  made["pipeline_bytes"] = plan.pipeline_bytes;
  made["other_bytes"] = plan.other_bytes;
  made["training_room_bytes"] = plan.training_room_bytes;
  made["validation_room_bytes"] = plan.validation_room_bytes;
  made["cached_bytes"] = plan.cached_bytes;
  made["has_open_cache"] = plan.has_open_cache;
  made["is_exact"] = plan.is_exact;
  made["is_bounded"] = plan.is_bounded;
  made["text"] = plan.to_string();
  return made;
}

keras::PlanOptions to_plan_options(std::int64_t batch_size, nb::handle shapes) {
  keras::PlanOptions options{.batch_size = batch_size};
  for (const nb::handle shape : shapes) options.input_shapes.push_back(to_partial_shape(shape));
  return options;
}

void bind_running(nb::module_& m) {
  m.def("model_compile", &compile, nb::arg("model"), nb::arg("optimizer"), nb::arg("loss").none(),
        nb::arg("metrics").none(), nb::arg("weighted_metrics").none(),
        nb::arg("loss_weights").none(), nb::arg("memory_budget"), nb::arg("run_eagerly"),
        nb::arg("auto_scale_loss"));
  m.def("model_compiled", [](const KerasObject& o) { return as_model(o)->compiled(); });
  m.def("model_fit", &fit, nb::arg("model"), nb::arg("python_model"), nb::arg("x").none(),
        nb::arg("y").none(), nb::arg("dataset").none(), nb::arg("options"));
  m.def("model_evaluate", &evaluate, nb::arg("model"), nb::arg("python_model"), nb::arg("x").none(),
        nb::arg("y").none(), nb::arg("dataset").none(), nb::arg("options"));
  m.def("model_predict", &predict, nb::arg("model"), nb::arg("python_model"), nb::arg("x").none(),
        nb::arg("dataset").none(), nb::arg("options"));
  m.def("model_train_on_batch", &train_on_batch, nb::arg("model"), nb::arg("x"),
        nb::arg("y").none(), nb::arg("weight").none(), nb::arg("class_weight"));
  m.def("model_test_on_batch", &test_on_batch, nb::arg("model"), nb::arg("x"), nb::arg("y").none(),
        nb::arg("weight").none());
  m.def("model_predict_on_batch", [](const KerasObject& o, nb::handle x) {
    const keras::ModelPtr model = as_model(o);
    const keras::Nested data = to_data(x);
    return numpy_from_nested(keras_call([&] { return model->predict_on_batch(data); }));
  });
  m.def(
      "model_plan_fit",
      [](const KerasObject& o, nb::handle python_model, nb::handle x, nb::handle y,
         nb::handle dataset, nb::dict given) {
        const keras::ModelPtr model = as_model(o);
        const keras::FitOptions options = to_fit_options(given, python_model);
        if (!dataset.is_none()) {
          const auto batches = nb::cast<data::Dataset>(dataset);
          return plan_to_python(keras_call([&] { return model->plan_fit(batches, options); }));
        }
        const keras::Nested data = borrow_nested(x), labels = borrow_nested(y);
        return plan_to_python(keras_call([&] { return model->plan_fit(data, labels, options); }));
      },
      nb::arg("model"), nb::arg("python_model"), nb::arg("x").none(), nb::arg("y").none(),
      nb::arg("dataset").none(), nb::arg("options"));
  m.def("batches_of", &batches_of, nb::arg("make"), nb::arg("num_batches").none(),
        nb::arg("is_one_shot"));
  m.def("model_plan",
        [](const KerasObject& o, bool trains, std::int64_t batch_size, nb::handle shapes) {
          const keras::ModelPtr model = as_model(o);
          const keras::PlanOptions options = to_plan_options(batch_size, shapes);
          return plan_to_python(keras_call(
              [&] { return trains ? model->plan_train(options) : model->plan_predict(options); }));
        });
}

void bind_steps(nb::module_& m) {
  const auto steps_of = [](const KerasObject& o) {
    return std::dynamic_pointer_cast<PyModelSteps>(o.ptr);
  };
  m.def("model_train_step", [=](const KerasObject& o, nb::handle data) {
    const keras::Nested given = to_nested(data);
    const auto steps = steps_of(o);
    return logs_to_python(keras_errors(
        [&] { return steps ? steps->base_train_step(given) : as_model(o)->train_step(given); }));
  });
  m.def("model_test_step", [=](const KerasObject& o, nb::handle data) {
    const keras::Nested given = to_nested(data);
    const auto steps = steps_of(o);
    return logs_to_python(keras_errors(
        [&] { return steps ? steps->base_test_step(given) : as_model(o)->test_step(given); }));
  });
  m.def("model_predict_step", [=](const KerasObject& o, nb::handle data) {
    const keras::Nested given = to_nested(data);
    const auto steps = steps_of(o);
    return from_nested(keras_errors([&] {
      return steps ? steps->base_predict_step(given) : as_model(o)->predict_step(given);
    }));
  });
  m.def(
      "model_compute_loss",
      [=](const KerasObject& o, nb::handle x, nb::handle y, nb::handle y_pred, nb::handle weight) {
        const keras::Nested data = to_nested(x), labels = to_nested(y),
                            predicted = to_nested(y_pred), weights = to_nested(weight);
        const auto steps = steps_of(o);
        return to_python(keras_errors([&] {
          return steps ? steps->base_compute_loss(data, labels, predicted, weights)
                       : as_model(o)->compute_loss(data, labels, predicted, weights);
        }));
      },
      nb::arg("model"), nb::arg("x").none(), nb::arg("y").none(), nb::arg("y_pred").none(),
      nb::arg("weight").none());
  m.def(
      "model_compute_metrics",
      [=](const KerasObject& o, nb::handle x, nb::handle y, nb::handle y_pred, nb::handle weight) {
        const keras::Nested data = to_nested(x), labels = to_nested(y),
                            predicted = to_nested(y_pred), weights = to_nested(weight);
        const auto steps = steps_of(o);
        return logs_to_python(keras_errors([&] {
          return steps ? steps->base_compute_metrics(data, labels, predicted, weights)
                       : as_model(o)->compute_metrics(data, labels, predicted, weights);
        }));
      },
      nb::arg("model"), nb::arg("x").none(), nb::arg("y").none(), nb::arg("y_pred").none(),
      nb::arg("weight").none());
}

void bind_parts(nb::module_& m) {
  m.def("model_layers", [](const KerasObject& o) { return wrap_all(as_model(o)->layers()); });
  m.def("model_optimizer", [](const KerasObject& o) {
    return as_model(o)->compiled() ? wrap(as_model(o)->optimizer()) : nb::none();
  });
  m.def("model_metrics", [](const KerasObject& o) {
    return as_model(o)->compiled() ? wrap_all(as_model(o)->model_metrics())
                                   : wrap_all(as_model(o)->metrics());
  });
  m.def("model_reset_metrics", [](const KerasObject& o) { as_model(o)->reset_metrics(); });
  m.def("model_stop_training", [](const KerasObject& o) { return as_model(o)->stop_training; });
  m.def("model_set_stop_training",
        [](const KerasObject& o, bool value) { as_model(o)->stop_training = value; });
  m.def("model_output_names", [](const KerasObject& o) { return as_model(o)->output_names(); });
  m.def("model_summary", [](const KerasObject& o, std::int64_t batch_size, int line_length,
                            bool expand_nested, bool show_trainable) {
    return as_model(o)->summary({.batch_size = batch_size,
                                 .line_length = line_length,
                                 .expand_nested = expand_nested,
                                 .show_trainable = show_trainable});
  });
  m.def("model_ends", [](const KerasObject& o) -> nb::object {
    const keras::FunctionalModel* graph = dynamic_cast<const keras::FunctionalModel*>(o.ptr.get());
    if (const auto* sequence = dynamic_cast<const keras::SequentialModel*>(o.ptr.get()))
      graph = sequence->functional();
    if (!graph) return nb::none();
    return nb::make_tuple(from_nested(graph->inputs()), from_nested(graph->outputs()));
  });
  m.def("sequential_add", [](const KerasObject& o, nb::handle item) {
    const auto model = as<keras::SequentialModel>(o, "a Sequential model");
    keras_errors([&] {
      if (nb::isinstance<keras::KerasTensor>(item)) {
        model->add(*nb::inst_ptr<keras::KerasTensor>(item));
      } else {
        model->add(as_layer(*find_handle(item)));
      }
    });
  });
  m.def("sequential_pop", [](const KerasObject& o) {
    return wrap(as<keras::SequentialModel>(o, "a Sequential model")->pop());
  });
}

void bind_files(nb::module_& m) {
  m.def("model_save",
        [](const KerasObject& o, const std::string& path, bool overwrite, bool include_optimizer) {
          const keras::ModelPtr model = as_model(o);
          keras_call([&] {
            model->save(path, {.overwrite = overwrite, .include_optimizer = include_optimizer});
          });
        });
  m.def("model_save_weights", [](const KerasObject& o, const std::string& path, bool overwrite) {
    const keras::ModelPtr model = as_model(o);
    keras_call([&] { model->save_weights(path, {.overwrite = overwrite}); });
  });
  m.def("model_load_weights",
        [](const KerasObject& o, const std::string& path, bool by_name, bool skip_mismatch) {
          const keras::ModelPtr model = as_model(o);
          keras_call([&] {
            model->load_weights(path, {.by_name = by_name, .skip_mismatch = skip_mismatch});
          });
        });
  m.def("keras_load_model", [](const std::string& path, bool compiles, bool without_weights) {
    return wrap(keras_call([&] {
      return keras::load_model(path, {.compile = compiles, .without_weights = without_weights});
    }));
  });
  m.def("keras_clone_model", [](const KerasObject& o) {
    const keras::ModelPtr model = as_model(o);
    return wrap(keras_call([&] { return keras::clone_model(*model); }));
  });
}

void print_in_python(const std::string& text) {
  const nb::gil_scoped_acquire lock;
  nb::object out = nb::module_::import_("sys").attr("stdout");
  if (out.is_none()) return;
  out.attr("write")(nb::str(text.c_str(), text.size()));
  out.attr("flush")();
}

}  // namespace

void bind_keras_model(nb::module_& m) {
  bind_running(m);
  bind_steps(m);
  bind_parts(m);
  bind_files(m);
  m.def("keras_print_in_python", [] { keras::utils::set_printer(print_in_python); });
  m.def("keras_clear_session", [] { keras::clear_session(); });
  m.def("keras_set_random_seed", [](std::int64_t seed) { keras::utils::set_random_seed(seed); });
  m.def("keras_set_policy", [](const std::string& name) {
    keras_errors([&] { keras::mixed_precision::set_global_policy(keras::DTypePolicy(name)); });
  });
  m.def(
      "keras_policy",
      [](nb::handle name) {
        const keras::DTypePolicy policy =
            name.is_none()
                ? keras::mixed_precision::global_policy()
                : keras_errors([&] { return keras::DTypePolicy(nb::cast<std::string>(name)); });
        return nb::make_tuple(policy.name(), std::string(dtype_name(policy.compute_dtype())),
                              std::string(dtype_name(policy.variable_dtype())));
      },
      nb::arg("name").none() = nb::none());
  m.def(
      "keras_to_categorical",
      [](nb::handle x, nb::handle num_classes) {
        const Tensor labels = to_tensor(x);
        const auto num = maybe_int(num_classes, "num_classes");
        return to_python(keras_errors([&] { return keras::utils::to_categorical(labels, num); }));
      },
      nb::arg("x"), nb::arg("num_classes").none() = nb::none());
}

}  // namespace plimsoll::python
