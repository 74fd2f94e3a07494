// Convolutions as products: for each row of the output and each tap of the filter, a row of pixels
// times the tap's matrix of channels.
#include "backend/cpu/conv.h"
#include "backend/cpu/gemm.h"
#include "backend/cpu/parallel.h"

namespace plimsoll::cpu {
namespace {

// The outputs [begin, end) whose tap lies inside the image.
struct Range {
  std::int64_t begin, end;
};
Range outputs_of_tap(const WindowAxis& axis, std::int64_t tap) noexcept {
  const std::int64_t shift = axis.pad_before - tap * axis.dilation;  // input = output * stride - it
  const std::int64_t begin = shift > 0 ? (shift + axis.stride - 1) / axis.stride : 0;
  const std::int64_t last = axis.in - 1 + shift;
  const std::int64_t end = last < 0 ? 0 : std::min(axis.out, last / axis.stride + 1);
  return {begin, std::max(begin, end)};
}
std::int64_t input_of(const WindowAxis& axis, std::int64_t output, std::int64_t tap) noexcept {
  return output * axis.stride - axis.pad_before + tap * axis.dilation;
}

template <class C>
class DirectConv final : public ConvEngine<C> {
 public:
  DirectConv(const ConvShape& shape, ConvPass pass, ScratchBook& book)
      : s_(shape), pass_(pass), parts_(omp_get_max_threads()) {
    const std::int64_t gi = s_.group_in(), go = s_.group_out(), w = s_.w.out;
    part_bytes_ = pass == ConvPass::kForward   ? gemm_scratch_bytes<C>(w, go, gi)
                  : pass == ConvPass::kToInput ? gemm_scratch_bytes<C>(w, gi, go)
                                               : gemm_scratch_bytes<C>(kRowsOfTap, go, w);
    part_bytes_ = (part_bytes_ + 63) / 64 * 64;
    book.book(part_bytes_ * static_cast<std::uint64_t>(parts_));
  }

  Status run(C* image, C* filter, C* out, const C*,
             std::span<const DeviceSpan> scratch) const noexcept override {
    const std::int64_t num_rows = pass_ == ConvPass::kForward ? s_.n * s_.h.out
                                  : pass_ == ConvPass::kToInput
                                      ? s_.n * s_.h.in
                                      : s_.h.size * s_.w.size * s_.groups * pieces_of_tap();
    parallel_for(parts_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) {
        void* buffer = scratch[0].as<char>() + static_cast<std::uint64_t>(part) * part_bytes_;
        const std::int64_t last = num_rows * (part + 1) / parts_;
        for (std::int64_t i = num_rows * part / parts_; i < last; ++i) {
          switch (pass_) {
            case ConvPass::kForward:
              row_forward(i, image, filter, out, buffer);
              break;
            case ConvPass::kToInput:
              row_to_input(i, image, filter, out, buffer);
              break;
            case ConvPass::kToFilter:
              piece_to_filter(i, image, filter, out, buffer);
              break;
          }
        }
      }
    });
    return {};
  }

 private:
  static constexpr std::int64_t kRowsOfTap = 64;  // of a tap's matrix that are computed together

  std::int64_t pieces_of_tap() const noexcept {
    return (s_.group_in() + kRowsOfTap - 1) / kRowsOfTap;
  }
  C* tap_of(C* filter, std::int64_t y, std::int64_t x, std::int64_t group) const noexcept {
    return filter + (y * s_.w.size + x) * s_.group_in() * s_.out_c + group * s_.group_out();
  }
  C* pixel_in(C* image, std::int64_t n, std::int64_t y, std::int64_t x) const noexcept {
    return image + ((n * s_.h.in + y) * s_.w.in + x) * s_.in_c;
  }
  C* pixel_out(C* out, std::int64_t n, std::int64_t y, std::int64_t x) const noexcept {
    return out + ((n * s_.h.out + y) * s_.w.out + x) * s_.out_c;
  }

  void row_forward(std::int64_t index, C* image, C* filter, C* out, void* buffer) const noexcept {
    const std::int64_t n = index / s_.h.out, oy = index % s_.h.out;
    std::fill_n(pixel_out(out, n, oy, 0), s_.w.out * s_.out_c, C(0));
    for (std::int64_t ky = 0; ky < s_.h.size; ++ky) {
      const std::int64_t iy = input_of(s_.h, oy, ky);
      if (iy < 0 || iy >= s_.h.in) continue;
      for (std::int64_t kx = 0; kx < s_.w.size; ++kx) {
        const Range r = outputs_of_tap(s_.w, kx);
        if (r.begin == r.end) continue;
        for (std::int64_t g = 0; g < s_.groups; ++g) {
          gemm<C>({r.end - r.begin, s_.group_out(), s_.group_in(),
                   pixel_in(image, n, iy, input_of(s_.w, r.begin, kx)) + g * s_.group_in(),
                   s_.w.stride * s_.in_c, 1, tap_of(filter, ky, kx, g), s_.out_c, 1,
                   pixel_out(out, n, oy, r.begin) + g * s_.group_out(), s_.out_c, true},
                  buffer);
        }
      }
    }
  }

  void row_to_input(std::int64_t index, C* image, C* filter, C* out, void* buffer) const noexcept {
    const std::int64_t n = index / s_.h.in, iy = index % s_.h.in;
    std::fill_n(pixel_in(image, n, iy, 0), s_.w.in * s_.in_c, C(0));
    for (std::int64_t ky = 0; ky < s_.h.size; ++ky) {
      const std::int64_t from = iy + s_.h.pad_before - ky * s_.h.dilation;
      const std::int64_t oy = from / s_.h.stride;
      if (from < 0 || from % s_.h.stride != 0 || oy >= s_.h.out) continue;
      for (std::int64_t kx = 0; kx < s_.w.size; ++kx) {
        const Range r = outputs_of_tap(s_.w, kx);
        if (r.begin == r.end) continue;
        for (std::int64_t g = 0; g < s_.groups; ++g) {
          gemm<C>({r.end - r.begin, s_.group_in(), s_.group_out(),
                   pixel_out(out, n, oy, r.begin) + g * s_.group_out(), s_.out_c, 1,
                   tap_of(filter, ky, kx, g), 1, s_.out_c,
                   pixel_in(image, n, iy, input_of(s_.w, r.begin, kx)) + g * s_.group_in(),
                   s_.w.stride * s_.in_c, true},
                  buffer);
        }
      }
    }
  }

  // Some rows of a tap's matrix, over all images.
  void piece_to_filter(std::int64_t index, C* image, C* filter, C* out,
                       void* buffer) const noexcept {
    const std::int64_t first = index % pieces_of_tap() * kRowsOfTap;
    index /= pieces_of_tap();
    const std::int64_t g = index % s_.groups;
    const std::int64_t kx = index / s_.groups % s_.w.size;
    const std::int64_t ky = index / s_.groups / s_.w.size;
    const std::int64_t rows = std::min(kRowsOfTap, s_.group_in() - first);
    C* tap = tap_of(filter, ky, kx, g) + first * s_.out_c;
    for (std::int64_t i = 0; i < rows; ++i) std::fill_n(tap + i * s_.out_c, s_.group_out(), C(0));
    const Range ys = outputs_of_tap(s_.h, ky);
    const Range xs = outputs_of_tap(s_.w, kx);
    if (xs.begin == xs.end) return;
    for (std::int64_t n = 0; n < s_.n; ++n) {
      for (std::int64_t oy = ys.begin; oy < ys.end; ++oy) {
        const C* from = pixel_in(image, n, input_of(s_.h, oy, ky), input_of(s_.w, xs.begin, kx)) +
                        g * s_.group_in() + first;
        gemm<C>({rows, s_.group_out(), xs.end - xs.begin, from, 1, s_.w.stride * s_.in_c,
                 pixel_out(out, n, oy, xs.begin) + g * s_.group_out(), s_.out_c, 1, tap, s_.out_c,
                 true},
                buffer);
      }
    }
  }

  ConvShape s_;
  ConvPass pass_;
  std::int64_t parts_;
  std::uint64_t part_bytes_ = 0;  // scratch of one of them
};

}  // namespace

template <class C>
ConvEnginePtr<C> make_direct_conv(const ConvShape& shape, ConvPass pass, ScratchBook& book) {
  return std::make_unique<DirectConv<C>>(shape, pass, book);
}
template ConvEnginePtr<float> make_direct_conv(const ConvShape&, ConvPass, ScratchBook&);
template ConvEnginePtr<double> make_direct_conv(const ConvShape&, ConvPass, ScratchBook&);

}  // namespace plimsoll::cpu
