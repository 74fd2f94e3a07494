#include "backend/gpu/expressions.h"

#include <array>

namespace plimsoll::gpu {
namespace {

#define FLOATS kFloats
#define INTEGERS kIntegers
#define NUMBERS kNumbers
#define ALL kAll
#define BOOLS kBools
#define UNARY(op, types, ...) {OpId::op, 1, false, types, #__VA_ARGS__},
#define BINARY(op, types, ...) {OpId::op, 2, false, types, #__VA_ARGS__},
#define CHECKED(op, types, bad, ...) {OpId::op, 2, false, kFloats, #__VA_ARGS__},
#define COMPARE(op, types, ...) {OpId::op, 2, true, types, #__VA_ARGS__},
#define TEST(op, types, ...) {OpId::op, 1, true, types, #__VA_ARGS__},
constexpr Expression kExpressions[] = {
#include "ops/scalar_ops.def"
    {OpId::ClipByValue, 3, false, kNumbers, "clip(x, y, z)"},
};
#undef FLOATS
#undef INTEGERS
#undef NUMBERS
#undef ALL
#undef BOOLS
#undef UNARY
#undef BINARY
#undef CHECKED
#undef COMPARE
#undef TEST

}  // namespace

std::span<const Expression> expressions() noexcept {
  return kExpressions;
}

const Expression* find_expression(OpId op) noexcept {
  static const auto table = [] {
    std::array<const Expression*, kNumOps> made{};
    for (const Expression& e : kExpressions) made[static_cast<std::size_t>(e.op)] = &e;
    return made;
  }();
  return table[static_cast<std::size_t>(op)];
}

}  // namespace plimsoll::gpu
