// One axis of a resize, as TensorFlow's kernels have it (half-pixel centres, weights in float):
// which inputs an output is made of, with which weights.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/resize_method.h"

namespace plimsoll::cpu {

struct ResizeTable {
  // Output i is the sum of weights[first + k] * input[start + k] for k < count.
  struct Span {
    std::int64_t start, count, first;
  };
  std::vector<Span> spans;
  std::vector<float> weights;

  std::uint64_t nbytes() const noexcept {
    return spans.size() * sizeof(Span) + weights.size() * sizeof(float);
  }
};

ResizeTable make_resize_table(ResizeMethod method, bool antialias, std::int64_t in_size,
                              std::int64_t out_size);
// The table of the gradient: from outputs to the `in_size` inputs.
ResizeTable transposed(const ResizeTable& table, std::int64_t in_size);

}  // namespace plimsoll::cpu
