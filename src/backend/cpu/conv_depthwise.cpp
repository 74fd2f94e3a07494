// Depthwise convolutions: each output channel reads one input channel.
#include "backend/cpu/conv.h"
#include "backend/cpu/parallel.h"

namespace plimsoll::cpu {
namespace {

template <class C>
class DepthwiseConv final : public ConvEngine<C> {
 public:
  DepthwiseConv(const ConvShape& shape, ConvPass pass) : s_(shape), pass_(pass) {}

  Status run(C* image, C* filter, C* out, const C*,
             std::span<const DeviceSpan>) const noexcept override {
    switch (pass_) {
      case ConvPass::kForward:
        parallel_for(s_.n * s_.h.out, grain(s_.w.out), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) row_forward(i, image, filter, out);
        });
        break;
      case ConvPass::kToInput:
        parallel_for(s_.n * s_.h.in, grain(s_.w.in), [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) row_to_input(i, image, filter, out);
        });
        break;
      case ConvPass::kToFilter:
        parallel_for(s_.h.size * s_.w.size, 1, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) tap_to_filter(i, image, filter, out);
        });
        break;
    }
    return {};
  }

 private:
  std::int64_t grain(std::int64_t width) const noexcept {
    const std::int64_t work = width * s_.out_c * s_.h.size * s_.w.size;
    return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(work, 1));
  }
  C* pixel_in(C* image, std::int64_t n, std::int64_t y, std::int64_t x) const noexcept {
    return image + ((n * s_.h.in + y) * s_.w.in + x) * s_.in_c;
  }
  C* pixel_out(C* out, std::int64_t n, std::int64_t y, std::int64_t x) const noexcept {
    return out + ((n * s_.h.out + y) * s_.w.out + x) * s_.out_c;
  }
  C* tap(C* filter, std::int64_t y, std::int64_t x) const noexcept {
    return filter + (y * s_.w.size + x) * s_.out_c;
  }

  void row_forward(std::int64_t index, C* image, C* filter, C* out) const noexcept {
    const std::int64_t n = index / s_.h.out, oy = index % s_.h.out;
    for (std::int64_t ox = 0; ox < s_.w.out; ++ox) {
      C* to = pixel_out(out, n, oy, ox);
      std::fill_n(to, s_.out_c, C(0));
      for (std::int64_t ky = 0; ky < s_.h.size; ++ky) {
        const std::int64_t iy = oy * s_.h.stride - s_.h.pad_before + ky * s_.h.dilation;
        if (iy < 0 || iy >= s_.h.in) continue;
        for (std::int64_t kx = 0; kx < s_.w.size; ++kx) {
          const std::int64_t ix = ox * s_.w.stride - s_.w.pad_before + kx * s_.w.dilation;
          if (ix < 0 || ix >= s_.w.in) continue;
          add_product(pixel_in(image, n, iy, ix), tap(filter, ky, kx), to);
        }
      }
    }
  }

  void row_to_input(std::int64_t index, C* image, C* filter, C* out) const noexcept {
    const std::int64_t n = index / s_.h.in, iy = index % s_.h.in;
    for (std::int64_t ix = 0; ix < s_.w.in; ++ix) {
      C* to = pixel_in(image, n, iy, ix);
      std::fill_n(to, s_.in_c, C(0));
      for (std::int64_t ky = 0; ky < s_.h.size; ++ky) {
        const std::int64_t oy = output_of(s_.h, iy, ky);
        if (oy < 0) continue;
        for (std::int64_t kx = 0; kx < s_.w.size; ++kx) {
          const std::int64_t ox = output_of(s_.w, ix, kx);
          if (ox < 0) continue;
          add_sums(pixel_out(out, n, oy, ox), tap(filter, ky, kx), to);
        }
      }
    }
  }

  void tap_to_filter(std::int64_t index, C* image, C* filter, C* out) const noexcept {
    const std::int64_t ky = index / s_.w.size, kx = index % s_.w.size;
    C* to = tap(filter, ky, kx);
    std::fill_n(to, s_.out_c, C(0));
    for (std::int64_t n = 0; n < s_.n; ++n) {
      for (std::int64_t oy = 0; oy < s_.h.out; ++oy) {
        const std::int64_t iy = oy * s_.h.stride - s_.h.pad_before + ky * s_.h.dilation;
        if (iy < 0 || iy >= s_.h.in) continue;
        for (std::int64_t ox = 0; ox < s_.w.out; ++ox) {
          const std::int64_t ix = ox * s_.w.stride - s_.w.pad_before + kx * s_.w.dilation;
          if (ix < 0 || ix >= s_.w.in) continue;
          add_product(pixel_in(image, n, iy, ix), pixel_out(out, n, oy, ox), to);
        }
      }
    }
  }

  // The output that reads `input` through `tap`, or -1.
  static std::int64_t output_of(const WindowAxis& axis, std::int64_t input,
                                std::int64_t tap) noexcept {
    const std::int64_t from = input + axis.pad_before - tap * axis.dilation;
    if (from < 0 || from % axis.stride != 0) return -1;
    return from / axis.stride < axis.out ? from / axis.stride : -1;
  }

  // to[c][m] += x[c] * y[c][m]
  void add_product(const C* __restrict x, const C* __restrict y, C* __restrict to) const noexcept {
    const std::int64_t m = s_.group_out();
    if (m == 1) {
      for (std::int64_t c = 0; c < s_.in_c; ++c) to[c] += x[c] * y[c];
      return;
    }
    for (std::int64_t c = 0; c < s_.in_c; ++c) {
      for (std::int64_t j = 0; j < m; ++j) to[c * m + j] += x[c] * y[c * m + j];
    }
  }
  // to[c] += sum over m of x[c][m] * y[c][m]
  void add_sums(const C* __restrict x, const C* __restrict y, C* __restrict to) const noexcept {
    const std::int64_t m = s_.group_out();
    if (m == 1) {
      for (std::int64_t c = 0; c < s_.in_c; ++c) to[c] += x[c] * y[c];
      return;
    }
    for (std::int64_t c = 0; c < s_.in_c; ++c) {
      for (std::int64_t j = 0; j < m; ++j) to[c] += x[c * m + j] * y[c * m + j];
    }
  }

  ConvShape s_;
  ConvPass pass_;
};

}  // namespace

template <class C>
ConvEnginePtr<C> make_depthwise_conv(const ConvShape& shape, ConvPass pass) {
  return std::make_unique<DepthwiseConv<C>>(shape, pass);
}
template ConvEnginePtr<float> make_depthwise_conv(const ConvShape&, ConvPass);
template ConvEnginePtr<double> make_depthwise_conv(const ConvShape&, ConvPass);

}  // namespace plimsoll::cpu
