#include "keras/layers/rnn_util.h"
#include "plimsoll/ops.h"
#include "plimsoll/ops/rnn.h"

namespace plimsoll::keras {

SimpleRNNCellLayer::SimpleRNNCellLayer(SimpleRNNCellConfig config, LayerOptions options)
    : Configured(checked_cell(config),
                 Rates{.dropout = config.dropout,
                       .recurrent_dropout = config.recurrent_dropout,
                       .seed = config.seed},
                 std::move(options)) {}

void SimpleRNNCellLayer::build(const Shapes& input_shapes) {
  kernel_ = add_weight(kernel_options(config_, {num_features(*this, input_shapes), config_.units}));
  recurrent_kernel_ = add_weight(recurrent_options(config_, {config_.units, config_.units}));
  if (config_.use_bias) bias_ = add_weight(bias_options(config_, {config_.units}));
}

RnnStep SimpleRNNCellLayer::step(const Tensor& inputs, std::span<const Tensor> states,
                                 const CallArgs& args) {
  const auto x_masks = input_masks(inputs.shape(), args.is_training());
  const auto h_masks = state_masks(states[0].shape(), args.is_training());
  Tensor y = matmul(masked_by(inputs, x_masks, 0), *kernel_);
  if (bias_) y = nn::bias_add(y, *bias_);
  y = config_.activation(y + matmul(masked_by(states[0], h_masks, 0), *recurrent_kernel_));
  return {y, {y}};
}

SimpleRNNLayer::SimpleRNNLayer(SimpleRNNConfig config, LayerOptions options)
    : ConfiguredRnn(checked_cell(config),
                    make_cell<SimpleRNNCellLayer>(config, options, "simple_rnn_cell"),
                    flags_of(config), options) {
  input_spec = {{.ndim = 3}};
}

bool SimpleRNNLayer::is_fused(bool training) const {
  if (training && config_.recurrent_dropout > 0) return false;
  return config_.activation.name() == "tanh" || config_.activation.name() == "relu";
}

RnnLayer::Run SimpleRNNLayer::run_fused(const Tensor& x, std::span<const Tensor> states,
                                        const Tensor& mask, bool training) {
  const auto& cell = static_cast<const SimpleRNNCellLayer&>(*cell_);
  const Tensor in = drop_sequence(x, training ? config_.dropout : 0, config_.seed);
  const auto [outputs, state] = nn::simple_rnn(
      in, *cell.kernel(), *cell.recurrent_kernel(), cell.bias() ? cell.bias()->value() : Tensor(),
      {.initial_state = states.empty() ? Tensor() : states[0],
       .mask = mask,
       .go_backwards = flags_.go_backwards,
       .zero_output_for_mask = flags_.zero_output_for_mask},
      config_.activation.name());
  return make_run(outputs, {state}, mask, !states.empty());
}

}  // namespace plimsoll::keras
