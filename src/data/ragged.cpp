#include "plimsoll/ragged.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "data/dense_fill.h"

namespace plimsoll {
namespace {

constexpr const char* kToTensor = "RaggedTensorToTensor";

std::vector<std::int64_t> row_numbers(const Tensor& t, const char* what) {
  std::vector<std::int64_t> numbers = data::integers_of(t, "RaggedTensor", what);
  PLIMSOLL_CHECK(t.rank() == 1, InvalidArgumentError, "{} must have rank 1, received shape {}",
                 what, t.shape().to_string());
  return numbers;
}

void check_splits(const std::vector<std::int64_t>& splits, std::int64_t num_inside) {
  constexpr const char* kBad = "Arguments to from_row_splits do not form a valid RaggedTensor";
  PLIMSOLL_CHECK(!splits.empty(), InvalidArgumentError, "row_splits tensor may not be empty.");
  PLIMSOLL_CHECK(splits[0] == 0, InvalidArgumentError, "{}: they begin with 0, received {}", kBad,
                 splits[0]);
  const auto fall = std::ranges::adjacent_find(splits, std::greater<>());
  PLIMSOLL_CHECK(fall == splits.end(), InvalidArgumentError,
                 "{}: they never fall, received {} behind {}", kBad, *(fall + 1), *fall);
  PLIMSOLL_CHECK(splits.back() == num_inside, InvalidArgumentError,
                 "{}: the last one is the number of values, {}; received {}", kBad, num_inside,
                 splits.back());
}

// The rows of a ragged tensor in the order of the dense one.
class Rows {
 public:
  explicit Rows(const RaggedTensor& t) : nrows_(t.nrows()) {
    dims_.push_back(nrows_);
    for (const Tensor& splits : t.nested_row_splits()) {
      splits_.push_back(row_numbers(splits, "row_splits"));
      std::int64_t longest = 0;
      for (std::size_t i = 1; i < splits_.back().size(); ++i)
        longest = std::max(longest, splits_.back()[i] - splits_.back()[i - 1]);
      dims_.push_back(longest);
    }
  }
  std::vector<std::int64_t>& dims() noexcept { return dims_; }  // nrows, and the longest rows

  // value(i) of each value, and gap(n) for n places that there is none for.
  template <class Value, class Gap>
  void walk(const Value& value, const Gap& gap) const {
    walk(0, 0, nrows_, value, gap);
  }

 private:
  template <class Value, class Gap>
  void walk(std::size_t level, std::int64_t first, std::int64_t num, const Value& value,
            const Gap& gap) const {
    const std::int64_t shown = std::min(num, dims_[level]);
    for (std::int64_t i = first; i < first + shown; ++i) {
      if (level == splits_.size()) {
        value(i);
      } else {
        const std::int64_t begin = splits_[level][static_cast<std::size_t>(i)];
        const std::int64_t end = splits_[level][static_cast<std::size_t>(i) + 1];
        walk(level + 1, begin, end - begin, value, gap);
      }
    }
    std::int64_t below = dims_[level] - shown;
    for (std::size_t l = level + 1; l < dims_.size(); ++l) below *= dims_[l];
    if (below > 0) gap(below);
  }

  const std::int64_t nrows_;
  std::vector<std::vector<std::int64_t>> splits_;
  std::vector<std::int64_t> dims_;
};

}  // namespace

RaggedTensor::RaggedTensor(Tensor flat_values, std::vector<Tensor> nested_row_splits)
    : flat_values_(std::move(flat_values)), splits_(std::move(nested_row_splits)) {
  PLIMSOLL_CHECK(flat_values_.is_valid() && flat_values_.rank() > 0, InvalidArgumentError,
                 "values of a RaggedTensor have at least one dimension, received {}",
                 flat_values_.is_valid() ? "a scalar" : "no tensor");
  PLIMSOLL_CHECK(!splits_.empty(), InvalidArgumentError, "a RaggedTensor needs row_splits");
  for (std::size_t i = 0; i < splits_.size(); ++i) {
    const std::vector<std::int64_t> values = row_numbers(splits_[i], "row_splits");
    check_splits(values, i + 1 < splits_.size() ? splits_[i + 1].num_elements() - 1
                                                : flat_values_.shape().dim(0));
  }
}

RaggedTensor RaggedTensor::from_row_splits(const Tensor& values, const Tensor& row_splits) {
  return RaggedTensor(values, {row_splits});
}

Tensor RaggedTensor::row_splits_of(const Tensor& row_lengths) {
  std::vector<std::int64_t> splits{0};
  for (const std::int64_t length : row_numbers(row_lengths, "row_lengths")) {
    PLIMSOLL_CHECK(length >= 0, InvalidArgumentError,
                   "Arguments to from_row_lengths do not form a valid RowPartition: lengths are "
                   "at least 0, received {}",
                   length);
    splits.push_back(splits.back() + length);
  }
  return data::make_integers(splits, row_lengths.dtype());
}
RaggedTensor RaggedTensor::from_row_lengths(const Tensor& values, const Tensor& row_lengths) {
  return RaggedTensor(values, {row_splits_of(row_lengths)});
}

Tensor RaggedTensor::row_lengths() const {
  const std::vector<std::int64_t> splits = row_numbers(splits_[0], "row_splits");
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 1; i < splits.size(); ++i) lengths.push_back(splits[i] - splits[i - 1]);
  return data::make_integers(lengths, splits_[0].dtype());
}

Tensor RaggedTensor::to_tensor(const Tensor& default_value,
                               const std::optional<std::vector<std::int64_t>>& shape) const {
  PLIMSOLL_CHECK(!shape || static_cast<int>(shape->size()) == rank(), InvalidArgumentError,
                 "rt_input.shape and shape=[{}] are incompatible: rt_input.rank = {} but "
                 "shape.rank = {} [Op:{}]",
                 fmt::join(shape.value_or(std::vector<std::int64_t>()), ","), rank(),
                 shape ? shape->size() : 0, kToTensor);
  Rows rows(*this);
  std::vector<std::int64_t>& dims = rows.dims();
  const auto inner = flat_values_.shape().dims().subspan(1);
  std::vector<std::int64_t> all = dims;
  all.insert(all.end(), inner.begin(), inner.end());
  for (std::size_t i = 0; shape && i < shape->size(); ++i) {
    if ((*shape)[i] < 0) continue;
    PLIMSOLL_CHECK(i < dims.size() || (*shape)[i] == all[i], InvalidArgumentError,
                   "to_tensor: dimension {} is {} for all values, received {} [Op:{}]", i, all[i],
                   (*shape)[i], kToTensor);
    all[i] = (*shape)[i];
    if (i < dims.size()) dims[i] = all[i];
  }
  std::int64_t width = 1;
  for (const std::int64_t dim : inner) width *= dim;
  const Shape made{std::span<const std::int64_t>(all)};
  return data::fill_dense([&](const auto& value, const auto& gap) { rows.walk(value, gap); },
                          flat_values_, width, default_value, made, kToTensor);
}

}  // namespace plimsoll
