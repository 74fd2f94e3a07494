#include "backend/cpu/product.h"

#include <algorithm>

#include "backend/cpu/gemm.h"
#include "backend/cpu/parallel.h"

namespace plimsoll::cpu {
namespace {

std::optional<dnnl::matmul::primitive_desc> try_onednn(const ProductShape& s, bool adds,
                                                       dnnl::memory::data_type type) {
  auto attr = onednn_attr();
  if (adds) {
    dnnl::post_ops sum;
    sum.append_sum(1);
    attr.set_post_ops(sum);
  }
  const auto a = onednn_desc({s.batch, s.m, s.k}, {s.a_step, s.a_row, s.a_col}, type);
  const auto b = onednn_desc({s.batch, s.k, s.n}, {s.b_step, s.b_row, s.b_col}, type);
  const auto c = onednn_desc({s.batch, s.m, s.n}, {s.m * s.n, s.n, 1}, type);
  try {
    dnnl::matmul::primitive_desc desc(onednn_engine(), a, b, c, attr);
    skip_unfit(desc);
    return desc;
  } catch (const dnnl::error&) {
  } catch (const UnimplementedError&) {
  }
  return std::nullopt;
}

}  // namespace

Product::Product(const ProductShape& shape, bool adds, dnnl::memory::data_type type)
    : s_(shape), adds_(adds) {
  if (const auto desc = try_onednn(s_, adds, type)) {
    call_.emplace(dnnl::matmul(*desc),
                  std::vector<OneDnnCall::Operand>{{DNNL_ARG_SRC, desc->src_desc()},
                                                   {DNNL_ARG_WEIGHTS, desc->weights_desc()},
                                                   {DNNL_ARG_DST, desc->dst_desc()},
                                                   {DNNL_ARG_SCRATCHPAD, desc->scratchpad_desc()}});
    scratch_bytes_ = desc->scratchpad_desc().get_size();
    return;
  }
  if (type != dnnl::memory::data_type::f32)
    throw UnimplementedError("oneDNN has no kernel for these shapes");
  threads_ = omp_get_max_threads();
  // Whole matrices if threads get as many each; else parts, along the longer side.
  constexpr std::int64_t kLeastRows = 48, kLeastColumns = 64;
  if (s_.batch % threads_ != 0) {
    if (s_.m >= s_.n) {
      row_parts_ = std::clamp<std::int64_t>(s_.m / kLeastRows, 1, threads_);
    } else {
      column_parts_ = std::clamp<std::int64_t>(s_.n / kLeastColumns, 1, threads_);
    }
  }
  const std::int64_t rows = (s_.m + row_parts_ - 1) / row_parts_;
  const std::int64_t columns = (s_.n + column_parts_ - 1) / column_parts_;
  part_bytes_ = (gemm_scratch_bytes<float>(rows, columns, s_.k) + 63) / 64 * 64;
  scratch_bytes_ = part_bytes_ * static_cast<std::uint64_t>(threads_);
}

Status Product::run(const void* a, const void* b, void* c, void* scratch) const noexcept {
  if (call_) return call_->run({const_cast<void*>(a), const_cast<void*>(b), c, scratch});
  run_own(static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c),
          static_cast<char*>(scratch));
  return {};
}

void Product::run_own(const float* a, const float* b, float* c, char* scratch) const noexcept {
  const std::int64_t parts = row_parts_ * column_parts_, all = s_.batch * parts;
  parallel_for(threads_, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t thread = first; thread < last; ++thread) {
      char* own = scratch + static_cast<std::uint64_t>(thread) * part_bytes_;
      for (std::int64_t i = all * thread / threads_; i < all * (thread + 1) / threads_; ++i) {
        const std::int64_t matrix = i / parts, part = i % parts;
        const std::int64_t row = part / column_parts_, column = part % column_parts_;
        const std::int64_t m0 = s_.m * row / row_parts_, m1 = s_.m * (row + 1) / row_parts_;
        const std::int64_t n0 = s_.n * column / column_parts_,
                           n1 = s_.n * (column + 1) / column_parts_;
        gemm<float>({.m = m1 - m0,
                     .n = n1 - n0,
                     .k = s_.k,
                     .a = a + matrix * s_.a_step + m0 * s_.a_row,
                     .a_row = s_.a_row,
                     .a_col = s_.a_col,
                     .b = b + matrix * s_.b_step + n0 * s_.b_col,
                     .b_row = s_.b_row,
                     .b_col = s_.b_col,
                     .c = c + (matrix * s_.m + m0) * s_.n + n0,
                     .c_row = s_.n,
                     .accumulate = adds_},
                    own);
      }
    }
  });
}

bool has_onednn_products() noexcept {
  static const bool has = [] {
    constexpr std::int64_t kSize = 256;
    const ProductShape square{1,     kSize, kSize,         kSize, kSize * kSize,
                              kSize, 1,     kSize * kSize, kSize, 1};
    try {
      return try_onednn(square, false, dnnl::memory::data_type::f32).has_value();
    } catch (...) {
      return false;
    }
  }();
  return has;
}

}  // namespace plimsoll::cpu
