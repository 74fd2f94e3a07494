// The dimensions of a tensor, held in place (no allocation), up to 8 of them.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace plimsoll {

inline constexpr int kMaxRank = 8;

class Shape {
 public:
  Shape() noexcept = default;  // a scalar
  // throws: InvalidArgumentError for more than 8 dimensions, a negative one, or more than 2^63 - 1
  // elements, in TensorFlow's words.
  Shape(std::initializer_list<std::int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const std::int64_t> dims);

  int rank() const noexcept { return rank_; }
  std::int64_t num_elements() const noexcept { return num_elements_; }
  std::int64_t dim(int axis) const noexcept {
    return dims_[static_cast<std::size_t>(axis)];
  }  // pre: 0 <= axis < rank
  std::int64_t operator[](int axis) const noexcept { return dim(axis); }
  std::span<const std::int64_t> dims() const noexcept {
    return {dims_.data(), static_cast<std::size_t>(rank_)};
  }
  std::string to_string() const;  // "[2,3]"

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i) {
      if (a.dim(i) != b.dim(i)) return false;
    }
    return true;
  }

 private:
  std::array<std::int64_t, kMaxRank> dims_{};
  std::int64_t num_elements_ = 1;
  int rank_ = 0;
};

// An axis counted from the end if negative, made positive.
// throws: InvalidArgumentError that names `what`, the axis and the rank.
int normalize_axis(std::int64_t axis, int rank, const char* what);

// What two shapes broadcast to. throws: InvalidArgumentError in TensorFlow's words.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* what);

}  // namespace plimsoll
