// Rows by index. Indices are checked before anything is written; rows that add up are added in the
// order of their indices, whatever the number of threads.
#include <cstring>

#include "backend/cpu/cpu.h"
#include "backend/cpu/indices.h"
#include "backend/cpu/scatter_rows.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kGrainBytes = 131072;  // that are worth a thread

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
  words.add_position("indices", shape, shape.rank(), at);
  words.add(" = {} is not in [0, {})", indices[at], bound);
  return words.status();
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
    parallel_for(rows, std::max<std::int64_t>(1, kGrainBytes / row),
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

KernelStatePtr prepare_sums(const KernelCall& call, ScratchBook& book) {
  book_wide(call.out[0], book);
  return nullptr;
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
        const Rows<T> rows{args.in[0].as<const T>(), v.batch * v.outer * v.count, v.slice};
        const auto destination = [&](std::int64_t r) {
          const std::int64_t group = r / v.count;
          return group * v.n +
                 static_cast<std::int64_t>(indices[group / v.outer * v.count + r % v.count]);
        };
        scatter_rows(
            rows, wide_result<T>(args), args, [](std::int64_t) { return wide_t<T>(0); }, Plus(),
            destination);
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
      words.add_position("indices", indices_shape, indices_shape.rank() - 1, row);
      words.add(" = [");
      for (std::int64_t d = 0; d < depth; ++d)
        words.add("{}{}", d ? ", " : "", indices[row * depth + d]);
      words.add("] does not index into {} [", into);
      words.add_list(shape.dims(), ",");
      words.add("]");
      return words.status();
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
    parallel_for(view.rows, std::max<std::int64_t>(1, kGrainBytes / row),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t r = begin; r < end; ++r)
                     std::memcpy(out + r * row, in + view.at(r) * row,
                                 static_cast<std::size_t>(row));
                 });
    return {};
  });
}

// Of indices, updates; or of tensor, indices, updates.
template <std::size_t kIndices, class Combine>
Status run_scatter(const RunArgs& args) noexcept {
  constexpr bool kIsSum = std::is_same_v<Combine, Plus>;
  const Shape& indices_shape = args.call.in[kIndices].shape;
  return with_indices(args, kIndices, [&](const auto* indices) -> Status {
    const NdView view(indices, indices_shape, args.call.out[0].shape);
    if (Status bad = view.check(indices_shape, "shape"); !bad.ok()) return bad;
    visit_dtype(args.call.out[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>) {
        const Rows<T> rows{args.in[kIndices + 1].as<const T>(), view.rows, view.slice};
        using A = std::conditional_t<kIsSum, wide_t<T>, T>;
        const T* tensor = kIndices ? args.in[0].as<const T>() : nullptr;
        A* result;
        if constexpr (kIsSum) {
          result = wide_result<T>(args);
        } else {
          result = args.out[0].as<T>();
        }
        scatter_rows(
            rows, result, args,
            [=](std::int64_t i) { return tensor ? static_cast<A>(tensor[i]) : A(0); }, Combine(),
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
     .run = run_scatter<0, Plus>},
    {.op = OpId::TensorScatterAdd,
     .dtypes = kNumbers,
     .prepare = prepare_sums,
     .run = run_scatter<1, Plus>},
    {.op = OpId::TensorScatterUpdate, .dtypes = kAll, .run = run_scatter_update},
    {.op = OpId::TensorScatterMax, .dtypes = kNumbers, .run = run_scatter<1, Larger>},
    {.op = OpId::TensorScatterMin, .dtypes = kNumbers, .run = run_scatter<1, Smaller>},
    {.op = OpId::Where, .dtypes = kBools, .run = run_where},
};

}  // namespace

std::span<const KernelDef> gather_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
