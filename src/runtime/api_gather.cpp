#include <algorithm>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/shape_values.h"

namespace plimsoll {
namespace {

// Where a condition holds; what `op` needs it for depends on how often.
Tensor positions(const Tensor& holds, const char* op, const char* instead) {
  const Tensor count = reduce_sum(cast(holds, DType::kInt64));
  return call(OpId::Where, {holds}, {known_int(count, op, instead)});
}

}  // namespace

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
    const Tensor along = range(0, params.shape().dim(i), 1, indices.dtype());
    parts.push_back(
        broadcast_to(reshape(along, dims), Shape(std::span<const std::int64_t>(column))));
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
Tensor tensor_scatter_nd_max(const Tensor& tensor, const Tensor& indices, const Tensor& updates) {
  return call(OpId::TensorScatterMax, {tensor, indices, updates});
}
Tensor tensor_scatter_nd_min(const Tensor& tensor, const Tensor& indices, const Tensor& updates) {
  return call(OpId::TensorScatterMin, {tensor, indices, updates});
}
Tensor tensor_scatter_nd_update(const Tensor& tensor, const Tensor& indices,
                                const Tensor& updates) {
  return call(OpId::TensorScatterUpdate, {tensor, indices, updates});
}

Tensor where(const Tensor& condition) {
  PLIMSOLL_CHECK(condition.is_valid(), InvalidArgumentError, "where of an empty Tensor");
  return positions(condition.dtype() == DType::kBool
                       ? condition
                       : not_equal(condition, zeros({}, condition.dtype())),
                   "where", "Give it x and y, which are chosen from by the condition");
}

Tensor boolean_mask(const Tensor& tensor, const Tensor& mask, std::optional<std::int64_t> axis) {
  PLIMSOLL_CHECK(tensor.is_valid() && mask.is_valid(), InvalidArgumentError,
                 "boolean_mask of an empty Tensor");
  PLIMSOLL_CHECK(mask.dtype() == DType::kBool, InvalidArgumentError,
                 "boolean_mask needs a mask of type bool, got {}", dtype_word(mask.dtype()));
  PLIMSOLL_CHECK(mask.rank() > 0, InvalidArgumentError, "mask cannot be scalar.");
  const int rank = tensor.rank();
  std::int64_t at = axis.value_or(0);
  PLIMSOLL_CHECK(at >= -rank && at < rank, InvalidArgumentError,
                 "Expected axis in the range [{}, {}), but got {} [Op:BooleanMask]", -rank, rank,
                 at);
  if (at < 0) at += rank;
  // The dimensions under the mask become one, of which rows are picked.
  const auto dims = tensor.shape().dims();
  const auto first = dims.begin() + at;
  PLIMSOLL_CHECK(
      at + mask.rank() <= rank &&
          std::equal(mask.shape().dims().begin(), mask.shape().dims().end(), first),
      InvalidArgumentError, "Shapes {} and {} are incompatible: tensor from axis {}, mask",
      Shape(dims.subspan(static_cast<std::size_t>(at))).to_string(), mask.shape().to_string(), at);
  std::vector<std::int64_t> merged(dims.begin(), first);
  merged.push_back(mask.num_elements());
  merged.insert(merged.end(), first + mask.rank(), dims.end());
  const std::int64_t flat[] = {mask.num_elements()};
  const Tensor found = positions(reshape(mask, flat), "boolean_mask",
                                 "Use where with x and y, which keeps the shape");
  const std::int64_t list[] = {found.shape().dim(0)};
  return gather(reshape(tensor, merged), reshape(found, list), at);
}

namespace nn {
Tensor embedding_lookup(const Tensor& params, const Tensor& ids) {
  return gather(params, ids, 0);
}
}  // namespace nn

}  // namespace plimsoll
