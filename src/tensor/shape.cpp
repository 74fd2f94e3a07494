#include "plimsoll/shape.h"

#include "base/check.h"

namespace plimsoll {
namespace {

std::string join(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace

Shape::Shape(std::span<const std::int64_t> dims) {
  PLIMSOLL_CHECK(dims.size() <= kMaxRank, InvalidArgumentError,
                 "a shape has at most {} dimensions, got {}: {}", kMaxRank, dims.size(),
                 join(dims));
  bool has_zero = false;
  for (const std::int64_t dim : dims) {
    PLIMSOLL_CHECK(dim >= 0, InvalidArgumentError, "Dimension {} must be >= 0", dim);
    has_zero |= dim == 0;
  }
  for (const std::int64_t dim : dims) {
    const bool overflows = !has_zero && num_elements_ > INT64_MAX / dim;
    PLIMSOLL_CHECK(!overflows, InvalidArgumentError,
                   "Shape {} would have more than 2**63 - 1 elements", join(dims));
    num_elements_ = has_zero ? 0 : num_elements_ * dim;
    dims_[static_cast<std::size_t>(rank_++)] = dim;
  }
}

std::string Shape::to_string() const {
  return join(dims());
}

int normalize_axis(std::int64_t axis, int rank, const char* what) {
  PLIMSOLL_CHECK(axis >= -rank && axis < rank, InvalidArgumentError,
                 "{}: axis {} is out of range for a tensor of rank {}; it must be in [{}, {})",
                 what, axis, rank, -rank, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* what) {
  if (a == b) return a;
  const int rank = std::max(a.rank(), b.rank());
  std::array<std::int64_t, kMaxRank> dims{};
  for (int i = 0; i < rank; ++i) {
    const int ia = i - (rank - a.rank());
    const int ib = i - (rank - b.rank());
    const std::int64_t da = ia < 0 ? 1 : a.dim(ia);
    const std::int64_t db = ib < 0 ? 1 : b.dim(ib);
    PLIMSOLL_CHECK(da == db || da == 1 || db == 1, InvalidArgumentError,
                   "Incompatible shapes: {} vs. {} [Op:{}]", a.to_string(), b.to_string(), what);
    dims[static_cast<std::size_t>(i)] = da == 1 ? db : da;
  }
  return Shape(std::span<const std::int64_t>(dims.data(), static_cast<std::size_t>(rank)));
}

}  // namespace plimsoll
