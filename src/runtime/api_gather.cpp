#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"

namespace plimsoll {

Tensor gather(const Tensor& params, const Tensor& indices, std::optional<std::int64_t> axis,
              std::int64_t batch_dims) {
  PLIMSOLL_CHECK(params.is_valid() && indices.is_valid(), InvalidArgumentError,
                 "gather of an empty Tensor");
  const int rank = params.rank();
  PLIMSOLL_CHECK(batch_dims >= -indices.rank() && batch_dims <= indices.rank(),
                 InvalidArgumentError,
                 "Expected batch_dims in the range [{}, {}], but got {} [Op:Gather]",
                 -indices.rank(), indices.rank(), batch_dims);
  if (batch_dims < 0) batch_dims += indices.rank();
  std::int64_t at = axis.value_or(batch_dims);
  PLIMSOLL_CHECK(at < rank, InvalidArgumentError,
                 "Shape must be at least rank {} but is rank {}: axis {} [Op:Gather]", at + 1, rank,
                 at);
  PLIMSOLL_CHECK(at >= -rank, InvalidArgumentError,
                 "Expected axis in the range [{}, {}), but got {} [Op:Gather]", -rank, rank, at);
  if (at < 0) at += rank;
  return call(OpId::Gather, {params, indices}, {at, batch_dims});
}

Tensor gather_nd(const Tensor& params, const Tensor& indices, std::int64_t batch_dims) {
  if (batch_dims == 0) return call(OpId::GatherNd, {params, indices});
  PLIMSOLL_CHECK(params.is_valid() && indices.is_valid(), InvalidArgumentError,
                 "gather_nd of an empty Tensor");
  PLIMSOLL_CHECK(batch_dims > 0 && batch_dims < indices.rank() && batch_dims < params.rank(),
                 InvalidArgumentError,
                 "batch_dims = {} must be less than rank(params) = {} and rank(indices) = {}",
                 batch_dims, params.rank(), indices.rank());
  // The position in each batch dimension goes in front of the indices.
  std::vector<std::int64_t> column(indices.shape().dims().begin(), indices.shape().dims().end());
  column.back() = 1;
  std::vector<Tensor> parts;
  for (int i = 0; i < batch_dims; ++i) {
    PLIMSOLL_CHECK(params.shape().dim(i) == indices.shape().dim(i), InvalidArgumentError,
                   "params.shape[{0}]: {1} should be equal to indices.shape[{0}]: {2} "
                   "[Op:GatherNd]",
                   i, params.shape().dim(i), indices.shape().dim(i));
    std::vector<std::int64_t> dims(column.size(), 1);
    dims[static_cast<std::size_t>(i)] = params.shape().dim(i);
    const Tensor positions = range(0, params.shape().dim(i), 1, indices.dtype());
    parts.push_back(
        broadcast_to(reshape(positions, dims), Shape(std::span<const std::int64_t>(column))));
  }
  parts.push_back(indices);
  return call(OpId::GatherNd, {params, concat(parts, -1)});
}

Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape) {
  return call(OpId::ScatterNd, {indices, updates}, {AttrValue(shape)});
}
Tensor tensor_scatter_nd_add(const Tensor& tensor, const Tensor& indices, const Tensor& updates) {
  return call(OpId::TensorScatterAdd, {tensor, indices, updates});
}
Tensor tensor_scatter_nd_sub(const Tensor& tensor, const Tensor& indices, const Tensor& updates) {
  return call(OpId::TensorScatterAdd, {tensor, indices, negative(updates)});
}
Tensor tensor_scatter_nd_update(const Tensor& tensor, const Tensor& indices,
                                const Tensor& updates) {
  return call(OpId::TensorScatterUpdate, {tensor, indices, updates});
}

Tensor boolean_mask(const Tensor&, const Tensor&, std::optional<std::int64_t>) {
  throw UnimplementedError(
      "boolean_mask: its shape depends on values, which is not there yet; where(mask, x, y) keeps "
      "the shape");
}
Tensor where(const Tensor&) {
  throw UnimplementedError(
      "where(condition): its shape depends on values, which is not there yet; "
      "where(condition, x, y) is");
}

namespace nn {
Tensor embedding_lookup(const Tensor& params, const Tensor& ids) {
  return gather(params, ids, 0);
}
}  // namespace nn

}  // namespace plimsoll
