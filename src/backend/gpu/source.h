// Kernels as text, in a dialect that OpenCL C and CUDA C++ both become with a few macros.
//
// Kernels loop until all is done, however few work-items there are.
//
// Pointers come as a buffer and a byte in it: (GLOBAL uchar* p, int64 p_at). Elements are read and
// written by load_<dtype> and store_<dtype>; 16-bit floats are float in between.
#pragma once

#include <string>
#include <vector>

#include "backend/api/fused.h"
#include "backend/api/kernel.h"

namespace plimsoll::gpu {

inline constexpr int kGroup = 64;  // work-items of a group

// Dimensions with their strides, innermost first, as kernels take them by value.
struct WalkArg {
  std::int64_t rank = 0;
  std::int64_t dims[16] = {};
  std::int64_t strides[3][16] = {};
};

// The same of one operand, for kernels with several: drivers may stop at 1,024 bytes of arguments.
struct LineArg {
  std::int64_t rank = 0;
  std::int64_t dims[kMaxRank] = {};
  std::int64_t strides[kMaxRank] = {};
};
static_assert(kMaxRank == 8);

// What elements of a type are between load and store: "float", "long", "uchar".
std::string_view compute_type(DType dtype) noexcept;

// Several elementwise ops as one kernel "map":
//   map(n, walk, outputs..., inputs...)
struct MapStep {
  OpId op;
  double a = 0;               // the op's first attribute
  std::vector<int> operands;  // i >= 0 is input i, ~k is the result of step k
};
struct MapKernel {
  DType compute = DType::kFloat32;  // what expressions are in
  std::vector<DType> in, out;
  // By input: element by element, one for all, or a row that repeats after walk.dims[input]
  // elements. kNot: by the strides of the walk; then all are, and there are at most three.
  std::vector<FusedReach> reach;
  std::vector<MapStep> steps;
  std::vector<int> outputs;  // by output: the step
};
std::string map_source(const MapKernel& kernel);

// cast(n, out, in)
std::string cast_source(DType from, DType to);

// Copies by strides of elements of 1, 2, 4 or 8 bytes: strides 0 are the input's, 1 the output's.
//   copy(n, walk, from, to, out, in)          from, to: elements at which they start
std::string copy_source(std::int64_t element_size);

// ReduceSum and so on, through lines. Elements that become one are done in `splits` parts, which
// finish() puts together; with one split the result is final.
//   rows(num_out, count, splits, kept, reduced, out, in)      a group per output and part
//   columns(num_out, count, splits, kept, reduced, out, in)   a work-item per output and part
//   finish(num_out, count, splits, out, parts)
std::string reduce_source(OpId op, DType dtype, bool has_doubles);
std::uint64_t accumulator_bytes(OpId op, DType dtype, bool has_doubles) noexcept;

// ArgMax, ArgMin over [outer, n, inner]: arg(outer, n, inner, out, in)
std::string arg_source(OpId op, DType in, DType out);

// Softmax, LogSoftmax and their gradients over [outer, n, inner], a group per row:
//   rows(num_rows, n, inner, out, x, y)       y: the output, for gradients; else x again
std::string softmax_source(OpId op, DType dtype);

// Cross-entropies of logits and labels along the last axis, and their gradients, a group per row:
//   rows(num_rows, n, out, dloss, logits, labels, bad)
// dloss is read by gradients only. A class outside of [0, n) puts its row into *bad, the first of
// them; sparse labels only.
std::string loss_source(OpId op, DType dtype, DType labels);

// C = A B, tile by tile: matmul(rows, columns, depth, num, batch, out, a, b)
// The walk is through the batch: strides 0 are the elements between the matrices of a, 1 of b.
inline constexpr int kMatMulTile = 8;  // a group is a tile of kMatMulTile squared
std::string matmul_source(DType dtype, bool transpose_a, bool transpose_b);

}  // namespace plimsoll::gpu
