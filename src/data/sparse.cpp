#include "plimsoll/sparse.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "data/dense_fill.h"

namespace plimsoll {
namespace {

constexpr const char* kToDense = "SparseToDense";
constexpr const char* kFromDense = "SparseFromDense";

std::string text_of(std::span<const std::int64_t> numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ","));
}

// Where each value stands in a dense tensor. throws: InvalidArgumentError.
std::vector<std::int64_t> places_of(const SparseTensor& input, const Shape& shape, bool in_order) {
  const std::vector<std::int64_t> indices = input.indices.to_vector<std::int64_t>();
  const auto rank = static_cast<std::size_t>(shape.rank());
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < input.values.num_elements(); ++i) {
    const auto index = std::span(indices).subspan(static_cast<std::size_t>(i) * rank, rank);
    std::int64_t place = 0;
    bool is_in = true;
    for (std::size_t d = 0; d < rank; ++d) {
      is_in &= index[d] >= 0 && index[d] < shape.dims()[d];
      if (is_in) place = place * shape.dims()[d] + index[d];
    }
    PLIMSOLL_CHECK(is_in, InvalidArgumentError,
                   "indices[{}] = {} is out of bounds: need 0 <= index < {} [Op:{}]", i,
                   text_of(index), shape.to_string(), kToDense);
    const std::int64_t before = places.empty() ? -1 : places.back();
    PLIMSOLL_CHECK(!in_order || place != before, InvalidArgumentError,
                   "indices[{}] = {} is repeated [Op:{}]", i, text_of(index), kToDense);
    PLIMSOLL_CHECK(!in_order || place > before, InvalidArgumentError,
                   "indices[{}] = {} is out of order: sort them, or say validate_indices=False "
                   "[Op:{}]",
                   i, text_of(index), kToDense);
    places.push_back(place);
  }
  return places;
}

// The elements of a dense tensor that are there, by number.
std::vector<std::int64_t> places_with_values(const Tensor& tensor) {
  std::vector<std::int64_t> places;
  data::visit_values(tensor, kFromDense, [&]<class Values>(const Values& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      bool is_there = false;
      if constexpr (std::is_same_v<Values, std::span<const std::string>>) {
        is_there = !values[i].empty();
      } else {
        is_there = static_cast<double>(values[i]) != 0;  // exact: nothing but 0 becomes 0
      }
      if (is_there) places.push_back(static_cast<std::int64_t>(i));
    }
  });
  return places;
}

Tensor values_at(const Tensor& tensor, const std::vector<std::int64_t>& places) {
  const Shape shape{static_cast<std::int64_t>(places.size())};
  const auto walk = [&](const auto& value, const auto&) {
    for (const std::int64_t place : places) value(place);
  };
  return data::fill_dense(walk, tensor, 1, {}, shape, kFromDense);
}

}  // namespace

void SparseTensor::check() const {
  for (const Tensor* t : {&indices, &values, &dense_shape})
    data::check_has_value(*t, "SparseTensor");
  PLIMSOLL_CHECK(indices.dtype() == int64 && dense_shape.dtype() == int64, InvalidArgumentError,
                 "indices and dense_shape must be of int64, received {} and {}",
                 dtype_name(indices.dtype()), dtype_name(dense_shape.dtype()));
  PLIMSOLL_CHECK(
      indices.rank() == 2 && values.rank() == 1 && dense_shape.rank() == 1, InvalidArgumentError,
      "indices must have rank 2, values and dense_shape rank 1; received shapes {}, {} "
      "and {}",
      indices.shape().to_string(), values.shape().to_string(), dense_shape.shape().to_string());
  PLIMSOLL_CHECK(indices.shape().dim(0) == values.shape().dim(0) &&
                     indices.shape().dim(1) == dense_shape.shape().dim(0),
                 InvalidArgumentError,
                 "Dimensions are not compatible: indices {} have a row for each value, and a "
                 "column for each dimension; received values {} and dense_shape {}",
                 indices.shape().to_string(), values.shape().to_string(),
                 dense_shape.shape().to_string());
  for (const std::int64_t dim : dense_shape.to_vector<std::int64_t>())
    PLIMSOLL_CHECK(dim >= 0, InvalidArgumentError, "Dimension {} must be >= 0", dim);
}

namespace sparse {

Tensor to_dense(const SparseTensor& input, const Tensor& default_value, bool validate_indices) {
  input.check();
  const std::vector<std::int64_t> dims = input.dense_shape.to_vector<std::int64_t>();
  const Shape shape{std::span<const std::int64_t>(dims)};
  const std::vector<std::int64_t> places = places_of(input, shape, validate_indices);
  std::vector<std::int64_t> order(places.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](std::int64_t i) { return places[static_cast<std::size_t>(i)]; });
  const auto walk = [&](const auto& value, const auto& gap) {
    std::int64_t next = 0;  // place
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::int64_t place = places[static_cast<std::size_t>(order[i])];
      if (i + 1 < order.size() && places[static_cast<std::size_t>(order[i + 1])] == place) continue;
      if (place > next) gap(place - next);
      value(order[i]);
      next = place + 1;
    }
    if (shape.num_elements() > next) gap(shape.num_elements() - next);
  };
  return data::fill_dense(walk, input.values, 1, default_value, shape, kToDense);
}

SparseTensor from_dense(const Tensor& tensor) {
  data::check_has_value(tensor, kFromDense);
  PLIMSOLL_CHECK(tensor.rank() > 0, InvalidArgumentError,
                 "from_dense needs a tensor of at least one dimension, received a scalar");
  const std::vector<std::int64_t> places = places_with_values(tensor);
  const auto rank = static_cast<std::size_t>(tensor.rank());
  const auto dims = tensor.shape().dims();
  std::vector<std::int64_t> indices(places.size() * rank);
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::int64_t rest = places[i];
    for (std::size_t d = rank; d-- > 0; rest /= dims[d]) indices[i * rank + d] = rest % dims[d];
  }
  return {constant(std::span<const std::int64_t>(indices),
                   {static_cast<std::int64_t>(places.size()), tensor.rank()}),
          values_at(tensor, places), constant(dims, {tensor.rank()})};
}

}  // namespace sparse
}  // namespace plimsoll
