#include <array>

#include "ops/op_id.h"

namespace plimsoll {
namespace {

template <std::size_t N>
using Infos = std::array<AttrInfo, N>;

// The attributes of each op. The first row only keeps the arrays from being empty.
#define INT(name)                \
  AttrInfo {                     \
#name, "int", AttrKind::kInt \
  }
#define FLOAT(name)                  \
  AttrInfo {                         \
#name, "float", AttrKind::kFloat \
  }
#define BOOL(name)                \
  AttrInfo {                      \
#name, "bool", AttrKind::kInt \
  }
#define DTYPE(name)                \
  AttrInfo {                       \
#name, "dtype", AttrKind::kInt \
  }
#define INTS(name)                 \
  AttrInfo {                       \
#name, "ints", AttrKind::kInts \
  }
#define OP(Name, num_in, num_out, ...) \
  constexpr AttrInfo kAttrs##Name[] = {AttrInfo{} __VA_OPT__(, ) __VA_ARGS__};
#include "ops/ops.def"
#undef OP

constexpr OpInfo kInfos[] = {
#define OP(Name, num_in, num_out, ...) \
  {#Name, num_in, num_out, std::span<const AttrInfo>(kAttrs##Name).subspan(1)},
#include "ops/ops.def"
#undef OP
};

}  // namespace

const OpInfo& op_info(OpId op) noexcept {
  return kInfos[static_cast<std::size_t>(op)];
}

}  // namespace plimsoll
