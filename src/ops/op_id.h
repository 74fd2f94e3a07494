// The ops, from ops.def: an enum, and for each op the places of its attributes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/attrs.h"

namespace plimsoll {

enum class OpId : std::uint16_t {
#define OP(Name, ...) Name,
#include "ops/ops.def"
#undef OP
};

inline constexpr int kNumOps = 0
#define OP(Name, ...) +1
#include "ops/ops.def"
#undef OP
    ;

// attrs[attr::Softmax::axis]
namespace attr {
#define INT(name) name
#define FLOAT(name) name
#define BOOL(name) name
#define DTYPE(name) name
#define INTS(name) name
#define OP(Name, num_in, num_out, ...) \
  struct Name {                        \
    enum Index : int { __VA_ARGS__ };  \
  };
#include "ops/ops.def"
#undef OP
#undef INT
#undef FLOAT
#undef BOOL
#undef DTYPE
#undef INTS
}  // namespace attr

struct AttrInfo {
  std::string_view name;
  std::string_view type;  // "int", "float", "bool", "dtype", "ints"
  AttrKind kind;
};

inline constexpr int kVariadic = -1;

struct OpInfo {
  std::string_view name;
  int num_in;   // kVariadic: one or more
  int num_out;  // kVariadic: as many as the shape rule says
  std::span<const AttrInfo> attrs;
};

const OpInfo& op_info(OpId op) noexcept;
inline std::string_view op_name(OpId op) noexcept {
  return op_info(op).name;
}

}  // namespace plimsoll
