// Picking elements by index. Indices are int32 or int64; one that is out of range is an
// InvalidArgumentError that names it, its position and the bound.
#pragma once

#include <optional>

#include "plimsoll/tensor.h"

namespace plimsoll {

// params[..., indices, ...] along `axis` (none: the first after the batch dimensions).
Tensor gather(const Tensor& params, const Tensor& indices, std::optional<std::int64_t> axis = {},
              std::int64_t batch_dims = 0);
// The last dimension of `indices` holds positions in the first dimensions of params.
Tensor gather_nd(const Tensor& params, const Tensor& indices, std::int64_t batch_dims = 0);
// Zeros of `shape`, with the updates added where the indices say; equal indices add up.
Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape);
Tensor tensor_scatter_nd_add(const Tensor& tensor, const Tensor& indices, const Tensor& updates);
Tensor tensor_scatter_nd_sub(const Tensor& tensor, const Tensor& indices, const Tensor& updates);
Tensor tensor_scatter_nd_max(const Tensor& tensor, const Tensor& indices, const Tensor& updates);
Tensor tensor_scatter_nd_min(const Tensor& tensor, const Tensor& indices, const Tensor& updates);
// Of equal indices, the last one stays.
Tensor tensor_scatter_nd_update(const Tensor& tensor, const Tensor& indices, const Tensor& updates);

// Positions of the elements that are true, or not zero: int64 [how many, rank], in row-major order.
// The condition is counted first, which waits for its values.
Tensor where(const Tensor& condition);
// The elements of `tensor` whose mask is true. The mask covers as many dimensions as it has, from
// `axis` (none: the first).
Tensor boolean_mask(const Tensor& tensor, const Tensor& mask,
                    std::optional<std::int64_t> axis = {});

namespace nn {
Tensor embedding_lookup(const Tensor& params, const Tensor& ids);
}  // namespace nn

}  // namespace plimsoll
