// Callbacks: Keras's own, and those that are written in Python.
#include "keras_callback.h"

#include <nanobind/stl/vector.h>

#include "convert.h"

namespace plimsoll::python {

nb::dict logs_to_dict(const keras::Logs& logs) {
  nb::dict made;
  for (const auto& [name, value] : logs) made[name.c_str()] = value;
  return made;
}

namespace {

keras::Logs logs_from_dict(nb::handle logs) {
  keras::Logs made;
  if (logs.is_none()) return made;
  for (const auto& [name, value] : nb::borrow<nb::dict>(logs))
    made.emplace_back(nb::cast<std::string>(name), to_double(value, "logs"));
  return made;
}

// Calls a Python object, which lives as long as the fit that it is for.
class PyCallback : public keras::Callback {
 public:
  PyCallback(nb::object callback, nb::object model)
      : callback_(std::move(callback)), python_model_(std::move(model)) {}
  ~PyCallback() override {
    const nb::gil_scoped_acquire lock;
    callback_.reset();
    python_model_.reset();
  }

  void set_params(const keras::CallbackParams& params) override {
    const nb::gil_scoped_acquire lock;
    Callback::set_params(params);
    callback_.attr("set_params")(to_python(params.values));
  }
  void set_model(keras::Model* model) override {
    const nb::gil_scoped_acquire lock;
    Callback::set_model(model);
    callback_.attr("set_model")(python_model_);
  }
  void on_train_begin(const keras::Logs& logs) override { tell("on_train_begin", logs); }
  void on_train_end(const keras::Logs& logs) override { tell("on_train_end", logs); }
  void on_epoch_begin(std::int64_t epoch, const keras::Logs& logs) override {
    tell("on_epoch_begin", epoch, logs);
  }
  void on_epoch_end(std::int64_t epoch, keras::Logs& logs) override {
    const nb::gil_scoped_acquire lock;
    const nb::dict given = logs_to_dict(logs);
    callback_.attr("on_epoch_end")(epoch, given);
    for (const auto& [name, value] : given) {  // what it added, or changed
      if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr()) ||
          nb::hasattr(value, "__float__"))
        logs.set(nb::cast<std::string>(name), to_double(value, "logs"));
    }
  }
  void on_train_batch_begin(std::int64_t batch, const keras::Logs& logs) override {
    tell("on_train_batch_begin", batch, logs);
  }
  void on_train_batch_end(std::int64_t batch, const keras::Logs& logs) override {
    tell("on_train_batch_end", batch, logs);
  }
  void on_test_begin(const keras::Logs& logs) override { tell("on_test_begin", logs); }
  void on_test_end(const keras::Logs& logs) override { tell("on_test_end", logs); }
  void on_test_batch_begin(std::int64_t batch, const keras::Logs& logs) override {
    tell("on_test_batch_begin", batch, logs);
  }
  void on_test_batch_end(std::int64_t batch, const keras::Logs& logs) override {
    tell("on_test_batch_end", batch, logs);
  }
  void on_predict_begin(const keras::Logs& logs) override { tell("on_predict_begin", logs); }
  void on_predict_end(const keras::Logs& logs) override { tell("on_predict_end", logs); }
  void on_predict_batch_begin(std::int64_t batch, const keras::Logs& logs) override {
    tell("on_predict_batch_begin", batch, logs);
  }
  void on_predict_batch_end(std::int64_t batch, const keras::Logs& logs) override {
    tell("on_predict_batch_end", batch, logs);
  }

 private:
  void tell(const char* method, const keras::Logs& logs) {
    const nb::gil_scoped_acquire lock;
    callback_.attr(method)(logs_to_dict(logs));
  }
  void tell(const char* method, std::int64_t number, const keras::Logs& logs) {
    const nb::gil_scoped_acquire lock;
    callback_.attr(method)(number, logs_to_dict(logs));
  }

  nb::object callback_, python_model_;
};

// Lets Python see an interrupt between batches.
class SignalCallback : public keras::Callback {
 public:
  void on_train_batch_end(std::int64_t, const keras::Logs&) override { check(); }
  void on_test_batch_end(std::int64_t, const keras::Logs&) override { check(); }
  void on_predict_batch_end(std::int64_t, const keras::Logs&) override { check(); }

 private:
  static void check() {
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
};

// A method of a callback that was made by name, for classes in Python that extend it.
void tell(const KerasCallback& callback, const std::string& method, std::int64_t number,
          nb::handle logs) {
  keras::Callback& c = *callback.ptr;
  keras::Logs given = logs_from_dict(logs);
  using Plain = void (keras::Callback::*)(const keras::Logs&);
  using Numbered = void (keras::Callback::*)(std::int64_t, const keras::Logs&);
  static const std::map<std::string, Plain> plain{
      {"on_train_begin", &keras::Callback::on_train_begin},
      {"on_train_end", &keras::Callback::on_train_end},
      {"on_test_begin", &keras::Callback::on_test_begin},
      {"on_test_end", &keras::Callback::on_test_end},
      {"on_predict_begin", &keras::Callback::on_predict_begin},
      {"on_predict_end", &keras::Callback::on_predict_end},
  };
  static const std::map<std::string, Numbered> numbered{
      {"on_epoch_begin", &keras::Callback::on_epoch_begin},
      {"on_train_batch_begin", &keras::Callback::on_train_batch_begin},
      {"on_train_batch_end", &keras::Callback::on_train_batch_end},
      {"on_test_batch_begin", &keras::Callback::on_test_batch_begin},
      {"on_test_batch_end", &keras::Callback::on_test_batch_end},
      {"on_predict_batch_begin", &keras::Callback::on_predict_batch_begin},
      {"on_predict_batch_end", &keras::Callback::on_predict_batch_end},
  };
  keras_errors([&] {
    if (const auto found = plain.find(method); found != plain.end()) {
      (c.*found->second)(given);
    } else if (const auto more = numbered.find(method); more != numbered.end()) {
      (c.*more->second)(number, given);
    } else {
      c.on_epoch_end(number, given);
    }
  });
  if (method == "on_epoch_end" && !logs.is_none()) {
    nb::dict back = nb::borrow<nb::dict>(logs);
    for (const auto& [name, value] : given) back[name.c_str()] = value;
  }
}

}  // namespace

std::vector<keras::CallbackPtr> to_callbacks(nb::handle callbacks, nb::handle model) {
  std::vector<keras::CallbackPtr> made;
  for (const nb::handle callback : callbacks) {
    if (nb::isinstance<KerasCallback>(callback)) {
      made.push_back(nb::inst_ptr<KerasCallback>(callback)->ptr);
    } else {
      made.push_back(std::make_shared<PyCallback>(nb::borrow(callback), nb::borrow(model)));
    }
  }
  made.push_back(std::make_shared<SignalCallback>());
  return made;
}

void bind_keras_callback(nb::module_& m) {
  nb::class_<KerasCallback>(m, "KerasCallback", nb::is_weak_referenceable())
      .def("tell", &tell, nb::arg("method"), nb::arg("number"), nb::arg("logs").none())
      .def("set_model",
           [](const KerasCallback& c, const KerasObject& model) {
             c.ptr->set_model(as<keras::Model>(model, "a model").get());
           })
      .def("set_params",
           [](const KerasCallback& c, nb::handle params) { c.ptr->set_params({to_json(params)}); })
      .def("early_stopping", [](const KerasCallback& c) {
        const auto* stop = dynamic_cast<const keras::EarlyStoppingCallback*>(c.ptr.get());
        if (!stop) raise_type_error("this callback stops nothing");
        return nb::make_tuple(stop->wait, stop->stopped_epoch, stop->best_epoch);
      });
  m.def("callback_names", [] { return keras::callback_names(); });
  m.def("callback_defaults",
        [](const std::string& name) { return to_python(keras::default_callback_config(name)); });
  m.def("callback_make", [](const std::string& name, nb::handle config) {
    return KerasCallback{keras_errors([&] { return keras::make_callback(name, to_json(config)); })};
  });
}

}  // namespace plimsoll::python
