// What the shape ops come down to on every backend: copies by strides from an input to an output.
//
//   for_each_copy(call, [&](const ShapeCopy& c) { ... });   // of Transpose, Concat, Pad, ...
#pragma once

#include <array>
#include <cstdint>

#include "backend/api/kernel.h"

namespace plimsoll {

// out[sum(at * out_stride)] = in[sum(at * in_stride)] for all positions `at` below the dimensions.
//
//   StridedCopy copy;                     // the transpose of a [rows, columns] matrix:
//   copy.add(rows, columns, 1);           // innermost dimension of the output first
//   copy.add(columns, 1, rows);
struct StridedCopy {
  static constexpr int kMaxDims = 2 * kMaxRank;

  int rank = 0;
  std::int64_t count = 1;
  std::array<std::int64_t, kMaxDims> dims{}, in_strides{}, out_strides{};

  // From the innermost dimension outwards; strides in elements, of the input also 0 or negative.
  // Dimensions that walk on from the one before are merged with it.
  void add(std::int64_t dim, std::int64_t in_stride, std::int64_t out_stride) noexcept;
};

// The elements between neighbours along each dimension of a dense tensor.
std::array<std::int64_t, kMaxRank> dense_strides(const Shape& shape) noexcept;

struct ShapeCopy {
  std::size_t in = 0, out = 0;    // which input, which output
  std::int64_t from = 0, to = 0;  // elements at which it starts
  StridedCopy copy;
};

// Those of BroadcastTo, Transpose, Tile, Reverse, Roll, StridedSlice, StridedSliceGrad, Pad,
// MirrorPad, MirrorPadGrad, Concat and Split, in a fixed order. StridedSliceGrad and Pad leave
// parts of the output alone; of MirrorPadGrad several copies come to the same place, and are added.
using CopyFn = void (*)(void* context, const ShapeCopy&);
void for_each_copy(const KernelCall& call, CopyFn f, void* context);

template <class F>
void for_each_copy(const KernelCall& call, F&& f) {
  for_each_copy(
      call, [](void* context, const ShapeCopy& copy) { (*static_cast<F*>(context))(copy); }, &f);
}

}  // namespace plimsoll
