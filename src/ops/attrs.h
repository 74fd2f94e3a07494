// Attributes of an op: a few typed values, in the order of its line in ops.def.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "plimsoll/dtype.h"
#include "plimsoll/shape.h"

namespace plimsoll {

enum class AttrKind : std::uint8_t { kInt, kFloat, kInts };  // bool, enum and DType are ints

// One attribute. Lists hold up to 16 numbers, in place.
class AttrValue {
 public:
  static constexpr int kMaxInts = 16;

  AttrValue() noexcept {}
  AttrValue(std::int64_t value) noexcept : kind_(AttrKind::kInt) { ints_[0] = value; }
  AttrValue(int value) noexcept : AttrValue(static_cast<std::int64_t>(value)) {}
  AttrValue(bool value) noexcept : AttrValue(static_cast<std::int64_t>(value)) {}
  AttrValue(DType value) noexcept : AttrValue(static_cast<std::int64_t>(value)) {}
  AttrValue(double value) noexcept : kind_(AttrKind::kFloat) { float_ = value; }
  // throws: InvalidArgumentError for more than 16.
  AttrValue(std::span<const std::int64_t> values);
  AttrValue(const Shape& shape) : AttrValue(shape.dims()) {}

  AttrKind kind() const noexcept { return kind_; }
  std::int64_t as_int() const noexcept { return ints_[0]; }
  bool as_bool() const noexcept { return ints_[0] != 0; }
  DType as_dtype() const noexcept { return static_cast<DType>(ints_[0]); }
  double as_float() const noexcept { return float_; }
  std::span<const std::int64_t> as_ints() const noexcept { return {ints_, num_ints_}; }

  bool operator==(const AttrValue& other) const noexcept;
  std::uint64_t hash() const noexcept;
  std::string to_string() const;

 private:
  AttrKind kind_ = AttrKind::kInt;
  std::uint8_t num_ints_ = 0;
  union {
    double float_;
    std::int64_t ints_[kMaxInts];
  };
};

class Attrs {
 public:
  static constexpr int kMaxAttrs = 10;

  Attrs() noexcept {}
  Attrs(std::initializer_list<AttrValue> values);
  Attrs(const Attrs& other) noexcept { *this = other; }
  Attrs& operator=(const Attrs& other) noexcept;

  int size() const noexcept { return size_; }
  const AttrValue& operator[](int i) const noexcept { return values_[i]; }
  bool operator==(const Attrs& other) const noexcept;
  std::uint64_t hash() const noexcept;

 private:
  std::uint8_t size_ = 0;
  union {
    AttrValue values_[kMaxAttrs];  // the first size_ are set
  };
};

}  // namespace plimsoll
