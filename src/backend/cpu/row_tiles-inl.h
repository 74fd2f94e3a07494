// Rows of any floating type, read as float or double in tiles on the stack, and sums over them.
// Included once per instruction set, after Highway.
#if defined(PLIMSOLL_ROW_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PLIMSOLL_ROW_TILES_INL_H
#undef PLIMSOLL_ROW_TILES_INL_H
#else
#define PLIMSOLL_ROW_TILES_INL_H
#endif

#include "backend/cpu/types.h"

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::int64_t kRowTile = 512;

template <class F>
HWY_INLINE void for_tiles(std::int64_t n, F&& f) {
  for (std::int64_t i = 0; i < n; i += kRowTile) f(i, std::min(kRowTile, n - i));
}

HWY_INLINE void widen_16bit(const Half* from, float* to, std::int64_t n) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto* bits = reinterpret_cast<const hwy::float16_t*>(from);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, bits + i)), d, to + i);
  for (; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
HWY_INLINE void narrow_16bit(const float* from, Half* to, std::int64_t n) {
  std::int64_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3  // others do not round
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto* bits = reinterpret_cast<hwy::float16_t*>(to);
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, from + i)), dh, bits + i);
#endif
  for (; i < n; ++i) to[i] = Half(from[i]);
}
HWY_INLINE void widen_16bit(const BFloat16* from, float* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}
HWY_INLINE void narrow_16bit(const float* from, BFloat16* to, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = BFloat16(from[i]);
}

// The elements as numbers to compute with: themselves, or converted into `tile`.
template <class T>
HWY_INLINE const compute_t<T>* read_tile(const T* x, [[maybe_unused]] compute_t<T>* tile,
                                         [[maybe_unused]] std::int64_t count) {
  if constexpr (std::is_same_v<T, compute_t<T>>) {
    return x;
  } else {
    widen_16bit(x, tile, count);
    return tile;
  }
}
template <class T>
HWY_INLINE void write_tile(const compute_t<T>* tile, T* out, std::int64_t count) {
  if constexpr (std::is_same_v<T, compute_t<T>>) {
    std::copy_n(tile, count, out);
  } else {
    narrow_16bit(tile, out, count);
  }
}

// Reductions over `n` elements: four vectors at a time, then the rest.
template <class C, class Load, class Join>
HWY_INLINE C reduce(std::int64_t n, C start, Load&& load, Join&& join) {
  const hn::ScalableTag<C> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  C total = start;
  std::int64_t i = 0;
  if (n >= lanes) {
    auto a = hn::Set(d, start), b = a, c = a, e = a;
    for (; i + 4 * lanes <= n; i += 4 * lanes) {
      a = join(a, load(d, i));
      b = join(b, load(d, i + lanes));
      c = join(c, load(d, i + 2 * lanes));
      e = join(e, load(d, i + 3 * lanes));
    }
    for (; i + lanes <= n; i += lanes) a = join(a, load(d, i));
    a = join(join(a, b), join(c, e));
    alignas(64) C all[HWY_MAX_BYTES / sizeof(C)];
    hn::Store(a, d, all);
    const hn::CappedTag<C, 1> one;
    auto sum = hn::Set(one, total);
    for (std::int64_t k = 0; k < lanes; ++k) sum = join(sum, hn::Set(one, all[k]));
    total = hn::GetLane(sum);
  }
  const hn::CappedTag<C, 1> one;
  auto rest = hn::Set(one, total);
  for (; i < n; ++i) rest = join(rest, load(one, i));
  return hn::GetLane(rest);
}
template <class C>
HWY_INLINE C max_of(const C* x, std::int64_t n) {
  return reduce(
      n, -std::numeric_limits<C>::infinity(),
      [x](auto d, std::int64_t i) HWY_ATTR { return hn::LoadU(d, x + i); },
      [](auto a, auto b) HWY_ATTR { return hn::Max(b, a); });
}
template <class C>
HWY_INLINE C sum_of(const C* x, std::int64_t n) {
  return reduce(
      n, C(0), [x](auto d, std::int64_t i) HWY_ATTR { return hn::LoadU(d, x + i); },
      [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
}
template <class C>
HWY_INLINE C dot_of(const C* x, const C* y, std::int64_t n) {
  return reduce(
      n, C(0),
      [x, y](auto d, std::int64_t i)
          HWY_ATTR { return hn::Mul(hn::LoadU(d, x + i), hn::LoadU(d, y + i)); },
      [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
}

}  // namespace
}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
