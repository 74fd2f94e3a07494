// A number as the bytes of a type, for filling buffers.
#pragma once

#include <cstring>

#include "plimsoll/dtype.h"
#include "plimsoll/float16.h"

namespace plimsoll::opencl {

struct FillPattern {
  unsigned char bytes[8] = {};
  std::size_t size = 1;

  FillPattern() noexcept = default;
  FillPattern(double value, DType dtype) noexcept {
    switch (dtype) {
      case DType::kFloat32:
        set(static_cast<float>(value));
        break;
      case DType::kFloat64:
        set(value);
        break;
      case DType::kFloat16:
        set(static_cast<Half>(static_cast<float>(value)));
        break;
      case DType::kBFloat16:
        set(static_cast<BFloat16>(static_cast<float>(value)));
        break;
      case DType::kInt8:
        set(static_cast<std::int8_t>(value));
        break;
      case DType::kUInt8:
        set(static_cast<std::uint8_t>(value));
        break;
      case DType::kInt16:
        set(static_cast<std::int16_t>(value));
        break;
      case DType::kUInt16:
        set(static_cast<std::uint16_t>(value));
        break;
      case DType::kInt32:
        set(static_cast<std::int32_t>(value));
        break;
      case DType::kInt64:
        set(static_cast<std::int64_t>(value));
        break;
      case DType::kBool:
        set(static_cast<std::uint8_t>(value != 0));
        break;
      case DType::kString:
        break;
    }
  }

 private:
  template <class T>
  void set(T value) noexcept {
    size = sizeof value;
    std::memcpy(bytes, &value, sizeof value);
  }
};

}  // namespace plimsoll::opencl
