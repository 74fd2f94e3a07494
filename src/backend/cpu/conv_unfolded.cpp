// The gradient by the filter for images of few channels, such as photographs: windows are written
// out side by side, a band of pixels at a time, and their transpose is multiplied by the gradient.
// Kernels that go by the channels of a pixel work on padding there; and they add up pixel after
// pixel, where this adds up sums of bands, which is more exact.
#include <algorithm>

#include "backend/cpu/conv.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/product.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kBandPixels = 96;  // of the output, in reading order

class UnfoldedConv final : public ConvEngine<float> {
 public:
  UnfoldedConv(const ConvShape& shape, ScratchBook& book)
      : s_(shape),
        window_(shape.h.size * shape.w.size * shape.in_c),
        num_pixels_(shape.n * shape.h.out * shape.w.out),
        parts_(std::min<std::int64_t>(omp_get_max_threads(),
                                      (num_pixels_ + kBandPixels - 1) / kBandPixels)) {
    const std::int64_t pixels = std::min(num_pixels_, kBandPixels);
    gemm_bytes_ = rounded(gemm_scratch_bytes<float>(window_, s_.out_c, pixels, true));
    windows_bytes_ = rounded(static_cast<std::uint64_t>(pixels * window_) * sizeof(float));
    sum_bytes_ = rounded(static_cast<std::uint64_t>(window_ * s_.out_c) * sizeof(float));
    book.book(part_bytes() * static_cast<std::uint64_t>(parts_));
  }

  Status run(float* image, float* filter, float* out, const float*,
             std::span<const DeviceSpan> scratch) const noexcept override {
    char* const memory = scratch[0].as<char>();
    const auto memory_of = [&](std::int64_t part) {
      return memory + static_cast<std::uint64_t>(part) * part_bytes();
    };
    parallel_for(parts_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part)
        add_up(image, out, num_pixels_ * part / parts_, num_pixels_ * (part + 1) / parts_,
               memory_of(part));
    });
    for (std::int64_t part = 0; part < parts_; ++part) {
      const auto* sum = reinterpret_cast<const float*>(memory_of(part));
      for (std::int64_t i = 0; i < window_ * s_.out_c; ++i)
        filter[i] = part == 0 ? sum[i] : filter[i] + sum[i];
    }
    return {};
  }

 private:
  static std::uint64_t rounded(std::uint64_t nbytes) noexcept { return (nbytes + 63) / 64 * 64; }
  std::uint64_t part_bytes() const noexcept { return sum_bytes_ + windows_bytes_ + gemm_bytes_; }

  // Pixels [begin, end) of the output, into the sum at the front of `memory`.
  void add_up(const float* image, const float* out, std::int64_t begin, std::int64_t end,
              char* memory) const noexcept {
    auto* sum = reinterpret_cast<float*>(memory);
    auto* windows = reinterpret_cast<float*>(memory + sum_bytes_);
    for (std::int64_t first = begin; first < end; first += kBandPixels) {
      const std::int64_t pixels = std::min(kBandPixels, end - first);
      unfold(image, first, pixels, windows);
      gemm<float>({window_, s_.out_c, pixels, windows, 1, window_, out + first * s_.out_c, s_.out_c,
                   1, sum, s_.out_c, first > begin},
                  memory + sum_bytes_ + windows_bytes_);
    }
  }

  // The windows of pixels, one behind the other; zeros in the padding.
  void unfold(const float* image, std::int64_t first, std::int64_t pixels,
              float* to) const noexcept {
    for (std::int64_t pixel = first; pixel < first + pixels; ++pixel) {
      const std::int64_t line = pixel / s_.w.out;
      const std::int64_t y0 = line % s_.h.out * s_.h.stride - s_.h.pad_before;
      const std::int64_t x0 = pixel % s_.w.out * s_.w.stride - s_.w.pad_before;
      const float* from = image + line / s_.h.out * s_.h.in * s_.w.in * s_.in_c;
      for (std::int64_t ky = 0; ky < s_.h.size; ++ky) {
        const std::int64_t y = y0 + ky * s_.h.dilation;
        const bool is_inside = y >= 0 && y < s_.h.in;
        if (is_inside && s_.w.dilation == 1 && x0 >= 0 && x0 + s_.w.size <= s_.w.in) {
          to = std::copy_n(from + (y * s_.w.in + x0) * s_.in_c, s_.w.size * s_.in_c, to);
          continue;
        }
        for (std::int64_t kx = 0; kx < s_.w.size; ++kx, to += s_.in_c) {
          const std::int64_t x = x0 + kx * s_.w.dilation;
          const float* at = from + (y * s_.w.in + x) * s_.in_c;
          const bool is_pixel = is_inside && x >= 0 && x < s_.w.in;
          for (std::int64_t c = 0; c < s_.in_c; ++c) to[c] = is_pixel ? at[c] : 0.0F;
        }
      }
    }
  }

  const ConvShape s_;
  const std::int64_t window_, num_pixels_, parts_;
  std::uint64_t gemm_bytes_ = 0, windows_bytes_ = 0, sum_bytes_ = 0;
};

}  // namespace

bool unfolded_conv_pays(const ConvShape& s, ConvPass pass) noexcept {
  constexpr std::int64_t kFewChannels = 4;
  return pass == ConvPass::kToFilter && s.groups == 1 && s.kind == ConvKind::kPlain &&
         s.in_c <= kFewChannels && s.h.out * s.w.out > 0 && !has_onednn_products();
}

ConvEnginePtr<float> make_unfolded_conv(const ConvShape& shape, ScratchBook& book) {
  return std::make_unique<UnfoldedConv>(shape, book);
}

}  // namespace plimsoll::cpu
