#include "base/check.h"
#include "ops/conv_shape.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

void check_types(const InferCtx& ctx) {
  PLIMSOLL_CHECK(
      ctx.in[0].dtype == ctx.in[1].dtype, InvalidArgumentError,
      "cannot compute {0} as input #1(zero-based) was expected to be a {1} tensor but is a {2} "
      "tensor [Op:{0}]",
      ctx.name(), dtype_word(ctx.in[0].dtype), dtype_word(ctx.in[1].dtype));
  PLIMSOLL_CHECK(is_floating(ctx.in[0].dtype), InvalidArgumentError,
                 "Value for attr 'T' of {} is not in the list of allowed values: half, bfloat16, "
                 "float, double [Op:{}]",
                 dtype_word(ctx.in[0].dtype), ctx.name());
}

void infer_conv(InferCtx& ctx) {
  check_types(ctx);
  const ConvShape s = conv_shape(ctx.op, ctx.in, ctx.attrs);
  ctx.out.add(ctx.in[0].dtype, s.out_image().shape(s.format));
  if (ctx.op != OpId::Conv2DBias) return;
  PLIMSOLL_CHECK(ctx.in[2].dtype == ctx.in[0].dtype && ctx.in[2].shape == Shape({s.out_c}),
                 InvalidArgumentError, "Conv2DBias needs a bias of {} {}, got {} {}",
                 dtype_name(ctx.in[0].dtype), Shape({s.out_c}).to_string(),
                 dtype_name(ctx.in[2].dtype), ctx.in[2].shape.to_string());
}

// A gradient: its second input has the shape of the convolution's output.
void infer_backprop(InferCtx& ctx) {
  check_types(ctx);
  const ConvShape s = conv_shape(ctx.op, ctx.in, ctx.attrs);
  const Shape wanted = s.out_image().shape(s.format);
  PLIMSOLL_CHECK(ctx.in[1].shape == wanted, InvalidArgumentError,
                 "{}: out_backprop must have the shape of the convolution's output: {} vs {}",
                 ctx.name(), ctx.in[1].shape.to_string(), wanted.to_string());
  ctx.out.add(ctx.in[0].dtype, Shape(ctx.attrs[attr::Conv2DBackpropInput::input_sizes].as_ints()));
}

// The attributes of the convolution, and for its gradients a shape as the last.
Attrs conv_attrs(const Attrs& a) {
  return {a[0], a[1], a[2], a[3], a[4]};
}
Attrs conv_attrs(const Attrs& a, const Shape& sizes) {
  return {a[0], a[1], a[2], a[3], a[4], AttrValue(sizes)};
}

// The convolution is linear in the image and in the filter, so that the three ops of a kind are
// each other's gradients.
struct Kind {
  OpId forward, to_input, to_filter;
};
constexpr Kind kPlain{OpId::Conv2D, OpId::Conv2DBackpropInput, OpId::Conv2DBackpropFilter};
constexpr Kind kDepthwise{OpId::DepthwiseConv2D, OpId::DepthwiseConv2DBackpropInput,
                          OpId::DepthwiseConv2DBackpropFilter};
constexpr Kind kVolumes{OpId::Conv3D, OpId::Conv3DBackpropInput, OpId::Conv3DBackpropFilter};

void grad_forward(GradCtx& g, const Kind& kind) {
  if (g.needs(0)) {
    g.set_din(
        0, g.emit(kind.to_input, {g.in(1), g.dout(0)}, conv_attrs(g.attrs(), g.in_spec(0).shape)));
  }
  if (g.needs(1)) {
    g.set_din(
        1, g.emit(kind.to_filter, {g.in(0), g.dout(0)}, conv_attrs(g.attrs(), g.in_spec(1).shape)));
  }
}
void grad_to_input(GradCtx& g, const Kind& kind) {  // inputs: filter, gradient of the output
  if (g.needs(0)) {
    g.set_din(
        0, g.emit(kind.to_filter, {g.dout(0), g.in(1)}, conv_attrs(g.attrs(), g.in_spec(0).shape)));
  }
  if (g.needs(1)) g.set_din(1, g.emit(kind.forward, {g.dout(0), g.in(0)}, conv_attrs(g.attrs())));
}
void grad_to_filter(GradCtx& g, const Kind& kind) {  // inputs: image, gradient of the output
  if (g.needs(0)) {
    g.set_din(
        0, g.emit(kind.to_input, {g.dout(0), g.in(1)}, conv_attrs(g.attrs(), g.in_spec(0).shape)));
  }
  if (g.needs(1)) g.set_din(1, g.emit(kind.forward, {g.in(0), g.dout(0)}, conv_attrs(g.attrs())));
}

}  // namespace

const OpDef op_Conv2D{.infer = infer_conv, .grad = [](GradCtx& g) { grad_forward(g, kPlain); }};
const OpDef op_Conv2DBias{.infer = infer_conv};
const OpDef op_Conv2DBackpropInput{.infer = infer_backprop,
                                   .grad = [](GradCtx& g) { grad_to_input(g, kPlain); }};
const OpDef op_Conv2DBackpropFilter{.infer = infer_backprop,
                                    .grad = [](GradCtx& g) { grad_to_filter(g, kPlain); }};
const OpDef op_DepthwiseConv2D{.infer = infer_conv,
                               .grad = [](GradCtx& g) { grad_forward(g, kDepthwise); }};
const OpDef op_DepthwiseConv2DBackpropInput{
    .infer = infer_backprop, .grad = [](GradCtx& g) { grad_to_input(g, kDepthwise); }};
const OpDef op_DepthwiseConv2DBackpropFilter{
    .infer = infer_backprop, .grad = [](GradCtx& g) { grad_to_filter(g, kDepthwise); }};
const OpDef op_Conv3D{.infer = infer_conv, .grad = [](GradCtx& g) { grad_forward(g, kVolumes); }};
const OpDef op_Conv3DBackpropInput{.infer = infer_backprop,
                                   .grad = [](GradCtx& g) { grad_to_input(g, kVolumes); }};
const OpDef op_Conv3DBackpropFilter{.infer = infer_backprop,
                                    .grad = [](GradCtx& g) { grad_to_filter(g, kVolumes); }};

}  // namespace plimsoll
