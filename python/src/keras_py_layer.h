// Layers and models whose classes are written in Python.
#pragma once

#include <set>

#include "convert.h"
#include "keras_nested.h"
#include "py_tensor.h"

namespace plimsoll::python {

// Members of the Python object that C++ asks: plimsoll/keras/_layer.py has them.
inline constexpr const char* kFromCoreBuild = "_from_core_build";
inline constexpr const char* kFromCoreCall = "_from_core_call";

// What Python needs of its layers beyond what all layers have.
class PyLayer {
 public:
  PyLayer(nb::handle self, PythonClass described, std::set<std::string> overrides)
      : self_(self, "layer class '" + described.name + "'"),
        class_(std::move(described)),
        overrides_(std::move(overrides)) {}
  virtual ~PyLayer();
  PyLayer(const PyLayer&) = delete;
  PyLayer& operator=(const PyLayer&) = delete;

  virtual keras::VariablePtr make_weight(keras::WeightOptions options) = 0;
  virtual void add_variable(keras::VariablePtr variable) = 0;
  // All layers and metrics inside, in place of those that were tracked before.
  virtual void retrack(const std::vector<keras::NamedLayer>& layers,
                       const std::vector<keras::MetricPtr>& metrics) = 0;
  virtual void set_supports_masking(bool value) = 0;
  virtual void set_autocast(bool value) = 0;
  virtual void mark_built(bool value) = 0;
  virtual void set_input_spec(std::vector<keras::InputSpec> spec) = 0;

  nb::object self() const { return self_.get(); }
  // How tuples stood in what `call` gave last: a structure with None for leaves, or None.
  const nb::object& result_like() const noexcept { return result_like_; }

 protected:
  bool overrides(const char* method) const { return overrides_.contains(method); }
  void build_in_python(const keras::Shapes& shapes);
  keras::Nested call_in_python(const keras::Nested& inputs, const keras::CallArgs& args);
  keras::Nested mask_in_python(const keras::Nested& inputs, const keras::Nested& mask);
  keras::Nested spec_in_python(const keras::Nested& inputs, DType dtype, const std::string& name);
  Json config_in_python() const;
  std::vector<std::string> names_in_python() const;

  PythonSelf self_;
  PythonClass class_;
  std::set<std::string> overrides_;  // methods that the class has of its own
  nb::object result_like_;
};

template <class Base>
class PyLayerOf : public Base, public PyLayer {
 public:
  template <class... Args>
  PyLayerOf(nb::handle self, PythonClass described, std::set<std::string> overridden,
            Args&&... args)
      : Base(std::forward<Args>(args)...),
        PyLayer(self, std::move(described), std::move(overridden)) {}

  std::string class_name() const override { return class_.name; }
  std::string module() const override { return class_.module; }
  std::string registered_name() const override { return class_.registered_name; }
  void build(const keras::Shapes& shapes) override {
    if (overrides("build")) {
      build_in_python(shapes);
    } else {
      Base::build(shapes);
    }
  }
  keras::Nested call(const keras::Nested& inputs, const keras::CallArgs& args) override {
    if constexpr (std::is_same_v<Base, keras::Layer> || std::is_same_v<Base, keras::Model>) {
      return call_in_python(inputs, args);
    } else {
      return overrides("call") ? call_in_python(inputs, args) : Base::call(inputs, args);
    }
  }
  keras::Nested compute_mask(const keras::Nested& inputs, const keras::Nested& mask) override {
    return overrides("compute_mask") ? mask_in_python(inputs, mask)
                                     : Base::compute_mask(inputs, mask);
  }
  keras::Nested compute_output_spec(const keras::Nested& inputs,
                                    const keras::CallArgs& args) override {
    if (overrides("compute_output_shape"))
      return spec_in_python(inputs, this->compute_dtype(), this->name());
    return Base::compute_output_spec(inputs, args);
  }
  std::vector<std::string> call_argument_names() const override {
    return overrides("call") ? names_in_python() : Base::call_argument_names();
  }
  Json get_config() const override {
    return overrides("get_config") ? config_in_python() : Base::get_config();
  }

  keras::VariablePtr make_weight(keras::WeightOptions options) override {
    return this->add_weight(std::move(options));
  }
  void add_variable(keras::VariablePtr variable) override {
    this->track_variable(std::move(variable));
  }
  void retrack(const std::vector<keras::NamedLayer>& layers,
               const std::vector<keras::MetricPtr>& metrics) override {
    if constexpr (std::is_same_v<Base, keras::Layer> || std::is_same_v<Base, keras::Model>) {
      this->untrack_layers();
      for (const keras::NamedLayer& row : layers) this->track_layer(row.layer, row.name);
    } else {  // those of its own graph stay
      for (const keras::NamedLayer& row : layers) {
        const auto& known = this->sublayers();
        if (std::find(known.begin(), known.end(), row.layer) == known.end())
          this->track_layer(row.layer, row.name);
      }
    }
    this->untrack_metrics();
    for (const keras::MetricPtr& metric : metrics) this->track_metric(metric);
  }
  void set_supports_masking(bool value) override { this->supports_masking_ = value; }
  void set_autocast(bool value) override { this->autocast_ = value; }
  void mark_built(bool value) override { this->set_built(value); }
  void set_input_spec(std::vector<keras::InputSpec> spec) override {
    this->input_spec = std::move(spec);
  }
};

// Steps of a model.
class PyModelSteps {
 public:
  virtual ~PyModelSteps() = default;
  // As keras::Model has them, whatever the Python class has.
  virtual keras::StepLogs base_train_step(const keras::Nested& data) = 0;
  virtual keras::StepLogs base_test_step(const keras::Nested& data) = 0;
  virtual keras::Nested base_predict_step(const keras::Nested& data) = 0;
  virtual Tensor base_compute_loss(const keras::Nested& x, const keras::Nested& y,
                                   const keras::Nested& y_pred, const keras::Nested& weight) = 0;
  virtual keras::StepLogs base_compute_metrics(const keras::Nested& x, const keras::Nested& y,
                                               const keras::Nested& y_pred,
                                               const keras::Nested& weight) = 0;
};

// {x, y, sample_weight} as Keras passes it to a step: x, (x, y) or (x, y, sample_weight).
nb::object data_to_python(const keras::Nested& data);
// A structure of named tensors and numbers, as a step returns it.
keras::StepLogs logs_from_python(nb::handle logs);
nb::dict logs_to_python(const keras::StepLogs& logs);

template <class Base>
class PyModelOf : public PyLayerOf<Base>, public PyModelSteps {
 public:
  using PyLayerOf<Base>::PyLayerOf;
  using Nested = keras::Nested;

  keras::StepLogs train_step(const Nested& data) override {
    return this->overrides("train_step") ? step_in_python("train_step", data)
                                         : Base::train_step(data);
  }
  keras::StepLogs test_step(const Nested& data) override {
    return this->overrides("test_step") ? step_in_python("test_step", data) : Base::test_step(data);
  }
  Nested predict_step(const Nested& data) override {
    if (!this->overrides("predict_step")) return Base::predict_step(data);
    const nb::gil_scoped_acquire lock;
    return to_nested(this->self().attr("predict_step")(data_to_python(data)));
  }
  Tensor compute_loss(const Nested& x, const Nested& y, const Nested& y_pred,
                      const Nested& weight) override {
    if (!this->overrides("compute_loss")) return Base::compute_loss(x, y, y_pred, weight);
    const nb::gil_scoped_acquire lock;
    return to_tensor(this->self().attr("compute_loss")(
        nb::arg("x") = from_nested(x), nb::arg("y") = from_nested(y),
        nb::arg("y_pred") = from_nested(y_pred), nb::arg("sample_weight") = from_nested(weight)));
  }
  keras::StepLogs compute_metrics(const Nested& x, const Nested& y, const Nested& y_pred,
                                  const Nested& weight) override {
    if (!this->overrides("compute_metrics")) return Base::compute_metrics(x, y, y_pred, weight);
    const nb::gil_scoped_acquire lock;
    return logs_from_python(this->self().attr("compute_metrics")(
        from_nested(x), from_nested(y), from_nested(y_pred), from_nested(weight)));
  }

  keras::StepLogs base_train_step(const Nested& data) override { return Base::train_step(data); }
  keras::StepLogs base_test_step(const Nested& data) override { return Base::test_step(data); }
  Nested base_predict_step(const Nested& data) override { return Base::predict_step(data); }
  Tensor base_compute_loss(const Nested& x, const Nested& y, const Nested& y_pred,
                           const Nested& weight) override {
    return Base::compute_loss(x, y, y_pred, weight);
  }
  keras::StepLogs base_compute_metrics(const Nested& x, const Nested& y, const Nested& y_pred,
                                       const Nested& weight) override {
    return Base::compute_metrics(x, y, y_pred, weight);
  }

 private:
  keras::StepLogs step_in_python(const char* step, const Nested& data) {
    const nb::gil_scoped_acquire lock;
    return logs_from_python(this->self().attr(step)(data_to_python(data)));
  }
};

}  // namespace plimsoll::python
