// Elementwise loops for integers and bool. Compiled with -fwrapv: integers wrap around.
#include "backend/cpu/elementwise_loops.h"

namespace plimsoll::cpu {
namespace {

#include "backend/cpu/elementwise_loops_inl.h"

template <class Fn, class Types>
constexpr IntLoops row(OpId op) {
  return {op,
          loop_for<Fn, Types, std::int8_t>(),
          loop_for<Fn, Types, std::uint8_t>(),
          loop_for<Fn, Types, std::int16_t>(),
          loop_for<Fn, Types, std::uint16_t>(),
          loop_for<Fn, Types, std::int32_t>(),
          loop_for<Fn, Types, std::int64_t>(),
          loop_for<Fn, Types, bool>()};
}

constexpr IntLoops kLoops[] = {
#define ROW(Name, types, ...) row<scalar::Name##Fn, types>(OpId::Name),
#define UNARY ROW
#define TEST ROW
#define BINARY ROW
#define COMPARE ROW
#define CHECKED ROW
#include "ops/scalar_ops.def"
#undef UNARY
#undef TEST
#undef BINARY
#undef COMPARE
#undef CHECKED
#undef ROW
};

}  // namespace

std::span<const IntLoops> int_loops() noexcept {
  return kLoops;
}

}  // namespace plimsoll::cpu
