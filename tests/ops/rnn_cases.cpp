#include <algorithm>
#include <cmath>

#include "ops/rnn_reference.h"
#include "ops/rnn_setup.h"

namespace plimsoll::testing_ops {
namespace {

// What the cases vary; sizes that fill no panel, unless they say so.
struct Sample {
  std::string name;
  std::int64_t batch = 3, time = 4, in = 2, units = 3;
  bool time_major = false, go_backwards = false, has_bias = true, has_state = false;
  std::vector<double> mask = {};  // [batch, time], in the order of the tensor
  bool zeroes = false, keeps = false;
  std::int64_t variant = 0;  // reset_after of Gru; activation of SimpleRnn
  std::int64_t given = kGivenY | kGivenH | kGivenC;
  std::int64_t needs = kNeedsX | kNeedsWeights | kNeedsStates;
  std::vector<DType> dtypes = kFloatTypes;
};

Attrs attrs_of(OpId op, const Sample& s) {
  const bool has_mask = !s.mask.empty();
  switch (op) {
    case OpId::Lstm:
      return {s.time_major, s.go_backwards, s.has_bias, s.has_state, has_mask, s.zeroes, s.keeps};
    case OpId::Gru:
      return {s.time_major, s.go_backwards, s.has_bias, s.has_state,
              has_mask,     s.zeroes,       s.keeps,    s.variant != 0};
    case OpId::SimpleRnn:
      return {s.time_major, s.go_backwards, s.has_bias, s.has_state, has_mask, s.zeroes, s.variant};
    case OpId::LstmGrad:
      return {s.time_major, s.go_backwards, s.has_bias, s.has_state,
              has_mask,     s.zeroes,       s.given,    s.needs};
    default:
      return {s.time_major, s.go_backwards, s.has_bias, s.has_state, has_mask,
              s.zeroes,     s.given,        s.needs,    s.variant};
  }
}

OpCase case_of(OpId op, const Sample& s) {
  OpCase made{.name = s.name, .op = op, .attrs = attrs_of(op, s)};
  const RnnSetup setup = rnn_setup(op, made.attrs);
  const std::int64_t columns = setup.num_gates() * s.units;
  const auto rows = [&](std::int64_t n) {
    return s.time_major ? Shape{s.time, s.batch, n} : Shape{s.batch, s.time, n};
  };
  const auto small = [](const Shape& shape) { return Input{shape, -0.7, 0.7}; };
  const Shape state{s.batch, s.units};
  // Not so large that gradients grow from step to step.
  const double limit = 0.7 * std::min(1.0, std::sqrt(3.0 / static_cast<double>(s.units)));
  made.in = {{rows(s.in), -1, 1}, small({s.in, columns}), {{s.units, columns}, -limit, limit}};
  if (setup.is_grad) {
    made.in.push_back(small(rows(s.units)));  // y
    const Shape kept{s.time, s.batch, setup.num_kept() * s.units};
    if (setup.num_kept()) made.in.push_back({kept, 0.1, 0.9});
  } else if (s.has_bias) {
    made.in.push_back(small(setup.reset_after ? Shape{2, columns} : Shape{columns}));
  }
  for (int i = 0; s.has_state && i < setup.num_states(); ++i) made.in.push_back(small(state));
  if (!s.mask.empty()) {
    const Shape mask{s.time_major ? s.time : s.batch, s.time_major ? s.batch : s.time};
    made.in.push_back({.shape = mask, .kind = Input::Kind::kBool, .values = s.mask});
  }
  if (setup.is_grad) {
    if (s.given & kGivenY) made.in.push_back(small(rows(s.units)));
    if (s.given & kGivenH) made.in.push_back(small(state));
    if (s.given & kGivenC && setup.kind == RnnKind::kLstm) made.in.push_back(small(state));
    made.dtypes = {DType::kFloat32, DType::kFloat64};  // of 16 bits: what is kept is float32
    made.tolerance = 4;
  } else {
    made.dtypes = s.dtypes;
    made.tolerance = 2;
  }
  made.has_grad = !setup.is_grad && !s.keeps;  // nothing flows through what is kept
  made.ref = [op](const RefCall& c) { return rnn_reference(op, c); };
  return made;
}

// A row that takes all steps, one with gaps, one with steps left out at both ends, one without any.
const std::vector<double> kMask = {1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0};

std::vector<Sample> samples(std::int64_t variant) {
  std::vector<Sample> all = {
      {.name = "plain"},
      {.name = "no_bias", .has_bias = false},
      {.name = "state", .has_state = true},
      {.name = "time_major", .time_major = true, .has_state = true},
      {.name = "backwards", .go_backwards = true, .has_state = true},
      {.name = "backwards_time_major", .time_major = true, .go_backwards = true},
      {.name = "mask", .batch = 4, .mask = kMask},
      {.name = "mask_state", .batch = 4, .has_state = true, .mask = kMask},
      {.name = "mask_zeroes", .batch = 4, .has_state = true, .mask = kMask, .zeroes = true},
      {.name = "mask_backwards",
       .batch = 4,
       .go_backwards = true,
       .has_state = true,
       .mask = kMask},
      {.name = "mask_time_major", .batch = 4, .time_major = true, .has_state = true, .mask = kMask},
      {.name = "one_step", .time = 1, .has_state = true},
      {.name = "one_row", .batch = 1, .has_state = true},
      {.name = "one_of_all", .batch = 1, .time = 1, .in = 1, .units = 1},
      {.name = "no_rows", .batch = 0, .has_state = true},
      {.name = "full_panels", .batch = 7, .time = 3, .in = 16, .units = 64, .has_state = true},
      {.name = "several_panels", .batch = 5, .time = 3, .in = 70, .units = 37},
      {.name = "many_rows", .batch = 150, .time = 2, .in = 5, .units = 9, .has_state = true},
  };
  for (Sample& s : all) s.variant = variant;
  return all;
}

void add_all(std::vector<OpCase>& cases, OpId op, OpId grad, std::int64_t variant,
             const std::string& suffix, bool can_keep) {
  for (Sample s : samples(variant)) {
    s.name += suffix;
    cases.push_back(case_of(op, s));
    if (can_keep && (!s.mask.empty() || s.has_state)) {
      Sample kept = s;
      kept.name += "_keeps";
      kept.keeps = true;
      cases.push_back(case_of(op, kept));
    }
    cases.push_back(case_of(grad, s));
  }
  // What gradients are given and what they are asked for.
  const struct {
    const char* name;
    std::int64_t given, needs;
  } parts[] = {
      {"of_y", kGivenY, kNeedsX | kNeedsWeights | kNeedsStates},
      {"of_h", kGivenH, kNeedsX | kNeedsWeights | kNeedsStates},
      {"to_x", kGivenY | kGivenH, kNeedsX},
      {"to_weights", kGivenH, kNeedsWeights},
      {"to_states", kGivenY, kNeedsStates},
  };
  for (const auto& p : parts) {
    cases.push_back(case_of(grad, {.name = p.name + suffix,
                                   .batch = 4,
                                   .has_state = true,
                                   .mask = kMask,
                                   .variant = variant,
                                   .given = p.given,
                                   .needs = p.needs}));
  }
  // More steps and rows than a chunk has.
  cases.push_back(case_of(grad, {.name = "chunks" + suffix,
                                 .batch = 130,
                                 .time = 11,
                                 .in = 3,
                                 .units = 18,
                                 .variant = variant}));
}

}  // namespace

std::vector<OpCase> rnn_cases() {
  std::vector<OpCase> cases;
  add_all(cases, OpId::Lstm, OpId::LstmGrad, 0, "", true);
  add_all(cases, OpId::Gru, OpId::GruGrad, 1, "", true);
  add_all(cases, OpId::Gru, OpId::GruGrad, 0, "_reset_before", true);
  add_all(cases, OpId::SimpleRnn, OpId::SimpleRnnGrad, 0, "", false);
  add_all(cases, OpId::SimpleRnn, OpId::SimpleRnnGrad, 1, "_relu", false);
  return cases;
}

}  // namespace plimsoll::testing_ops
