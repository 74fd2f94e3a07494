// What Python asks of layers.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "keras_py_layer.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"
#include "py_tensor.h"

namespace plimsoll::python {
namespace {

using StringLookup = keras::LookupLayer<keras::StringLookupConfig>;
using IntegerLookup = keras::LookupLayer<keras::IntegerLookupConfig>;

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

nb::list to_list(const std::vector<Tensor>& tensors) {
  nb::list all;
  for (const Tensor& t : tensors) all.append(to_python(t));
  return all;
}

std::vector<Tensor> to_tensors(nb::handle values) {
  std::vector<Tensor> tensors;
  for (const nb::handle value : values) tensors.push_back(to_tensor(value));
  return tensors;
}

nb::object call(const KerasObject& object, nb::handle inputs, nb::handle training, nb::handle mask,
                nb::handle named, nb::handle options) {
  const keras::LayerPtr layer = as_layer(object);
  keras::CallArgs args;
  if (!training.is_none()) args.training = to_bool(training, "training");
  args.mask = to_nested(mask);
  if (nb::len(named)) args.named = to_nested(named);
  if (nb::len(options)) args.options = to_json(options);
  const keras::Nested given = to_nested(inputs);
  const keras::Nested result = keras_call([&] { return (*layer)(given, args); });
  const auto python = std::dynamic_pointer_cast<PyLayer>(layer);
  return from_nested(
      result, python && python->result_like().is_valid() ? python->result_like() : nb::none());
}

nb::object add_weight(const KerasObject& object, nb::handle shape, const std::string& name,
                      nb::handle dtype, bool trainable, bool autocast, nb::handle initializer,
                      nb::handle regularizer, nb::handle constraint) {
  const auto layer = as<PyLayer>(object, "a layer of a class in Python");
  keras::WeightOptions options{
      .name = name, .shape = to_shape(shape), .trainable = trainable, .autocast = autocast};
  if (!dtype.is_none()) options.dtype = to_dtype(dtype);
  if (!initializer.is_none())
    options.initializer = as<keras::Initializer>(*find_handle(initializer), "an initializer");
  if (!regularizer.is_none())
    options.regularizer = as<keras::Regularizer>(*find_handle(regularizer), "a regularizer");
  if (!constraint.is_none())
    options.constraint = as<keras::Constraint>(*find_handle(constraint), "a constraint");
  return wrap_variable(keras_call([&] { return layer->make_weight(std::move(options)); }));
}

keras::InputSpec to_spec(nb::handle value) {
  keras::InputSpec spec;
  const auto number = [&](const char* name, std::optional<int>& into) {
    const nb::object found = value.attr(name);
    if (!found.is_none()) into = static_cast<int>(to_int(found, name));
  };
  if (!value.attr("dtype").is_none()) spec.dtype = to_dtype(value.attr("dtype"));
  if (!value.attr("shape").is_none()) spec.shape = to_partial_shape(value.attr("shape"));
  number("ndim", spec.ndim);
  number("max_ndim", spec.max_ndim);
  number("min_ndim", spec.min_ndim);
  for (const auto& [axis, size] : nb::borrow<nb::dict>(value.attr("axes"))) {
    if (!size.is_none()) spec.axes[static_cast<int>(to_int(axis, "axis"))] = to_int(size, "axes");
  }
  return spec;
}

void adapt(const KerasObject& object, nb::handle batches) {
  const auto layer = as<keras::AdaptableLayer>(object, "a layer that adapts to data");
  const std::vector<Tensor> data = to_tensors(batches);
  keras_call([&] { layer->adapt(std::span<const Tensor>(data)); });
}

void reset_state(const KerasObject& object) {
  if (const auto rnn = std::dynamic_pointer_cast<keras::RnnLayer>(object.ptr)) {
    keras_errors([&] { rnn->reset_state(); });
  } else if (const auto both = std::dynamic_pointer_cast<keras::BidirectionalLayer>(object.ptr)) {
    keras_errors([&] { both->reset_state(); });
  } else {
    raise_type_error(fmt::format("a {} has no state to be reset", object.ptr->class_name()));
  }
}

nb::object token_to_python(const std::string& token) {
  return nb::str(token.c_str(), token.size());
}
nb::object token_to_python(std::int64_t token) {
  return nb::int_(token);
}

template <class Lookup, class Token>
nb::list vocabulary_of(const Lookup& lookup, bool include_special_tokens) {
  nb::list words;
  for (const Token& token : lookup.get_vocabulary(include_special_tokens))
    words.append(token_to_python(token));
  return words;
}

nb::object get_vocabulary(const KerasObject& object, bool special) {
  if (const auto* text = dynamic_cast<const keras::TextVectorizationLayer*>(object.ptr.get()))
    return vocabulary_of<keras::TextVectorizationLayer, std::string>(*text, special);
  if (const auto* words = dynamic_cast<const StringLookup*>(object.ptr.get()))
    return vocabulary_of<StringLookup, std::string>(*words, special);
  if (const auto* numbers = dynamic_cast<const IntegerLookup*>(object.ptr.get()))
    return vocabulary_of<IntegerLookup, std::int64_t>(*numbers, special);
  raise_type_error(fmt::format("a {} has no vocabulary", object.ptr->class_name()));
}

void set_vocabulary(const KerasObject& object, nb::handle words, nb::handle idf_weights) {
  std::optional<std::vector<double>> weights;
  if (!idf_weights.is_none()) {
    weights.emplace();
    for (const nb::handle w : idf_weights) weights->push_back(to_double(w, "idf_weights"));
  }
  if (const auto numbers = std::dynamic_pointer_cast<IntegerLookup>(object.ptr)) {
    std::vector<std::int64_t> tokens = to_ints(words, "vocabulary");
    keras_errors([&] { numbers->set_vocabulary(tokens, weights); });
    return;
  }
  std::vector<std::string> tokens;
  for (const nb::handle word : words) tokens.push_back(to_text(word, "vocabulary"));
  if (const auto text = std::dynamic_pointer_cast<keras::TextVectorizationLayer>(object.ptr)) {
    keras_errors([&] { text->set_vocabulary(tokens, weights); });
  } else {
    const auto lookup = as<StringLookup>(object, "a layer with a vocabulary");
    keras_errors([&] { lookup->set_vocabulary(tokens, weights); });
  }
}

void bind_state(nb::module_& m) {
  m.def("layer_name", [](const KerasObject& o) { return as_layer(o)->name(); });
  m.def("layer_set_name",
        [](const KerasObject& o, const std::string& name) { as_layer(o)->set_name(name); });
  m.def("layer_built", [](const KerasObject& o) { return as_layer(o)->built(); });
  m.def("layer_trainable", [](const KerasObject& o) { return as_layer(o)->trainable(); });
  m.def("layer_set_trainable",
        [](const KerasObject& o, bool value) { as_layer(o)->set_trainable(value); });
  m.def("layer_supports_masking",
        [](const KerasObject& o) { return as_layer(o)->supports_masking(); });
  m.def("layer_dtypes", [](const KerasObject& o) {
    const keras::LayerPtr layer = as_layer(o);
    return nb::make_tuple(layer->dtype_policy().name(),
                          std::string(dtype_name(layer->compute_dtype())),
                          std::string(dtype_name(layer->variable_dtype())));
  });
  m.def("layer_count_params", [](const KerasObject& o) {
    return keras_errors([&] { return as_layer(o)->count_params(); });
  });
  m.def("layer_set_path",
        [](const KerasObject& o, const std::string& prefix) { as_layer(o)->set_path(prefix); });
}

void bind_parts(nb::module_& m) {
  m.def("layer_variables",
        [](const KerasObject& o) { return wrap_variables(as_layer(o)->variables()); });
  m.def("layer_weights",
        [](const KerasObject& o) { return wrap_variables(as_layer(o)->weights()); });
  m.def("layer_trainable_weights",
        [](const KerasObject& o) { return wrap_variables(as_layer(o)->trainable_weights()); });
  m.def("layer_non_trainable_weights",
        [](const KerasObject& o) { return wrap_variables(as_layer(o)->non_trainable_weights()); });
  m.def("layer_own_variables",
        [](const KerasObject& o) { return wrap_variables(as_layer(o)->own_variables()); });
  m.def("layer_get_weights", [](const KerasObject& o) {
    nb::list all;
    for (const Tensor& t : as_layer(o)->get_weights()) {
      const nb::object tensor = to_python(t);
      all.append(to_numpy(tensor_of(tensor.ptr()), tensor, false).attr("copy")());
    }
    return all;
  });
  m.def("layer_set_weights", [](const KerasObject& o, nb::handle values) {
    const keras::LayerPtr layer = as_layer(o);
    std::vector<Tensor> tensors;
    const std::vector<keras::VariablePtr> weights = layer->weights();
    std::size_t i = 0;
    for (const nb::handle value : values) {
      Tensor given = to_tensor(value);
      if (i < weights.size() && given.dtype() != weights[i]->dtype())
        given = cast(given, weights[i]->dtype());
      tensors.push_back(std::move(given));
      ++i;
    }
    keras_call([&] { layer->set_weights(tensors); });
  });
  m.def("layer_losses", [](const KerasObject& o) { return to_list(as_layer(o)->losses()); });
  m.def("layer_add_loss",
        [](const KerasObject& o, nb::handle loss) { as_layer(o)->add_loss(to_tensor(loss)); });
  m.def("layer_metrics", [](const KerasObject& o) { return wrap_all(as_layer(o)->metrics()); });
  m.def("layer_sublayers", [](const KerasObject& o) { return wrap_all(as_layer(o)->sublayers()); });
  m.def("layer_named_sublayers", [](const KerasObject& o) {
    nb::dict all;
    for (const keras::NamedLayer& row : as_layer(o)->named_sublayers())
      all[row.name.c_str()] = wrap(row.layer);
    return all;
  });
}

void bind_calls(nb::module_& m) {
  m.def("layer_call", &call, nb::arg("layer"), nb::arg("inputs").none(), nb::arg("training").none(),
        nb::arg("mask").none(), nb::arg("named"), nb::arg("options"));
  m.def("layer_argument_names",
        [](const KerasObject& o) { return as_layer(o)->call_argument_names(); });
  m.def("layer_build", [](const KerasObject& o, nb::handle shapes) {
    const keras::LayerPtr layer = as_layer(o);
    const keras::Shapes given = to_shapes(shapes);
    keras_call([&] { layer->ensure_built(given); });
  });
  m.def("layer_output_shape", [](const KerasObject& o, nb::handle shapes) {
    const keras::LayerPtr layer = as_layer(o);
    const keras::Shapes given = to_shapes(shapes);
    return from_shapes(keras_call([&] { return layer->compute_output_shape(given); }));
  });
  m.def(
      "layer_compute_mask",
      [](const KerasObject& o, nb::handle inputs, nb::handle mask) {
        return from_nested(as_layer(o)->compute_mask(to_nested(inputs), to_nested(mask)));
      },
      nb::arg("layer"), nb::arg("inputs").none(), nb::arg("mask").none());
  m.def("layer_input", [](const KerasObject& o) {
    return from_nested(keras_errors([&] { return as_layer(o)->input(); }));
  });
  m.def("layer_output", [](const KerasObject& o) {
    return from_nested(keras_errors([&] { return as_layer(o)->output(); }));
  });
  m.def("layer_add_weight", &add_weight, nb::arg("layer"), nb::arg("shape"), nb::arg("name"),
        nb::arg("dtype").none(), nb::arg("trainable"), nb::arg("autocast"),
        nb::arg("initializer").none(), nb::arg("regularizer").none(), nb::arg("constraint").none());
  m.def("layer_set_input_spec", [](const KerasObject& o, nb::handle specs) {
    std::vector<keras::InputSpec> found;
    for (const nb::handle spec : specs) found.push_back(to_spec(spec));
    as<PyLayer>(o, "a layer of a class in Python")->set_input_spec(std::move(found));
  });
  m.def("layer_adapt", &adapt);
  m.def("layer_reset_state", &reset_state);
  m.def("layer_get_vocabulary", &get_vocabulary);
  m.def("layer_set_vocabulary", &set_vocabulary, nb::arg("layer"), nb::arg("vocabulary"),
        nb::arg("idf_weights").none());
}

}  // namespace

void bind_keras_layer(nb::module_& m) {
  bind_state(m);
  bind_parts(m);
  bind_calls(m);
}

}  // namespace plimsoll::python
