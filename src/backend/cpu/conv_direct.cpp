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
    const std::int64_t num_rows = pass_ == ConvPass::kForward ? s_.n * s_.d.out * s_.h.out
                                  : pass_ == ConvPass::kToInput
                                      ? s_.n * s_.d.in * s_.h.in
                                      : s_.taps() * s_.groups * pieces_of_tap();
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
  C* tap_of(C* filter, std::int64_t z, std::int64_t y, std::int64_t x,
            std::int64_t group) const noexcept {
    const std::int64_t tap = (z * s_.h.size + y) * s_.w.size + x;
    return filter + tap * s_.group_in() * s_.out_c + group * s_.group_out();
  }
  // `plane` counts through the planes of all images.
  C* pixel_in(C* image, std::int64_t plane, std::int64_t y, std::int64_t x) const noexcept {
    return image + ((plane * s_.h.in + y) * s_.w.in + x) * s_.in_c;
  }
  C* pixel_out(C* out, std::int64_t plane, std::int64_t y, std::int64_t x) const noexcept {
    return out + ((plane * s_.h.out + y) * s_.w.out + x) * s_.out_c;
  }
  // The output whose tap reads `input`, or -1.
  static std::int64_t output_of(const WindowAxis& axis, std::int64_t input,
                                std::int64_t tap) noexcept {
    const std::int64_t from = input + axis.pad_before - tap * axis.dilation;
    const std::int64_t output = from / axis.stride;
    return from < 0 || from % axis.stride != 0 || output >= axis.out ? -1 : output;
  }

  void row_forward(std::int64_t index, C* image, C* filter, C* out, void* buffer) const noexcept {
    const std::int64_t plane = index / s_.h.out, oy = index % s_.h.out;
    std::fill_n(pixel_out(out, plane, oy, 0), s_.w.out * s_.out_c, C(0));
    for (std::int64_t kz = 0; kz < s_.d.size; ++kz) {
      const std::int64_t iz = input_of(s_.d, plane % s_.d.out, kz);
      if (iz < 0 || iz >= s_.d.in) continue;
      for (std::int64_t ky = 0; ky < s_.h.size; ++ky) {
        const std::int64_t iy = input_of(s_.h, oy, ky);
        if (iy < 0 || iy >= s_.h.in) continue;
        C* from = pixel_in(image, plane / s_.d.out * s_.d.in + iz, iy, 0);
        add_forward(from, filter, kz, ky, pixel_out(out, plane, oy, 0), buffer);
      }
    }
  }
  // A row of the output, by the taps of one row of the filter.
  void add_forward(C* from, C* filter, std::int64_t kz, std::int64_t ky, C* to,
                   void* buffer) const noexcept {
    for (std::int64_t kx = 0; kx < s_.w.size; ++kx) {
      const Range r = outputs_of_tap(s_.w, kx);
      if (r.begin == r.end) continue;
      for (std::int64_t g = 0; g < s_.groups; ++g) {
        gemm<C>({r.end - r.begin, s_.group_out(), s_.group_in(),
                 from + input_of(s_.w, r.begin, kx) * s_.in_c + g * s_.group_in(),
                 s_.w.stride * s_.in_c, 1, tap_of(filter, kz, ky, kx, g), s_.out_c, 1,
                 to + r.begin * s_.out_c + g * s_.group_out(), s_.out_c, true},
                buffer);
      }
    }
  }

  void row_to_input(std::int64_t index, C* image, C* filter, C* out, void* buffer) const noexcept {
    const std::int64_t plane = index / s_.h.in, iy = index % s_.h.in;
    std::fill_n(pixel_in(image, plane, iy, 0), s_.w.in * s_.in_c, C(0));
    for (std::int64_t kz = 0; kz < s_.d.size; ++kz) {
      const std::int64_t oz = output_of(s_.d, plane % s_.d.in, kz);
      if (oz < 0) continue;
      for (std::int64_t ky = 0; ky < s_.h.size; ++ky) {
        const std::int64_t oy = output_of(s_.h, iy, ky);
        if (oy < 0) continue;
        C* from = pixel_out(out, plane / s_.d.in * s_.d.out + oz, oy, 0);
        add_to_input(from, filter, kz, ky, pixel_in(image, plane, iy, 0), buffer);
      }
    }
  }
  void add_to_input(C* from, C* filter, std::int64_t kz, std::int64_t ky, C* to,
                    void* buffer) const noexcept {
    for (std::int64_t kx = 0; kx < s_.w.size; ++kx) {
      const Range r = outputs_of_tap(s_.w, kx);
      if (r.begin == r.end) continue;
      for (std::int64_t g = 0; g < s_.groups; ++g) {
        gemm<C>({r.end - r.begin, s_.group_in(), s_.group_out(),
                 from + r.begin * s_.out_c + g * s_.group_out(), s_.out_c, 1,
                 tap_of(filter, kz, ky, kx, g), 1, s_.out_c,
                 to + input_of(s_.w, r.begin, kx) * s_.in_c + g * s_.group_in(),
                 s_.w.stride * s_.in_c, true},
                buffer);
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
    const std::int64_t ky = index / s_.groups / s_.w.size % s_.h.size;
    const std::int64_t kz = index / s_.groups / s_.w.size / s_.h.size;
    const std::int64_t rows = std::min(kRowsOfTap, s_.group_in() - first);
    C* tap = tap_of(filter, kz, ky, kx, g) + first * s_.out_c;
    for (std::int64_t i = 0; i < rows; ++i) std::fill_n(tap + i * s_.out_c, s_.group_out(), C(0));
    const Range zs = outputs_of_tap(s_.d, kz);
    const Range ys = outputs_of_tap(s_.h, ky);
    const Range xs = outputs_of_tap(s_.w, kx);
    if (xs.begin == xs.end) return;
    const std::int64_t planes = zs.end - zs.begin;
    for (std::int64_t i = 0; i < s_.n * planes; ++i) {
      const std::int64_t n = i / planes, oz = zs.begin + i % planes;
      const std::int64_t in_plane = n * s_.d.in + input_of(s_.d, oz, kz);
      for (std::int64_t oy = ys.begin; oy < ys.end; ++oy) {
        const C* from =
            pixel_in(image, in_plane, input_of(s_.h, oy, ky), input_of(s_.w, xs.begin, kx)) +
            g * s_.group_in() + first;
        gemm<C>({rows, s_.group_out(), xs.end - xs.begin, from, 1, s_.w.stride * s_.in_c,
                 pixel_out(out, n * s_.d.out + oz, oy, xs.begin) + g * s_.group_out(), s_.out_c, 1,
                 tap, s_.out_c, true},
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
