// Rows by the id of their segment, and counts of integers. Ids are checked before anything is
// written.
#include "ops/segment_scale.h"

#include <cmath>
#include <limits>

#include "backend/cpu/cpu.h"
#include "backend/cpu/indices.h"
#include "backend/cpu/scatter_rows.h"

namespace plimsoll::cpu {
namespace {

using Attr = attr::SegmentSum;  // num_segments and sorted stand at the same places in all

struct SegmentView {
  std::int64_t num_ids, num_segments, slice = 1;
  bool sorted;

  explicit SegmentView(const KernelCall& call) noexcept
      : num_ids(call.in[1].shape.num_elements()),
        num_segments(call.attrs[Attr::num_segments].as_int()),
        sorted(call.attrs[Attr::sorted].as_bool()) {
    const Shape& data = call.in[0].shape;
    for (int i = call.in[1].shape.rank(); i < data.rank(); ++i) slice *= data.dim(i);
  }
};

template <class I>
Status check_ids(const I* ids, const Shape& shape, const SegmentView& v) noexcept {
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < v.num_ids; ++i) {
    const auto id = static_cast<std::int64_t>(ids[i]);
    if (v.sorted && id < 0)
      return {ErrorCode::kInvalidArgument, "segment ids must be >= 0, got segment_ids[{}] = {}", i,
              id};
    if (v.sorted && id < before)
      return {ErrorCode::kInvalidArgument,
              "segment ids are not increasing: segment_ids[{}] = {} after {}", i, id, before};
    const bool is_last = i + 1 == v.num_ids;  // of sorted ids, it is the largest
    if (id >= v.num_segments && (is_last || !v.sorted)) {
      Words words;
      words.add_position("segment_ids", shape, shape.rank(), i);
      words.add(" = {} is out of range [0, {})", id, v.num_segments);
      return words.status();
    }
    before = id;
  }
  return {};
}

// Calls f(ids, TypeTag) for checked ids and the type of the data.
template <class F>
Status with_segments(const RunArgs& args, const SegmentView& v, F&& f) noexcept {
  return with_indices(args, 1, [&](const auto* ids) -> Status {
    if (Status bad = check_ids(ids, args.call.in[1].shape, v); !bad.ok()) return bad;
    visit_dtype(args.call.in[0].dtype, [&](auto tag) {
      if constexpr (!std::is_same_v<typename decltype(tag)::type, bool>) f(ids, tag);
    });
    return {};
  });
}

template <class T>
Rows<T> rows_of(const RunArgs& args, const SegmentView& v) noexcept {
  return {args.in[0].as<const T>(), v.num_ids, v.slice};
}

SegmentScale scale_of(const KernelCall& call) noexcept {
  return static_cast<SegmentScale>(call.attrs[attr::SegmentSum::scale].as_int());
}

KernelStatePtr prepare_prod(const KernelCall& call, ScratchBook& book) {
  book_wide(call.out[0], book);
  return nullptr;
}
// Sums of 8- and 16-bit integers are kept in 64 bits, in scratch.
template <class T>
using sum_t = std::conditional_t<kIsSmallInt<T>, std::int64_t, wide_t<T>>;
template <class T>
sum_t<T>* sums_of(const RunArgs& args) noexcept {
  if constexpr (kIsSmallInt<T>) {
    return args.scratch[0].as<std::int64_t>();
  } else {
    return wide_result<T>(args);
  }
}
KernelStatePtr prepare_sum(const KernelCall& call, ScratchBook& book) {
  if (is_integer(call.out[0].dtype) && dtype_size(call.out[0].dtype) < 4) {
    book.book(static_cast<std::uint64_t>(call.out[0].shape.num_elements()) * sizeof(std::int64_t));
  } else {
    book_wide(call.out[0], book);
  }
  if (scale_of(call) != SegmentScale::kNone)
    book.book(static_cast<std::uint64_t>(SegmentView(call).num_segments) * sizeof(std::int64_t));
  return nullptr;
}

template <class A>
A scaled(A sum, std::int64_t count, SegmentScale scale) noexcept {
  if (count == 0) return A(0);
  if constexpr (std::is_floating_point_v<A>) {
    const A divisor = static_cast<A>(count);
    return sum / (scale == SegmentScale::kCount ? divisor : std::sqrt(divisor));
  } else {
    return static_cast<A>(static_cast<std::int64_t>(sum) / count);
  }
}

Status run_sum(const RunArgs& args) noexcept {
  const SegmentView v(args.call);
  const SegmentScale scale = scale_of(args.call);
  return with_segments(args, v, [&](const auto* ids, auto tag) {
    using T = typename decltype(tag)::type;
    using A = sum_t<T>;
    A* sums = sums_of<T>(args);
    T* out = args.out[0].template as<T>();
    const auto zero = [](std::int64_t) { return A(0); };
    const auto id_of = [&](std::int64_t r) { return static_cast<std::int64_t>(ids[r]); };
    const auto scatter = [&](auto&& finish) {
      scatter_rows(rows_of<T>(args, v), sums, args.call.out[0].shape.num_elements(), zero, Plus(),
                   id_of, [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t i = begin; i < end; ++i) out[i] = finish(i);
                   });
    };
    if (scale == SegmentScale::kNone) {
      if constexpr (std::is_same_v<T, A>)  // they stand in the result already
        return scatter_rows(rows_of<T>(args, v), sums, args, zero, Plus(), id_of);
      return scatter([&](std::int64_t i) { return sum_as<T>(sums[i]); });
    }
    auto* counts = args.scratch[1].template as<std::int64_t>();
    std::fill_n(counts, v.num_segments, 0);
    for (std::int64_t r = 0; r < v.num_ids; ++r) {
      if (ids[r] >= 0) ++counts[ids[r]];
    }
    scatter([&](std::int64_t i) {
      return static_cast<T>(scaled(sums[i], counts[i / v.slice], scale));
    });
  });
}

Status run_prod(const RunArgs& args) noexcept {
  const SegmentView v(args.call);
  return with_segments(args, v, [&](const auto* ids, auto tag) {
    using T = typename decltype(tag)::type;
    using A = wide_t<T>;
    scatter_rows(
        rows_of<T>(args, v), wide_result<T>(args), args, [](std::int64_t) { return A(1); }, Times(),
        [&](std::int64_t r) { return static_cast<std::int64_t>(ids[r]); });
  });
}

// The smallest (largest) finite number of a type.
template <class T>
T lowest() noexcept {
  if constexpr (std::is_same_v<T, Half>) {
    return Half(-65504.0F);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return BFloat16(-0x1.FEp127F);
  } else {
    return std::numeric_limits<T>::lowest();
  }
}
template <class T>
T highest() noexcept {
  if constexpr (kIsSmallFloat<T>) {
    return T(-static_cast<float>(lowest<T>()));
  } else {
    return std::numeric_limits<T>::max();
  }
}

template <bool kLargest>
Status run_extreme(const RunArgs& args) noexcept {
  const SegmentView v(args.call);
  return with_segments(args, v, [&](const auto* ids, auto tag) {
    using T = typename decltype(tag)::type;
    T* out = args.out[0].template as<T>();
    const T first = kLargest ? lowest<T>() : highest<T>();
    scatter_rows(
        rows_of<T>(args, v), out, args, [=](std::int64_t) { return first; },
        std::conditional_t<kLargest, Larger, Smaller>(),
        [&](std::int64_t r) { return static_cast<std::int64_t>(ids[r]); });
    if (!v.sorted) return;
    // Between sorted ids are the segments that have no rows.
    std::int64_t next = 0;
    for (std::int64_t r = 0; r <= v.num_ids; ++r) {
      const auto id = r < v.num_ids ? static_cast<std::int64_t>(ids[r]) : v.num_segments;
      if (id > next) std::fill(out + next * v.slice, out + id * v.slice, T(0));
      next = id + 1;
    }
  });
}

// Integers to bins: [batch, per_row] of them into [batch, size].
struct BincountView {
  std::int64_t batch = 1, per_row, size, num;

  explicit BincountView(const KernelCall& call) noexcept
      : size(call.attrs[attr::Bincount::size].as_int()), num(call.in[0].shape.num_elements()) {
    const Shape& in = call.in[0].shape;
    if (in.rank() == 2) batch = in.dim(0);
    per_row = batch ? num / batch : 0;
  }
  // The bin of element i; negative where there is none for it.
  template <class I>
  std::int64_t bin(const I* values, std::int64_t i) const noexcept {
    const auto value = static_cast<std::int64_t>(values[i]);
    if (value >= size) return -1;
    return batch == 1 ? value : i / per_row * size + value;
  }
};

// Counts are made in parts, each with bins of its own.
struct BincountPlan final : KernelState {
  std::int64_t parts = 1;
};

KernelStatePtr prepare_bincount(const KernelCall& call, ScratchBook& book) {
  auto plan = std::make_shared<BincountPlan>();
  if (call.in.size() == 2) {
    book_wide(call.out[0], book);
    return plan;
  }
  const BincountView v(call);
  const std::int64_t bins = v.batch * v.size;
  plan->parts =
      std::clamp<std::int64_t>(v.num / std::max(kScatterGrain, bins), 1, omp_get_max_threads());
  book.book(static_cast<std::uint64_t>(plan->parts * bins) * sizeof(std::int64_t));
  return plan;
}

template <class I>
void count_bins(const RunArgs& args, const BincountView& v, const I* values) noexcept {
  const std::int64_t parts = static_cast<const BincountPlan&>(*args.state).parts;
  const std::int64_t bins = v.batch * v.size;
  auto* counts = args.scratch[0].as<std::int64_t>();
  parallel_for(parts, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t part = first; part < last; ++part) {
      std::int64_t* own = counts + part * bins;
      std::fill_n(own, bins, 0);
      for (std::int64_t i = v.num * part / parts; i < v.num * (part + 1) / parts; ++i) {
        const std::int64_t bin = v.bin(values, i);
        if (bin >= 0) ++own[bin];
      }
    }
  });
  const bool is_binary = args.attrs()[attr::Bincount::binary_output].as_bool();
  visit_dtype(args.call.out[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (std::int64_t b = 0; b < bins; ++b) {
      std::int64_t count = 0;
      for (std::int64_t part = 0; part < parts; ++part) count += counts[part * bins + b];
      if (is_binary) count = count > 0;
      args.out[0].as<T>()[b] = static_cast<T>(static_cast<compute_t<T>>(count));
    }
  });
}

Status run_bincount(const RunArgs& args) noexcept {
  const BincountView v(args.call);
  return with_indices(args, 0, [&](const auto* values) -> Status {
    std::remove_cvref_t<decltype(*values)> all_bits = 0;
    for (std::int64_t i = 0; i < v.num; ++i) all_bits |= values[i];
    if (all_bits < 0) {
      std::int64_t at = 0;
      while (values[at] >= 0) ++at;
      Words words;
      words.add("Input arr must be non-negative! Got ");
      words.add_position("arr", args.call.in[0].shape, args.call.in[0].shape.rank(), at);
      words.add(" = {}", values[at]);
      return words.status();
    }
    if (args.call.in.size() == 1) {
      count_bins(args, v, values);
      return {};
    }
    visit_dtype(args.call.out[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, bool>) {
        scatter_rows(
            Rows<T>{args.in[1].template as<const T>(), v.num, 1}, wide_result<T>(args), args,
            [](std::int64_t) { return wide_t<T>(0); }, Plus(),
            [&](std::int64_t i) { return v.bin(values, i); });
      }
    });
    return {};
  });
}

const KernelDef kRows[] = {
    {.op = OpId::SegmentSum, .dtypes = kNumbers, .prepare = prepare_sum, .run = run_sum},
    {.op = OpId::SegmentProd, .dtypes = kNumbers, .prepare = prepare_prod, .run = run_prod},
    {.op = OpId::SegmentMax, .dtypes = kNumbers, .run = run_extreme<true>},
    {.op = OpId::SegmentMin, .dtypes = kNumbers, .run = run_extreme<false>},
    {.op = OpId::Bincount,
     .dtypes = {DType::kInt32, DType::kInt64},
     .prepare = prepare_bincount,
     .run = run_bincount},
};

}  // namespace

std::span<const KernelDef> segment_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
