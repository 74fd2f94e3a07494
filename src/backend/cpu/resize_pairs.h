// Sums of two inputs each, as bilinear resizing has them; compiled for several instruction sets.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/cpu/resize_table.h"

namespace plimsoll::cpu {

// An output is left_weight * input[left] + right_weight * input[right]. Of one input alone, both
// are that one, with half the weight.
struct ResizePair {
  std::int32_t left, right;
  float left_weight, right_weight;
};
// Empty if an output has no inputs, or more than two. `stride`: numbers of an input.
std::vector<ResizePair> make_resize_pairs(const ResizeTable& table, std::int64_t stride);

struct ResizePairKernels {
  // line[i] = left_weight * left[i] + right_weight * right[i]
  template <class T>
  using Mix = void (*)(const T* left, const T* right, const ResizePair& pair, std::int64_t n,
                       float* line);
  Mix<std::uint8_t> mix_bytes;
  Mix<float> mix_floats;
  // Pixels of 1, 3 and 4 channels, out of a line. pre: one number is readable behind the line.
  using Pick = void (*)(const float* line, const ResizePair* pairs, std::int64_t num, float* out);
  Pick pick1, pick3, pick4;
};
const ResizePairKernels& resize_pair_kernels() noexcept;

}  // namespace plimsoll::cpu
