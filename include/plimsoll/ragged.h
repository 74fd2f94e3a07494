// Rows of different lengths: the values of all rows, one after another, and where rows begin.
//
//   tf::RaggedTensor words = tf::strings::split(tf::constant({"a b"s, ""s, "c"s}, {3}));
//   words.flat_values();                       // a b c
//   words.nested_row_splits()[0];              // 0 2 2 3: row i is [splits[i], splits[i + 1])
//   words.to_tensor();                         // [[a b] ["" ""] [c ""]]
//
// A slice of TensorFlow's: it is made, looked at, and made dense; ops take no ragged tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

class RaggedTensor {
 public:
  // splits: int32 or int64, outermost first. Each begins with 0, never falls, and ends with the
  // number of rows of what is inside. throws: InvalidArgumentError.
  RaggedTensor(Tensor flat_values, std::vector<Tensor> nested_row_splits);
  // throws: InvalidArgumentError.
  static RaggedTensor from_row_splits(const Tensor& values, const Tensor& row_splits);
  static RaggedTensor from_row_lengths(const Tensor& values, const Tensor& row_lengths);
  // Where rows of such lengths begin and end, of their type. throws: InvalidArgumentError.
  static Tensor row_splits_of(const Tensor& row_lengths);

  const Tensor& flat_values() const noexcept { return flat_values_; }
  const std::vector<Tensor>& nested_row_splits() const noexcept { return splits_; }
  DType dtype() const noexcept { return flat_values_.dtype(); }
  std::int64_t nrows() const noexcept { return splits_[0].num_elements() - 1; }
  int ragged_rank() const noexcept { return static_cast<int>(splits_.size()); }
  int rank() const noexcept { return flat_values_.rank() + ragged_rank(); }
  // Lengths of the outermost rows, of the type of the splits.
  Tensor row_lengths() const;

  // Rows filled up to the longest with `default_value` (a scalar; none: 0 or ""). shape: for each
  // dimension its size, or -1 for what is there; what is too long is cut off.
  // throws: InvalidArgumentError; ResourceExhaustedError.
  Tensor to_tensor(const Tensor& default_value = {},
                   const std::optional<std::vector<std::int64_t>>& shape = {}) const;

 private:
  Tensor flat_values_;
  std::vector<Tensor> splits_;  // at least one
};

}  // namespace plimsoll
