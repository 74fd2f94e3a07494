// What the cells with gates have in common.
#pragma once

#include <algorithm>

#include "base/check.h"
#include "plimsoll/keras/layers/rnn.h"

namespace plimsoll::keras {

// The fields of a cell's configuration out of those of its layer.
template <class Cell, class C>
Cell cell_config(const C& c) {
  Cell cell;
  cell.units = c.units;
  cell.activation = c.activation;
  if constexpr (requires { cell.recurrent_activation; })
    cell.recurrent_activation = c.recurrent_activation;
  cell.use_bias = c.use_bias;
  cell.kernel_initializer = c.kernel_initializer;
  cell.recurrent_initializer = c.recurrent_initializer;
  cell.bias_initializer = c.bias_initializer;
  if constexpr (requires { cell.unit_forget_bias; }) cell.unit_forget_bias = c.unit_forget_bias;
  if constexpr (requires { cell.reset_after; }) cell.reset_after = c.reset_after;
  cell.kernel_regularizer = c.kernel_regularizer;
  cell.recurrent_regularizer = c.recurrent_regularizer;
  cell.bias_regularizer = c.bias_regularizer;
  cell.kernel_constraint = c.kernel_constraint;
  cell.recurrent_constraint = c.recurrent_constraint;
  cell.bias_constraint = c.bias_constraint;
  cell.dropout = c.dropout;
  cell.recurrent_dropout = c.recurrent_dropout;
  cell.seed = c.seed;
  return cell;
}

// The cell of a layer, with the layer's types.
template <class CellLayer, class C>
std::shared_ptr<RnnCell> make_cell(const C& c, const LayerOptions& options, const char* name) {
  return std::make_shared<CellLayer>(
      cell_config<typename CellLayer::Config>(c),
      LayerOptions{.name = name, .trainable = options.trainable, .dtype = options.dtype});
}

template <class C>
RnnFlags flags_of(const C& c) {
  return {.return_sequences = c.return_sequences,
          .return_state = c.return_state,
          .go_backwards = c.go_backwards,
          .stateful = c.stateful,
          .unroll = c.unroll,
          .zero_output_for_mask = c.zero_output_for_mask};
}

template <class C>
void visit_flags(ConfigVisitor& v, C& c) {
  v("return_sequences", c.return_sequences);
  v("return_state", c.return_state);
  v("go_backwards", c.go_backwards);
  v("stateful", c.stateful);
  v("unroll", c.unroll);
  v("zero_output_for_mask", c.zero_output_for_mask);
}

// Checks what all cells check, and brings rates between 0 and 1.
template <class C>
C checked_cell(C config) {
  PLIMSOLL_CHECK(config.units > 0, InvalidArgumentError,
                 "Received an invalid value for argument `units`, expected a positive integer, got "
                 "{}.",
                 config.units);
  config.dropout = std::clamp(config.dropout, 0.0, 1.0);
  config.recurrent_dropout = std::clamp(config.recurrent_dropout, 0.0, 1.0);
  return config;
}

// As WeightOptions of the kernels and the bias of a cell.
template <class C>
WeightOptions kernel_options(const C& c, const Shape& shape) {
  return {.name = "kernel",
          .shape = shape,
          .initializer = c.kernel_initializer,
          .regularizer = c.kernel_regularizer,
          .constraint = c.kernel_constraint};
}
template <class C>
WeightOptions recurrent_options(const C& c, const Shape& shape) {
  return {.name = "recurrent_kernel",
          .shape = shape,
          .initializer = c.recurrent_initializer,
          .regularizer = c.recurrent_regularizer,
          .constraint = c.recurrent_constraint};
}
template <class C>
WeightOptions bias_options(const C& c, const Shape& shape) {
  return {.name = "bias",
          .shape = shape,
          .initializer = c.bias_initializer,
          .regularizer = c.bias_regularizer,
          .constraint = c.bias_constraint};
}

// The last dimension of what a cell is built on. throws: InvalidArgumentError if it is not known.
std::int64_t num_features(const Layer& cell, const Shapes& input_shapes);
// 1 for the forget gate, the second of four; the others as `others` says.
InitializerArg forget_bias_initializer(InitializerArg others);
// The cell, called as a layer.
RnnStep take_step(RnnCell& cell, const Tensor& x, std::span<const Tensor> states,
                  const CallArgs& args);
// x times a mask, where there is one: the mask of the gate, or the only one.
Tensor masked_by(const Tensor& x, std::span<const Tensor> masks, std::size_t gate);
// Column block `gate` of `num` of a kernel or bias.
Tensor gate_block(const Tensor& weights, std::size_t gate, std::size_t num);
// A sequence with one mask of dropout for all its steps; itself where the rate is 0 or 1.
Tensor drop_sequence(const Tensor& x, double rate, ConfigSeed seed);

}  // namespace plimsoll::keras
