// How an op of a recurrent layer is set up: what its attributes say, and where its tensors stand.
//
// What Lstm and Gru keep for the gradient is a tensor [time, batch, n units], by the order in which
// steps are taken: the gates as they were activated, then
//   Lstm                i f g o, and the state c after the step
//   Gru, reset_after    z r h, and what r is multiplied with
//   Gru                 z r h
// At steps that the mask leaves out, gates are zero. SimpleRnn has all it needs in y.
#pragma once

#include "ops/op_id.h"

namespace plimsoll {

enum class RnnKind : std::uint8_t { kLstm, kGru, kSimple };
enum class RnnActivation : std::int64_t {
  kTanh,
  kRelu
};  // of SimpleRnn; the values are attributes

// Bits of `given` and of `needs`.
enum RnnGiven : std::int64_t { kGivenY = 1, kGivenH = 2, kGivenC = 4 };
enum RnnNeeds : std::int64_t { kNeedsX = 1, kNeedsWeights = 2, kNeedsStates = 4 };

struct RnnSetup {
  RnnKind kind;
  bool is_grad;
  bool time_major, go_backwards, has_bias, has_state, has_mask, zero_output_for_mask;
  bool keeps = false;        // Lstm, Gru
  bool reset_after = false;  // Gru, GruGrad
  bool is_relu = false;      // SimpleRnn, SimpleRnnGrad
  std::int64_t given = 0;    // gradients
  std::int64_t needs = 0;

  int num_gates() const noexcept {
    return kind == RnnKind::kLstm ? 4 : (kind == RnnKind::kGru ? 3 : 1);
  }
  int num_states() const noexcept { return kind == RnnKind::kLstm ? 2 : 1; }
  // What is kept of a step, in units.
  int num_kept() const noexcept {
    if (kind == RnnKind::kSimple) return 0;
    return kind == RnnKind::kLstm ? 5 : (reset_after ? 4 : 3);
  }
};
RnnSetup rnn_setup(OpId op, const Attrs& attrs) noexcept;

// Places among the inputs and outputs; -1: not there.
struct RnnPlaces {
  int bias = -1, h = -1, c = -1, mask = -1;  // inputs, behind x, kernel and recurrent kernel
  int y = -1, kept = -1;                     // outputs; inputs of gradients
  int dy = -1, dh = -1, dc = -1;             // inputs of gradients
  int last_h = -1, last_c = -1;              // outputs
  int dx = -1, dkernel = -1, drecurrent = -1, dbias = -1, dh0 = -1, dc0 = -1;
  int num_in = 3, num_out = 0;
};
RnnPlaces rnn_places(const RnnSetup& setup) noexcept;

}  // namespace plimsoll
