// Along one axis: positions of extremes, running sums and products, the largest elements.
#include <bit>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kGrain = 32768;  // elements that are worth a thread
constexpr std::int64_t kColumns = 256;  // done together where the axis is not the last

// A tensor as [outer, n, inner], the axis in the middle.
struct AxisView {
  std::int64_t outer = 1, n = 1, inner = 1;

  AxisView(const Shape& shape, std::int64_t given) noexcept {
    const int axis = static_cast<int>(given < 0 ? given + shape.rank() : given);
    for (int i = 0; i < axis; ++i) outer *= shape.dim(i);
    n = shape.dim(axis);
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
  }

  // Calls f(row, column, width) for blocks of columns that cover everything.
  template <class F>
  void for_each_block(F&& f) const noexcept {
    const std::int64_t blocks = (inner + kColumns - 1) / kColumns;
    const std::int64_t width = std::min(kColumns, inner);
    const std::int64_t grain = kGrain / std::max<std::int64_t>(1, n * width);
    parallel_for(outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t column = i % blocks * kColumns;
        f(i / blocks, column, std::min(kColumns, inner - column));
      }
    });
  }
};

// Along the last dimension: the best of a block first, its place only if it is the best so far.
template <bool kMax, class T>
std::int64_t arg_of_row(const T* x, std::int64_t n) noexcept {
  using C = compute_t<T>;
  constexpr std::int64_t kBlock = 256;
  std::int64_t place = 0;
  while (place < n && !(x[place] == x[place])) ++place;  // over nans
  if (place == n) return 0;
  C best = static_cast<C>(x[place]);
  for (std::int64_t begin = place + 1; begin < n; begin += kBlock) {
    const std::int64_t end = std::min(begin + kBlock, n);
    C lanes[8];
    std::fill(lanes, lanes + 8, best);
    std::int64_t i = begin;
    for (; i + 8 <= end; i += 8) {
      for (int l = 0; l < 8; ++l) {
        const C value = static_cast<C>(x[i + l]);
        lanes[l] = (kMax ? value > lanes[l] : value < lanes[l]) ? value : lanes[l];
      }
    }
    C found = best;
    for (; i < end; ++i) {
      const C value = static_cast<C>(x[i]);
      found = (kMax ? value > found : value < found) ? value : found;
    }
    for (const C lane : lanes) found = (kMax ? lane > found : lane < found) ? lane : found;
    if (found == best) continue;
    best = found;
    place = begin;
    while (static_cast<C>(x[place]) != best) ++place;
  }
  return place;
}

// The first of equals; a nan only where there is nothing else.
template <bool kMax, class T, class Out>
void arg_typed(const RunArgs& args) noexcept {
  using C = compute_t<T>;
  const AxisView view(args.call.in[0].shape, args.attrs()[attr::ArgMax::axis].as_int());
  const T* in = args.in[0].as<const T>();
  Out* out = args.out[0].as<Out>();
  if (view.inner == 1) {
    view.for_each_block([&](std::int64_t row, std::int64_t, std::int64_t) {
      out[row] = static_cast<Out>(arg_of_row<kMax>(in + row * view.n, view.n));
    });
    return;
  }
  view.for_each_block([&](std::int64_t row, std::int64_t column, std::int64_t width) {
    C best[kColumns];
    const T* from = in + row * view.n * view.inner + column;
    Out* to = out + row * view.inner + column;
    for (std::int64_t c = 0; c < width; ++c) {
      best[c] = static_cast<C>(from[c]);
      to[c] = 0;
    }
    for (std::int64_t k = 1; k < view.n; ++k) {
      from += view.inner;
      for (std::int64_t c = 0; c < width; ++c) {
        const C x = static_cast<C>(from[c]);
        const bool is_better = (kMax ? x > best[c] : x < best[c]) || (best[c] != best[c] && x == x);
        best[c] = is_better ? x : best[c];
        to[c] = is_better ? static_cast<Out>(k) : to[c];
      }
    }
  });
}

template <bool kMax>
Status run_arg(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (args.call.out[0].dtype == DType::kInt32) {
      arg_typed<kMax, T, std::int32_t>(args);
    } else {
      arg_typed<kMax, T, std::int64_t>(args);
    }
  });
  return {};
}

template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<compute_t<T>>, double, std::uint64_t>;

template <bool kProduct, class T>
void scan_typed(const RunArgs& args) noexcept {
  using A = Wide<T>;
  using Attr = attr::Cumsum;
  const AxisView view(args.call.in[0].shape, args.attrs()[Attr::axis].as_int());
  const bool exclusive = args.attrs()[Attr::exclusive].as_bool();
  const bool reverse = args.attrs()[Attr::reverse].as_bool();
  const T* in = args.in[0].as<const T>();
  T* out = args.out[0].as<T>();
  view.for_each_block([&](std::int64_t row, std::int64_t column, std::int64_t width) {
    A acc[kColumns];
    std::fill(acc, acc + width, A{kProduct ? 1 : 0});
    for (std::int64_t k = 0; k < view.n; ++k) {
      const std::int64_t at = (row * view.n + (reverse ? view.n - 1 - k : k)) * view.inner + column;
      for (std::int64_t c = 0; c < width; ++c) {
        const A x = static_cast<A>(static_cast<compute_t<T>>(in[at + c]));
        const A next = kProduct ? acc[c] * x : acc[c] + x;
        const A result = exclusive ? acc[c] : next;
        out[at + c] =
            kProduct ? static_cast<T>(static_cast<compute_t<T>>(result)) : sum_as<T>(result);
        acc[c] = next;
      }
    }
  });
}

template <bool kProduct>
Status run_scan(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) scan_typed<kProduct, T>(args);
  });
  return {};
}

template <class T>
void recurrence_typed(const RunArgs& args) noexcept {
  using Attr = attr::LinearRecurrence;
  const AxisView view(args.call.in[0].shape, args.attrs()[Attr::axis].as_int());
  const bool reverse = args.attrs()[Attr::reverse].as_bool();
  const T* factors = args.in[0].as<const T>();
  const T* terms = args.in[1].as<const T>();
  T* out = args.out[0].as<T>();
  view.for_each_block([&](std::int64_t row, std::int64_t column, std::int64_t width) {
    double acc[kColumns];
    for (std::int64_t k = 0; k < view.n; ++k) {
      const std::int64_t at = (row * view.n + (reverse ? view.n - 1 - k : k)) * view.inner + column;
      for (std::int64_t c = 0; c < width; ++c) {  // the first factor has nothing to multiply
        const auto term = static_cast<double>(static_cast<compute_t<T>>(terms[at + c]));
        const auto factor = static_cast<double>(static_cast<compute_t<T>>(factors[at + c]));
        acc[c] = k == 0 ? term : term + factor * acc[c];
        out[at + c] = static_cast<T>(static_cast<compute_t<T>>(acc[c]));
      }
    }
  });
}

Status run_recurrence(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<T>>) recurrence_typed<T>(args);
  });
  return {};
}

template <class T>
void window_sum_typed(const RunArgs& args) noexcept {
  using A = compute_t<T>;
  const Shape& shape = args.call.in[0].shape;
  const std::int64_t n = shape.dim(shape.rank() - 1);
  if (shape.num_elements() == 0) return;
  const std::int64_t radius = std::min(n, args.attrs()[attr::WindowSum::radius].as_int());
  const std::int64_t grain = std::max<std::int64_t>(1, 32768 / (n * (2 * radius + 1)));
  parallel_for(shape.num_elements() / n, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* in = args.in[0].as<const T>() + row * n;
      for (std::int64_t column = 0; column < n; column += kColumns) {
        const std::int64_t last = std::min(n, column + kColumns);
        A acc[kColumns] = {};
        for (std::int64_t by = -radius; by <= radius; ++by) {
          const std::int64_t stop = std::min(last, n - by);
          for (std::int64_t c = std::max(column, -by); c < stop; ++c)
            acc[c - column] += static_cast<A>(in[c + by]);
        }
        for (std::int64_t c = column; c < last; ++c)
          args.out[0].as<T>()[row * n + c] = static_cast<T>(acc[c - column]);
      }
    }
  });
}

Status run_window_sum(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<compute_t<T>>) window_sum_typed<T>(args);
  });
  return {};
}

// An element as unsigned bits that sort as the elements should, with its place: ties are then
// decided by it, and nothing is looked up while sorting.
template <class Bits>
struct Place {
  Bits key;
  std::int32_t at;
  friend bool operator<(const Place& a, const Place& b) noexcept {
    return a.key != b.key ? a.key < b.key : a.at < b.at;
  }
};

template <class T>
auto sort_key(T value, bool largest) noexcept {
  using C = compute_t<T>;
  using Bits = std::conditional_t<sizeof(C) == 8, std::uint64_t, std::uint32_t>;
  constexpr Bits kTop = Bits{1} << (8 * sizeof(Bits) - 1);
  const C x = static_cast<C>(value);
  Bits bits;
  if constexpr (std::is_floating_point_v<C>) {
    if (x != x) return static_cast<Bits>(~Bits{0});  // nans are last
    bits = std::bit_cast<Bits>(x + C{0});            // of both zeros, the positive one
    bits = bits & kTop ? ~bits : bits | kTop;
  } else {
    bits = static_cast<Bits>(static_cast<std::int64_t>(x)) ^ kTop;
  }
  return largest ? static_cast<Bits>(~bits) : bits;
}
template <class T>
using PlaceOf = Place<decltype(sort_key(T{}, true))>;

// How many rows are sorted at once; each has its own list of places.
struct TopKPlan final : KernelState {
  std::int64_t parts = 1;
};

KernelStatePtr prepare_top_k(const KernelCall& call, ScratchBook& book) {
  auto plan = std::make_shared<TopKPlan>();
  const Shape& in = call.in[0].shape;
  const std::int64_t n = in.dim(in.rank() - 1);
  const std::int64_t rows = n ? in.num_elements() / n : 0;
  plan->parts = std::clamp<std::int64_t>(std::min<std::int64_t>(rows, in.num_elements() / 4096), 1,
                                         omp_get_max_threads());
  const std::size_t place = dtype_size(call.in[0].dtype) == 8 ? sizeof(Place<std::uint64_t>)
                                                              : sizeof(Place<std::uint32_t>);
  book.book(static_cast<std::uint64_t>(plan->parts * n) * place);
  return plan;
}

// The first k places of a row, in order.
template <class T>
void top_places(const T* in, std::int64_t n, std::int64_t k, bool largest, bool sorted,
                PlaceOf<T>* places) noexcept {
  for (std::int64_t i = 0; i < n; ++i)
    places[i] = {sort_key(in[i], largest), static_cast<std::int32_t>(i)};
  if (k < n) std::nth_element(places, places + k - 1, places + n);
  if (sorted) {
    std::sort(places, places + k);
  } else {
    std::sort(places, places + k, [](const auto& a, const auto& b) { return a.at < b.at; });
  }
}

template <class T>
void top_k_typed(const RunArgs& args) noexcept {
  const Shape& shape = args.call.in[0].shape;
  const std::int64_t n = shape.dim(shape.rank() - 1);
  const std::int64_t k = args.attrs()[attr::TopK::k].as_int();
  const bool largest = args.attrs()[attr::TopK::largest].as_bool();
  const bool sorted = args.attrs()[attr::TopK::sorted].as_bool();
  if (n == 0 || k == 0) return;
  const std::int64_t rows = shape.num_elements() / n;
  const std::int64_t parts = static_cast<const TopKPlan&>(*args.state).parts;
  parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      PlaceOf<T>* places = args.scratch[0].as<PlaceOf<T>>() + part * n;
      for (std::int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
        const T* in = args.in[0].as<const T>() + row * n;
        top_places(in, n, k, largest, sorted, places);
        for (std::int64_t i = 0; i < k; ++i) {
          args.out[0].as<T>()[row * k + i] = in[places[i].at];
          args.out[1].as<std::int32_t>()[row * k + i] = places[i].at;
        }
      }
    }
  });
}

Status run_top_k(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, bool>) top_k_typed<T>(args);
  });
  return {};
}

const KernelDef kRows[] = {
    {.op = OpId::ArgMax, .dtypes = kAll, .run = run_arg<true>},
    {.op = OpId::ArgMin, .dtypes = kAll, .run = run_arg<false>},
    {.op = OpId::Cumsum, .dtypes = kNumbers, .run = run_scan<false>},
    {.op = OpId::Cumprod, .dtypes = kNumbers, .run = run_scan<true>},
    {.op = OpId::LinearRecurrence, .dtypes = kFloats, .run = run_recurrence},
    {.op = OpId::WindowSum, .dtypes = kFloats, .run = run_window_sum},
    {.op = OpId::TopK, .dtypes = kNumbers, .prepare = prepare_top_k, .run = run_top_k},
};

}  // namespace

std::span<const KernelDef> reduce_scan_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
