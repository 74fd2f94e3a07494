#include "plimsoll/dtype.h"

#include "base/check.h"

namespace plimsoll {
namespace {

struct Row {
  std::string_view name;
  std::string_view word;
  std::int64_t size;
  bool is_floating;
  bool is_integer;
};
constexpr Row kRows[kNumDTypes] = {
    {"float32", "float", 4, true, false}, {"float64", "double", 8, true, false},
    {"float16", "half", 2, true, false},  {"bfloat16", "bfloat16", 2, true, false},
    {"int8", "int8", 1, false, true},     {"uint8", "uint8", 1, false, true},
    {"int16", "int16", 2, false, true},   {"uint16", "uint16", 2, false, true},
    {"int32", "int32", 4, false, true},   {"int64", "int64", 8, false, true},
    {"bool", "bool", 1, false, false},    {"string", "string", 32, false, false},
};

const Row& row(DType dtype) noexcept {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view dtype_name(DType dtype) noexcept {
  return row(dtype).name;
}
std::string_view dtype_word(DType dtype) noexcept {
  return row(dtype).word;
}
std::int64_t dtype_size(DType dtype) noexcept {
  return row(dtype).size;
}
bool is_floating(DType dtype) noexcept {
  return row(dtype).is_floating;
}
bool is_integer(DType dtype) noexcept {
  return row(dtype).is_integer;
}

DType parse_dtype(std::string_view name) {
  std::string known;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kRows[i].name == name) return static_cast<DType>(i);
    known += (i ? ", " : "") + std::string(kRows[i].name);
  }
  throw InvalidArgumentError(fmt::format("unknown dtype '{}'; the dtypes are {}", name, known));
}

}  // namespace plimsoll
