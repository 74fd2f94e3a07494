// {"do": "layer"}: a layer made of its configuration, called, and differentiated.
#include "oracle/keras/server.h"
#include "plimsoll/error.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras/layer.h"
#include "plimsoll/ops.h"

namespace plimsoll::oracle {
namespace {

using keras::Nested;
using keras::Value;

keras::CallArgs read_args(const Json& request) {
  keras::CallArgs args;
  if (const Json* training = request.find("training"); training && !training->is_null())
    args.training = training->as_bool();
  if (const Json* mask = request.find("mask")) args.mask = to_nested(*mask);
  if (const Json* named = request.find("named")) args.named = to_nested(*named);
  if (const Json* options = request.find("options")) args.options = *options;
  return args;
}

std::vector<Tensor> flat_tensors(const Nested& values) {
  std::vector<Tensor> tensors;
  values.for_each([&](const Value& v) { tensors.push_back(v.tensor()); });
  return tensors;
}

// The sum of outputs times seeds, of which gradients are taken.
Tensor weighted_sum(std::span<const Tensor> outputs, std::span<const Tensor> seeds) {
  Tensor sum = zeros({}, float32);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_floating(outputs[i].dtype()) || i >= seeds.size() || !seeds[i].is_valid()) continue;
    sum = sum + reduce_sum(cast(outputs[i], float32) * cast(seeds[i], float32));
  }
  return sum;
}

void add_gradients(Json& to, keras::Layer& layer, const Nested& inputs, const keras::CallArgs& args,
                   std::span<const Tensor> seeds) {
  GradientTape tape({.persistent = false});
  std::vector<Tensor> sources = flat_tensors(inputs);
  std::erase_if(sources, [](const Tensor& t) { return !is_floating(t.dtype()); });
  const std::size_t num_inputs = sources.size();
  for (const Tensor& t : sources) tape.watch(t);
  const auto weights = layer.trainable_weights();
  for (const auto& v : weights) tape.watch(v->raw());
  const std::vector<Tensor> outputs = flat_tensors(layer(inputs, args));
  Tensor target = weighted_sum(outputs, seeds);
  for (const Tensor& loss : layer.losses()) target = target + loss;
  for (const auto& v : weights) sources.push_back(v->raw().value());
  const std::vector<Tensor> gradients = tape.gradient(std::span(&target, 1), sources);
  to["input_gradients"] = from_tensors(std::span(gradients).first(num_inputs));
  to["weight_gradients"] = from_tensors(std::span(gradients).subspan(num_inputs));
}

// A shape, or a list of shapes; null is a dimension that is not known.
keras::Shapes to_shapes(const Json& json) {
  if (!json.as_array().empty() && json.as_array()[0].is_array()) {
    keras::Shapes::List list;
    for (const Json& item : json.as_array()) list.push_back(to_shapes(item));
    return list;
  }
  keras::PartialShape shape;
  keras::from_config(json, shape);
  return shape;
}

// The call in a function, with the gradients: what it gives and leaves in the weights must be what
// the eager call does.
void add_traced(Json& to, keras::Layer& layer, const Nested& inputs, const keras::CallArgs& args,
                std::span<const Tensor> seeds) {
  const std::vector<Tensor> before = layer.get_weights();
  const auto weights = layer.trainable_weights();
  std::size_t num_outputs = 0;
  const Function step([&](std::span<const Tensor> in) {
    std::size_t next = 0;
    const Nested given = inputs.map([&](const Value&) { return Value(in[next++]); });
    GradientTape tape;
    for (const Tensor& t : in) {
      if (is_floating(t.dtype())) tape.watch(t);
    }
    std::vector<Tensor> results = flat_tensors(layer(given, args));
    num_outputs = results.size();
    if (seeds.empty()) return results;
    Tensor target = weighted_sum(results, seeds);
    for (const Tensor& loss : layer.losses()) target = target + loss;
    std::vector<Tensor> sources;
    for (const Tensor& t : in) {
      if (is_floating(t.dtype())) sources.push_back(t);
    }
    for (const auto& v : weights) sources.push_back(v->raw().value());
    for (const Tensor& g : tape.gradient(std::span(&target, 1), sources))
      results.push_back(g.is_valid() ? g : zeros({}, float32));
    return results;
  });
  const std::vector<Tensor> results = step(flat_tensors(inputs));
  to["traced_outputs"] = from_tensors(std::span(results).first(num_outputs));
  to["traced_gradients"] = from_tensors(std::span(results).subspan(num_outputs));
  to["traced_weights"] = from_tensors(layer.get_weights());
  layer.set_weights(before);
}

// "layer": its configuration; "inputs", "named", "mask", "training", "options": of the call;
// "weights": set before it; "seeds": gradients of sum(outputs * seeds) and the losses are wanted;
// "traced": the same in a function is wanted; "partial": shapes of inputs of which not everything
// is known, for which those of the outputs are wanted.
Json run_layer(const Json& request) {
  const keras::LayerPtr layer = keras::Layer::get(request.at("layer"));
  const Nested inputs = to_nested(request.at("inputs"));
  const keras::CallArgs args = read_args(request);
  Json reply = Json::object({{"config", layer->get_config()}});
  layer->ensure_built(keras::shapes_of(inputs), keras::shapes_of(args.named));
  if (const Json* weights = request.find("weights"); weights && !weights->is_null())
    layer->set_weights(to_tensors(*weights));
  Json names = Json::array();
  for (const auto& v : layer->weights()) names.push_back(v->path());
  reply["weight_names"] = names;
  if (const Json* seeds = request.find("seeds"); seeds && !seeds->is_null()) {
    const std::vector<Tensor> before = layer->get_weights();
    add_gradients(reply, *layer, inputs, args, to_tensors(*seeds));
    layer->set_weights(before);
  }
  if (const Json* traced = request.find("traced"); traced && traced->as_bool()) {
    const Json* seeds = request.find("seeds");
    add_traced(reply, *layer, inputs, args,
               seeds && !seeds->is_null() ? to_tensors(*seeds) : std::vector<Tensor>());
  }
  // Shapes as a functional model would see them.
  Json shapes = Json::array();
  const Nested specs = layer->compute_output_spec(inputs, args);
  specs.for_each([&](const Value& v) { shapes.push_back(keras::to_config(v.shape())); });
  reply["output_shapes"] = shapes;

  if (const Json* partial = request.find("partial"); partial && !partial->is_null()) {
    Json open_shapes = Json::array();
    layer->compute_output_shape(to_shapes(*partial))
        .for_each([&](const keras::PartialShape& shape) {
          open_shapes.push_back(keras::to_config(shape));
        });
    reply["partial_shapes"] = open_shapes;
  }

  const Nested outputs = (*layer)(inputs, args);
  reply["outputs"] = from_tensors(flat_tensors(outputs));
  reply["losses"] = from_tensors(layer->losses());
  reply["weights"] = from_tensors(layer->get_weights());
  reply["masks"] = from_tensors(flat_tensors(layer->compute_mask(inputs, args.mask)));
  return reply;
}

constexpr HandlerRow kHandlers[] = {{"layer", run_layer}};

}  // namespace

std::span<const HandlerRow> layer_handlers() {
  return kHandlers;
}

}  // namespace plimsoll::oracle
