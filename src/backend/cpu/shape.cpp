#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/shape_copy.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

using Ints = std::span<const std::int64_t>;

// The elements between neighbours along each dimension of a dense tensor.
std::array<std::int64_t, kMaxRank> dense_strides(const Shape& shape) noexcept {
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride *= shape.dim(i);
  }
  return strides;
}

std::int64_t element_size(const RunArgs& args) noexcept {
  return dtype_size(args.call.in[0].dtype);
}

void copy_blocks(const RunArgs& args, const Segments& segments) noexcept {
  copy_segments(args.in[0].as<const char>(), args.call.in[0].shape, args.out[0].as<char>(),
                args.call.out[0].shape, segments, element_size(args));
}

Status run_broadcast_to(const RunArgs& args) noexcept {
  const Shape& in = args.call.in[0].shape;
  const Shape& out = args.call.out[0].shape;
  const auto strides = dense_strides(in);
  const int lead = out.rank() - in.rank();
  StridedCopy copy;
  std::int64_t out_stride = 1;
  for (int i = out.rank() - 1; i >= 0; --i) {
    const bool repeats = i < lead || in.dim(i - lead) == 1;
    copy.add(out.dim(i), repeats ? 0 : strides[static_cast<std::size_t>(i - lead)], out_stride);
    out_stride *= out.dim(i);
  }
  copy.run(args.in[0].as<const char>(), args.out[0].as<char>(), element_size(args));
  return {};
}

Status run_transpose(const RunArgs& args) noexcept {
  const auto strides = dense_strides(args.call.in[0].shape);
  const Shape& out = args.call.out[0].shape;
  const Ints perm = args.attrs()[attr::Transpose::perm].as_ints();
  StridedCopy copy;
  std::int64_t out_stride = 1;
  for (int i = out.rank() - 1; i >= 0; --i) {
    const auto axis = static_cast<std::size_t>(perm[static_cast<std::size_t>(i)]);
    copy.add(out.dim(i), strides[axis], out_stride);
    out_stride *= out.dim(i);
  }
  copy.run(args.in[0].as<const char>(), args.out[0].as<char>(), element_size(args));
  return {};
}

Status run_tile(const RunArgs& args) noexcept {
  const Shape& in = args.call.in[0].shape;
  const auto strides = dense_strides(in);
  const Ints multiples = args.attrs()[attr::Tile::multiples].as_ints();
  StridedCopy copy;
  std::int64_t out_stride = 1;
  for (int i = in.rank() - 1; i >= 0; --i) {
    copy.add(in.dim(i), strides[static_cast<std::size_t>(i)], out_stride);
    out_stride *= in.dim(i);
    copy.add(multiples[static_cast<std::size_t>(i)], 0, out_stride);
    out_stride *= multiples[static_cast<std::size_t>(i)];
  }
  copy.run(args.in[0].as<const char>(), args.out[0].as<char>(), element_size(args));
  return {};
}

Status run_reverse(const RunArgs& args) noexcept {
  const Shape& shape = args.call.in[0].shape;
  Segments segments(shape);
  for (const std::int64_t given : args.attrs()[attr::Reverse::axes].as_ints()) {
    const int axis = static_cast<int>(given < 0 ? given + shape.rank() : given);
    segments.set(axis, {.count = shape.dim(axis), .in_begin = shape.dim(axis) - 1, .in_step = -1});
  }
  copy_blocks(args, segments);
  return {};
}

Status run_roll(const RunArgs& args) noexcept {
  const Shape& shape = args.call.in[0].shape;
  const Ints shifts = args.attrs()[attr::Roll::shifts].as_ints();
  Segments segments;
  for (int i = 0; i < shape.rank(); ++i) {
    const std::int64_t dim = shape.dim(i);
    if (dim == 0) return {};
    const std::int64_t shift = (shifts[static_cast<std::size_t>(i)] % dim + dim) % dim;
    segments.add(i, {.count = dim - shift, .out_begin = shift});
    segments.add(i, {.count = shift, .in_begin = dim - shift});
  }
  copy_blocks(args, segments);
  return {};
}

Status run_strided_slice(const RunArgs& args) noexcept {
  using A = attr::StridedSlice;
  const Ints begin = args.attrs()[A::begin].as_ints();
  const Ints strides = args.attrs()[A::strides].as_ints();
  const Shape& out = args.call.out[0].shape;
  Segments segments;
  for (int i = 0; i < out.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    segments.add(i, {.count = out.dim(i), .in_begin = begin[k], .in_step = strides[k]});
  }
  copy_blocks(args, segments);
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
  using A = attr::StridedSliceGrad;
  const Ints begin = args.attrs()[A::begin].as_ints();
  const Ints strides = args.attrs()[A::strides].as_ints();
  const Shape& in = args.call.in[0].shape;
  Segments segments;
  for (int i = 0; i < in.rank(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    segments.add(i, {.count = in.dim(i), .out_begin = begin[k], .out_step = strides[k]});
  }
  fill_out(args, 0);
  copy_blocks(args, segments);
  return {};
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
      copy.run(&value, args.out[0].as<T>() + offset, sizeof(T));
    }
  }
}

Status run_pad(const RunArgs& args) noexcept {
  const Ints before = args.attrs()[attr::Pad::before].as_ints();
  const Shape& in = args.call.in[0].shape;
  Segments segments;
  for (int i = 0; i < in.rank(); ++i)
    segments.add(i, {.count = in.dim(i), .out_begin = before[static_cast<std::size_t>(i)]});
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const double value = args.attrs()[attr::Pad::value].as_float();
    fill_sides(args, static_cast<T>(static_cast<compute_t<T>>(value)));
  });
  copy_blocks(args, segments);
  return {};
}

// The middle and the two mirrored sides of each dimension, from the small tensor to the large one.
Segments mirror_segments(const Attrs& attrs, const Shape& small) noexcept {
  const Ints before = attrs[attr::MirrorPad::before].as_ints();
  const Ints after = attrs[attr::MirrorPad::after].as_ints();
  const std::int64_t skip = attrs[attr::MirrorPad::symmetric].as_bool() ? 0 : 1;
  Segments segments;
  for (int i = 0; i < small.rank(); ++i) {
    const std::int64_t dim = small.dim(i);
    const std::int64_t left = before[static_cast<std::size_t>(i)];
    const std::int64_t right = after[static_cast<std::size_t>(i)];
    segments.add(i, {.count = dim, .out_begin = left});
    segments.add(i, {.count = left, .in_begin = left - 1 + skip, .in_step = -1});
    segments.add(
        i, {.count = right, .in_begin = dim - 1 - skip, .in_step = -1, .out_begin = left + dim});
  }
  return segments;
}

Status run_mirror_pad(const RunArgs& args) noexcept {
  copy_blocks(args, mirror_segments(args.attrs(), args.call.in[0].shape));
  return {};
}

// Adds up what was copied out: the same blocks, the other way round.
Status run_mirror_pad_grad(const RunArgs& args) noexcept {
  const Shape& in = args.call.in[0].shape;
  const Shape& out = args.call.out[0].shape;
  Segments segments = mirror_segments(args.attrs(), out);
  for (std::size_t i = 0; i < kMaxRank; ++i) {
    for (Segment& s : segments.list[i]) {
      std::swap(s.in_begin, s.out_begin);
      std::swap(s.in_step, s.out_step);
    }
  }
  fill_out(args, 0);
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<T>>) {
      for_each_block(in, out, segments,
                     [&](const StridedCopy& copy, std::int64_t from, std::int64_t to) {
                       copy.add_to(args.in[0].as<const T>() + from, args.out[0].as<T>() + to);
                     });
    }
  });
  return {};
}

Status run_concat(const RunArgs& args) noexcept {
  const Shape& out = args.call.out[0].shape;
  const std::int64_t given = args.attrs()[attr::Concat::axis].as_int();
  const int axis = static_cast<int>(given < 0 ? given + out.rank() : given);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    const Shape& in = args.call.in[i].shape;
    Segments segments(in);
    segments.set(axis, {.count = in.dim(axis), .out_begin = at});
    copy_segments(args.in[i].as<const char>(), in, args.out[0].as<char>(), out, segments,
                  element_size(args));
    at += in.dim(axis);
  }
  return {};
}

Status run_split(const RunArgs& args) noexcept {
  const Shape& in = args.call.in[0].shape;
  const std::int64_t given = args.attrs()[attr::Split::axis].as_int();
  const int axis = static_cast<int>(given < 0 ? given + in.rank() : given);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < args.out.size(); ++i) {
    const Shape& out = args.call.out[i].shape;
    Segments segments(out);
    segments.set(axis, {.count = out.dim(axis), .in_begin = at});
    copy_segments(args.in[0].as<const char>(), in, args.out[i].as<char>(), out, segments,
                  element_size(args));
    at += out.dim(axis);
  }
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::BroadcastTo, .dtypes = kAll, .run = run_broadcast_to},
    {.op = OpId::Transpose, .dtypes = kAll, .run = run_transpose},
    {.op = OpId::Tile, .dtypes = kAll, .run = run_tile},
    {.op = OpId::Reverse, .dtypes = kAll, .run = run_reverse},
    {.op = OpId::Roll, .dtypes = kAll, .run = run_roll},
    {.op = OpId::StridedSlice, .dtypes = kAll, .run = run_strided_slice},
    {.op = OpId::StridedSliceGrad, .dtypes = kAll, .run = run_strided_slice_grad},
    {.op = OpId::Pad, .dtypes = kAll, .run = run_pad},
    {.op = OpId::MirrorPad, .dtypes = kAll, .run = run_mirror_pad},
    {.op = OpId::MirrorPadGrad, .dtypes = kFloats, .run = run_mirror_pad_grad},
    {.op = OpId::Concat, .dtypes = kAll, .run = run_concat},
    {.op = OpId::Split, .dtypes = kAll, .run = run_split},
};

}  // namespace

std::span<const KernelDef> shape_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
