#include <fmt/format.h>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

std::vector<HostTensor> reference(const RefCall& c) {
  const bool ta = c.attrs[0].as_bool(), tb = c.attrs[1].as_bool();
  const Shape &a = c.in[0].shape, &b = c.in[1].shape;
  const auto last = [](const Shape& s, int back) { return s.dim(s.rank() - back); };
  const auto lead = [](const Shape& s) {
    return Shape(s.dims().first(static_cast<std::size_t>(s.rank() - 2)));
  };
  const std::int64_t m = last(a, ta ? 1 : 2), k = last(a, ta ? 2 : 1), n = last(b, tb ? 2 : 1);
  const Shape batch = broadcast_shapes(lead(a), lead(b), "test");
  std::vector<std::int64_t> dims(batch.dims().begin(), batch.dims().end());
  dims.push_back(m);
  dims.push_back(n);
  HostTensor out{Shape(dims), {}};
  const auto matrix = [&](const Shape& s, std::int64_t index) {  // of a batch that broadcasts
    std::int64_t at = 0, stride = 1;
    for (int d = batch.rank() - 1; d >= 0; --d) {
      const std::int64_t i = index % batch.dim(d);
      index /= batch.dim(d);
      const int own = d - (batch.rank() - (s.rank() - 2));
      if (own < 0) continue;
      if (s.dim(own) != 1) at += i * stride;
      stride *= s.dim(own);
    }
    return at;
  };
  for (std::int64_t q = 0; q < batch.num_elements(); ++q) {
    const double* x = c.in[0].values.data() + matrix(a, q) * m * k;
    const double* y = c.in[1].values.data() + matrix(b, q) * k * n;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < k; ++p)
          sum += x[ta ? p * m + i : i * k + p] * y[tb ? j * k + p : p * n + j];
        out.values.push_back(sum);
      }
    }
  }
  return {out};
}

std::vector<HostTensor> reference_with_bias(const RefCall& c) {
  auto made = reference(c);
  const std::size_t n = c.in[2].values.size();
  for (std::size_t i = 0; i < made[0].values.size(); ++i)
    made[0].values[i] = activated(c.attrs[2], made[0].values[i] + c.in[2].values[i % n]);
  return made;
}

}  // namespace

std::vector<OpCase> matmul_cases() {
  std::vector<OpCase> cases;
  const auto add = [&](std::string name, const Shape& a, const Shape& b, bool ta, bool tb,
                       const std::vector<DType>& dtypes = kFloatTypes, double tolerance = 8) {
    cases.push_back({.name = std::move(name),
                     .op = OpId::MatMul,
                     .in = {{a, -1, 1}, {b, -1, 1}},
                     .attrs = {ta, tb},
                     .ref = reference,
                     .dtypes = dtypes,
                     .tolerance = tolerance});
  };
  for (int t = 0; t < 4; ++t) {
    const bool ta = t & 1, tb = t & 2;
    const std::string name = std::string(ta ? "t" : "n") + (tb ? "t" : "n");
    const auto shape = [](bool transposed, std::int64_t r, std::int64_t c) {
      return transposed ? Shape{c, r} : Shape{r, c};
    };
    add(name, shape(ta, 3, 4), shape(tb, 4, 5), ta, tb);
    add("odd_" + name, shape(ta, 29, 37), shape(tb, 37, 43), ta, tb);
    // More than one block in every direction.
    add("blocks_" + name, shape(ta, 231, 300), shape(tb, 300, 70), ta, tb, kFloatTypes, 32);
    add("batch_" + name, ta ? Shape{2, 3, 4, 5} : Shape{2, 3, 5, 4},
        tb ? Shape{3, 6, 4} : Shape{3, 4, 6}, ta, tb);
  }
  add("wide", {2, 64}, {64, 2100}, false, false, kFloatTypes, 16);
  add("tall", {1100, 40}, {40, 33}, false, false, kFloatTypes, 16);
  add("large_batch", {7, 50, 40}, {7, 40, 60}, false, false, kFloatTypes, 16);
  add("broadcast_both", {3, 1, 2, 4}, {5, 4, 3}, false, false);
  add("row_times_column", {1, 9}, {9, 1}, false, false);
  add("column_times_row", {9, 1}, {1, 9}, false, false);
  add("nothing_to_add", {3, 0}, {0, 4}, false, false);
  add("no_rows", {0, 3}, {3, 4}, false, false);
  add("no_batch", {0, 2, 3}, {3, 4}, false, false);
  for (const int activation : {0, 1, 2}) {
    const auto add_bias = [&](const char* name, const Shape& a, const Shape& b, bool tb) {
      cases.push_back({.name = fmt::format("{}_{}", name, activation),
                       .op = OpId::MatMulBias,
                       .in = {{a, -2, 2}, {b, -2, 2}, {{b.dim(b.rank() - (tb ? 2 : 1))}, -2, 4}},
                       .attrs = {false, tb, activation},
                       .ref = reference_with_bias,
                       .tolerance = 32});
    };
    add_bias("small", {3, 4}, {4, 5}, false);
    add_bias("odd", {61, 137}, {137, 243}, false);
    add_bias("transposed", {129, 64}, {96, 64}, true);
    add_bias("batch", {3, 50, 40}, {3, 40, 60}, false);
    add_bias("nothing_to_add", {3, 0}, {0, 4}, false);
    add_bias("no_rows", {0, 3}, {3, 4}, false);
  }
  cases.push_back({.name = "integers",
                   .op = OpId::MatMul,
                   .in = {{{2, 3, 4}, -3, 3}, {{4, 5}, -3, 3}},
                   .attrs = {false, false},
                   .ref = reference,
                   .dtypes = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}});
  return cases;
}

}  // namespace plimsoll::testing_ops
