#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/shape_copy.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

using Ints = std::span<const std::int64_t>;

// out = in for all copies of the call.
Status run_copies(const RunArgs& args) noexcept {
  const std::int64_t size = dtype_size(args.call.in[0].dtype);
  for_each_copy(args.call, [&](const ShapeCopy& c) {
    run_copy(c.copy, args.in[c.in].as<const char>() + c.from * size,
             args.out[c.out].as<char>() + c.to * size, size);
  });
  return {};
}

void fill_out(const RunArgs& args, double value) noexcept {
  visit_dtype(args.call.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto v = static_cast<T>(static_cast<compute_t<T>>(value));
    T* out = args.out[0].as<T>();
    parallel_for(
        args.call.out[0].shape.num_elements(), 65536,
        [&](std::int64_t begin, std::int64_t end) { std::fill(out + begin, out + end, v); });
  });
}

Status run_strided_slice_grad(const RunArgs& args) noexcept {
  fill_out(args, 0);
  return run_copies(args);
}

// Writes `value` where nothing is copied to: before and after along each dimension, inside of what
// the dimensions before it take.
template <class T>
void fill_sides(const RunArgs& args, T value) noexcept {
  const Ints before = args.attrs()[attr::Pad::before].as_ints();
  const Shape& in = args.call.in[0].shape;
  const Shape& out = args.call.out[0].shape;
  const auto strides = dense_strides(out);
  for (int axis = 0; axis < in.rank(); ++axis) {
    for (const bool is_after : {false, true}) {
      StridedCopy copy;
      std::int64_t offset = 0;
      for (int i = in.rank() - 1; i >= 0; --i) {
        const auto k = static_cast<std::size_t>(i);
        const std::int64_t end = before[k] + in.dim(i);
        const std::int64_t begin = i > axis ? 0 : i < axis ? before[k] : is_after ? end : 0;
        const std::int64_t size = i > axis   ? out.dim(i)
                                  : i < axis ? in.dim(i)
                                  : is_after ? out.dim(i) - end
                                             : before[k];
        copy.add(size, 0, strides[k]);
        offset += begin * strides[k];
      }
      run_copy(copy, &value, args.out[0].as<T>() + offset, sizeof(T));
    }
  }
}

Status run_pad(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double value = args.attrs()[attr::Pad::value].as_float();
    fill_sides(args, static_cast<T>(static_cast<compute_t<T>>(value)));
  });
  return run_copies(args);
}

Status run_mirror_pad_grad(const RunArgs& args) noexcept {
  fill_out(args, 0);
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<T>>) {
      for_each_copy(args.call, [&](const ShapeCopy& c) {
        add_copy(c.copy, args.in[0].as<const T>() + c.from, args.out[0].as<T>() + c.to);
      });
    }
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::BroadcastTo, .dtypes = kAll, .run = run_copies},
    {.op = OpId::Transpose, .dtypes = kAll, .run = run_copies},
    {.op = OpId::Tile, .dtypes = kAll, .run = run_copies},
    {.op = OpId::Reverse, .dtypes = kAll, .run = run_copies},
    {.op = OpId::Roll, .dtypes = kAll, .run = run_copies},
    {.op = OpId::StridedSlice, .dtypes = kAll, .run = run_copies},
    {.op = OpId::StridedSliceGrad, .dtypes = kAll, .run = run_strided_slice_grad},
    {.op = OpId::Pad, .dtypes = kAll, .run = run_pad},
    {.op = OpId::MirrorPad, .dtypes = kAll, .run = run_copies},
    {.op = OpId::MirrorPadGrad, .dtypes = kFloats, .run = run_mirror_pad_grad},
    {.op = OpId::Concat, .dtypes = kAll, .run = run_copies},
    {.op = OpId::Split, .dtypes = kAll, .run = run_copies},
};

}  // namespace

std::span<const KernelDef> shape_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
