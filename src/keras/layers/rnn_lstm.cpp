#include "keras/layers/rnn_util.h"
#include "plimsoll/ops.h"
#include "plimsoll/ops/rnn.h"

namespace plimsoll::keras {

LSTMCellLayer::LSTMCellLayer(LSTMCellConfig config, LayerOptions options)
    : Configured(checked_cell(config),
                 Rates{.dropout = config.dropout,
                       .recurrent_dropout = config.recurrent_dropout,
                       .seed = config.seed,
                       .num_gates = 4},
                 std::move(options)) {}

void LSTMCellLayer::build(const Shapes& input_shapes) {
  const std::int64_t width = 4 * config_.units;
  kernel_ = add_weight(kernel_options(config_, {num_features(*this, input_shapes), width}));
  recurrent_kernel_ = add_weight(recurrent_options(config_, {config_.units, width}));
  if (!config_.use_bias) return;
  WeightOptions bias = bias_options(config_, {width});
  if (config_.unit_forget_bias)
    bias.initializer = forget_bias_initializer(config_.bias_initializer);
  bias_ = add_weight(std::move(bias));
}

RnnStep LSTMCellLayer::step(const Tensor& inputs, std::span<const Tensor> states,
                            const CallArgs& args) {
  const Tensor &h = states[0], &c = states[1];
  const auto x_masks = input_masks(inputs.shape(), args.is_training());
  const auto h_masks = state_masks(h.shape(), args.is_training());
  std::vector<Tensor> z;
  if (x_masks.size() <= 1 && h_masks.size() <= 1) {
    Tensor all = matmul(masked_by(inputs, x_masks, 0), *kernel_) +
                 matmul(masked_by(h, h_masks, 0), *recurrent_kernel_);
    if (bias_) all = nn::bias_add(all, *bias_);
    z = split(all, 4, 1);
  } else {
    for (std::size_t i = 0; i < 4; ++i) {
      Tensor gate = matmul(masked_by(inputs, x_masks, i), gate_block(*kernel_, i, 4)) +
                    matmul(masked_by(h, h_masks, i), gate_block(*recurrent_kernel_, i, 4));
      z.push_back(bias_ ? nn::bias_add(gate, gate_block(*bias_, i, 4)) : gate);
    }
  }
  const auto& recurrent = config_.recurrent_activation;
  const Tensor next_c = recurrent(z[1]) * c + recurrent(z[0]) * config_.activation(z[2]);
  const Tensor next_h = recurrent(z[3]) * config_.activation(next_c);
  return {next_h, {next_h, next_c}};
}

LSTMLayer::LSTMLayer(LSTMConfig config, LayerOptions options)
    : ConfiguredRnn(checked_cell(config), make_cell<LSTMCellLayer>(config, options, "lstm_cell"),
                    flags_of(config), options) {
  input_spec = {{.ndim = 3}};
}

bool LSTMLayer::is_fused(bool training) const {
  if (training && config_.recurrent_dropout > 0) return false;
  return config_.activation.name() == "tanh" && config_.recurrent_activation.name() == "sigmoid";
}

RnnLayer::Run LSTMLayer::run_fused(const Tensor& x, std::span<const Tensor> states,
                                   const Tensor& mask, bool training) {
  const auto& cell = static_cast<const LSTMCellLayer&>(*cell_);
  const Tensor in = drop_sequence(x, training ? config_.dropout : 0, config_.seed);
  const auto [outputs, h, c] = nn::lstm(in, *cell.kernel(), *cell.recurrent_kernel(),
                                        cell.bias() ? cell.bias()->value() : Tensor(),
                                        {.initial_state = states.empty() ? Tensor() : states[0],
                                         .initial_c = states.empty() ? Tensor() : states[1],
                                         .mask = mask,
                                         .go_backwards = flags_.go_backwards,
                                         .zero_output_for_mask = flags_.zero_output_for_mask});
  return make_run(outputs, {h, c}, mask, !states.empty());
}

}  // namespace plimsoll::keras
