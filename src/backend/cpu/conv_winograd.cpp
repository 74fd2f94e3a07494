// 3x3 convolutions with stride 1 by Winograd's F(2x2, 3x3): tiles are transformed, multiplied as 16
// products of matrices, and transformed back. Takes 4/9 of the multiplications; the
// transforms go through caches, some lines of tiles at a time. Where the transformed filter is
// small, each thread has tiles and products of its own, small enough for its own cache; where it is
// large, a product has all threads, and many tiles.
#include <optional>

#include "backend/cpu/conv.h"
#include "backend/cpu/onednn.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/product.h"
#include "backend/cpu/winograd_tiles.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kPlanes = 16;
constexpr std::int64_t kChunkBytes = 8 << 20;          // of transformed tiles
constexpr std::int64_t kOwnChunkBytes = 512 << 10;     // of those of one thread
constexpr std::int64_t kSmallFilterBytes = 512 << 10;  // of a transformed filter

// Primitives that are made while it lives run on the thread that calls them.
class OneThread {
 public:
  explicit OneThread(bool is_on) : before_(omp_get_max_threads()) {
    if (is_on) omp_set_num_threads(1);
  }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// An image that is cut into tiles.
struct Plane {
  std::int64_t h, w, c;
};

class WinogradConv final : public ConvEngine<float> {
 public:
  WinogradConv(const ConvShape& s, ConvPass pass, ScratchBook& book) : pass_(pass) {
    const Plane image{s.h.in, s.w.in, s.in_c}, out{s.h.out, s.w.out, s.out_c};
    const bool is_back = pass == ConvPass::kToInput;
    from_ = is_back ? out : image;
    to_ = is_back ? image : out;
    // Going back, the window is flipped, and reaches over the other end.
    top_ = is_back ? 2 - s.h.pad_before : s.h.pad_before;
    left_ = is_back ? 2 - s.w.pad_before : s.w.pad_before;
    lines_ = (to_.h + 1) / 2;
    columns_ = (to_.w + 1) / 2;
    num_lines_ = chunk_ = s.n * lines_;
    taps_size_ = kPlanes * from_.c * to_.c;
    const bool has_lanes = taps_size_ * 4 <= kSmallFilterBytes;
    lanes_ = has_lanes ? max_threads() : 1;
    const std::int64_t line_bytes = kPlanes * columns_ * (from_.c + to_.c) * 4;
    const std::int64_t most = has_lanes ? kOwnChunkBytes : kChunkBytes;
    while (chunk_ > 1 && (num_lines_ % chunk_ != 0 || chunk_ * line_bytes > most)) --chunk_;
    lanes_ = std::min(lanes_, num_lines_ / chunk_);
    tiles_ = chunk_ * columns_;
    make_products(has_lanes, book);
    const auto floats = [&](std::int64_t n) {
      book.book(static_cast<std::uint64_t>(n) * sizeof(float));
    };
    floats(lanes_ * kPlanes * tiles_ * from_.c);  // 1: transformed tiles
    floats(lanes_ * kPlanes * tiles_ * to_.c);    // 2: their products, or transformed gradients
    floats((pass == ConvPass::kToFilter ? lanes_ : 1) * taps_size_);  // 3: the transformed filter
    floats(from_.c +
           2 * to_.c * max_threads());  // 4: pixels outside: zeros, and where none is wanted
  }

  Status run(float* image, float* filter, float* out, const float*,
             std::span<const DeviceSpan> scratch) const noexcept override {
    const bool is_back = pass_ == ConvPass::kToInput;
    const float* from = is_back ? out : image;
    float* to = is_back ? image : out;
    float* taps = scratch[3].as<float>();
    std::fill_n(scratch[4].as<float>(), from_.c + to_.c, 0.0F);
    if (pass_ != ConvPass::kToFilter) take_filter(filter, is_back, taps);
    if (lanes_ == 1) {
      const Status status = run_lane(0, from, to, scratch);
      if (!status.ok()) return status;
    } else {
      Status failed;
#pragma omp parallel for num_threads(static_cast <int>(lanes_)) schedule(static, 1)
      for (std::int64_t lane = 0; lane < lanes_; ++lane) {
        const Status status = run_lane(lane, from, to, scratch);
        if (!status.ok()) {
#pragma omp critical
          failed = status;
        }
      }
      if (!failed.ok()) return failed;
    }
    if (pass_ == ConvPass::kToFilter) give_filter(taps, filter);
    return {};
  }

 private:
  static std::int64_t max_threads() noexcept {
    return omp_get_max_threads();
  }

  // The chunks of one lane.
  Status run_lane(std::int64_t lane, const float* from, float* to,
                  std::span<const DeviceSpan> scratch) const noexcept {
    const auto pad = static_cast<void*>(scratch[0].as<char>() + lane * pad_bytes_);
    float* tiles = scratch[1].as<float>() + lane * kPlanes * tiles_ * from_.c;
    float* products = scratch[2].as<float>() + lane * kPlanes * tiles_ * to_.c;
    float* taps = scratch[3].as<float>();
    float* outside = scratch[4].as<float>();
    if (pass_ == ConvPass::kToFilter) taps += lane * taps_size_;
    const std::int64_t num_chunks = num_lines_ / chunk_;
    const std::int64_t begin = num_chunks * lane / lanes_, end = num_chunks * (lane + 1) / lanes_;
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      const std::int64_t first = chunk * chunk_;
      take_tiles(from, first, outside, tiles);
      if (pass_ == ConvPass::kToFilter) {
        take_gradients(to, first, outside, products);
        const Status status =
            (chunk > begin ? add_product_ : product_)->run(tiles, products, taps, pad);
        if (!status.ok()) return status;
      } else {
        const Status status = product_->run(tiles, taps, products, pad);
        if (!status.ok()) return status;
        give_tiles(products, first, outside + from_.c, to);
      }
    }
    return {};
  }

  void make_products(bool on_one_thread, ScratchBook& book) {
    const OneThread one_thread(on_one_thread);
    const std::int64_t in = from_.c, out = to_.c;
    if (pass_ == ConvPass::kToFilter) {
      const ProductShape turned{kPlanes, in, out, tiles_, tiles_ * in, 1, in, tiles_ * out, out, 1};
      product_.emplace(turned, false);
      if (chunk_ < num_lines_) add_product_.emplace(turned, true);
    } else {
      // The filter is [in][out] as the forward pass sees it.
      const bool is_back = pass_ == ConvPass::kToInput;
      product_.emplace(ProductShape{kPlanes, tiles_, out, in, tiles_ * in, in, 1, in * out,
                                    is_back ? 1 : out, is_back ? in : 1},
                       false);
    }
    std::uint64_t pad = product_->scratch_bytes();
    if (add_product_) pad = std::max(pad, add_product_->scratch_bytes());
    pad_bytes_ = static_cast<std::int64_t>((pad + 63) / 64 * 64);
    book.book(static_cast<std::uint64_t>(lanes_ * pad_bytes_));  // 0
  }

  // Calls f(image, y, x, place of the tile) for the tiles of a chunk of lines.
  template <class F>
  void for_tiles(std::int64_t first, F&& f) const noexcept {
    parallel_for(chunk_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t line = first + i;
        for (std::int64_t x = 0; x < columns_; ++x)
          f(line / lines_, line % lines_ * 2, x * 2, i * columns_ + x);
      }
    });
  }
  // Where pixels of a square of the image are; `outside` for those that it does not have.
  template <int kSize, class T>
  static void find_pixels(T* image, const Plane& p, std::int64_t y0, std::int64_t x0, T* outside,
                          T** found) noexcept {
    for (std::int64_t y = y0; y < y0 + kSize; ++y) {
      for (std::int64_t x = x0; x < x0 + kSize; ++x) {
        const bool is_inside = y >= 0 && y < p.h && x >= 0 && x < p.w;
        *found++ = is_inside ? image + (y * p.w + x) * p.c : outside;
      }
    }
  }

  void take_tiles(const float* images, std::int64_t first, const float* zeros,
                  float* tiles) const noexcept {
    for_tiles(first, [&](std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t at) {
      const float* pixels[16];
      find_pixels<4>(images + n * from_.h * from_.w * from_.c, from_, y - top_, x - left_, zeros,
                     pixels);
      kernels_.take_image(pixels, from_.c, tiles + at * from_.c, tiles_ * from_.c);
    });
  }
  void take_gradients(const float* images, std::int64_t first, const float* zeros,
                      float* to) const noexcept {
    for_tiles(first, [&](std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t at) {
      const float* pixels[4];
      find_pixels<2>(images + n * to_.h * to_.w * to_.c, to_, y, x, zeros, pixels);
      kernels_.take_gradient(pixels, to_.c, to + at * to_.c, tiles_ * to_.c);
    });
  }
  void give_tiles(const float* products, std::int64_t first, float* unwanted,
                  float* images) const noexcept {
    for_tiles(first, [&](std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t at) {
      float* pixels[4];
      find_pixels<2>(images + n * to_.h * to_.w * to_.c, to_, y, x,
                     unwanted + omp_get_thread_num() * to_.c, pixels);
      kernels_.give_image(products + at * to_.c, tiles_ * to_.c, to_.c, pixels);
    });
  }

  // Rows of taps as they lie in the filter, [in][out] of the forward pass.
  void take_filter(const float* filter, bool is_flipped, float* taps) const noexcept {
    const std::int64_t size = from_.c * to_.c;
    parallel_for(size, 4096, [&](std::int64_t begin, std::int64_t end) {
      const float* g[9];
      for (int i = 0; i < 9; ++i) g[i] = filter + (is_flipped ? 8 - i : i) * size + begin;
      kernels_.take_filter(g, end - begin, taps + begin, size);
    });
  }
  // The lanes' gradients are added up first.
  void give_filter(float* taps, float* filter) const noexcept {
    const std::int64_t size = from_.c * to_.c;
    parallel_for(size, 4096, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t lane = 1; lane < lanes_; ++lane) {
        for (std::int64_t plane = 0; plane < taps_size_; plane += size) {
          const float* more = taps + lane * taps_size_ + plane;
          for (std::int64_t i = begin; i < end; ++i) taps[plane + i] += more[i];
        }
      }
      float* g[9];
      for (int i = 0; i < 9; ++i) g[i] = filter + i * size + begin;
      kernels_.give_filter(taps + begin, size, end - begin, g);
    });
  }

  const WinogradTiles& kernels_ = winograd_tiles();
  ConvPass pass_;
  Plane from_, to_;
  std::int64_t top_, left_;             // padding
  std::int64_t lines_, columns_;        // of tiles in an image
  std::int64_t num_lines_;              // of tiles in all images
  std::int64_t chunk_, tiles_;          // lines and tiles at a time
  std::int64_t lanes_;                  // that go at the same time, each through chunks of its own
  std::int64_t taps_size_, pad_bytes_;  // of one lane
  std::optional<Product> product_, add_product_;
};

}  // namespace

bool winograd_conv_pays(const ConvShape& s) noexcept {
  constexpr std::int64_t kManyChannels = 64;
  const auto is_fit = [](const WindowAxis& a) {
    return a.size == 3 && a.stride == 1 && a.dilation == 1 && a.pad_before <= 2 &&
           a.pad_after <= 2 && a.out > 0;
  };
  return s.groups == 1 && s.kind == ConvKind::kPlain && is_fit(s.h) && is_fit(s.w) &&
         s.in_c >= kManyChannels && s.out_c >= kManyChannels;
}

ConvEnginePtr<float> make_winograd_conv(const ConvShape& shape, ConvPass pass, ScratchBook& book) {
  return onednn_try(
      [&]() -> ConvEnginePtr<float> { return std::make_unique<WinogradConv>(shape, pass, book); });
}

}  // namespace plimsoll::cpu
