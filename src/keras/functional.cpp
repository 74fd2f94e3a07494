#include "keras/functional.h"

#include "base/check.h"
#include "keras/backend.h"
#include "keras/model_config.h"
#include "plimsoll/keras/model.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

// Inputs in the order of the model's own: by name if a dictionary came, else by position.
std::vector<Value> in_order(const Nested& given, const Nested& wanted, const std::string& model) {
  std::vector<KerasTensor> slots;
  wanted.for_each([&](const Value& v) { slots.push_back(v.symbolic()); });
  std::vector<Value> values;
  if (given.is_dict()) {
    std::vector<std::string> keys;
    if (wanted.is_dict()) {
      for (const auto& member : wanted.dict()) keys.push_back(member.first);
    } else {
      for (const KerasTensor& t : slots) keys.push_back(t.name());
    }
    for (const std::string& key : keys) {
      const Nested* found = given.find(key);
      PLIMSOLL_CHECK(found, InvalidArgumentError, "Missing data for input \"{}\" of model '{}'.",
                     key, model);
      values.push_back(found->leaf());
    }
  } else {
    values = given.flatten();
  }
  PLIMSOLL_CHECK(values.size() == slots.size(), InvalidArgumentError,
                 "Model '{}' expects {} input(s), but it received {} input tensors.", model,
                 slots.size(), values.size());
  return values;
}

// In the type that the input asks for, and with its rank where a last dimension of 1 is the
// difference. throws: InvalidArgumentError.
Tensor fitted(const Tensor& given, const KerasTensor& wanted, const std::string& model) {
  Tensor x = given;
  const PartialShape& shape = wanted.shape();
  if (x.rank() == shape.rank() + 1 && x.shape()[x.rank() - 1] == 1) {
    x = squeeze(x, {-1});
  } else if (x.rank() == shape.rank() - 1 && shape[-1] == 1) {
    x = expand_dims(x, -1);
  }
  bool fits = x.rank() == shape.rank();
  for (int i = 0; fits && i < shape.rank(); ++i)
    fits = shape[i] == kNone || shape[i] == x.shape()[i];
  PLIMSOLL_CHECK(fits, InvalidArgumentError,
                 "Input with name '{}' of model '{}' is incompatible with the model: expected "
                 "shape={}, found shape={}",
                 wanted.name(), model, shape.to_string(), PartialShape(given.shape()).to_string());
  if (x.dtype() != wanted.dtype() && x.dtype() != DType::kString &&
      wanted.dtype() != DType::kString)
    x = cast(x, wanted.dtype());
  if (x.impl() != given.impl()) {
    if (const Tensor mask = keras_mask(given); mask.is_valid()) set_keras_mask(x, mask);
  }
  return x;
}

}  // namespace

FunctionalModel::FunctionalModel(const Nested& inputs, const Nested& outputs, LayerOptions options)
    : Model(std::move(options)),
      graph_(std::make_unique<FunctionalGraph>(make_functional_graph(inputs, outputs))) {
  autocast_ = false;  // each input is brought to its own type
  for (const LayerPtr& layer : graph_->layers) track_layer(layer, "layers/");
  set_built(true);
  if (!trainable()) set_trainable(false);
}
FunctionalModel::~FunctionalModel() = default;

Json FunctionalModel::get_config() const {
  return functional_config(*this);
}

const Nested& FunctionalModel::inputs() const noexcept {
  return graph_->inputs;
}
const Nested& FunctionalModel::outputs() const noexcept {
  return graph_->outputs;
}

std::vector<std::string> FunctionalModel::output_names() const {
  std::vector<std::string> names;
  graph_->outputs.for_each(
      [&](const Value& v) { names.push_back(v.symbolic().state()->node->layer->name()); });
  return names;
}

Nested FunctionalModel::call(const Nested& given, const CallArgs& args) {
  const FunctionalGraph& graph = *graph_;
  std::vector<Tensor> values(graph.num_slots);  // by slot, as long as somebody will read them
  std::vector<int> reads = graph.num_reads;
  const std::vector<Value> in = in_order(given, graph.inputs, name());
  const std::vector<Value> masks = args.mask.flatten();
  std::size_t next = 0;
  graph.inputs.for_each([&](const Value& v) {
    Tensor x = fitted(in[next].tensor(), v.symbolic(), name());
    if (masks.size() == in.size()) set_keras_mask(x, masks[next].tensor());
    values[graph.slot_of(v.symbolic())] = std::move(x);
    ++next;
  });
  const auto read = [&](const Value& v) {
    if (!v.is_symbolic()) return v;
    const std::size_t slot = graph.slot_of(v.symbolic());
    Tensor value = values[slot];
    if (--reads[slot] == 0) values[slot] = Tensor();
    return Value(std::move(value));
  };
  for (const auto& node : graph.nodes) {
    CallArgs call = node->args;
    if (args.training) call.training = args.training;  // as in Keras, the model's goes before
    Nested inputs = node->inputs.map(read);
    call.named = node->args.named.map(read);
    call.mask = node->args.mask.map(read);
    const Nested outputs = (*node->layer)(inputs, call);
    const std::size_t first = graph.slot_of(node->output_tensor({}));
    std::size_t i = 0;
    outputs.for_each([&](const Value& v) {
      if (reads[first + i] > 0) values[first + i] = v.tensor();
      ++i;
    });
  }
  return graph.outputs.map(read);
}

Functional::Functional(const Nested& inputs, const Nested& outputs, LayerOptions options)
    : std::shared_ptr<FunctionalModel>(
          std::make_shared<FunctionalModel>(inputs, outputs, std::move(options))) {
  get()->name();
}

}  // namespace plimsoll::keras
