#include "base/check.h"
#include "ops/rnn_setup.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/tape.h"

namespace plimsoll::nn {
namespace {

// The mask of a call, from lengths where these were given.
Tensor mask_of(const Tensor& x, const RnnOptions& o, const char* name) {
  if (!o.lengths.is_valid()) return o.mask;
  PLIMSOLL_CHECK(
      !o.mask.is_valid(), InvalidArgumentError,
      "{} takes a mask or lengths, not both; got a mask of shape {} and lengths of shape "
      "{}",
      name, o.mask.shape().to_string(), o.lengths.shape().to_string());
  PLIMSOLL_CHECK(x.rank() == 3 && o.lengths.rank() == 1 && is_integer(o.lengths.dtype()) &&
                     o.lengths.num_elements() == x.shape().dim(o.time_major ? 1 : 0),
                 InvalidArgumentError,
                 "{} of x {} needs an integer length for each row of the batch, got {} of shape {}",
                 name, x.shape().to_string(), dtype_word(o.lengths.dtype()),
                 o.lengths.shape().to_string());
  const Tensor mask = sequence_mask(o.lengths, x.shape().dim(o.time_major ? 0 : 1));
  return o.time_major ? transpose(mask, {1, 0}) : mask;
}

// Calls the op with what is there of bias, states and mask. `last`: attributes behind the common
// ones.
std::vector<Tensor> call_rnn(OpId op, const char* name, const Tensor& x, const Tensor& kernel,
                             const Tensor& recurrent_kernel, const Tensor& bias,
                             const RnnOptions& o, std::int64_t last) {
  PLIMSOLL_CHECK(x.is_valid() && kernel.is_valid() && recurrent_kernel.is_valid(),
                 InvalidArgumentError, "{} needs x, kernel and recurrent_kernel", name);
  const bool is_lstm = op == OpId::Lstm;
  PLIMSOLL_CHECK(
      is_lstm ? o.initial_state.is_valid() == o.initial_c.is_valid() : !o.initial_c.is_valid(),
      InvalidArgumentError, "{} {}", name,
      is_lstm ? "needs both initial_state and initial_c, or neither"
              : "has one state only; got an initial_c");
  const Tensor mask = mask_of(x, o, name);
  std::vector<Tensor> in{x, kernel, recurrent_kernel};
  for (const Tensor* t : {&bias, &o.initial_state, &o.initial_c, &mask}) {
    if (t->is_valid()) in.push_back(*t);
  }
  const bool has_bias = bias.is_valid(), has_state = o.initial_state.is_valid();
  const bool has_mask = mask.is_valid(), zeroes = has_mask && o.zero_output_for_mask;
  const bool keeps = is_recorded(in);
  if (op == OpId::Lstm)
    return call_all(op, in,
                    {o.time_major, o.go_backwards, has_bias, has_state, has_mask, zeroes, keeps});
  if (op == OpId::Gru)
    return call_all(
        op, in,
        {o.time_major, o.go_backwards, has_bias, has_state, has_mask, zeroes, keeps, last != 0});
  return call_all(op, in,
                  {o.time_major, o.go_backwards, has_bias, has_state, has_mask, zeroes, last});
}

}  // namespace

LstmResult lstm(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                const Tensor& bias, const RnnOptions& options) {
  const auto out = call_rnn(OpId::Lstm, "lstm", x, kernel, recurrent_kernel, bias, options, 0);
  return {out[0], out[1], out[2]};
}

RnnResult gru(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
              const Tensor& bias, const RnnOptions& options, bool reset_after) {
  const auto out =
      call_rnn(OpId::Gru, "gru", x, kernel, recurrent_kernel, bias, options, reset_after);
  return {out[0], out[1]};
}

RnnResult simple_rnn(const Tensor& x, const Tensor& kernel, const Tensor& recurrent_kernel,
                     const Tensor& bias, const RnnOptions& options, std::string_view activation) {
  PLIMSOLL_CHECK(activation == "tanh" || activation == "relu", InvalidArgumentError,
                 "simple_rnn has the activations \"tanh\" and \"relu\", got \"{}\"", activation);
  const RnnActivation kind = activation == "relu" ? RnnActivation::kRelu : RnnActivation::kTanh;
  const auto out = call_rnn(OpId::SimpleRnn, "simple_rnn", x, kernel, recurrent_kernel, bias,
                            options, static_cast<std::int64_t>(kind));
  return {out[0], out[1]};
}

}  // namespace plimsoll::nn
