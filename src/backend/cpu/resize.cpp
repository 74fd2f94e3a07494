// Images of another size, row by row: the input rows of an output row are added up first, then the
// pixels of the sum. Gradients are the same with transposed tables.
#include <algorithm>
#include <cstring>
#include <span>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/resize_table.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kBehindLine = 1;  // a number that may be read, and does not count

struct ResizePlan final : KernelState {
  ResizeTable rows, columns;
  std::int64_t parts = 1;  // each adds up rows in scratch of its own

  std::uint64_t nbytes() const noexcept override {
    return sizeof(*this) + rows.nbytes() + columns.nbytes();
  }
};

bool is_wide(const KernelCall& call) noexcept {
  return call.in[0].dtype == DType::kFloat64;
}

template <bool kIsGradient>
KernelStatePtr prepare_resize(const KernelCall& call, ScratchBook& book) {
  using A = attr::Resize;  // the gradient has them at the same places
  const auto method = static_cast<ResizeMethod>(call.attrs[A::method].as_int());
  const bool antialias = call.attrs[A::antialias].as_bool();
  const Shape& in = call.in[0].shape;
  const Shape& out = call.out[0].shape;
  auto plan = std::make_shared<ResizePlan>();
  const auto table = [&](int axis) {
    if (!kIsGradient) return make_resize_table(method, antialias, in.dim(axis), out.dim(axis));
    return transposed(make_resize_table(method, antialias, out.dim(axis), in.dim(axis)),
                      out.dim(axis));
  };
  plan->rows = table(1);
  plan->columns = table(2);
  const std::int64_t line = in.dim(2) * in.dim(3);
  const std::int64_t num_rows = out.dim(0) * out.dim(1);
  const std::int64_t work = num_rows * std::max(line, out.dim(2) * out.dim(3));
  plan->parts =
      std::clamp<std::int64_t>(std::min(num_rows, work / 16384), 1, omp_get_max_threads());
  book.book(static_cast<std::uint64_t>(plan->parts * (line + kBehindLine)) *
            (is_wide(call) ? sizeof(double) : sizeof(float)));
  return plan;
}

// line = the sum of the span's rows of an image.
template <class A, class T>
void add_rows(const T* image, std::int64_t row_size, const ResizeTable& table,
              const ResizeTable::Span& span, A* line) noexcept {
  if (span.count == 0) std::fill_n(line, row_size, A(0));
  if (span.count == 2) {  // bilinear: in one go
    const A upper = table.weights[static_cast<std::size_t>(span.first)];
    const A lower = table.weights[static_cast<std::size_t>(span.first + 1)];
    const T* row = image + span.start * row_size;
    for (std::int64_t i = 0; i < row_size; ++i)
      line[i] = upper * static_cast<A>(static_cast<compute_t<T>>(row[i])) +
                lower * static_cast<A>(static_cast<compute_t<T>>(row[i + row_size]));
    return;
  }
  for (std::int64_t k = 0; k < span.count; ++k) {
    const A weight = table.weights[static_cast<std::size_t>(span.first + k)];
    const T* row = image + (span.start + k) * row_size;
    if (k == 0) {
      for (std::int64_t i = 0; i < row_size; ++i)
        line[i] = weight * static_cast<A>(static_cast<compute_t<T>>(row[i]));
    } else {
      for (std::int64_t i = 0; i < row_size; ++i)
        line[i] += weight * static_cast<A>(static_cast<compute_t<T>>(row[i]));
    }
  }
}

// kBlock channels of a pixel, which the compiler sees as one.
template <std::int64_t kBlock, class A, class T>
void add_pixels(const A* from, std::int64_t channels, std::span<const float> weights,
                T* out) noexcept {
  A sums[kBlock] = {};
  for (const float weight : weights) {
    for (std::int64_t c = 0; c < kBlock; ++c) sums[c] += static_cast<A>(weight) * from[c];
    from += channels;
  }
  for (std::int64_t c = 0; c < kBlock; ++c)
    out[c] = static_cast<T>(static_cast<compute_t<T>>(sums[c]));
}

// Three channels of one or two pixels: four numbers at a time, of which the fourth is overwritten
// by the next pixel. pre: one number is readable behind the line.
void add_pairs(const float* line, const ResizeTable& table, float* out) noexcept {
  const auto num = static_cast<std::ptrdiff_t>(table.spans.size());
  for (std::ptrdiff_t i = 0; i < num; ++i, out += 3) {
    const ResizeTable::Span& span = table.spans[static_cast<std::size_t>(i)];
    const float* from = line + span.start * 3;
    const float* weights = table.weights.data() + span.first;
    if (span.count == 1) {
      for (int c = 0; c < 3; ++c) out[c] = weights[0] * from[c];
      continue;
    }
    float left[4], right[4];
    std::memcpy(left, from, sizeof left);
    std::memcpy(right, from + 3, sizeof right);
    for (int c = 0; c < 4; ++c) left[c] = weights[0] * left[c] + weights[1] * right[c];
    std::memcpy(out, left, i + 1 < num ? sizeof left : 3 * sizeof(float));
  }
}
bool has_pairs(const ResizeTable& table) noexcept {
  return std::ranges::all_of(table.spans,
                             [](const auto& span) { return span.count == 1 || span.count == 2; });
}

template <std::int64_t kBlock, class A, class T>
void add_columns(const A* line, std::int64_t channels, const ResizeTable& table, T* out) noexcept {
  for (const ResizeTable::Span& span : table.spans) {
    const A* from = line + span.start * channels;
    const std::span weights(table.weights.data() + span.first,
                            static_cast<std::size_t>(span.count));
    std::int64_t c = 0;
    for (; c + kBlock <= channels; c += kBlock)
      add_pixels<kBlock>(from + c, channels, weights, out + c);
    for (; c < channels; ++c) add_pixels<1>(from + c, channels, weights, out + c);
    out += channels;
  }
}

template <class A, class T>
void add_columns(const A* line, std::int64_t channels, const ResizeTable& table, T* out) noexcept {
  if constexpr (std::is_same_v<A, float> && std::is_same_v<T, float>) {
    if (channels == 3 && has_pairs(table)) return add_pairs(line, table, out);
  }
  if (channels == 3) return add_columns<3>(line, channels, table, out);
  if (channels < 8) return add_columns<1>(line, channels, table, out);
  add_columns<8>(line, channels, table, out);
}

template <class A>
void resize_typed(const RunArgs& args) noexcept {
  const auto& plan = static_cast<const ResizePlan&>(*args.state);
  const Shape& in = args.call.in[0].shape;
  const Shape& out = args.call.out[0].shape;
  const std::int64_t channels = in.dim(3), height = out.dim(1);
  const std::int64_t row_size = in.dim(2) * channels, out_row = out.dim(2) * channels;
  const std::int64_t num_rows = out.dim(0) * height;
  parallel_for(plan.parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      A* line = args.scratch[0].as<A>() + part * (row_size + kBehindLine);
      const std::int64_t end = num_rows * (part + 1) / plan.parts;
      for (std::int64_t row = num_rows * part / plan.parts; row < end; ++row) {
        const auto& span = plan.rows.spans[static_cast<std::size_t>(row % height)];
        visit_dtype(args.call.in[0].dtype, [&](auto tag) {
          using T = typename decltype(tag)::type;
          add_rows(args.in[0].as<const T>() + row / height * in.dim(1) * row_size, row_size,
                   plan.rows, span, line);
        });
        visit_dtype(args.call.out[0].dtype, [&](auto tag) {
          using T = typename decltype(tag)::type;
          if constexpr (std::is_floating_point_v<compute_t<T>>)
            add_columns(line, channels, plan.columns, args.out[0].as<T>() + row * out_row);
        });
      }
    }
  });
}

Status run_resize(const RunArgs& args) noexcept {
  if (is_wide(args.call)) {
    resize_typed<double>(args);
  } else {
    resize_typed<float>(args);
  }
  return {};
}

// Pixels are copied as they are.
bool accepts_nearest(const KernelCall& call) noexcept {
  return static_cast<ResizeMethod>(call.attrs[attr::Resize::method].as_int()) ==
         ResizeMethod::kNearest;
}

KernelStatePtr prepare_nearest(const KernelCall& call, ScratchBook&) {
  auto plan = std::make_shared<ResizePlan>();
  const Shape& in = call.in[0].shape;
  const Shape& out = call.out[0].shape;
  plan->rows = make_resize_table(ResizeMethod::kNearest, false, in.dim(1), out.dim(1));
  plan->columns = make_resize_table(ResizeMethod::kNearest, false, in.dim(2), out.dim(2));
  return plan;
}

// kPixel: bytes of a pixel; 0 for any.
template <std::size_t kPixel>
void copy_pixels(const char* from, const ResizeTable& columns, std::size_t pixel,
                 char* to) noexcept {
  const std::size_t size = kPixel ? kPixel : pixel;
  for (const ResizeTable::Span& column : columns.spans) {
    std::memcpy(to, from + static_cast<std::size_t>(column.start) * size, size);
    to += size;
  }
}

auto copier_for(std::int64_t pixel) noexcept {
  switch (pixel) {
    case 1:
      return copy_pixels<1>;
    case 3:
      return copy_pixels<3>;
    case 4:
      return copy_pixels<4>;
    case 12:
      return copy_pixels<12>;
    default:
      return copy_pixels<0>;
  }
}

Status run_nearest(const RunArgs& args) noexcept {
  const auto& plan = static_cast<const ResizePlan&>(*args.state);
  const Shape& in = args.call.in[0].shape;
  const Shape& out = args.call.out[0].shape;
  const std::int64_t height = out.dim(1), width = out.dim(2);
  const std::int64_t pixel = in.dim(3) * dtype_size(args.call.in[0].dtype);
  if (pixel == 0) return {};
  const auto copy = copier_for(pixel);
  parallel_for(out.dim(0) * height, std::max<std::int64_t>(1, 131072 / (width * pixel)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t row = begin; row < end; ++row) {
                   const auto& span = plan.rows.spans[static_cast<std::size_t>(row % height)];
                   const char* from = args.in[0].as<const char>() +
                                      (row / height * in.dim(1) + span.start) * in.dim(2) * pixel;
                   char* to = args.out[0].as<char>() + row * width * pixel;
                   copy(from, plan.columns, static_cast<std::size_t>(pixel), to);
                 }
               });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::Resize,
     .dtypes = kAll,
     .accepts = accepts_nearest,
     .prepare = prepare_nearest,
     .run = run_nearest},
    {.op = OpId::Resize, .dtypes = kNumbers, .prepare = prepare_resize<false>, .run = run_resize},
    {.op = OpId::ResizeGrad, .dtypes = kFloats, .prepare = prepare_resize<true>, .run = run_resize},
};

}  // namespace

std::span<const KernelDef> resize_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
