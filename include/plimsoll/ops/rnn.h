// Recurrent layers, with the weights and the numbers of Keras's: LSTM, GRU and SimpleRNN.
//
//   auto [outputs, h, c] = nn::lstm(x, kernel, recurrent_kernel, bias, {.mask = mask});
//
// A layer is one op over all steps: it goes through the batch in blocks of rows, keeps the state of
// a block at hand, and multiplies with kernels that it packs once. Activations are Keras's
// defaults, tanh and sigmoid; layers with others are made of tf::scan.
//
// memory: outputs and last states (tag activations). While it runs, scratch for the packed kernels
// and for a block of rows per thread. If a tape follows the call, also what the gradient reads of
// each step: five times `outputs` in float32 for lstm, four times for gru (three without
// reset_after), nothing for simple_rnn. Where a layer is called in the body of a branch or loop,
// nothing is kept: its gradient takes the steps again. The gradient adds scratch for some hundred
// rows of steps.
#pragma once

#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll::nn {

struct RnnOptions {
  Tensor initial_state = {};  // [batch, units]; zeros if it is empty
  Tensor initial_c = {};      // of lstm; to be given with initial_state
  Tensor mask = {};           // bool [batch, time]: which steps are taken; all if it is empty
  Tensor lengths = {};        // [batch] of integers instead: how many, from the first
  bool time_major = false;    // x, outputs and mask are [time, batch, ...]
  bool go_backwards = false;  // from the last step; outputs in the order in which steps are taken
  bool zero_output_for_mask = false;
};
// A step that the mask leaves out does not change the state. Its output is that of the step before,
// zeros before the first step that was taken; with zero_output_for_mask always zeros.

struct RnnResult {
  Tensor outputs;  // [batch, time, units]
  Tensor state;    // [batch, units]: after the last step
};
struct LstmResult {
  Tensor outputs, h, c;
};

// x [batch, time, features], kernel [features, 4 units], recurrent_kernel [units, 4 units], bias
// [4 units] or empty; gates in the order i, f, c, o.
LstmResult lstm(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                const Tensor& bias = {}, const RnnOptions& options = {});
// The same with 3 units; gates in the order z, r, h. With reset_after the bias is [2, 3 units], for
// kernel and recurrent kernel; without it [3 units].
RnnResult gru(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
              const Tensor& bias = {}, const RnnOptions& options = {}, bool reset_after = true);
// The same with units, by "tanh" or "relu".
RnnResult simple_rnn(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                     const Tensor& bias = {}, const RnnOptions& options = {},
                     std::string_view activation = "tanh");

}  // namespace plimsoll::nn
