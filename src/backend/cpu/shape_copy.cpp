#include "backend/cpu/shape_copy.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {

namespace {

// The loops, as functions of the element type and of what is done with an element.
struct CopyLoops {
  static constexpr std::int64_t kGrain = 32768;  // elements that are worth a thread
  static constexpr int kTile = 16;               // elements of a side
  static constexpr int kPanel = 64;              // rows done together: few pages are open at once

  const StridedCopy& copy;
  int inner;                                       // dimension that a row or tile runs along
  int second;                                      // the other dimension of a tile; -1: rows
  std::array<int, StridedCopy::kMaxDims> outer{};  // the others, innermost first
  int num_outer = 0;

  explicit CopyLoops(const StridedCopy& c) noexcept : copy(c), inner(0), second(-1) {
    // Rows that jump through the input are taken together with the dimension that does not.
    if (c.rank > 1 && c.in_strides[0] != 1 && c.in_strides[0] != 0) {
      for (int d = 1; d < c.rank; ++d) {
        const auto i = static_cast<std::size_t>(d);
        if (c.in_strides[i] == 1 && c.dims[i] >= 4 && c.dims[0] >= 4) second = d;
      }
    }
    for (int d = 1; d < c.rank; ++d) {
      if (d != second) outer[static_cast<std::size_t>(num_outer++)] = d;
    }
  }

  // Calls f(in_offset, out_offset) for the positions [begin, end) of the outer dimensions.
  template <class F>
  void walk(std::int64_t begin, std::int64_t end, F&& f) const noexcept {
    std::array<std::int64_t, StridedCopy::kMaxDims> at{};
    std::int64_t from = 0, to = 0, rest = begin;
    for (int k = 0; k < num_outer; ++k) {
      const auto d = static_cast<std::size_t>(outer[static_cast<std::size_t>(k)]);
      at[d] = rest % copy.dims[d];
      rest /= copy.dims[d];
      from += at[d] * copy.in_strides[d];
      to += at[d] * copy.out_strides[d];
    }
    for (std::int64_t i = begin; i < end; ++i) {
      f(from, to);
      for (int k = 0; k < num_outer; ++k) {
        const auto d = static_cast<std::size_t>(outer[static_cast<std::size_t>(k)]);
        from += copy.in_strides[d];
        to += copy.out_strides[d];
        if (++at[d] < copy.dims[d]) break;
        from -= at[d] * copy.in_strides[d];
        to -= at[d] * copy.out_strides[d];
        at[d] = 0;
      }
    }
  }

  template <class T, class Op>
  static void row(const T* in, T* out, std::int64_t n, std::int64_t in_step,
                  std::int64_t out_step) noexcept {
    if (out_step == 1 && in_step == 1) {
      Op::run(in, out, n);
    } else if (out_step == 1 && in_step == 0) {
      const T value = *in;
      for (std::int64_t i = 0; i < n; ++i) Op::one(value, out[i]);
    } else if (out_step == 1) {
      for (std::int64_t i = 0; i < n; ++i) Op::one(in[i * in_step], out[i]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) Op::one(in[i * in_step], out[i * out_step]);
    }
  }

  // A tile is read along the input's contiguous dimension and written along the output's.
  template <class T, class Op>
  void tile(const T* in, T* out, std::int64_t rows, std::int64_t columns) const noexcept {
    const auto second_at = static_cast<std::size_t>(second);
    const std::int64_t in_step = copy.in_strides[0], out_step = copy.out_strides[0];
    const std::int64_t out_row = copy.out_strides[second_at];
    T held[kTile][kTile];
    if (rows == kTile && columns == kTile && out_step == 1) {  // the same, in numbers known before
      for (int c = 0; c < kTile; ++c) std::memcpy(held[c], in + c * in_step, sizeof(held[c]));
      for (int r = 0; r < kTile; ++r) {
        for (int c = 0; c < kTile; ++c) Op::one(held[c][r], out[r * out_row + c]);
      }
      return;
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      const T* from = in + c * in_step;
      for (std::int64_t r = 0; r < rows; ++r) held[c][r] = from[r];
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      T* to = out + r * out_row;
      for (std::int64_t c = 0; c < columns; ++c) Op::one(held[c][r], to[c * out_step]);
    }
  }

  template <class T, class Op>
  void tiles(const T* in, T* out) const noexcept {
    const auto second_at = static_cast<std::size_t>(second);
    const std::int64_t rows = copy.dims[second_at], columns = copy.dims[0];
    const std::int64_t panels = (rows + kPanel - 1) / kPanel;
    const std::int64_t units = copy.count / (rows * columns) * panels;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (kPanel * columns));
    parallel_for(units, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t unit = begin; unit < end; ++unit) {
        const std::int64_t first = unit % panels * kPanel;
        const std::int64_t last = std::min<std::int64_t>(first + kPanel, rows);
        walk(unit / panels, unit / panels + 1, [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t c = 0; c < columns; c += kTile) {
            for (std::int64_t r = first; r < last; r += kTile) {
              tile<T, Op>(in + from + r + c * copy.in_strides[0],
                          out + to + r * copy.out_strides[second_at] + c * copy.out_strides[0],
                          std::min<std::int64_t>(kTile, last - r),
                          std::min<std::int64_t>(kTile, columns - c));
            }
          }
        });
      }
    });
  }

  template <class T, class Op>
  void run(const T* in, T* out) const noexcept {
    if (copy.count == 0) return;
    if (second >= 0) return tiles<T, Op>(in, out);
    const std::int64_t n = copy.rank ? copy.dims[0] : 1;
    const std::int64_t in_step = copy.in_strides[0], out_step = copy.out_strides[0];
    if (copy.rank <= 1) {
      parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {
        row<T, Op>(in + begin * in_step, out + begin * out_step, end - begin, in_step, out_step);
      });
      return;
    }
    parallel_for(copy.count / n, std::max<std::int64_t>(1, kGrain / n),
                 [&](std::int64_t begin, std::int64_t end) {
                   walk(begin, end, [&](std::int64_t from, std::int64_t to) {
                     row<T, Op>(in + from, out + to, n, in_step, out_step);
                   });
                 });
  }
};

struct Assign {
  template <class T>
  static void one(T in, T& out) noexcept {
    out = in;
  }
  template <class T>
  static void run(const T* in, T* out, std::int64_t n) noexcept {
    if (n < 16) {
      for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
    } else {
      std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(T));
    }
  }
};

struct AddTo {
  template <class T>
  static void one(T in, T& out) noexcept {
    out = static_cast<T>(
        static_cast<compute_t<T>>(static_cast<compute_t<T>>(out) + static_cast<compute_t<T>>(in)));
  }
  template <class T>
  static void run(const T* in, T* out, std::int64_t n) noexcept {
    for (std::int64_t i = 0; i < n; ++i) one(in[i], out[i]);
  }
};

}  // namespace

void run_copy(const StridedCopy& copy, const void* in, void* out,
              std::int64_t element_size) noexcept {
  const CopyLoops loops(copy);
  switch (element_size) {
    case 1:
      return loops.run<std::uint8_t, Assign>(static_cast<const std::uint8_t*>(in),
                                             static_cast<std::uint8_t*>(out));
    case 2:
      return loops.run<std::uint16_t, Assign>(static_cast<const std::uint16_t*>(in),
                                              static_cast<std::uint16_t*>(out));
    case 4:
      return loops.run<std::uint32_t, Assign>(static_cast<const std::uint32_t*>(in),
                                              static_cast<std::uint32_t*>(out));
    default:
      return loops.run<std::uint64_t, Assign>(static_cast<const std::uint64_t*>(in),
                                              static_cast<std::uint64_t*>(out));
  }
}

template <class T>
void add_copy(const StridedCopy& copy, const T* in, T* out) noexcept {
  CopyLoops(copy).run<T, AddTo>(in, out);
}
template void add_copy(const StridedCopy&, const float*, float*) noexcept;
template void add_copy(const StridedCopy&, const double*, double*) noexcept;
template void add_copy(const StridedCopy&, const Half*, Half*) noexcept;
template void add_copy(const StridedCopy&, const BFloat16*, BFloat16*) noexcept;

}  // namespace plimsoll::cpu
