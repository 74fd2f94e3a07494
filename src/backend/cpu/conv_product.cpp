// The gradient by the filter as products of matrices: for each tap of the window, the
// pixels under it (a row of channels each) transposed times the gradient. Where windows stride, and
// where small images have many channels, this beats oneDNN's own convolution.
#include <optional>

#include "backend/cpu/conv.h"
#include "backend/cpu/onednn.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/product.h"

namespace plimsoll::cpu {
namespace {

template <class T>
class ProductConv final : public ConvEngine<T> {
 public:
  ProductConv(const ConvShape& shape, ScratchBook& book)
      : s_(shape), rows_(shape.n * shape.h.out * shape.w.out), gathers_(!sees_every_pixel_once()) {
    product_.emplace(ProductShape{1, s_.in_c, s_.out_c, rows_, rows_ * s_.in_c, 1, s_.in_c,
                                  rows_ * s_.out_c, s_.out_c, 1},
                     false, kOneDnnType<T>);
    book.book(product_->scratch_bytes());
    if (gathers_) book.book(static_cast<std::uint64_t>(rows_ * s_.in_c) * sizeof(T));
  }

  Status run(T* image, T* filter, T* out, const T*,
             std::span<const DeviceSpan> scratch) const noexcept override {
    T* pixels = gathers_ ? scratch[1].as<T>() : image;
    for (std::int64_t y = 0; y < s_.h.size; ++y) {
      for (std::int64_t x = 0; x < s_.w.size; ++x, filter += s_.in_c * s_.out_c) {
        if (gathers_) gather(image, y * s_.h.dilation, x * s_.w.dilation, pixels);
        const Status status = product_->run(pixels, out, filter, scratch[0].as<void>());
        if (!status.ok()) return status;
      }
    }
    return {};
  }

 private:
  bool sees_every_pixel_once() const noexcept {
    const auto is_plain = [](const WindowAxis& a) { return a.size == 1 && a.in == a.out; };
    return is_plain(s_.h) && is_plain(s_.w);
  }

  // The pixels that a tap meets, one for each pixel of the output; zeros in the padding.
  void gather(const T* image, std::int64_t tap_y, std::int64_t tap_x, T* to) const noexcept {
    const std::int64_t grain = std::max<std::int64_t>(1, 16384 / (s_.w.out * s_.in_c));
    parallel_for(s_.n * s_.h.out, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) {
        const std::int64_t y = line % s_.h.out * s_.h.stride - s_.h.pad_before + tap_y;
        const T* from = image + (line / s_.h.out * s_.h.in + y) * s_.w.in * s_.in_c;
        T* row = to + line * s_.w.out * s_.in_c;
        for (std::int64_t i = 0; i < s_.w.out; ++i, row += s_.in_c) {
          const std::int64_t x = i * s_.w.stride - s_.w.pad_before + tap_x;
          if (y < 0 || y >= s_.h.in || x < 0 || x >= s_.w.in) {
            std::fill_n(row, s_.in_c, T(0));
          } else {
            std::copy_n(from + x * s_.in_c, s_.in_c, row);
          }
        }
      }
    });
  }

  const ConvShape s_;
  const std::int64_t rows_;
  const bool gathers_;
  std::optional<Product> product_;
};

}  // namespace

bool product_conv_pays(const ConvShape& s, ConvPass pass) noexcept {
  constexpr std::int64_t kManyChannels = 64, kLargeFilter = 1 << 18, kAnyFilter = 1 << 12;
  if (pass != ConvPass::kToFilter || s.groups != 1 || s.kind != ConvKind::kPlain) return false;
  if (s.h.out * s.w.out == 0) return false;
  if (s.h.stride > 1 || s.w.stride > 1) return s.in_c >= kManyChannels && s.out_c >= kManyChannels;
  return s.h.size == 1 && s.w.size == 1 && s.h.in == s.h.out && s.w.in == s.w.out &&
         s.in_c * s.out_c >= (has_onednn_products() ? kLargeFilter : kAnyFilter);
}

template <class T>
ConvEnginePtr<T> make_product_conv(const ConvShape& shape, ScratchBook& book) {
  return onednn_try(
      [&]() -> ConvEnginePtr<T> { return std::make_unique<ProductConv<T>>(shape, book); });
}
template ConvEnginePtr<float> make_product_conv(const ConvShape&, ScratchBook&);
template ConvEnginePtr<BFloat16> make_product_conv(const ConvShape&, ScratchBook&);

}  // namespace plimsoll::cpu
