#include "keras/layers/rnn_util.h"
#include "plimsoll/ops.h"
#include "plimsoll/ops/rnn.h"

namespace plimsoll::keras {

GRUCellLayer::GRUCellLayer(GRUCellConfig config, LayerOptions options)
    : Configured(checked_cell(config),
                 Rates{.dropout = config.dropout,
                       .recurrent_dropout = config.recurrent_dropout,
                       .seed = config.seed,
                       .num_gates = 3},
                 std::move(options)) {}

void GRUCellLayer::build(const Shapes& input_shapes) {
  const std::int64_t width = 3 * config_.units;
  kernel_ = add_weight(kernel_options(config_, {num_features(*this, input_shapes), width}));
  recurrent_kernel_ = add_weight(recurrent_options(config_, {config_.units, width}));
  if (config_.use_bias)
    bias_ = add_weight(bias_options(config_, config_.reset_after ? Shape{2, width} : Shape{width}));
}

RnnStep GRUCellLayer::step(const Tensor& inputs, std::span<const Tensor> states,
                           const CallArgs& args) {
  const Tensor& h = states[0];
  const auto x_masks = input_masks(inputs.shape(), args.is_training());
  const auto h_masks = state_masks(h.shape(), args.is_training());
  Tensor input_bias, recurrent_bias;
  if (bias_ && config_.reset_after) {
    const auto rows = unstack(*bias_);
    input_bias = rows[0];
    recurrent_bias = rows[1];
  } else if (bias_) {
    input_bias = *bias_;
  }
  const Tensor kernel = *kernel_, recurrent_kernel = *recurrent_kernel_;
  std::vector<Tensor> x;
  if (x_masks.size() <= 1) {
    const Tensor all = matmul(masked_by(inputs, x_masks, 0), kernel);
    x = split(input_bias.is_valid() ? nn::bias_add(all, input_bias) : all, 3, 1);
  } else {
    for (std::size_t i = 0; i < 3; ++i) {
      const Tensor gate = matmul(masked_by(inputs, x_masks, i), gate_block(kernel, i, 3));
      x.push_back(input_bias.is_valid() ? nn::bias_add(gate, gate_block(input_bias, i, 3)) : gate);
    }
  }
  const auto inner = [&](const Tensor& state, std::size_t i) {
    const Tensor made = matmul(state, gate_block(recurrent_kernel, i, 3));
    return recurrent_bias.is_valid() ? nn::bias_add(made, gate_block(recurrent_bias, i, 3)) : made;
  };
  const Tensor z = config_.recurrent_activation(x[0] + inner(masked_by(h, h_masks, 0), 0));
  const Tensor r = config_.recurrent_activation(x[1] + inner(masked_by(h, h_masks, 1), 1));
  const Tensor h_h = masked_by(h, h_masks, 2);
  const Tensor candidate =
      config_.activation(x[2] + (config_.reset_after ? r * inner(h_h, 2) : inner(r * h_h, 2)));
  const Tensor next = z * h + (1.0 - z) * candidate;
  return {next, {next}};
}

GRULayer::GRULayer(GRUConfig config, LayerOptions options)
    : ConfiguredRnn(checked_cell(config), make_cell<GRUCellLayer>(config, options, "gru_cell"),
                    flags_of(config), options) {
  input_spec = {{.ndim = 3}};
}

bool GRULayer::is_fused(bool training) const {
  if (training && config_.recurrent_dropout > 0) return false;
  return config_.activation.name() == "tanh" && config_.recurrent_activation.name() == "sigmoid";
}

RnnLayer::Run GRULayer::run_fused(const Tensor& x, std::span<const Tensor> states,
                                  const Tensor& mask, bool training) {
  const auto& cell = static_cast<const GRUCellLayer&>(*cell_);
  const Tensor in = drop_sequence(x, training ? config_.dropout : 0, config_.seed);
  const auto [outputs, state] = nn::gru(in, *cell.kernel(), *cell.recurrent_kernel(),
                                        cell.bias() ? cell.bias()->value() : Tensor(),
                                        {.initial_state = states.empty() ? Tensor() : states[0],
                                         .mask = mask,
                                         .go_backwards = flags_.go_backwards,
                                         .zero_output_for_mask = flags_.zero_output_for_mask},
                                        config_.reset_after);
  return make_run(outputs, {state}, mask, !states.empty());
}

}  // namespace plimsoll::keras
