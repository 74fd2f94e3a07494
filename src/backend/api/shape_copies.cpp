#include "backend/api/shape_copies.h"

#include <fmt/format.h>

#include <utility>

namespace plimsoll {
namespace {

using Ints = std::span<const std::int64_t>;

// A range of one dimension, and where it goes.
struct Segment {
  std::int64_t count = 0;
  std::int64_t in_begin = 0;
  std::int64_t in_step = 1;
  std::int64_t out_begin = 0;
  std::int64_t out_step = 1;
};

// Up to three ranges for each dimension; every combination of them is a block to copy.
struct Segments {
  std::array<std::array<Segment, 3>, kMaxRank> list{};
  std::array<int, kMaxRank> num{};

  Segments() noexcept = default;
  // The whole of every dimension, for those that stay as they are.
  explicit Segments(const Shape& whole) noexcept {
    for (int i = 0; i < whole.rank(); ++i) add(i, {.count = whole.dim(i)});
  }
  void add(int axis, const Segment& segment) noexcept {
    if (segment.count == 0) return;
    const auto i = static_cast<std::size_t>(axis);
    list[i][static_cast<std::size_t>(num[i]++)] = segment;
  }
  void set(int axis, const Segment& segment) noexcept {
    num[static_cast<std::size_t>(axis)] = 0;
    add(axis, segment);
  }
};

// The copies of one call, handed to whoever asked.
class Copies {
 public:
  Copies(const KernelCall& call, CopyFn f, void* context) noexcept
      : call_(call), f_(f), context_(context) {}

  void broadcast_to() {
    const Shape &in = in0(), &out = out0();
    const auto strides = dense_strides(in);
    const int lead = out.rank() - in.rank();
    ShapeCopy made;
    std::int64_t out_stride = 1;
    for (int i = out.rank() - 1; i >= 0; --i) {
      const bool repeats = i < lead || in.dim(i - lead) == 1;
      made.copy.add(out.dim(i), repeats ? 0 : strides[static_cast<std::size_t>(i - lead)],
                    out_stride);
      out_stride *= out.dim(i);
    }
    hand_out(made);
  }

  void transpose() {
    const auto strides = dense_strides(in0());
    const Ints perm = ints(attr::Transpose::perm);
    ShapeCopy made;
    std::int64_t out_stride = 1;
    for (int i = out0().rank() - 1; i >= 0; --i) {
      const auto axis = static_cast<std::size_t>(perm[static_cast<std::size_t>(i)]);
      made.copy.add(out0().dim(i), strides[axis], out_stride);
      out_stride *= out0().dim(i);
    }
    hand_out(made);
  }

  void tile() {
    const auto strides = dense_strides(in0());
    const Ints multiples = ints(attr::Tile::multiples);
    ShapeCopy made;
    std::int64_t out_stride = 1;
    for (int i = in0().rank() - 1; i >= 0; --i) {
      const auto k = static_cast<std::size_t>(i);
      made.copy.add(in0().dim(i), strides[k], out_stride);
      out_stride *= in0().dim(i);
      made.copy.add(multiples[k], 0, out_stride);
      out_stride *= multiples[k];
    }
    hand_out(made);
  }

  void reverse() {
    const Shape& shape = in0();
    Segments segments(shape);
    for (const std::int64_t given : ints(attr::Reverse::axes)) {
      const int axis = normalized(given, shape);
      segments.set(axis,
                   {.count = shape.dim(axis), .in_begin = shape.dim(axis) - 1, .in_step = -1});
    }
    blocks(segments);
  }

  void roll() {
    const Shape& shape = in0();
    const Ints shifts = ints(attr::Roll::shifts);
    Segments segments;
    for (int i = 0; i < shape.rank(); ++i) {
      const std::int64_t dim = shape.dim(i);
      if (dim == 0) return;
      const std::int64_t shift = (shifts[static_cast<std::size_t>(i)] % dim + dim) % dim;
      segments.add(i, {.count = dim - shift, .out_begin = shift});
      segments.add(i, {.count = shift, .in_begin = dim - shift});
    }
    blocks(segments);
  }

  void strided_slice() {
    const Ints begin = ints(attr::StridedSlice::begin);
    const Ints strides = ints(attr::StridedSlice::strides);
    Segments segments;
    for (int i = 0; i < out0().rank(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      segments.add(i, {.count = out0().dim(i), .in_begin = begin[k], .in_step = strides[k]});
    }
    blocks(segments);
  }

  void strided_slice_grad() {
    const Ints begin = ints(attr::StridedSliceGrad::begin);
    const Ints strides = ints(attr::StridedSliceGrad::strides);
    Segments segments;
    for (int i = 0; i < in0().rank(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      segments.add(i, {.count = in0().dim(i), .out_begin = begin[k], .out_step = strides[k]});
    }
    blocks(segments);
  }

  void pad() {
    const Ints before = ints(attr::Pad::before);
    Segments segments;
    for (int i = 0; i < in0().rank(); ++i)
      segments.add(i, {.count = in0().dim(i), .out_begin = before[static_cast<std::size_t>(i)]});
    blocks(segments);
  }

  void mirror_pad() { blocks(mirror_segments(in0())); }

  // The same blocks, the other way round.
  void mirror_pad_grad() {
    Segments segments = mirror_segments(out0());
    for (auto& of_axis : segments.list) {
      for (Segment& s : of_axis) {
        std::swap(s.in_begin, s.out_begin);
        std::swap(s.in_step, s.out_step);
      }
    }
    blocks(segments);
  }

  void concat() {
    const int axis = normalized(call_.attrs[attr::Concat::axis].as_int(), out0());
    std::int64_t at = 0;
    for (std::size_t i = 0; i < call_.in.size(); ++i) {
      const Shape& in = call_.in[i].shape;
      Segments segments(in);
      segments.set(axis, {.count = in.dim(axis), .out_begin = at});
      blocks(segments, i, 0);
      at += in.dim(axis);
    }
  }

  void split() {
    const int axis = normalized(call_.attrs[attr::Split::axis].as_int(), in0());
    std::int64_t at = 0;
    for (std::size_t i = 0; i < call_.out.size(); ++i) {
      const Shape& out = call_.out[i].shape;
      Segments segments(out);
      segments.set(axis, {.count = out.dim(axis), .in_begin = at});
      blocks(segments, 0, i);
      at += out.dim(axis);
    }
  }

 private:
  const Shape& in0() const noexcept { return call_.in[0].shape; }
  const Shape& out0() const noexcept { return call_.out[0].shape; }
  Ints ints(int attribute) const { return call_.attrs[attribute].as_ints(); }
  static int normalized(std::int64_t axis, const Shape& shape) noexcept {
    return static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
  }

  // The middle and the two mirrored sides of each dimension, from the small tensor to the large.
  Segments mirror_segments(const Shape& small) const {
    const Ints before = ints(attr::MirrorPad::before);
    const Ints after = ints(attr::MirrorPad::after);
    const std::int64_t skip = call_.attrs[attr::MirrorPad::symmetric].as_bool() ? 0 : 1;
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

  // Every combination of the segments.
  void blocks(const Segments& segments, std::size_t from = 0, std::size_t to = 0) {
    const Shape &in = call_.in[from].shape, &out = call_.out[to].shape;
    const int rank = in.rank();
    for (int i = 0; i < rank; ++i) {
      if (segments.num[static_cast<std::size_t>(i)] == 0) return;
    }
    std::array<int, kMaxRank> pick{};
    for (;;) {
      ShapeCopy made{.in = from, .out = to};
      std::int64_t in_stride = 1, out_stride = 1;
      for (int i = rank - 1; i >= 0; --i) {
        const auto k = static_cast<std::size_t>(i);
        const Segment& s = segments.list[k][static_cast<std::size_t>(pick[k])];
        made.copy.add(s.count, s.in_step * in_stride, s.out_step * out_stride);
        made.from += s.in_begin * in_stride;
        made.to += s.out_begin * out_stride;
        in_stride *= in.dim(i);
        out_stride *= out.dim(i);
      }
      hand_out(made);
      int i = rank - 1;
      while (i >= 0 &&
             ++pick[static_cast<std::size_t>(i)] == segments.num[static_cast<std::size_t>(i)])
        pick[static_cast<std::size_t>(i--)] = 0;
      if (i < 0) return;
    }
  }

  void hand_out(const ShapeCopy& made) { f_(context_, made); }

  const KernelCall& call_;
  const CopyFn f_;
  void* const context_;
};

}  // namespace

void StridedCopy::add(std::int64_t dim, std::int64_t in_stride, std::int64_t out_stride) noexcept {
  count *= dim;
  if (dim == 1) return;
  const auto last = static_cast<std::size_t>(rank - 1);
  if (rank > 0 && in_stride == dims[last] * in_strides[last] &&
      out_stride == dims[last] * out_strides[last]) {
    dims[last] *= dim;
    return;
  }
  const auto next = static_cast<std::size_t>(rank++);
  dims[next] = dim;
  in_strides[next] = in_stride;
  out_strides[next] = out_stride;
}

std::array<std::int64_t, kMaxRank> dense_strides(const Shape& shape) noexcept {
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = stride;
    stride *= shape.dim(i);
  }
  return strides;
}

void for_each_copy(const KernelCall& call, CopyFn f, void* context) {
  Copies copies(call, f, context);
  switch (call.op) {
    case OpId::BroadcastTo:
      return copies.broadcast_to();
    case OpId::Transpose:
      return copies.transpose();
    case OpId::Tile:
      return copies.tile();
    case OpId::Reverse:
      return copies.reverse();
    case OpId::Roll:
      return copies.roll();
    case OpId::StridedSlice:
      return copies.strided_slice();
    case OpId::StridedSliceGrad:
      return copies.strided_slice_grad();
    case OpId::Pad:
      return copies.pad();
    case OpId::MirrorPad:
      return copies.mirror_pad();
    case OpId::MirrorPadGrad:
      return copies.mirror_pad_grad();
    case OpId::Concat:
      return copies.concat();
    case OpId::Split:
      return copies.split();
    default:
      throw InternalError(fmt::format("{} is no copy", op_name(call.op)));
  }
}

}  // namespace plimsoll
