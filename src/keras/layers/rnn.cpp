// Recurrent layers in general: states, masks, what is returned. The steps are in rnn_steps.cpp.
#include "plimsoll/keras/layers/rnn.h"

#include "keras/backend.h"
#include "keras/layers/rnn_util.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"RNN", make_layer_of_config<RNNLayer>},
    {"LSTM", make_layer_of_config<LSTMLayer>},
    {"GRU", make_layer_of_config<GRULayer>},
    {"SimpleRNN", make_layer_of_config<SimpleRNNLayer>},
    {"LSTMCell", make_layer_of_config<LSTMCellLayer>},
    {"GRUCell", make_layer_of_config<GRUCellLayer>},
    {"SimpleRNNCell", make_layer_of_config<SimpleRNNCellLayer>},
    {"StackedRNNCells", make_layer_of_config<StackedRNNCellsLayer>},
    {"Bidirectional", make_layer_of_config<BidirectionalLayer>},
    {"TimeDistributed", make_layer_of_config<TimeDistributedLayer>},
};

// bool [batch, time]; empty if there is none.
Tensor step_mask(const Nested& masks) {
  const std::vector<Value> flat = masks.flatten();
  if (flat.empty()) return {};
  Tensor mask = flat[0].tensor();
  if (mask.dtype() != DType::kBool) mask = cast(mask, bool_);
  if (mask.rank() == 3 && mask.shape()[2] == 1) mask = squeeze(mask, {2});
  return mask;
}

}  // namespace

std::span<const ClassRow> rnn_layers() {
  return kLayers;
}

RNNLayer::RNNLayer(RNNConfig config, LayerOptions options)
    : ConfiguredRnn(config, config.cell.ptr(), flags_of(config), std::move(options)) {}

RnnLayer::RnnLayer(std::shared_ptr<RnnCell> cell, const RnnFlags& flags, LayerOptions options)
    : Layer(std::move(options)), flags_(flags), cell_(std::move(cell)) {
  PLIMSOLL_CHECK(cell_, InvalidArgumentError,
                 "Argument `cell` should have a `call` method. Received: cell=None");
  supports_masking_ = true;
  track(LayerPtr(cell_), "cell");
}

void RnnLayer::build(const Shapes& input_shapes) {
  const PartialShape& input = input_shapes.leaf();
  PLIMSOLL_CHECK(input.rank() >= 3, InvalidArgumentError,
                 "Layer '{}' expects inputs of at least 3 dimensions (batch, time, ...). Received: "
                 "sequence.shape={}",
                 name(), input.to_string());
  std::vector<std::int64_t> step{input[0]};
  for (int i = 2; i < input.rank(); ++i) step.push_back(input[i]);
  cell_->ensure_built(PartialShape(std::move(step)));
  if (!flags_.stateful || !state_variables_.empty()) return;
  PLIMSOLL_CHECK(input[0] != kNone, InvalidArgumentError,
                 "When using `stateful=True` in a RNN, the batch size must be static. Found "
                 "dynamic batch size: sequence.shape={}",
                 input.to_string());
  for (const Tensor& state : cell_->get_initial_state(input[0])) {
    const Tensor first = state.dtype() == variable_dtype() ? state : cast(state, variable_dtype());
    state_variables_.push_back(
        std::make_shared<Variable>(first, VariableInfo{.name = "rnn_state",
                                                       .path = name() + "/rnn_state",
                                                       .trainable = false,
                                                       .tag = memory::Tag::kActivations}));
  }
}

void RnnLayer::reset_state() {
  for (const VariablePtr& v : state_variables_) v->assign(zeros(v->shape(), v->dtype()));
}

std::vector<Tensor> RnnLayer::states() const {
  std::vector<Tensor> values;
  for (const VariablePtr& v : state_variables_) values.push_back(v->value());
  return values;
}

// Those given, those of the batch before, or none: zeros.
std::vector<Tensor> RnnLayer::first_states(const CallArgs& args) const {
  std::vector<Tensor> states;
  const Nested* given = args.find("initial_state");
  if (given && !given->is_none()) {
    given->for_each([&](const Value& v) { states.push_back(v.tensor()); });
    const std::size_t wanted = cell_->state_sizes().size();
    PLIMSOLL_CHECK(states.size() == wanted, InvalidArgumentError,
                   "Layer '{}' has {} states. Received: initial_state of {} tensors", name(),
                   wanted, states.size());
  } else if (flags_.stateful) {
    states = this->states();
  }
  for (Tensor& state : states) {
    if (state.dtype() != cell_->compute_dtype()) state = cast(state, cell_->compute_dtype());
  }
  return states;
}

Nested RnnLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  PLIMSOLL_CHECK(x.shape()[1] > 0, InvalidArgumentError,
                 "Layer '{}' needs at least one time step. Received: sequence.shape={}", name(),
                 PartialShape(x.shape()).to_string());
  if (!state_variables_.empty()) {
    const std::int64_t batch = state_variables_[0]->shape()[0];
    PLIMSOLL_CHECK(batch == x.shape()[0], InvalidArgumentError,
                   "If an RNN is stateful, the batch size of the input sequences must be the same "
                   "as the batch size of the initial state. \n- Expected batch size: {}\n- "
                   "Received batch size: {}",
                   batch, x.shape()[0]);
  }
  const std::vector<Tensor> states = first_states(args);
  Tensor mask = step_mask(args.mask);
  // As in Keras, a mask that comes with the inputs is not for a call with states of its own.
  const Nested* given = args.find("initial_state");
  const Tensor carried = keras_mask(x);
  if (given && !given->is_none() && carried.is_valid() &&
      carried.impl() == args.mask.flatten()[0].tensor().impl())
    mask = {};

  Run run = is_fused(args.is_training()) ? run_fused(x, states, mask, args.is_training())
                                         : run_steps(x, states, mask, args);
  for (std::size_t i = 0; i < state_variables_.size(); ++i) {
    Variable& v = *state_variables_[i];
    v.assign(run.states[i].dtype() == v.dtype() ? run.states[i] : cast(run.states[i], v.dtype()));
  }
  const Tensor& output = flags_.return_sequences ? run.outputs : run.last;
  if (!flags_.return_state) return output;
  Nested::List results{Nested(output)};
  const Nested nested = cell_->nest_states(run.states);
  for (std::size_t i = 0; i < nested.size(); ++i) results.push_back(nested[i]);
  return results;
}

RnnLayer::Run RnnLayer::run_fused(const Tensor&, std::span<const Tensor>, const Tensor&, bool) {
  throw UnimplementedError("layer '" + name() + "' has no op for all its steps");
}

RnnLayer::Run RnnLayer::make_run(const Tensor& outputs, std::vector<Tensor> last_states,
                                 const Tensor& mask, bool had_states) const {
  Run run{.outputs = outputs, .last = last_states[0], .states = std::move(last_states)};
  // Where no step was taken, the output is zeros, and the state what it was.
  if (!flags_.return_sequences && mask.is_valid() && (had_states || flags_.zero_output_for_mask))
    run.last = getitem(outputs, {Index(), Index(-1)});
  return run;
}

Nested RnnLayer::compute_mask(const Nested&, const Nested& mask) {
  if (!flags_.return_sequences) return {};
  const std::vector<Value> flat = mask.flatten();
  return flat.empty() ? Nested() : Nested(flat[0]);
}

Nested RnnLayer::compute_output_spec(const Nested& inputs, const CallArgs& args) {
  PLIMSOLL_CHECK(!flags_.unroll || inputs.leaf().shape()[1] != kNone, InvalidArgumentError,
                 "Cannot unroll a RNN if the time dimension is undefined. \n- If using a "
                 "Sequential model, specify the time dimension by passing an `Input()` as your "
                 "first layer.\n- If using the functional API, specify the time dimension by "
                 "passing a `shape` or `batch_shape` argument to your `Input()`.");
  return Layer::compute_output_spec(inputs, args);
}

}  // namespace plimsoll::keras
