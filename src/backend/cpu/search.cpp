// Places in order.
#include <algorithm>

#include "backend/cpu/cpu.h"
#include "backend/cpu/indices.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

template <class T, class To>
void search_typed(const RunArgs& args) noexcept {
  const Shape& sequences = args.call.in[0].shape;
  const Shape& values = args.call.in[1].shape;
  const std::int64_t n = sequences.dim(sequences.rank() - 1);
  const std::int64_t per_row = values.dim(values.rank() - 1);
  const bool right = args.attrs()[attr::SearchSorted::right].as_bool();
  const auto is_less = [](const T& a, const T& b) {
    return static_cast<compute_t<T>>(a) < static_cast<compute_t<T>>(b);
  };
  parallel_for(values.num_elements(), 2048, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T* first = args.in[0].as<const T>() + i / per_row * n;
      const T value = args.in[1].as<const T>()[i];
      const T* place = right ? std::upper_bound(first, first + n, value, is_less)
                             : std::lower_bound(first, first + n, value, is_less);
      args.out[0].as<To>()[i] = static_cast<To>(place - first);
    }
  });
}

Status run_search_sorted(const RunArgs& args) noexcept {
  visit_dtype(args.call.in[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) return;
    if (args.call.out[0].dtype == DType::kInt32) {
      search_typed<T, std::int32_t>(args);
    } else {
      search_typed<T, std::int64_t>(args);
    }
  });
  return {};
}

// A target is in if fewer than k are more probable. None is where something is not finite, nor a
// target that is no class.
template <class T, class I>
bool is_in_top_k(const T* row, std::int64_t classes, I target, std::int64_t k) noexcept {
  if (target < 0 || static_cast<std::int64_t>(target) >= classes) return false;
  const auto own = static_cast<compute_t<T>>(row[target]);
  // Both as sums of integers, which several lanes do at once, until it is decided; x - x is nan
  // where x is not finite.
  constexpr std::int64_t kBlock = 256;
  std::int32_t num_larger = 0, num_odd = 0;
  for (std::int64_t first = 0; first < classes && num_larger < k && num_odd == 0; first += kBlock) {
    const std::int64_t last = std::min(classes, first + kBlock);
    for (std::int64_t c = first; c < last; ++c) {
      const auto x = static_cast<compute_t<T>>(row[c]);
      num_odd |= x - x != 0;
      num_larger += x > own;
    }
  }
  return num_odd == 0 && num_larger < k;
}

Status run_in_top_k(const RunArgs& args) noexcept {
  const std::int64_t rows = args.call.in[0].shape.dim(0);
  const std::int64_t classes = args.call.in[0].shape.dim(1);
  const std::int64_t k = args.attrs()[attr::InTopK::k].as_int();
  return with_indices(args, 1, [&](const auto* targets) -> Status {
    visit_dtype(args.call.in[0].dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (std::is_floating_point_v<compute_t<T>>) {
        parallel_for(rows, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, classes)),
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t r = begin; r < end; ++r) {
                         args.out[0].template as<bool>()[r] =
                             is_in_top_k(args.in[0].template as<const T>() + r * classes, classes,
                                         targets[r], k);
                       }
                     });
      }
    });
    return {};
  });
}

const KernelDef kRows[] = {
    {.op = OpId::SearchSorted, .dtypes = kNumbers, .run = run_search_sorted},
    {.op = OpId::InTopK, .dtypes = kFloats, .run = run_in_top_k},
};

}  // namespace

std::span<const KernelDef> search_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
