// Rows that meet in one. A row of the result combines what goes into it in the order of the
// indices, whatever the number of threads.
#pragma once

#include <type_traits>

#include "backend/api/kernel.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {

inline constexpr std::int64_t kScatterGrain = 32768;  // elements that are worth a thread

// Sums and products of 16-bit floats are kept in float, in scratch as large as the result.
template <class T>
inline constexpr bool kIsSmallFloat = sizeof(T) == 2 && std::is_same_v<compute_t<T>, float>;
template <class T>
using wide_t = std::conditional_t<kIsSmallFloat<T>, float, T>;

inline void book_wide(const TensorSpec& result, ScratchBook& book) {
  const bool is_small = result.dtype == DType::kFloat16 || result.dtype == DType::kBFloat16;
  book.book(is_small ? static_cast<std::uint64_t>(result.shape.num_elements()) * sizeof(float) : 0);
}
// Where the result is built: the scratch of book_wide, or the result itself.
template <class T>
wide_t<T>* wide_result(const RunArgs& args) noexcept {
  if constexpr (kIsSmallFloat<T>) {
    return args.scratch[0].as<float>();
  } else {
    return args.out[0].as<T>();
  }
}

// Integers wrap around.
struct Plus {
  template <class A>
  A operator()(A a, A b) const noexcept {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    } else {
      return a + b;
    }
  }
};
struct Times {
  template <class A>
  A operator()(A a, A b) const noexcept {
    if constexpr (std::is_integral_v<A>) {
      return static_cast<A>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return a * b;
    }
  }
};
// A nan stays.
struct Larger {
  template <class T>
  T operator()(T a, T b) const noexcept {
    const auto x = static_cast<compute_t<T>>(a), y = static_cast<compute_t<T>>(b);
    return (y > x) | (y != y) ? b : a;  // without a branch, for several lanes at once
  }
};
struct Smaller {
  template <class T>
  T operator()(T a, T b) const noexcept {
    const auto x = static_cast<compute_t<T>>(a), y = static_cast<compute_t<T>>(b);
    return (y < x) | (y != y) ? b : a;
  }
};

template <class T>
struct Rows {
  const T* data;
  std::int64_t count, slice;  // slice: elements of a row
};

// Combines row i into row destination(i) of `result`, which has `size` elements and begins as
// start(element). A negative destination takes nothing. At the end, finish(begin, end) is called
// for parts of the elements.
template <class T, class A, class Start, class Combine, class Destination, class Finish>
void scatter_rows(const Rows<T>& rows, A* result, std::int64_t size, Start start, Combine combine,
                  Destination destination, Finish finish) noexcept {
  // Each thread owns some elements of the result and looks at all destinations.
  parallel_for(size, kScatterGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) result[i] = start(i);
    for (std::int64_t r = 0; r < rows.count; ++r) {
      const std::int64_t to = destination(r);
      if (to < 0) continue;
      const std::int64_t at = to * rows.slice;
      const std::int64_t first = std::max(begin, at), last = std::min(end, at + rows.slice);
      const T* row = rows.data + r * rows.slice;
      for (std::int64_t i = first; i < last; ++i)
        result[i] = combine(result[i], static_cast<A>(row[i - at]));
    }
    finish(begin, end);
  });
}

// The same into the output, with nothing else at the end.
template <class T, class A, class Start, class Combine, class Destination>
void scatter_rows(const Rows<T>& rows, A* result, const RunArgs& args, Start start, Combine combine,
                  Destination destination) noexcept {
  T* out = args.out[0].as<T>();
  scatter_rows(rows, result, args.call.out[0].shape.num_elements(), start, combine, destination,
               [&](std::int64_t begin, std::int64_t end) {
                 if constexpr (!std::is_same_v<T, A>) {
                   for (std::int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(result[i]);
                 }
               });
}

}  // namespace plimsoll::cpu
