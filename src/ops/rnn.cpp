// Recurrent layers. A gradient reads what the forward op kept of each step; where it kept nothing,
// the op is emitted again to keep it.
#include "base/check.h"
#include "ops/defs.h"
#include "ops/rnn_setup.h"

namespace plimsoll {

RnnSetup rnn_setup(OpId op, const Attrs& attrs) noexcept {
  using A = attr::Lstm;
  using G = attr::LstmGrad;
  RnnSetup s{};
  const bool is_lstm = op == OpId::Lstm || op == OpId::LstmGrad;
  const bool is_gru = op == OpId::Gru || op == OpId::GruGrad;
  s.kind = is_lstm ? RnnKind::kLstm : (is_gru ? RnnKind::kGru : RnnKind::kSimple);
  s.is_grad = op == OpId::LstmGrad || op == OpId::GruGrad || op == OpId::SimpleRnnGrad;
  s.time_major = attrs[A::time_major].as_bool();
  s.go_backwards = attrs[A::go_backwards].as_bool();
  s.has_bias = attrs[A::has_bias].as_bool();
  s.has_state = attrs[A::has_state].as_bool();
  s.has_mask = attrs[A::has_mask].as_bool();
  s.zero_output_for_mask = attrs[A::zero_output_for_mask].as_bool();
  if (s.is_grad) {
    s.given = attrs[G::given].as_int();
    s.needs = attrs[G::needs].as_int();
  } else if (s.kind != RnnKind::kSimple) {
    s.keeps = attrs[A::keeps].as_bool();
  }
  if (is_gru)
    s.reset_after =
        attrs[s.is_grad ? +attr::GruGrad::reset_after : +attr::Gru::reset_after].as_bool();
  if (s.kind == RnnKind::kSimple) {
    s.is_relu = attrs[s.is_grad ? +attr::SimpleRnnGrad::activation : +attr::SimpleRnn::activation]
                    .as_int() == static_cast<std::int64_t>(RnnActivation::kRelu);
  }
  return s;
}

RnnPlaces rnn_places(const RnnSetup& s) noexcept {
  RnnPlaces p;
  const auto in = [&](bool is_there) { return is_there ? p.num_in++ : -1; };
  const auto out = [&](bool is_there) { return is_there ? p.num_out++ : -1; };
  const bool has_c = s.kind == RnnKind::kLstm;
  if (s.is_grad) {
    p.y = in(true);
    p.kept = in(s.num_kept() > 0);
  } else {
    p.bias = in(s.has_bias);
  }
  p.h = in(s.has_state);
  p.c = in(s.has_state && has_c);
  p.mask = in(s.has_mask);
  if (!s.is_grad) {
    p.y = out(true);
    p.last_h = out(true);
    p.last_c = out(has_c);
    p.kept = out(s.keeps);
    return p;
  }
  p.dy = in(s.given & kGivenY);
  p.dh = in(s.given & kGivenH);
  p.dc = in(has_c && s.given & kGivenC);
  p.dx = out(s.needs & kNeedsX);
  p.dkernel = out(s.needs & kNeedsWeights);
  p.drecurrent = out(s.needs & kNeedsWeights);
  p.dbias = out(s.has_bias && s.needs & kNeedsWeights);
  p.dh0 = out(s.has_state && s.needs & kNeedsStates);
  p.dc0 = out(s.has_state && has_c && s.needs & kNeedsStates);
  return p;
}

namespace {

// The shapes that go with x and the recurrent kernel.
struct Shapes {
  Shape kernel, recurrent, bias, state, mask, y, kept;
};

void check_rank(const InferCtx& ctx, std::size_t i, const char* what, const char* wanted,
                int rank) {
  PLIMSOLL_CHECK(ctx.in[i].shape.rank() == rank, InvalidArgumentError,
                 "{} needs {} of shape {}, got shape {}", ctx.name(), what, wanted,
                 ctx.in[i].shape.to_string());
}
void check_input(const InferCtx& ctx, int i, const char* what, DType dtype, const Shape& shape) {
  if (i < 0) return;
  const TensorSpec& got = ctx.in[static_cast<std::size_t>(i)];
  PLIMSOLL_CHECK(
      got.dtype == dtype && got.shape == shape, InvalidArgumentError,
      "{} of x {} {} and recurrent_kernel {} needs {} of type {} and shape {}, got {} of "
      "shape {}",
      ctx.name(), dtype_name(ctx.in[0].dtype), ctx.in[0].shape.to_string(),
      ctx.in[2].shape.to_string(), what, dtype_name(dtype), shape.to_string(),
      dtype_name(got.dtype), got.shape.to_string());
}

Shapes check_weights(const InferCtx& ctx, const RnnSetup& s, const RnnPlaces& p) {
  PLIMSOLL_CHECK(static_cast<int>(ctx.in.size()) == p.num_in, InvalidArgumentError,
                 "{} with these attributes takes {} tensors, got {}", ctx.name(), p.num_in,
                 ctx.in.size());
  const TensorSpec& x = ctx.in[0];
  PLIMSOLL_CHECK(is_floating(x.dtype), InvalidArgumentError, "{} needs floating point x, got {}",
                 ctx.name(), dtype_name(x.dtype));
  check_rank(ctx, 0, "x", s.time_major ? "[time, batch, features]" : "[batch, time, features]", 3);
  check_rank(ctx, 2, "a recurrent_kernel", "[units, gates * units]", 2);
  const std::int64_t units = ctx.in[2].shape.dim(0), columns = s.num_gates() * units;
  const std::int64_t batch = x.shape.dim(s.time_major ? 1 : 0);
  const std::int64_t time = x.shape.dim(s.time_major ? 0 : 1);
  PLIMSOLL_CHECK(units > 0 && x.shape.dim(2) > 0 && time > 0, InvalidArgumentError,
                 "{} needs at least one unit, feature and step, got x of shape {} and "
                 "recurrent_kernel of shape {}",
                 ctx.name(), x.shape.to_string(), ctx.in[2].shape.to_string());
  Shapes shapes{.kernel = {x.shape.dim(2), columns},
                .recurrent = {units, columns},
                .bias = s.reset_after ? Shape{2, columns} : Shape{columns},
                .state = {batch, units},
                .mask = {x.shape.dim(0), x.shape.dim(1)},
                .y = {x.shape.dim(0), x.shape.dim(1), units},
                .kept = {time, batch, s.num_kept() * units}};
  check_input(ctx, 1, "a kernel", x.dtype, shapes.kernel);
  check_input(ctx, 2, "a recurrent_kernel", x.dtype, shapes.recurrent);
  check_input(ctx, p.bias, "a bias", x.dtype, shapes.bias);
  check_input(ctx, p.h, "an initial state h", x.dtype, shapes.state);
  check_input(ctx, p.c, "an initial state c", x.dtype, shapes.state);
  check_input(ctx, p.mask, "a mask", DType::kBool, shapes.mask);
  return shapes;
}

// The type of what is kept: computed in float, and kept so, for 16 bits.
DType kept_dtype(DType dtype) noexcept {
  return dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
}

void infer_rnn(InferCtx& ctx) {
  const RnnSetup s = rnn_setup(ctx.op, ctx.attrs);
  const RnnPlaces p = rnn_places(s);
  const Shapes shapes = check_weights(ctx, s, p);
  const DType dtype = ctx.in[0].dtype;
  ctx.out.add(dtype, shapes.y);
  for (int i = 0; i < s.num_states(); ++i) ctx.out.add(dtype, shapes.state);
  if (s.keeps) ctx.out.add(kept_dtype(dtype), shapes.kept);
}

void infer_rnn_grad(InferCtx& ctx) {
  const RnnSetup s = rnn_setup(ctx.op, ctx.attrs);
  const RnnPlaces p = rnn_places(s);
  const Shapes shapes = check_weights(ctx, s, p);
  PLIMSOLL_CHECK(s.given && s.needs && p.num_out > 0, InvalidArgumentError,
                 "{} is given no gradient or wants none", ctx.name());
  const DType dtype = ctx.in[0].dtype;
  check_input(ctx, p.y, "y", dtype, shapes.y);
  check_input(ctx, p.kept, "what was kept", kept_dtype(dtype), shapes.kept);
  check_input(ctx, p.dy, "a gradient of y", dtype, shapes.y);
  check_input(ctx, p.dh, "a gradient of h", dtype, shapes.state);
  check_input(ctx, p.dc, "a gradient of c", dtype, shapes.state);
  if (p.dx >= 0) ctx.out.add(dtype, ctx.in[0].shape);
  if (p.dkernel >= 0) ctx.out.add(dtype, shapes.kernel);
  if (p.drecurrent >= 0) ctx.out.add(dtype, shapes.recurrent);
  if (p.dbias >= 0) ctx.out.add(dtype, shapes.bias);
  if (p.dh0 >= 0) ctx.out.add(dtype, shapes.state);
  if (p.dc0 >= 0) ctx.out.add(dtype, shapes.state);
}

OpId grad_op(OpId op) noexcept {
  return op == OpId::Lstm ? OpId::LstmGrad
                          : (op == OpId::Gru ? OpId::GruGrad : OpId::SimpleRnnGrad);
}

Attrs grad_attrs(const RnnSetup& s, std::int64_t given, std::int64_t needs) {
  if (s.kind == RnnKind::kLstm)
    return {s.time_major, s.go_backwards,         s.has_bias, s.has_state,
            s.has_mask,   s.zero_output_for_mask, given,      needs};
  const AttrValue last =
      s.kind == RnnKind::kGru ? AttrValue(s.reset_after) : AttrValue(std::int64_t{s.is_relu});
  return {s.time_major,           s.go_backwards, s.has_bias, s.has_state, s.has_mask,
          s.zero_output_for_mask, given,          needs,      last};
}

// The same op, once more, to keep what its gradient reads.
Attrs keeping(const RnnSetup& s) {
  if (s.kind == RnnKind::kLstm)
    return {s.time_major, s.go_backwards,         s.has_bias, s.has_state,
            s.has_mask,   s.zero_output_for_mask, true};
  return {s.time_major, s.go_backwards,         s.has_bias, s.has_state,
          s.has_mask,   s.zero_output_for_mask, true,       s.reset_after};
}

void grad_rnn(GradCtx& g, OpId op) {
  const RnnSetup s = rnn_setup(op, g.attrs());
  const RnnPlaces p = rnn_places(s);
  std::int64_t given = 0, needs = 0;
  for (int i = 0; i < 1 + s.num_states(); ++i) given |= g.has_dout(i) ? std::int64_t{1} << i : 0;
  if (!given) return;  // somebody uses what is kept for other things
  const auto is_needed = [&](int i) { return i >= 0 && g.needs(i); };
  if (is_needed(0)) needs |= kNeedsX;
  if (is_needed(1) || is_needed(2) || is_needed(p.bias)) needs |= kNeedsWeights;
  if (is_needed(p.h) || is_needed(p.c)) needs |= kNeedsStates;
  Tensor y, kept;
  if (s.num_kept() > 0 && !s.keeps) {
    std::vector<Tensor> in;
    for (int i = 0; i < g.num_in(); ++i) in.push_back(g.in(i));
    const auto again = g.emit_all(op, in, keeping(s));
    y = again.front();
    kept = again.back();
  } else {
    y = g.out(p.y);
    if (s.keeps) kept = g.out(p.kept);
  }
  std::vector<Tensor> in{g.in(0), g.in(1), g.in(2), y};
  if (kept.is_valid()) in.push_back(kept);
  for (const int i : {p.h, p.c, p.mask}) {
    if (i >= 0) in.push_back(g.in(i));
  }
  for (int i = 0; i < 1 + s.num_states(); ++i) {
    if (g.has_dout(i)) in.push_back(g.dout(i));
  }
  const Attrs attrs = grad_attrs(s, given, needs);
  const RnnPlaces made = rnn_places(rnn_setup(grad_op(op), attrs));
  const auto out = g.emit_all(grad_op(op), in, attrs);
  const auto give = [&](int i, int place) {
    if (is_needed(i)) g.set_din(i, out[static_cast<std::size_t>(place)]);
  };
  give(0, made.dx);
  give(1, made.dkernel);
  give(2, made.drecurrent);
  give(p.bias, made.dbias);
  give(p.h, made.dh0);
  give(p.c, made.dc0);
}

[[noreturn]] void no_second_derivative(GradCtx&) {
  throw UnimplementedError(
      "recurrent layers have no second derivatives; make the layer of tf::scan to have them");
}

}  // namespace

const OpDef op_Lstm{.infer = infer_rnn, .grad = [](GradCtx& g) { grad_rnn(g, OpId::Lstm); }};
const OpDef op_Gru{.infer = infer_rnn, .grad = [](GradCtx& g) { grad_rnn(g, OpId::Gru); }};
const OpDef op_SimpleRnn{.infer = infer_rnn,
                         .grad = [](GradCtx& g) { grad_rnn(g, OpId::SimpleRnn); }};
const OpDef op_LstmGrad{.infer = infer_rnn_grad, .grad = no_second_derivative};
const OpDef op_GruGrad{.infer = infer_rnn_grad, .grad = no_second_derivative};
const OpDef op_SimpleRnnGrad{.infer = infer_rnn_grad, .grad = no_second_derivative};

}  // namespace plimsoll
