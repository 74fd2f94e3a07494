// Rows that become one by the id of their segment, and counts of integers.
#pragma once

#include <optional>

#include "plimsoll/tensor.h"

namespace plimsoll::math {

// segment_ids: int32 or int64, one for each row of data, in rising order from 0. The result has as
// many rows as the last id says, so these wait for its value, and a function that is traced cannot
// call them: the unsorted ones are for it. A segment without rows gives 0, of products 1.
Tensor segment_sum(const Tensor& data, const Tensor& segment_ids);
Tensor segment_mean(const Tensor& data, const Tensor& segment_ids);
Tensor segment_max(const Tensor& data, const Tensor& segment_ids);
Tensor segment_min(const Tensor& data, const Tensor& segment_ids);
Tensor segment_prod(const Tensor& data, const Tensor& segment_ids);

// Ids in any order; their shape is the first dimensions of data's. A negative id counts nowhere,
// one from num_segments on is an InvalidArgumentError. A segment without rows gives 0, of products
// 1, of max (min) the smallest (largest) number of the type. 16-bit sums are kept in float on the
// way, those of 8- and 16-bit integers in 64 bits; they stop at the limits of their type.
Tensor unsorted_segment_sum(const Tensor& data, const Tensor& segment_ids,
                            std::int64_t num_segments);
Tensor unsorted_segment_mean(const Tensor& data, const Tensor& segment_ids,
                             std::int64_t num_segments);
Tensor unsorted_segment_sqrt_n(const Tensor& data, const Tensor& segment_ids,
                               std::int64_t num_segments);
Tensor unsorted_segment_max(const Tensor& data, const Tensor& segment_ids,
                            std::int64_t num_segments);
Tensor unsorted_segment_min(const Tensor& data, const Tensor& segment_ids,
                            std::int64_t num_segments);
Tensor unsorted_segment_prod(const Tensor& data, const Tensor& segment_ids,
                             std::int64_t num_segments);

struct BincountOptions {
  Tensor weights = {};                         // what to add instead of 1; the result has its type
  std::optional<std::int64_t> minlength = {};  // the result has at least so many bins
  std::optional<std::int64_t> maxlength = {};  // and at most so many; larger numbers do not count
  DType dtype = int32;                         // of the result, where there are no weights
  std::optional<std::int64_t> axis = {};       // -1: for each row of a matrix
  bool binary_output = false;                  // 1 for what is there, however often
};
// How often each integer from 0 occurs. The result is as long as the largest says, which waits for
// its value; with minlength and maxlength of one value, nothing is waited for, and it can be
// traced.
Tensor bincount(const Tensor& arr, const BincountOptions& options = {});

}  // namespace plimsoll::math
