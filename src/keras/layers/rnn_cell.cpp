// Cells in general, and the masks of their dropout.
#include "keras/layers/rnn_util.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {

std::shared_ptr<RnnCell> RnnCell::get(const Json& identifier) {
  if (identifier.is_null()) return nullptr;
  auto cell = std::dynamic_pointer_cast<RnnCell>(Layer::get(identifier));
  PLIMSOLL_CHECK(cell, InvalidArgumentError,
                 "Argument `cell` should be a recurrent cell. Received: cell={}",
                 identifier.dump().substr(0, 200));
  return cell;
}

std::vector<Tensor> RnnCell::get_initial_state(std::int64_t batch_size) const {
  std::vector<Tensor> states;
  for (const std::int64_t size : state_sizes())
    states.push_back(zeros({batch_size, size}, compute_dtype()));
  return states;
}

void RnnCell::begin_sequence(const Shape&, std::span<const Tensor>, bool) {}

Nested RnnCell::nest_states(std::span<const Tensor> states) const {
  Nested::List list;
  for (const Tensor& t : states) list.emplace_back(t);
  return list;
}

Nested RnnCell::call(const Nested& inputs, const CallArgs& args) {
  const Nested* given = args.find("states");
  PLIMSOLL_CHECK(given, InvalidArgumentError,
                 "cell '{}' has to be called with its states: cell(inputs, {{.named = ...}})",
                 name());
  std::vector<Tensor> states;
  given->for_each([&](const Value& v) { states.push_back(v.tensor()); });
  const std::size_t wanted = state_sizes().size();
  PLIMSOLL_CHECK(states.size() == wanted, InvalidArgumentError,
                 "cell '{}' has {} states. Received: {}", name(), wanted, states.size());
  const RnnStep made = step(inputs, states, args);
  return Nested::List{Nested(made.output), nest_states(made.states)};
}

DropoutRnnCell::DropoutRnnCell(const Rates& rates, LayerOptions options)
    : RnnCell(std::move(options)), rates_(rates) {
  // Gates have masks of their own only if the states are dropped too, as in Keras.
  if (rates_.recurrent_dropout == 0) rates_.num_gates = 1;
}

// One draw for all gates: two draws by the same seed might be equal.
std::vector<Tensor> DropoutRnnCell::draw(const Shape& shape, double rate) const {
  std::vector<std::int64_t> dims{rates_.num_gates};
  dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  const Tensor drawn =
      nn::dropout(ones(Shape(std::span(dims)), compute_dtype()), rate, rates_.seed);
  return unstack(drawn);
}

void DropoutRnnCell::begin_sequence(const Shape& input, std::span<const Tensor> states,
                                    bool training) {
  end_sequence();
  if (!training) return;
  if (rates_.dropout > 0 && rates_.dropout < 1) input_masks_ = draw(input, rates_.dropout);
  if (rates_.recurrent_dropout > 0 && rates_.recurrent_dropout < 1)
    state_masks_ = draw(states[0].shape(), rates_.recurrent_dropout);
}

void DropoutRnnCell::end_sequence() noexcept {
  reset_dropout_mask();
  reset_recurrent_dropout_mask();
}

std::vector<Tensor> DropoutRnnCell::input_masks(const Shape& input, bool training) {
  const double rate = rates_.dropout;
  if (!training || rate <= 0 || rate >= 1) return {};
  if (!input_masks_.empty()) return input_masks_;
  if (current_trace) return draw(input, rate);  // would outlive its trace
  return input_masks_ = draw(input, rate);
}
std::vector<Tensor> DropoutRnnCell::state_masks(const Shape& state, bool training) {
  const double rate = rates_.recurrent_dropout;
  if (!training || rate <= 0 || rate >= 1) return {};
  if (!state_masks_.empty()) return state_masks_;
  if (current_trace) return draw(state, rate);
  return state_masks_ = draw(state, rate);
}

std::int64_t num_features(const Layer& cell, const Shapes& input_shapes) {
  const PartialShape& input = input_shapes.leaf();
  PLIMSOLL_CHECK(input.rank() > 0 && input[-1] != kNone, InvalidArgumentError,
                 "The last dimension of the inputs to cell '{}' has to be known. Received: "
                 "input_shape={}",
                 cell.name(), input.to_string());
  return input[-1];
}

RnnStep take_step(RnnCell& cell, const Tensor& x, std::span<const Tensor> states,
                  const CallArgs& args) {
  Nested::List list;
  for (const Tensor& t : states) list.emplace_back(t);
  const Nested made =
      cell(x, {.training = args.training, .named = Nested::dict({{"states", std::move(list)}})});
  RnnStep step{.output = made[0], .states = {}};
  made[1].for_each([&](const Value& v) { step.states.push_back(v.tensor()); });
  PLIMSOLL_CHECK(step.states.size() == states.size(), InvalidArgumentError,
                 "cell '{}' was given {} states and returned {}", cell.name(), states.size(),
                 step.states.size());
  return step;
}

Tensor masked_by(const Tensor& x, std::span<const Tensor> masks, std::size_t gate) {
  if (masks.empty()) return x;
  return x * (masks.size() == 1 ? masks[0] : masks[gate]);
}

Tensor gate_block(const Tensor& weights, std::size_t gate, std::size_t num) {
  const std::int64_t size = weights.shape()[weights.rank() - 1] / static_cast<std::int64_t>(num);
  std::vector<std::int64_t> begin(static_cast<std::size_t>(weights.rank()), 0),
      sizes(begin.size(), -1);
  begin.back() = static_cast<std::int64_t>(gate) * size;
  sizes.back() = size;
  return slice(weights, begin, sizes);
}

Tensor drop_sequence(const Tensor& x, double rate, ConfigSeed seed) {
  if (rate <= 0 || rate >= 1) return x;
  return nn::dropout(x, rate, {x.shape()[0], 1, x.shape()[2]}, seed);
}

namespace {

class ForgetBiasInitializer : public Initializer {
 public:
  explicit ForgetBiasInitializer(InitializerArg others) : others_(std::move(others)) {}
  std::string class_name() const override { return "ForgetBias"; }
  Tensor operator()(const Shape& shape, DType dtype) const override {
    const std::int64_t units = shape[0] / 4;
    return concat(
        {(*others_)({units}, dtype), ones({units}, dtype), (*others_)({2 * units}, dtype)}, 0);
  }

 private:
  InitializerArg others_;
};

}  // namespace

InitializerArg forget_bias_initializer(InitializerArg others) {
  return std::make_shared<ForgetBiasInitializer>(std::move(others));
}

}  // namespace plimsoll::keras
