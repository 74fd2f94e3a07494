#include "ops/attrs.h"

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/hash.h"

namespace plimsoll {

AttrValue::AttrValue(std::span<const std::int64_t> values) : kind_(AttrKind::kInts) {
  PLIMSOLL_CHECK(values.size() <= kMaxInts, InvalidArgumentError,
                 "a list of at most {} numbers, got {}", kMaxInts, values.size());
  num_ints_ = static_cast<std::uint8_t>(values.size());
  std::copy(values.begin(), values.end(), ints_);
}

bool AttrValue::operator==(const AttrValue& other) const noexcept {
  if (kind_ != other.kind_) return false;
  if (kind_ == AttrKind::kInts) return std::ranges::equal(as_ints(), other.as_ints());
  return ints_[0] == other.ints_[0];  // of a float: the same bits
}

std::uint64_t AttrValue::hash() const noexcept {
  std::uint64_t h = hash_mix(static_cast<std::uint64_t>(kind_), num_ints_);
  const int n = kind_ == AttrKind::kInts ? num_ints_ : 1;
  for (int i = 0; i < n; ++i) h = hash_mix(h, static_cast<std::uint64_t>(ints_[i]));
  return h;
}

std::string AttrValue::to_string() const {
  switch (kind_) {
    case AttrKind::kInt:
      return std::to_string(ints_[0]);
    case AttrKind::kFloat:
      return fmt::format("{}", float_);
    case AttrKind::kInts:
      break;
  }
  std::string text = "[";
  for (const std::int64_t value : as_ints()) {
    if (text.size() > 1) text += ",";
    text += std::to_string(value);
  }
  return text + "]";
}

Attrs::Attrs(std::initializer_list<AttrValue> values)
    : size_(static_cast<std::uint8_t>(values.size())) {
  PLIMSOLL_ASSERT(values.size() <= kMaxAttrs);
  std::uninitialized_copy(values.begin(), values.end(), values_);
}

Attrs& Attrs::operator=(const Attrs& other) noexcept {
  size_ = other.size_;
  std::copy(other.values_, other.values_ + size_, values_);
  return *this;
}

bool Attrs::operator==(const Attrs& other) const noexcept {
  return size_ == other.size_ && std::equal(values_, values_ + size_, other.values_);
}

std::uint64_t Attrs::hash() const noexcept {
  std::uint64_t h = size_;
  for (int i = 0; i < size_; ++i) h = hash_mix(h, values_[i].hash());
  return h;
}

}  // namespace plimsoll
