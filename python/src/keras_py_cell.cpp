// Cells of recurrent layers whose classes are written in Python.
#include <nanobind/stl/vector.h>

#include "keras_nested.h"

namespace plimsoll::python {
namespace {

// A layer that is called on a step's inputs with `states`, and gives the output and new states.
// What it has, and what files say of it, is the layer's.
class PyCell : public keras::RnnCell {
 public:
  PyCell(keras::LayerPtr layer, std::vector<std::int64_t> sizes, std::int64_t output_size)
      : RnnCell({.name = layer->name(), .trainable = layer->trainable()}),
        layer_(std::move(layer)),
        sizes_(std::move(sizes)),
        output_size_(output_size) {}

  std::string class_name() const override { return layer_->class_name(); }
  std::string module() const override { return layer_->module(); }
  std::string registered_name() const override { return layer_->registered_name(); }
  Json get_config() const override { return layer_->get_config(); }
  std::vector<std::int64_t> state_sizes() const override { return sizes_; }
  std::int64_t output_size() const override { return output_size_; }
  void build(const keras::Shapes& shapes) override {
    layer_->ensure_built(shapes);
    for (const keras::VariablePtr& v : layer_->own_variables()) track_variable(v);
    for (const keras::NamedLayer& inner : layer_->named_sublayers())
      track_layer(inner.layer, inner.name);
  }
  keras::RnnStep step(const Tensor& inputs, std::span<const Tensor> states,
                      const keras::CallArgs& args) override {
    keras::Nested::List given;
    for (const Tensor& state : states) given.push_back(keras::Value(state));
    const keras::Nested made = (*layer_)(
        keras::Value(inputs),
        {.training = args.training, .named = keras::Nested::dict({{"states", std::move(given)}})});
    if (made.size() != 2)
      throw InvalidArgumentError(
          fmt::format("cell '{}' has to return its output and its states, {} were returned", name(),
                      made.size()));
    keras::RnnStep result{made[0].leaf().tensor(), {}};
    made[1].for_each([&](const keras::Value& v) { result.states.push_back(v.tensor()); });
    return result;
  }

 private:
  keras::LayerPtr layer_;
  std::vector<std::int64_t> sizes_;
  std::int64_t output_size_;
};

}  // namespace

void bind_keras_py_cell(nb::module_& m) {
  m.def("keras_py_cell",
        [](const KerasObject& layer, std::vector<std::int64_t> sizes, std::int64_t output_size) {
          auto made = std::make_shared<PyCell>(as_layer(layer), std::move(sizes), output_size);
          return nb::cast(KerasObject{std::move(made)});
        });
}

}  // namespace plimsoll::python
