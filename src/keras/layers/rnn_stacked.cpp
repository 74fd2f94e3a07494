// Cells one behind the other.
#include "keras/layers/rnn_util.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

StackedRNNCellsLayer::StackedRNNCellsLayer(StackedRNNCellsConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(!config_.cells.empty(), InvalidArgumentError,
                 "StackedRNNCells needs at least one cell. Received: cells=[]");
  for (const RnnCellArg& cell : config_.cells) track(LayerPtr(cell.ptr()), "cells/");
}

std::vector<std::int64_t> StackedRNNCellsLayer::state_sizes() const {
  std::vector<std::int64_t> sizes;
  for (const RnnCellArg& cell : config_.cells) {
    const auto more = cell->state_sizes();
    sizes.insert(sizes.end(), more.begin(), more.end());
  }
  return sizes;
}

std::vector<Tensor> StackedRNNCellsLayer::get_initial_state(std::int64_t batch_size) const {
  std::vector<Tensor> states;
  for (const RnnCellArg& cell : config_.cells) {
    const auto more = cell->get_initial_state(batch_size);
    states.insert(states.end(), more.begin(), more.end());
  }
  return states;
}

void StackedRNNCellsLayer::begin_sequence(const Shape& input, std::span<const Tensor> states,
                                          bool training) {
  Shape in = input;
  for (const RnnCellArg& cell : config_.cells) {
    const std::size_t num = cell->state_sizes().size();
    cell->begin_sequence(in, states.first(num), training);
    states = states.subspan(num);
    in = cell->output_shape(input[0]);
  }
}

void StackedRNNCellsLayer::end_sequence() noexcept {
  for (const RnnCellArg& cell : config_.cells) cell->end_sequence();
}

// A list for each cell.
Nested StackedRNNCellsLayer::nest_states(std::span<const Tensor> states) const {
  Nested::List list;
  for (const RnnCellArg& cell : config_.cells) {
    const std::size_t num = cell->state_sizes().size();
    list.push_back(cell->nest_states(states.first(num)));
    states = states.subspan(num);
  }
  return list.size() == 1 ? list[0] : Nested(std::move(list));
}

void StackedRNNCellsLayer::build(const Shapes& input_shapes) {
  PartialShape in = input_shapes.leaf();
  const std::int64_t batch = in[0];
  for (const RnnCellArg& cell : config_.cells) {
    cell->ensure_built(in);
    in = PartialShape{batch, cell->output_size()};
  }
}

RnnStep StackedRNNCellsLayer::step(const Tensor& inputs, std::span<const Tensor> states,
                                   const CallArgs& args) {
  RnnStep all{.output = inputs, .states = {}};
  for (const RnnCellArg& cell : config_.cells) {
    const std::size_t num = cell->state_sizes().size();
    const RnnStep made = take_step(*cell, all.output, states.first(num), args);
    all.states.insert(all.states.end(), made.states.begin(), made.states.end());
    all.output = made.output;
    states = states.subspan(num);
  }
  return all;
}

}  // namespace plimsoll::keras
