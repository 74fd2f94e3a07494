// Pooling over images in NHWC, vectorised over channels. NCHW is the same with each plane as an
// image of one channel.
#include <limits>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"
#include "ops/conv_shape.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kChannels = 64;  // that are worked on together, on the stack

PoolShape planes_of(const Shape& input, const Attrs& attrs) {
  PoolShape s = pool_shape(input, attrs, "Pool");
  if (s.format == DataFormat::kNchw) {
    s.n *= s.c;
    s.c = 1;
  }
  return s;
}

// The part of the image under a window: [begin, end) in one direction.
struct Range {
  std::int64_t begin, end;
};
Range window_of(const WindowAxis& axis, std::int64_t output) noexcept {
  const std::int64_t start = output * axis.stride - axis.pad_before;
  return {std::max<std::int64_t>(0, start), std::min(axis.in, start + axis.size)};
}
// The outputs whose windows hold `input`.
Range outputs_of(const WindowAxis& axis, std::int64_t input) noexcept {
  const std::int64_t at = input + axis.pad_before;
  const std::int64_t begin = at < axis.size ? 0 : (at - axis.size) / axis.stride + 1;
  return {begin, std::min(axis.out, at / axis.stride + 1)};
}

std::int64_t rows_per_thread(const PoolShape& s) noexcept {
  const std::int64_t work = s.w.out * s.c * s.h.size * s.w.size;
  return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(work, 1));
}

// Calls f(type) for the types that pools have.
template <bool kFloatsOnly, class F>
void visit_pooled(DType dtype, F&& f) {
  visit_dtype(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr bool kIsFloat = std::is_floating_point_v<compute_t<T>>;
    if constexpr (kIsFloat || (!kFloatsOnly && !std::is_same_v<T, bool>)) f(tag);
  });
}

// A nan is larger than any number, as it must not get lost.
template <class C>
bool is_larger(C x, C than) noexcept {
  return x > than || x != x;
}

template <class T>
void max_forward(const PoolShape& s, const T* in, T* out) noexcept {
  using C = compute_t<T>;
  parallel_for(s.n * s.h.out, rows_per_thread(s), [&](std::int64_t begin, std::int64_t end) {
    C best[kChannels];
    for (std::int64_t row = begin; row < end; ++row) {
      const T* image = in + row / s.h.out * s.h.in * s.w.in * s.c;
      const Range ys = window_of(s.h, row % s.h.out);
      for (std::int64_t ox = 0; ox < s.w.out; ++ox) {
        const Range xs = window_of(s.w, ox);
        T* to = out + (row * s.w.out + ox) * s.c;
        for (std::int64_t c0 = 0; c0 < s.c; c0 += kChannels) {
          const std::int64_t count = std::min(kChannels, s.c - c0);
          const T* first = image + (ys.begin * s.w.in + xs.begin) * s.c + c0;
          for (std::int64_t c = 0; c < count; ++c) best[c] = static_cast<C>(first[c]);
          for (std::int64_t y = ys.begin; y < ys.end; ++y) {
            for (std::int64_t x = xs.begin; x < xs.end; ++x) {
              const T* from = image + (y * s.w.in + x) * s.c + c0;
              for (std::int64_t c = 0; c < count; ++c) {
                const C value = static_cast<C>(from[c]);
                best[c] = is_larger(best[c], value) ? best[c] : value;
              }
            }
          }
          for (std::int64_t c = 0; c < count; ++c) to[c0 + c] = static_cast<T>(best[c]);
        }
      }
    }
  });
}

// Keeps the larger values and where they were; of equal ones the first.
template <class T, class C, class Place>
void keep_larger(const T* from, std::int64_t count, Place here, C* best, Place* place) noexcept {
  for (std::int64_t c = 0; c < count; ++c) {
    const C value = static_cast<C>(from[c]);
    const bool wins = (value > best[c]) | ((value != value) & (best[c] == best[c]));
    best[c] = wins ? value : best[c];
    place[c] = wins ? here : place[c];
  }
}

// Calls f(index in the output, index in the image) for the maximum of every window of an image, for
// some channels. Places are pixels after the first of the window.
template <class T, class Place, class F>
void for_each_max(const PoolShape& s, const T* image, std::int64_t c0, F&& f) noexcept {
  using C = compute_t<T>;
  C best[kChannels];
  Place place[kChannels];
  const std::int64_t count = std::min(kChannels, s.c - c0);
  for (std::int64_t oy = 0; oy < s.h.out; ++oy) {
    const Range ys = window_of(s.h, oy);
    for (std::int64_t ox = 0; ox < s.w.out; ++ox) {
      const Range xs = window_of(s.w, ox);
      const std::int64_t start = (ys.begin * s.w.in + xs.begin) * s.c + c0;
      const T* first = image + start;
      for (std::int64_t c = 0; c < count; ++c) best[c] = static_cast<C>(first[c]);
      std::fill_n(place, count, Place(0));
      for (std::int64_t y = 0; y < ys.end - ys.begin; ++y) {
        for (std::int64_t x = 0; x < xs.end - xs.begin; ++x) {
          const std::int64_t here = y * s.w.in + x;
          keep_larger(first + here * s.c, count, static_cast<Place>(here), best, place);
        }
      }
      const std::int64_t out_at = (oy * s.w.out + ox) * s.c + c0;
      for (std::int64_t c = 0; c < count; ++c)
        f(out_at + c, start + c + static_cast<std::int64_t>(place[c]) * s.c);
    }
  }
}

// With places as narrow as the values, so that both fill a register alike.
template <class T, class F>
void for_each_max(const PoolShape& s, const T* image, std::int64_t c0, F&& f) noexcept {
  const bool is_far = s.h.size > std::numeric_limits<std::int32_t>::max() / s.w.in;
  if (sizeof(compute_t<T>) == 8 || is_far) {
    for_each_max<T, std::int64_t>(s, image, c0, f);
  } else {
    for_each_max<T, std::int32_t>(s, image, c0, f);
  }
}

// Windows overlap, so that images and channels are what threads share.
template <class F>
void for_each_slice(const PoolShape& s, F&& f) noexcept {
  const std::int64_t slices = (s.c + kChannels - 1) / kChannels;
  const std::int64_t work = s.h.out * s.w.out * std::min(s.c, kChannels) * s.h.size * s.w.size;
  const std::int64_t grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(work, 1));
  parallel_for(s.n * slices, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i / slices, i % slices * kChannels);
  });
}

template <class T>
void max_grad(const PoolShape& s, const T* in, const T* dout, T* din) noexcept {
  const std::int64_t in_size = s.h.in * s.w.in * s.c, out_size = s.h.out * s.w.out * s.c;
  parallel_for(s.n * in_size, 65536, [&](std::int64_t begin, std::int64_t end) {
    std::fill(din + begin, din + end, T(0));
  });
  if (in_size == 0 || out_size == 0) return;
  using C = compute_t<T>;
  for_each_slice(s, [&](std::int64_t n, std::int64_t c0) {
    T* to = din + n * in_size;
    const T* from = dout + n * out_size;
    for_each_max(s, in + n * in_size, c0, [&](std::int64_t out_at, std::int64_t in_at) {
      to[in_at] = static_cast<T>(static_cast<C>(to[in_at]) + static_cast<C>(from[out_at]));
    });
  });
}

template <class T>
void max_grad_grad(const PoolShape& s, const T* in, const T* picked, T* out) noexcept {
  const std::int64_t in_size = s.h.in * s.w.in * s.c, out_size = s.h.out * s.w.out * s.c;
  if (in_size == 0 || out_size == 0) return;
  for_each_slice(s, [&](std::int64_t n, std::int64_t c0) {
    for_each_max(s, in + n * in_size, c0, [&](std::int64_t out_at, std::int64_t in_at) {
      out[n * out_size + out_at] = picked[n * in_size + in_at];
    });
  });
}

template <class T>
void avg_forward(const PoolShape& s, const T* in, T* out) noexcept {
  using C = compute_t<T>;
  parallel_for(s.n * s.h.out, rows_per_thread(s), [&](std::int64_t begin, std::int64_t end) {
    C sum[kChannels];
    for (std::int64_t row = begin; row < end; ++row) {
      const T* image = in + row / s.h.out * s.h.in * s.w.in * s.c;
      const Range ys = window_of(s.h, row % s.h.out);
      for (std::int64_t ox = 0; ox < s.w.out; ++ox) {
        const Range xs = window_of(s.w, ox);
        const C scale = C(1) / static_cast<C>((ys.end - ys.begin) * (xs.end - xs.begin));
        T* to = out + (row * s.w.out + ox) * s.c;
        for (std::int64_t c0 = 0; c0 < s.c; c0 += kChannels) {
          const std::int64_t count = std::min(kChannels, s.c - c0);
          std::fill_n(sum, count, C(0));
          for (std::int64_t y = ys.begin; y < ys.end; ++y) {
            for (std::int64_t x = xs.begin; x < xs.end; ++x) {
              const T* from = image + (y * s.w.in + x) * s.c + c0;
              for (std::int64_t c = 0; c < count; ++c) sum[c] += static_cast<C>(from[c]);
            }
          }
          for (std::int64_t c = 0; c < count; ++c) to[c0 + c] = static_cast<T>(sum[c] * scale);
        }
      }
    }
  });
}

// Each input collects from the windows that hold it: nothing is written twice.
template <class T>
void avg_grad(const PoolShape& s, const T* dout, T* din) noexcept {
  using C = compute_t<T>;
  const auto length = [](const Range& r) { return r.end - r.begin; };
  parallel_for(s.n * s.h.in, rows_per_thread(s), [&](std::int64_t begin, std::int64_t end) {
    C sum[kChannels];
    for (std::int64_t row = begin; row < end; ++row) {
      const T* image = dout + row / s.h.in * s.h.out * s.w.out * s.c;
      const Range ys = outputs_of(s.h, row % s.h.in);
      for (std::int64_t ix = 0; ix < s.w.in; ++ix) {
        const Range xs = outputs_of(s.w, ix);
        T* to = din + (row * s.w.in + ix) * s.c;
        for (std::int64_t c0 = 0; c0 < s.c; c0 += kChannels) {
          const std::int64_t count = std::min(kChannels, s.c - c0);
          std::fill_n(sum, count, C(0));
          for (std::int64_t y = ys.begin; y < ys.end; ++y) {
            for (std::int64_t x = xs.begin; x < xs.end; ++x) {
              const T* from = image + (y * s.w.out + x) * s.c + c0;
              const C scale =
                  C(1) / static_cast<C>(length(window_of(s.h, y)) * length(window_of(s.w, x)));
              for (std::int64_t c = 0; c < count; ++c) sum[c] += static_cast<C>(from[c]) * scale;
            }
          }
          for (std::int64_t c = 0; c < count; ++c) to[c0 + c] = static_cast<T>(sum[c]);
        }
      }
    }
  });
}

Status run_max(const RunArgs& args) noexcept {
  const PoolShape s = planes_of(args.call.in[0].shape, args.attrs());
  visit_pooled<false>(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (args.call.out[0].shape.num_elements())
      max_forward(s, args.in[0].as<const T>(), args.out[0].as<T>());
  });
  return {};
}

Status run_max_grad(const RunArgs& args) noexcept {
  const PoolShape s = planes_of(args.call.in[0].shape, args.attrs());
  visit_pooled<false>(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    max_grad(s, args.in[0].as<const T>(), args.in[1].as<const T>(), args.out[0].as<T>());
  });
  return {};
}

Status run_max_grad_grad(const RunArgs& args) noexcept {
  const PoolShape s = planes_of(args.call.in[0].shape, args.attrs());
  visit_pooled<false>(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    max_grad_grad(s, args.in[0].as<const T>(), args.in[1].as<const T>(), args.out[0].as<T>());
  });
  return {};
}

Status run_avg(const RunArgs& args) noexcept {
  const PoolShape s = planes_of(args.call.in[0].shape, args.attrs());
  visit_pooled<true>(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    avg_forward(s, args.in[0].as<const T>(), args.out[0].as<T>());
  });
  return {};
}

Status run_avg_grad(const RunArgs& args) noexcept {
  const PoolShape s = planes_of(args.call.out[0].shape, args.attrs());
  visit_pooled<true>(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    avg_grad(s, args.in[0].as<const T>(), args.out[0].as<T>());
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::MaxPool2D, .dtypes = kNumbers, .run = run_max},
    {.op = OpId::MaxPool2DGrad, .dtypes = kNumbers, .run = run_max_grad},
    {.op = OpId::MaxPool2DGradGrad, .dtypes = kNumbers, .run = run_max_grad_grad},
    {.op = OpId::AvgPool2D, .dtypes = kFloats, .run = run_avg},
    {.op = OpId::AvgPool2DGrad, .dtypes = kFloats, .run = run_avg_grad},
};

}  // namespace

std::span<const KernelDef> pool_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
