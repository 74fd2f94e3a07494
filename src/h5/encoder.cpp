#include "h5/encoder.h"

namespace plimsoll::h5 {

Encoder& Encoder::uint(std::uint64_t value, std::size_t nbytes) {
  for (std::size_t i = 0; i < nbytes; ++i) bytes_.push_back(static_cast<std::byte>(value >> 8 * i));
  return *this;
}

Encoder& Encoder::bytes(std::span<const std::byte> values) {
  bytes_.insert(bytes_.end(), values.begin(), values.end());
  return *this;
}

Encoder& Encoder::zeros(std::size_t count) {
  bytes_.resize(bytes_.size() + count);
  return *this;
}

}  // namespace plimsoll::h5
