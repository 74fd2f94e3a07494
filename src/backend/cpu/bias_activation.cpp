#include "backend/cpu/bias_activation.h"

#include "backend/cpu/activate.h"
#include "backend/cpu/parallel.h"

namespace plimsoll::cpu {
namespace {

template <class T>
void finish(T* rows, std::int64_t num_rows, std::int64_t n, const T* bias,
            Activation activation) noexcept {
  const std::int64_t grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(n, 1));
  visit_activation(activation, [&](auto fn) {
    using A = decltype(fn);
    parallel_for(num_rows, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        T* row = rows + i * n;
#pragma GCC ivdep
        for (std::int64_t j = 0; j < n; ++j) row[j] = A::activate(row[j] + bias[j]);
      }
    });
  });
}

template <class T>
void activate_all(T* values, std::int64_t n, Activation activation) noexcept {
  visit_activation(activation, [&](auto fn) {
    using A = decltype(fn);
    parallel_for(n, 32768, [&](std::int64_t begin, std::int64_t end) {
#pragma GCC ivdep
      for (std::int64_t i = begin; i < end; ++i) values[i] = A::activate(values[i]);
    });
  });
}

}  // namespace

void activate(DType dtype, void* values, std::int64_t n, Activation activation) noexcept {
  if (activation == Activation::kNone) return;
  if (dtype == DType::kFloat64) {
    activate_all(static_cast<double*>(values), n, activation);
  } else {
    activate_all(static_cast<float*>(values), n, activation);
  }
}

void add_bias_and_activate(DType dtype, void* rows, std::int64_t num_rows, std::int64_t num_columns,
                           const void* bias, Activation activation) noexcept {
  if (dtype == DType::kFloat64) {
    finish(static_cast<double*>(rows), num_rows, num_columns, static_cast<const double*>(bias),
           activation);
  } else {
    finish(static_cast<float*>(rows), num_rows, num_columns, static_cast<const float*>(bias),
           activation);
  }
}

}  // namespace plimsoll::cpu
