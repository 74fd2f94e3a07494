// Copying between tensors by strides: what nearly all shape ops come down to.
//
//   StridedCopy copy;                     // the transpose of a [rows, columns] matrix:
//   copy.add(rows, columns, 1);           // innermost dimension of the output first
//   copy.add(columns, 1, rows);
//   copy.run(in, out, sizeof(float));
#pragma once

#include <array>
#include <cstdint>

#include "plimsoll/shape.h"

namespace plimsoll::cpu {

// out[sum(at * out_stride)] = in[sum(at * in_stride)] for all positions `at` below the dimensions.
class StridedCopy {
 public:
  static constexpr int kMaxDims = 2 * kMaxRank;

  // From the innermost dimension outwards; strides in elements, of the input also 0 or negative.
  // Dimensions that walk on from the one before are merged with it.
  void add(std::int64_t dim, std::int64_t in_stride, std::int64_t out_stride) noexcept;
  std::int64_t count() const noexcept { return count_; }

  // Elements of 1, 2, 4 or 8 bytes. Runs on all cores.
  void run(const void* in, void* out, std::int64_t element_size) const noexcept;
  // out += in instead; T is computed as its compute type.
  template <class T>
  void add_to(const T* in, T* out) const noexcept;

 private:
  friend struct CopyLoops;
  int rank_ = 0;
  std::int64_t count_ = 1;
  std::array<std::int64_t, kMaxDims> dims_{}, in_strides_{}, out_strides_{};
};

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

  void add(int axis, const Segment& segment) noexcept {
    if (segment.count == 0) return;
    const auto i = static_cast<std::size_t>(axis);
    list[i][static_cast<std::size_t>(num[i]++)] = segment;
  }
  // The whole of every dimension, for those that stay as they are.
  explicit Segments(const Shape& whole) noexcept {
    for (int i = 0; i < whole.rank(); ++i) add(i, {.count = whole.dim(i)});
  }
  Segments() noexcept = default;
  void set(int axis, const Segment& segment) noexcept {
    num[static_cast<std::size_t>(axis)] = 0;
    add(axis, segment);
  }
};

// Calls f(copy, in_offset, out_offset) for every block, in a fixed order.
template <class F>
void for_each_block(const Shape& in, const Shape& out, const Segments& segments, F&& f) noexcept {
  const int rank = in.rank();
  for (int i = 0; i < rank; ++i) {
    if (segments.num[static_cast<std::size_t>(i)] == 0) return;
  }
  std::array<int, kMaxRank> pick{};
  for (;;) {
    StridedCopy copy;
    std::int64_t in_offset = 0, out_offset = 0, in_stride = 1, out_stride = 1;
    for (int i = rank - 1; i >= 0; --i) {
      const auto k = static_cast<std::size_t>(i);
      const Segment& s = segments.list[k][static_cast<std::size_t>(pick[k])];
      copy.add(s.count, s.in_step * in_stride, s.out_step * out_stride);
      in_offset += s.in_begin * in_stride;
      out_offset += s.out_begin * out_stride;
      in_stride *= in.dim(i);
      out_stride *= out.dim(i);
    }
    f(copy, in_offset, out_offset);
    int i = rank - 1;
    while (i >= 0 &&
           ++pick[static_cast<std::size_t>(i)] == segments.num[static_cast<std::size_t>(i)])
      pick[static_cast<std::size_t>(i--)] = 0;
    if (i < 0) return;
  }
}

// Copies all blocks.
void copy_segments(const void* in, const Shape& in_shape, void* out, const Shape& out_shape,
                   const Segments& segments, std::int64_t element_size) noexcept;

}  // namespace plimsoll::cpu
