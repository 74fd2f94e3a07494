// Tensors of which most elements are missing: where the others are, and what they are.
//
//   tf::SparseTensor s = tf::sparse::from_dense(tf::constant({0, 7, 0, 5}, {2, 2}));
//   s.indices;                      // [[0 1] [1 1]], int64
//   s.values;                       // [7 5]
//   tf::sparse::to_dense(s, tf::constant(-1));      // [[-1 7] [-1 5]]
//
// A slice of TensorFlow's: it is made, by parse_example too, and made dense; ops take none.
#pragma once

#include "plimsoll/tensor.h"

namespace plimsoll {

struct SparseTensor {
  Tensor indices;      // int64 [num, rank]
  Tensor values;       // [num]
  Tensor dense_shape;  // int64 [rank]

  // throws: InvalidArgumentError for types and shapes that do not fit together.
  void check() const;
};

namespace sparse {

// default_value: a scalar for the others; none: 0 or "". validate_indices: that indices are in
// order, and none is there twice; otherwise of two the last one counts.
// throws: InvalidArgumentError, also for an index outside of the shape; ResourceExhaustedError.
Tensor to_dense(const SparseTensor& input, const Tensor& default_value = {},
                bool validate_indices = true);
// All elements but 0, false and "". throws: InvalidArgumentError for a scalar.
SparseTensor from_dense(const Tensor& tensor);

}  // namespace sparse
}  // namespace plimsoll
