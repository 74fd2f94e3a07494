#include "backend/cpu/resize_pairs.h"

#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/resize_pairs.cpp"
#include "backend/cpu/hwy_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace plimsoll::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_floats(D d, const std::uint8_t* from) {
  const hn::Rebind<std::uint8_t, D> bytes;
  const hn::Rebind<std::int32_t, D> ints;
  return hn::ConvertTo(d, hn::PromoteTo(ints, hn::LoadU(bytes, from)));
}

template <class T>
void mix(const T* left, const T* right, const ResizePair& pair, std::int64_t n, float* line) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto left_weight = hn::Set(d, pair.left_weight);
  const auto right_weight = hn::Set(d, pair.right_weight);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto part = hn::Mul(left_weight, load_floats(d, left + i));
    hn::StoreU(hn::MulAdd(right_weight, load_floats(d, right + i), part), d, line + i);
  }
  for (; i < n; ++i) {
    line[i] = pair.left_weight * static_cast<float>(left[i]) +
              pair.right_weight * static_cast<float>(right[i]);
  }
}

// Four numbers at a time, which the compiler sees as one. Of three channels the fourth is
// overwritten by the next pixel.
HWY_INLINE void sum_four(const float* line, const ResizePair& pair, float* sum) {
  float right[4];
  std::memcpy(sum, line + pair.left, 4 * sizeof(float));
  std::memcpy(right, line + pair.right, sizeof right);
  for (int c = 0; c < 4; ++c) sum[c] = pair.left_weight * sum[c] + pair.right_weight * right[c];
}
template <std::size_t kChannels>
void pick_four(const float* line, const ResizePair* pairs, std::int64_t num, float* out) {
  if (num == 0) return;
  for (std::int64_t i = 0; i + 1 < num; ++i, out += kChannels) {
    float sum[4];
    sum_four(line, pairs[i], sum);
    std::memcpy(out, sum, sizeof sum);
  }
  float last[4];
  sum_four(line, pairs[num - 1], last);
  std::memcpy(out, last, kChannels * sizeof(float));
}

void pick_one(const float* line, const ResizePair* pairs, std::int64_t num, float* out) {
  for (std::int64_t i = 0; i < num; ++i)
    out[i] =
        pairs[i].left_weight * line[pairs[i].left] + pairs[i].right_weight * line[pairs[i].right];
}

}  // namespace

const ResizePairKernels* make_resize_pair_kernels() {
  static constexpr ResizePairKernels kernels = {mix<std::uint8_t>, mix<float>, pick_one,
                                                pick_four<3>, pick_four<4>};
  return &kernels;
}

}  // namespace plimsoll::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plimsoll::cpu {

HWY_EXPORT(make_resize_pair_kernels);

const ResizePairKernels& resize_pair_kernels() noexcept {
  static const ResizePairKernels* const kernels = HWY_DYNAMIC_DISPATCH(make_resize_pair_kernels)();
  return *kernels;
}

std::vector<ResizePair> make_resize_pairs(const ResizeTable& table, std::int64_t stride) {
  std::vector<ResizePair> pairs;
  pairs.reserve(table.spans.size());
  for (const ResizeTable::Span& span : table.spans) {
    const std::int64_t right = (span.start + span.count - 1) * stride;
    if (span.count < 1 || span.count > 2 || right > std::numeric_limits<std::int32_t>::max())
      return {};
    const float* weights = table.weights.data() + span.first;
    const float share = span.count == 1 ? 0.5F : 1.0F;
    pairs.push_back({static_cast<std::int32_t>(span.start * stride),
                     static_cast<std::int32_t>(right), share * weights[0],
                     share * weights[span.count - 1]});
  }
  return pairs;
}

}  // namespace plimsoll::cpu
#endif
