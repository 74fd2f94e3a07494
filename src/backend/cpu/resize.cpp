// Images of another size, row by row: the input rows of an output row are added up first, then the
// pixels of the sum. Gradients are the same with transposed tables.
#include <algorithm>
#include <cstring>
#include <span>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/resize_pairs.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kBehindLine = 1;  // a number that may be read, and does not count

struct ResizePlan final : KernelState {
  ResizeTable rows, columns;
  std::vector<ResizePair> row_pairs, column_pairs;  // of bilinear; empty: by the tables
  ResizePairKernels::Pick pick = nullptr;           // with column_pairs
  std::int64_t parts = 1;                           // each adds up rows in scratch of its own

  std::uint64_t nbytes() const noexcept override {
    return sizeof(*this) + rows.nbytes() + columns.nbytes() +
           (row_pairs.size() + column_pairs.size()) * sizeof(ResizePair);
  }
};

// Pairs for images of bytes or floats with the usual numbers of channels.
void set_pairs(const KernelCall& call, ResizePlan& plan) {
  const DType in = call.in[0].dtype;
  if (call.out[0].dtype != DType::kFloat32 || (in != DType::kUInt8 && in != DType::kFloat32))
    return;
  const std::int64_t channels = call.in[0].shape.dim(3);
  const ResizePairKernels& kernels = resize_pair_kernels();
  plan.pick = channels == 1   ? kernels.pick1
              : channels == 3 ? kernels.pick3
              : channels == 4 ? kernels.pick4
                              : nullptr;
  if (!plan.pick) return;
  plan.row_pairs = make_resize_pairs(plan.rows, 1);
  plan.column_pairs = make_resize_pairs(plan.columns, channels);
  if (plan.row_pairs.empty() || plan.column_pairs.empty()) plan.pick = nullptr;
}

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
  set_pairs(call, *plan);
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
  if (channels == 3) return add_columns<3>(line, channels, table, out);
  if (channels < 8) return add_columns<1>(line, channels, table, out);
  add_columns<8>(line, channels, table, out);
}

// One output row of an image.
template <class T>
void resize_row(const ResizePlan& plan, ResizePairKernels::Mix<T> mix, const T* image,
                std::int64_t row, std::int64_t row_size, float* line, float* out) noexcept {
  const ResizePair& pair = plan.row_pairs[static_cast<std::size_t>(row)];
  mix(image + pair.left * row_size, image + pair.right * row_size, pair, row_size, line);
  plan.pick(line, plan.column_pairs.data(), static_cast<std::int64_t>(plan.column_pairs.size()),
            out);
}

void resize_paired(const RunArgs& args) noexcept {
  const auto& plan = static_cast<const ResizePlan&>(*args.state);
  const Shape& in = args.call.in[0].shape;
  const Shape& out = args.call.out[0].shape;
  const ResizePairKernels& kernels = resize_pair_kernels();
  const std::int64_t channels = in.dim(3), height = out.dim(1);
  const std::int64_t row_size = in.dim(2) * channels, image_size = in.dim(1) * row_size;
  const std::int64_t num_rows = out.dim(0) * height;
  parallel_for(plan.parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      float* line = args.scratch[0].as<float>() + part * (row_size + kBehindLine);
      const std::int64_t end = num_rows * (part + 1) / plan.parts;
      for (std::int64_t row = num_rows * part / plan.parts; row < end; ++row) {
        float* to = args.out[0].as<float>() + row * out.dim(2) * channels;
        const std::int64_t at = row / height * image_size;
        if (args.call.in[0].dtype == DType::kUInt8) {
          resize_row(plan, kernels.mix_bytes, args.in[0].as<const std::uint8_t>() + at,
                     row % height, row_size, line, to);
        } else {
          resize_row(plan, kernels.mix_floats, args.in[0].as<const float>() + at, row % height,
                     row_size, line, to);
        }
      }
    }
  });
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
  if (static_cast<const ResizePlan&>(*args.state).pick) {
    resize_paired(args);
  } else if (is_wide(args.call)) {
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
