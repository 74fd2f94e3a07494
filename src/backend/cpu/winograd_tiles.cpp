#include "backend/cpu/winograd_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/winograd_tiles.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

// The three matrices and their transposes, applied to a column of numbers `step` apart.
HWY_INLINE void times_b(const float* x, int step, float* to, int to_step) {
  const float x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step];
  to[0] = x0 - x2;
  to[to_step] = x1 + x2;
  to[2 * to_step] = x2 - x1;
  to[3 * to_step] = x1 - x3;
}
HWY_INLINE void times_a(const float* x, int step, float* to, int to_step) {
  const float x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step];
  to[0] = x0 + x1 + x2;
  to[to_step] = x1 - x2 - x3;
}
HWY_INLINE void times_a_adjoint(const float* x, int step, float* to, int to_step) {
  const float x0 = x[0], x1 = x[step];
  to[0] = x0;
  to[to_step] = x0 + x1;
  to[2 * to_step] = x0 - x1;
  to[3 * to_step] = -x1;
}
HWY_INLINE void times_g(const float* x, int step, float* to, int to_step) {
  const float x0 = x[0], x1 = x[step], x2 = x[2 * step];
  const float even = 0.5F * (x0 + x2), odd = 0.5F * x1;
  to[0] = x0;
  to[to_step] = even + odd;
  to[2 * to_step] = even - odd;
  to[3 * to_step] = x2;
}
HWY_INLINE void times_g_adjoint(const float* x, int step, float* to, int to_step) {
  const float x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step];
  const float even = 0.5F * (x1 + x2);
  to[0] = x0 + even;
  to[to_step] = 0.5F * (x1 - x2);
  to[2 * to_step] = even + x3;
}

using Line = void (*)(const float*, int, float*, int);

// Both sides of a tile of kIn x kIn numbers; the result has kOut x kOut.
template <Line kLine, int kIn, int kOut>
HWY_INLINE void transform(const float* x, float* to) {
  float half[kOut * kIn];
#pragma GCC unroll 4
  for (int c = 0; c < kIn; ++c) kLine(x + c, kIn, half + c, kIn);
#pragma GCC unroll 4
  for (int r = 0; r < kOut; ++r) kLine(half + r * kIn, 1, to + r * kOut, 1);
}

template <Line kLine, int kIn>
void take(const float* const* from, std::int64_t n, float* to, std::int64_t plane) {
  const float* in[kIn * kIn];
  for (int i = 0; i < kIn * kIn; ++i) in[i] = from[i];
#pragma GCC ivdep
  for (std::int64_t k = 0; k < n; ++k) {
    float x[kIn * kIn], y[16];
#pragma GCC unroll 16
    for (int i = 0; i < kIn * kIn; ++i) x[i] = in[i][k];
    transform<kLine, kIn, 4>(x, y);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) to[i * plane + k] = y[i];
  }
}
template <Line kLine, int kOut>
void give(const float* from, std::int64_t plane, std::int64_t n, float* const* to) {
  float* out[kOut * kOut];
  for (int i = 0; i < kOut * kOut; ++i) out[i] = to[i];
#pragma GCC ivdep
  for (std::int64_t k = 0; k < n; ++k) {
    float x[16], y[kOut * kOut];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) x[i] = from[i * plane + k];
    transform<kLine, 4, kOut>(x, y);
#pragma GCC unroll 16
    for (int i = 0; i < kOut * kOut; ++i) out[i][k] = y[i];
  }
}

const WinogradTiles* make_winograd_tiles() {
  static constexpr WinogradTiles kTiles{take<times_b, 4>, give<times_a, 2>,
                                        take<times_a_adjoint, 2>, take<times_g, 3>,
                                        give<times_g_adjoint, 3>};
  return &kTiles;
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_winograd_tiles);

const WinogradTiles& winograd_tiles() noexcept {
  static const WinogradTiles* const tiles = HWY_DYNAMIC_DISPATCH(make_winograd_tiles)();
  return *tiles;
}

}  // namespace plimsoll::cpu
#endif
