// {"do": "layer"}: a layer made of its configuration, called, and differentiated.
#include "keras/backend.h"
#include "oracle/keras/server.h"
#include "plimsoll/error.h"
#include "plimsoll/function.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/keras/layer.h"
#include "plimsoll/keras/layers/preprocessing.h"
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

// Sets the masks that "carried" names on the inputs and named tensors.
void carry_masks(const Json& request, const Nested& inputs, const Nested& named) {
  const Json* carried = request.find("carried");
  if (!carried || carried->is_null()) return;
  for (const auto& [key, mask] : carried->as_object()) {
    const Nested* to = key == "inputs" ? &inputs : named.find(key);
    if (!to) throw InvalidArgumentError("a mask for '" + key + "', which is not there");
    const std::vector<Tensor> carriers = flat_tensors(*to);
    const std::vector<Tensor> masks =
        mask.is_array() ? to_tensors(mask) : std::vector{to_tensor(mask)};
    for (std::size_t i = 0; i < carriers.size() && i < masks.size(); ++i) {
      if (masks[i].is_valid()) keras::set_keras_mask(carriers[i], masks[i]);
    }
  }
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

// Of inputs and named tensors, then of weights; empty where there is none.
std::vector<Tensor> gradients_of(keras::Layer& layer, const Nested& inputs,
                                 const keras::CallArgs& args, std::span<const Tensor> seeds,
                                 std::vector<Tensor>& outputs) {
  GradientTape tape({.persistent = false});
  std::vector<Tensor> sources = flat_tensors({inputs, args.named});
  std::erase_if(sources, [](const Tensor& t) { return !is_floating(t.dtype()); });
  for (const Tensor& t : sources) tape.watch(t);
  const auto weights = layer.trainable_weights();
  for (const auto& v : weights) tape.watch(v->raw());
  outputs = flat_tensors(layer(inputs, args));
  Tensor target = weighted_sum(outputs, seeds);
  for (const Tensor& loss : layer.losses()) target = target + loss;
  for (const auto& v : weights) sources.push_back(v->raw().value());
  return tape.gradient(std::span(&target, 1), sources);
}

void add_gradients(Json& to, keras::Layer& layer, const Nested& inputs, const keras::CallArgs& args,
                   std::span<const Tensor> seeds) {
  std::vector<Tensor> outputs;
  const std::vector<Tensor> gradients = gradients_of(layer, inputs, args, seeds, outputs);
  const std::size_t num_inputs = gradients.size() - layer.trainable_weights().size();
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

// The same in a function: outputs, then the gradients that there are.
void add_traced(Json& to, keras::Layer& layer, const Nested& inputs, const keras::CallArgs& args,
                std::span<const Tensor> seeds, const Json& request) {
  const auto f = Function([&](std::span<const Tensor> in) -> std::vector<Tensor> {
    std::size_t next = 0;
    const auto replace = [&](const Value&) { return Value(in[next++]); };
    const Nested traced_inputs = inputs.map(replace);
    keras::CallArgs traced = args;
    traced.named = args.named.map(replace);
    traced.mask = args.mask.map(replace);
    carry_masks(request, traced_inputs, traced.named);
    if (seeds.empty()) return flat_tensors(layer(traced_inputs, traced));
    std::vector<Tensor> results;
    for (const Tensor& g : gradients_of(layer, traced_inputs, traced, seeds, results)) {
      if (g.is_valid()) results.push_back(g);
    }
    return results;
  });
  to["traced"] = from_tensors(f(flat_tensors({inputs, args.named, args.mask})));
}

// "layer": its configuration; "inputs", "named", "mask", "training", "options", "carried": of the
// call;
// "weights": set before it; "seeds": gradients of sum(outputs * seeds) and the losses are wanted;
// "traced": everything is wanted as it is in a function, too; "partial": shapes of inputs of which
// not everything is known, for which those of the outputs are wanted.
Json run_layer(const Json& request) {
  const keras::LayerPtr layer = keras::Layer::get(request.at("layer"));
  const Nested inputs = to_nested(request.at("inputs"));
  const keras::CallArgs args = read_args(request);
  carry_masks(request, inputs, args.named);
  if (const Json* data = request.find("adapt"); data && !data->is_null())
    dynamic_cast<keras::AdaptableLayer&>(*layer).adapt(to_tensor(*data));
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
    if (const Json* traced = request.find("traced"); traced && traced->as_bool()) {
      add_traced(reply, *layer, inputs, args, to_tensors(*seeds), request);
      layer->set_weights(before);
    }
  } else if (const Json* traced = request.find("traced"); traced && traced->as_bool()) {
    add_traced(reply, *layer, inputs, args, {}, request);
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
  std::vector<Tensor> masks;
  for (const Tensor& t : flat_tensors(outputs)) masks.push_back(keras::keras_mask(t));
  reply["masks"] = from_tensors(masks);
  return reply;
}

constexpr HandlerRow kHandlers[] = {{"layer", run_layer}};

}  // namespace

std::span<const HandlerRow> layer_handlers() {
  return kHandlers;
}

}  // namespace plimsoll::oracle
