// Rows by index. Indices are checked before anything is written; rows that add up are added in the
// order of their indices, whatever the number of threads.
#include <fmt/format.h>

#include <cstring>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kGrain = 32768;  // elements that are worth a thread

// Text in place, for messages of kernels.
class Words {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    const auto made =
        fmt::format_to_n(text_ + size_, sizeof(text_) - size_, format, std::forward<Args>(args)...);
    size_ += std::min<std::size_t>(made.size, sizeof(text_) - size_);
  }
  void add_list(std::span<const std::int64_t> numbers, const char* comma) {
    for (std::size_t i = 0; i < numbers.size(); ++i) add("{}{}", i ? comma : "", numbers[i]);
  }
  std::string_view text() const noexcept { return {text_, size_}; }

 private:
  char text_[240];
  std::size_t size_ = 0;
};

// "indices[1,0]": a position among the first `rank` dimensions of a shape.
void add_position(Words& words, const Shape& shape, int rank, std::int64_t at) {
  std::array<std::int64_t, kMaxRank> position{};
  for (int i = rank - 1; i >= 0; --i) {
    position[static_cast<std::size_t>(i)] = at % shape.dim(i);
    at /= shape.dim(i);
  }
  words.add("indices");
  if (rank == 0) return;
  words.add("[");
  words.add_list({position.data(), static_cast<std::size_t>(rank)}, ",");
  words.add("]");
}

// Calls f with the indices as a typed pointer; returns what it returns.
template <class F>
Status with_indices(const RunArgs& args, std::size_t i, F&& f) noexcept {
  return args.call.in[i].dtype == DType::kInt32 ? f(args.in[i].as<const std::int32_t>())
                                                : f(args.in[i].as<const std::int64_t>());
}

// gather as out[b, p, i, s] = params[b, p, indices[b, i], s].
struct GatherView {
  std::int64_t batch = 1, outer = 1, n = 1, count = 1, slice = 1;

  GatherView(const Shape& params, const Shape& indices, std::int64_t axis,
             std::int64_t batch_dims) noexcept {
    for (int i = 0; i < params.rank(); ++i) {
      (i < batch_dims ? batch : i < axis ? outer : i == axis ? n : slice) *= params.dim(i);
    }
    for (int i = static_cast<int>(batch_dims); i < indices.rank(); ++i) count *= indices.dim(i);
  }
};

template <class I>
Status check_indices(const I* indices, const Shape& shape, std::int64_t bound) noexcept {
  const std::int64_t num = shape.num_elements();
  bool is_bad = false;
  for (std::int64_t i = 0; i < num; ++i)
    is_bad |= static_cast<std::uint64_t>(indices[i]) >= static_cast<std::uint64_t>(bound);
  if (!is_bad) return {};
  std::int64_t at = 0;
  while (static_cast<std::uint64_t>(indices[at]) < static_cast<std::uint64_t>(bound)) ++at;
  Words words;
  add_position(words, shape, shape.rank(), at);
  words.add(" = {} is not in [0, {})", indices[at], bound);
  return Status::with_text(ErrorCode::kInvalidArgument, words.text());
}

Status run_gather(const RunArgs& args) noexcept {
  const Shape& indices_shape = args.call.in[1].shape;
  const GatherView v(args.call.in[0].shape, indices_shape,
                     args.attrs()[attr::Gather::axis].as_int(),
                     args.attrs()[attr::Gather::batch_dims].as_int());
  return with_indices(args, 1, [&](const auto* indices) -> Status {
    if (Status bad = check_indices(indices, indices_shape, v.n); !bad.ok()) return bad;
    const std::int64_t row = v.slice * dtype_size(args.call.in[0].dtype);
    const char* in = args.in[0].as<const char>();
    char* out = args.out[0].as<char>();
    if (row == 0) return {};
    const std::int64_t rows = v.batch * v.outer * v.count;
    parallel_for(rows, std::max<std::int64_t>(1, 4 * kGrain / row),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r) {
                     const std::int64_t group = r / v.count;  // b and p
                     const auto index = static_cast<std::int64_t>(
                         indices[group / v.outer * v.count + r % v.count]);
                     std::memcpy(out + r * row, in + (group * v.n + index) * row,
                                 static_cast<std::size_t>(row));
                   }
                 });
    return {};
  });
}

// 16-bit sums are kept in float, in scratch as large as the result.
template <class T>
inline constexpr bool kIsSmall = sizeof(T) == 2 && std::is_same_v<compute_t<T>, float>;

KernelStatePtr prepare_sums(const KernelCall& call, ScratchBook& book) {
  const DType dtype = call.out[0].dtype;
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16)
    book.book(static_cast<std::uint64_t>(call.out[0].shape.num_elements()) * sizeof(float));
  return nullptr;
}

// Adds row i of n to row destination(i) of the result, which starts as zeros or as `start`.
template <class T, class Destination>
void add_rows(const RunArgs& args, const T* start, const T* rows, std::int64_t n,
              std::int64_t slice, Destination destination) noexcept {
  using A = std::conditional_t<kIsSmall<T>, float, T>;
  T* out = args.out[0].as<T>();
  A* sums = reinterpret_cast<A*>(kIsSmall<T> ? args.scratch[0].as<char>() : args.out[0].as<char>());
  const std::int64_t num_rows = slice ? args.call.out[0].shape.num_elements() / slice : 0;
  // Each thread owns some rows of the result and looks at all indices.
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, slice));
  parallel_for(num_rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin * slice; i < end * slice; ++i)
      sums[i] = start ? static_cast<A>(start[i]) : A(0);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t to = destination(i);
      if (to < begin || to >= end) continue;
      A* sum = sums + to * slice;
      const T* row = rows + i * slice;
      for (std::int64_t s = 0; s < slice; ++s)
        sum[s] = static_cast<A>(sum[s] + static_cast<A>(row[s]));
    }
    if constexpr (kIsSmall<T>) {
      for (std::int64_t i = begin * slice; i < end * slice; ++i) out[i] = static_cast<T>(sums[i]);
    }
  });
}

Status run_gather_grad(const RunArgs& args) noexcept {
  using A = attr::GatherGrad;
  const Shape& indices_shape = args.call.in[1].shape;
  const GatherView v(args.call.out[0].shape, indices_shape, args.attrs()[A::axis].as_int(),
                     args.attrs()[A::batch_dims].as_int());
  return with_indices(args, 1, [&](const auto* indices) -> Status {
    if (Status bad = check_indices(indices, indices_shape, v.n); !bad.ok()) return bad;
    visit_dtype(args.call.in[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>) {
        add_rows<T>(args, nullptr, args.in[0].as<const T>(), v.batch * v.outer * v.count, v.slice,
                    [&](std::int64_t r) {
                      const std::int64_t group = r / v.count;
                      return group * v.n + static_cast<std::int64_t>(
                                               indices[group / v.outer * v.count + r % v.count]);
                    });
      }
    });
    return {};
  });
}

// Vectors of indices into the first `depth` dimensions of a shape.
template <class I>
struct NdView {
  const I* indices;
  const Shape& shape;
  std::int64_t depth = 0, rows = 1, slice = 1;
  std::array<std::int64_t, kMaxRank> strides{};  // in slices

  NdView(const I* from, const Shape& indices_shape, const Shape& into) noexcept
      : indices(from), shape(into), depth(indices_shape.dim(indices_shape.rank() - 1)) {
    for (int i = 0; i + 1 < indices_shape.rank(); ++i) rows *= indices_shape.dim(i);
    for (int i = shape.rank() - 1; i >= depth; --i) slice *= shape.dim(i);
    std::int64_t stride = 1;
    for (auto i = static_cast<int>(depth) - 1; i >= 0; --i) {
      strides[static_cast<std::size_t>(i)] = stride;
      stride *= shape.dim(i);
    }
  }
  std::int64_t at(std::int64_t row) const noexcept {
    std::int64_t sum = 0;
    for (std::int64_t d = 0; d < depth; ++d)
      sum += static_cast<std::int64_t>(indices[row * depth + d]) *
             strides[static_cast<std::size_t>(d)];
    return sum;
  }
  Status check(const Shape& indices_shape, const char* into) const noexcept {
    for (std::int64_t row = 0; row < rows; ++row) {
      bool is_bad = false;
      for (std::int64_t d = 0; d < depth; ++d)
        is_bad |= static_cast<std::uint64_t>(indices[row * depth + d]) >=
                  static_cast<std::uint64_t>(shape.dim(static_cast<int>(d)));
      if (!is_bad) continue;
      Words words;
      add_position(words, indices_shape, indices_shape.rank() - 1, row);
      words.add(" = [");
      for (std::int64_t d = 0; d < depth; ++d)
        words.add("{}{}", d ? ", " : "", indices[row * depth + d]);
      words.add("] does not index into {} [", into);
      words.add_list(shape.dims(), ",");
      words.add("]");
      return Status::with_text(ErrorCode::kInvalidArgument, words.text());
    }
    return {};
  }
};

Status run_gather_nd(const RunArgs& args) noexcept {
  const Shape& indices_shape = args.call.in[1].shape;
  return with_indices(args, 1, [&](const auto* indices) -> Status {
    const NdView view(indices, indices_shape, args.call.in[0].shape);
    if (Status bad = view.check(indices_shape, "param shape"); !bad.ok()) return bad;
    const std::int64_t row = view.slice * dtype_size(args.call.in[0].dtype);
    const char* in = args.in[0].as<const char>();
    char* out = args.out[0].as<char>();
    if (row == 0) return {};
    parallel_for(view.rows, std::max<std::int64_t>(1, 4 * kGrain / row),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r)
                     std::memcpy(out + r * row, in + view.at(r) * row,
                                 static_cast<std::size_t>(row));
                 });
    return {};
  });
}

// Of indices, updates; or of tensor, indices, updates.
template <std::size_t kIndices>
Status run_scatter_add(const RunArgs& args) noexcept {
  const Shape& indices_shape = args.call.in[kIndices].shape;
  return with_indices(args, kIndices, [&](const auto* indices) -> Status {
    const NdView view(indices, indices_shape, args.call.out[0].shape);
    if (Status bad = view.check(indices_shape, "shape"); !bad.ok()) return bad;
    visit_dtype(args.call.out[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>) {
        add_rows<T>(args, kIndices ? args.in[0].as<const T>() : nullptr,
                    args.in[kIndices + 1].as<const T>(), view.rows, view.slice,
                    [&](std::int64_t r) { return view.at(r); });
      }
    });
    return {};
  });
}

// Of equal indices, the last one stays.
Status run_scatter_update(const RunArgs& args) noexcept {
  const Shape& indices_shape = args.call.in[1].shape;
  return with_indices(args, 1, [&](const auto* indices) -> Status {
    const NdView view(indices, indices_shape, args.call.out[0].shape);
    if (Status bad = view.check(indices_shape, "shape"); !bad.ok()) return bad;
    const auto row = static_cast<std::size_t>(view.slice * dtype_size(args.call.in[0].dtype));
    char* out = args.out[0].as<char>();
    if (args.out[0].nbytes) std::memmove(out, args.in[0].as<const char>(), args.out[0].nbytes);
    for (std::int64_t r = 0; row && r < view.rows; ++r) {
      std::memcpy(out + static_cast<std::size_t>(view.at(r)) * row,
                  args.in[2].as<const char>() + static_cast<std::size_t>(r) * row, row);
    }
    return {};
  });
}

KernelStatePtr prepare_scatter_nd(const KernelCall& call, ScratchBook& book) {
  if (!kNumbers.has(call.in[1].dtype))
    throw UnimplementedError("ScatterNd adds numbers, not " +
                             std::string(dtype_name(call.in[1].dtype)));
  return prepare_sums(call, book);
}

// The positions of what is true, in row-major order.
Status run_where(const RunArgs& args) noexcept {
  const Shape& shape = args.call.in[0].shape;
  const std::int64_t count = args.attrs()[attr::Where::count].as_int();
  const bool* in = args.in[0].as<const bool>();
  auto* out = args.out[0].as<std::int64_t>();
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    if (!in[i] || found++ >= count) continue;
    std::int64_t rest = i;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      out[d] = rest % shape.dim(d);
      rest /= shape.dim(d);
    }
    out += shape.rank();
  }
  if (found == count) return {};
  return {ErrorCode::kInvalidArgument, "the condition holds {} times, not {}", found, count};
}

const KernelDef kRows[] = {
    {.op = OpId::Gather, .dtypes = kAll, .run = run_gather},
    {.op = OpId::GatherGrad, .dtypes = kNumbers, .prepare = prepare_sums, .run = run_gather_grad},
    {.op = OpId::GatherNd, .dtypes = kAll, .run = run_gather_nd},
    {.op = OpId::ScatterNd,
     .dtypes = {DType::kInt32, DType::kInt64},
     .prepare = prepare_scatter_nd,
     .run = run_scatter_add<0>},
    {.op = OpId::TensorScatterAdd,
     .dtypes = kNumbers,
     .prepare = prepare_sums,
     .run = run_scatter_add<1>},
    {.op = OpId::TensorScatterUpdate, .dtypes = kAll, .run = run_scatter_update},
    {.op = OpId::Where, .dtypes = kBools, .run = run_where},
};

}  // namespace

std::span<const KernelDef> gather_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
