// Elementwise loops for floating point, compiled for several instruction sets. The compiler
// vectorises them: scalar_math.h is written for that. Needs -fno-math-errno -fno-trapping-math.
#include "backend/cpu/elementwise_loops.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/elementwise_float.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/row_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

#include "backend/cpu/elementwise_loops_inl.h"

constexpr FloatLoops kLoops[] = {
#define ROW(Name, types, ...)                              \
  {OpId::Name, loop_for<scalar::Name##Fn, types, float>(), \
   loop_for<scalar::Name##Fn, types, double>()},
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

template <class T>
void widen(const void* from, float* to, std::int64_t n) noexcept {
  widen_16bit(static_cast<const T*>(from), to, n);
}
template <class T>
void narrow(const float* from, void* to, std::int64_t n) noexcept {
  narrow_16bit(from, static_cast<T*>(to), n);
}
constexpr Converter kConverters[] = {{widen<Half>, narrow<Half>},
                                     {widen<BFloat16>, narrow<BFloat16>}};

std::span<const FloatLoops> make_loops() {
  return kLoops;
}
const Converter* make_converters() {
  return kConverters;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_loops);
HWY_EXPORT(make_converters);

std::span<const FloatLoops> float_loops() noexcept {
  return HWY_DYNAMIC_DISPATCH(make_loops)();
}
const Converter& converter_of(DType dtype) noexcept {
  static const Converter* const converters = HWY_DYNAMIC_DISPATCH(make_converters)();
  return converters[dtype == DType::kFloat16 ? 0 : 1];
}

}  // namespace plimsoll::cpu
#endif
