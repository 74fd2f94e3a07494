#include "base/check.h"
#include "ops/defs.h"

namespace plimsoll {
namespace {

void infer_fill(InferCtx& ctx) {
  ctx.out.add(ctx.attrs[attr::Fill::dtype].as_dtype(),
              Shape(ctx.attrs[attr::Fill::shape].as_ints()));
}

void infer_range(InferCtx& ctx) {
  ctx.out.add(ctx.attrs[attr::Range::dtype].as_dtype(),
              Shape{ctx.attrs[attr::Range::size].as_int()});
}

void infer_linspace(InferCtx& ctx) {
  const DType dtype = ctx.attrs[attr::LinSpace::dtype].as_dtype();
  PLIMSOLL_CHECK(is_floating(dtype), InvalidArgumentError,
                 "LinSpace needs a floating point type, got {}", dtype_name(dtype));
  ctx.out.add(dtype, Shape{ctx.attrs[attr::LinSpace::num].as_int()});
}

void infer_eye(InferCtx& ctx) {
  const Shape shape(ctx.attrs[attr::Eye::shape].as_ints());
  PLIMSOLL_CHECK(shape.rank() >= 2, InvalidArgumentError, "Eye needs two dimensions, got {}",
                 shape.to_string());
  ctx.out.add(ctx.attrs[attr::Eye::dtype].as_dtype(), shape);
}

void infer_one_hot(InferCtx& ctx) {
  using A = attr::OneHot;
  const Shape& in = ctx.in[0].shape;
  const std::int64_t depth = ctx.attrs[A::depth].as_int();
  const std::int64_t axis = ctx.attrs[A::axis].as_int();
  PLIMSOLL_CHECK(is_integer(ctx.in[0].dtype), InvalidArgumentError,
                 "Value for attr 'TI' of {} is not in the list of allowed values: uint8, int8, "
                 "int32, int64 [Op:OneHot]",
                 dtype_word(ctx.in[0].dtype));
  PLIMSOLL_CHECK(depth >= 0, InvalidArgumentError,
                 "depth must be non-negative, got: {} [Op:OneHot]", depth);
  PLIMSOLL_CHECK(axis >= -1 && axis <= in.rank(), InvalidArgumentError,
                 "Expected axis to be -1 or between [0, {}).  But received: {} [Op:OneHot]",
                 in.rank() + 1, axis);
  std::vector<std::int64_t> dims(in.dims().begin(), in.dims().end());
  dims.insert(dims.begin() + (axis == -1 ? in.rank() : axis), depth);
  ctx.out.add(ctx.attrs[A::dtype].as_dtype(), Shape(dims));
}

void infer_cast(InferCtx& ctx) {
  const DType to = ctx.attrs[attr::Cast::dtype].as_dtype();
  PLIMSOLL_CHECK(ctx.in[0].dtype != DType::kString && to != DType::kString, UnimplementedError,
                 "Cast {} to {} is not supported", dtype_name(ctx.in[0].dtype), dtype_name(to));
  ctx.out.add(to, ctx.in[0].shape);
}

}  // namespace

const OpDef op_Fill{.infer = infer_fill};

const OpDef op_Range{.infer = infer_range};
const OpDef op_LinSpace{.infer = infer_linspace};
const OpDef op_Eye{.infer = infer_eye};
const OpDef op_OneHot{.infer = infer_one_hot};

const OpDef op_StopGradient{.infer = infer_same_as_in0, .is_view = true};

const OpDef op_Copy{
    .infer = infer_same_as_in0,
    .grad = [](GradCtx& g) { g.set_din(0, g.dout(0)); },
};

const OpDef op_Identity{
    .infer = infer_same_as_in0,
    .grad = [](GradCtx& g) { g.set_din(0, g.dout(0)); },
    .is_view = true,
};

const OpDef op_Cast{
    .infer = infer_cast,
    .grad =
        [](GradCtx& g) {
          if (is_floating(g.out_spec(0).dtype)) {
            g.set_din(0, g.emit(OpId::Cast, {g.dout(0)}, {g.in_spec(0).dtype}));
          }
        },
};

}  // namespace plimsoll
