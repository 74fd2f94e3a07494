#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/op_case.h"
#include "ops/reduce_shape.h"

namespace plimsoll::testing_ops {
namespace {

using Ints = std::vector<std::int64_t>;

AttrValue ints(const Ints& values) {
  return AttrValue(std::span<const std::int64_t>(values));
}

// The reference of any reduction: f of the elements that become one.
auto reduced(std::function<double(const std::vector<double>&)> f) {
  return [f](const RefCall& c) {
    const HostTensor& in = c.in[0];
    const ReduceShape shape = reduce_shape(in.shape, c.attrs[attr::ReduceSum::axes].as_ints(),
                                           c.attrs[attr::ReduceSum::keepdims].as_bool(), "test");
    std::vector<std::vector<double>> groups(static_cast<std::size_t>(shape.out.num_elements()));
    for (std::int64_t i = 0; i < in.shape.num_elements(); ++i) {
      std::int64_t rest = i, at = 0, stride = 1;
      for (int d = in.shape.rank() - 1; d >= 0; --d) {
        if (!shape.is_reduced[static_cast<std::size_t>(d)]) {
          at += rest % in.shape.dim(d) * stride;
          stride *= in.shape.dim(d);
        }
        rest /= in.shape.dim(d);
      }
      groups[static_cast<std::size_t>(at)].push_back(in.values[static_cast<std::size_t>(i)]);
    }
    HostTensor made{shape.out, {}};
    for (const auto& group : groups) made.values.push_back(f(group));
    return std::vector{made};
  };
}

double sum_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0);
}
double mean_of(const std::vector<double>& x) {
  return sum_of(x) / static_cast<double>(x.size());
}
double max_of(const std::vector<double>& x) {
  return x.empty() ? -INFINITY : *std::max_element(x.begin(), x.end());
}
double min_of(const std::vector<double>& x) {
  return x.empty() ? INFINITY : *std::min_element(x.begin(), x.end());
}
double prod_of(const std::vector<double>& x) {
  return std::accumulate(x.begin(), x.end(), 1.0, [](double a, double b) { return a * b; });
}

// The shapes and axes that take different ways through the kernels.
void add_reductions(std::vector<OpCase>& cases, OpId op, double (*f)(const std::vector<double>&)) {
  const auto add = [&](const std::string& name, const Shape& in, const Ints& axes, bool keepdims,
                       std::vector<DType> dtypes = {DType::kFloat32, DType::kFloat64}) {
    cases.push_back({.name = name,
                     .op = op,
                     .in = {{in}},
                     .attrs = {ints(axes), keepdims},
                     .ref = reduced(f),
                     .dtypes = std::move(dtypes)});
  };
  add("all", {2, 3}, {}, false, op == OpId::ReduceMean ? kFloatTypes : kNumberTypes);
  add("last", {5, 67}, {-1}, false);
  add("first_kept", {37, 3}, {0}, true, kFloatTypes);
  add("two", {3, 2, 5}, {0, 2}, false);
  add("middle", {2, 3, 4, 2}, {1, 2}, true);
  add("outer_and_middle", {2, 3, 2, 5}, {0, 2}, false);
  add("none_left", {1, 1}, {0}, false);
  add("empty", {0, 2}, {0}, false);
  add("of_empty", {2, 0}, {0}, false);
  add("scalar", {}, {}, false);
}

// Large enough for several threads; without a gradient, which the small ones cover.
void add_large(std::vector<OpCase>& cases, OpId op, double (*f)(const std::vector<double>&)) {
  for (const auto& [name, in, axes] :
       std::vector<std::tuple<std::string, Shape, Ints>>{{"large_all", {70001}, {}},
                                                         {"large_first", {35000, 2}, {0}},
                                                         {"large_wide", {70, 1001}, {0}}}) {
    cases.push_back({.name = name,
                     .op = op,
                     .in = {{in}},
                     .attrs = {ints(axes), false},
                     .ref = reduced(f),
                     .dtypes = {DType::kFloat32, DType::kFloat64, DType::kInt32},
                     .has_grad = false});
  }
}

// f of all elements along the last axis but one of [2, n, 3]; writes n results.
using Lane = std::function<std::vector<double>(std::vector<double>)>;
auto along_middle(Lane f, bool keeps_length = true) {
  return [f, keeps_length](const RefCall& c) {
    const Shape& s = c.in[0].shape;
    const std::int64_t n = s.dim(1);
    HostTensor made{keeps_length ? s : Shape{s.dim(0), s.dim(2)}, {}};
    made.values.resize(static_cast<std::size_t>(made.shape.num_elements()));
    for (std::int64_t o = 0; o < s.dim(0); ++o) {
      for (std::int64_t i = 0; i < s.dim(2); ++i) {
        std::vector<double> lane;
        for (std::int64_t k = 0; k < n; ++k)
          lane.push_back(c.in[0].values[static_cast<std::size_t>((o * n + k) * s.dim(2) + i)]);
        const auto result = f(lane);
        for (std::size_t k = 0; k < result.size(); ++k) {
          const auto m = static_cast<std::int64_t>(result.size());
          made.values[static_cast<std::size_t>((o * m + static_cast<std::int64_t>(k)) * s.dim(2) +
                                               i)] = result[k];
        }
      }
    }
    return std::vector{made};
  };
}

Lane scan(bool product, bool exclusive, bool reverse) {
  return [=](std::vector<double> lane) {
    if (reverse) std::reverse(lane.begin(), lane.end());
    double acc = product ? 1 : 0;
    for (double& x : lane) {
      const double next = product ? acc * x : acc + x;
      x = exclusive ? acc : next;
      acc = next;
    }
    if (reverse) std::reverse(lane.begin(), lane.end());
    return lane;
  };
}

void add_scans(std::vector<OpCase>& cases) {
  for (const bool product : {false, true}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        OpCase made{.name = std::string(exclusive ? "exclusive" : "inclusive") +
                            (reverse ? "_reverse" : ""),
                    .op = product ? OpId::Cumprod : OpId::Cumsum,
                    .in = {{{2, 4, 3}}},
                    .attrs = {1, exclusive, reverse},
                    .ref = along_middle(scan(product, exclusive, reverse)),
                    .dtypes = kNumberTypes};
        // Gradients of products have to be right with zeros.
        if (product) made.in[0].values = {2, 0, 3, 1, 0, 2, 0, 1};
        cases.push_back(made);
      }
    }
  }
  cases.push_back({.name = "empty",
                   .op = OpId::Cumprod,
                   .in = {{{2, 0, 3}}},
                   .attrs = {-2, false, false},
                   .ref = along_middle(scan(true, false, false))});
  for (const bool reverse : {false, true}) {
    cases.push_back({.name = reverse ? "reverse" : "forward",
                     .op = OpId::LinearRecurrence,
                     .in = {{{5}}, {{5}}},
                     .attrs = {0, reverse},
                     .ref =
                         [reverse](const RefCall& c) {
                           HostTensor y{{5}, std::vector<double>(5)};
                           double acc = 0;
                           for (std::size_t k = 0; k < 5; ++k) {
                             const std::size_t at = reverse ? 4 - k : k;
                             acc = c.in[1].values[at] + c.in[0].values[at] * acc;
                             y.values[at] = acc;
                           }
                           return std::vector{y};
                         },
                     .dtypes = kFloatTypes});
  }
  for (const bool largest : {true, false}) {
    const Lane best = [largest](const std::vector<double>& lane) {
      const auto at = largest ? std::max_element(lane.begin(), lane.end())
                              : std::min_element(lane.begin(), lane.end());
      return std::vector<double>{static_cast<double>(at - lane.begin())};
    };
    cases.push_back({.name = "middle",
                     .op = largest ? OpId::ArgMax : OpId::ArgMin,
                     .in = {{{2, 4, 3}}},
                     .attrs = {1, DType::kInt64},
                     .ref = along_middle(best, false),
                     .dtypes = kNumberTypes});
    cases.push_back({.name = "of_ties",
                     .op = largest ? OpId::ArgMax : OpId::ArgMin,
                     .in = {{{1, 6, 1}, 0, 0, {}, {1, 3, 1, 3, 3, 1}}},
                     .attrs = {-2, DType::kInt32},
                     .ref = along_middle(best, false)});
  }
}

void add_top_k(std::vector<OpCase>& cases) {
  const auto top = [](std::int64_t k, bool largest) {
    return [=](const RefCall& c) {  // of [rows, n]
      const std::int64_t rows = c.in[0].shape.dim(0), n = c.in[0].shape.dim(1);
      HostTensor values{{rows, k}, {}}, indices{{rows, k}, {}};
      for (std::int64_t r = 0; r < rows; ++r) {
        const auto* row = c.in[0].values.data() + r * n;
        std::vector<int> order(static_cast<std::size_t>(n));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](int a, int b) { return largest ? row[a] > row[b] : row[a] < row[b]; });
        for (std::int64_t i = 0; i < k; ++i) {
          indices.values.push_back(order[static_cast<std::size_t>(i)]);
          values.values.push_back(row[order[static_cast<std::size_t>(i)]]);
        }
      }
      return std::vector{values, indices};
    };
  };
  const auto add = [&](const std::string& name, const Input& in, std::int64_t k, bool largest) {
    cases.push_back({.name = name,
                     .op = OpId::TopK,
                     .in = {in},
                     .attrs = {k, true, largest},
                     .ref = top(k, largest),
                     .dtypes = kNumberTypes});
  };
  add("three", {{2, 7}}, 3, true);
  add("all", {{3, 5}}, 5, false);
  add("ties", {{1, 6}, 0, 0, {}, {1, 3, 1, 3, 3, 2}}, 4, true);
  add("none", {{2, 4}}, 0, true);
  cases.back().dtypes = {DType::kFloat32};
  for (OpCase& c : cases) {
    if (c.op == OpId::TopK && c.name == "ties") c.has_grad = false;  // not differentiable there
  }
}

void add_window_sums(std::vector<OpCase>& cases) {
  const auto ref = [](const RefCall& c) {
    const Shape& s = c.in[0].shape;
    const std::int64_t n = s.dim(s.rank() - 1), radius = c.attrs[attr::WindowSum::radius].as_int();
    HostTensor made{s, {}};
    for (std::int64_t i = 0; i < s.num_elements(); ++i) {
      double sum = 0;
      for (std::int64_t k = std::max<std::int64_t>(0, i % n - radius);
           k <= std::min(n - 1, i % n + radius); ++k)
        sum += c.in[0].values[static_cast<std::size_t>(i / n * n + k)];
      made.values.push_back(sum);
    }
    return std::vector{made};
  };
  for (const auto& [name, in, radius] : std::vector<std::tuple<std::string, Shape, std::int64_t>>{
           {"two", {3, 7}, 2}, {"zero", {2, 5}, 0}, {"all", {2, 4}, 9}, {"empty", {0, 3}, 1}}) {
    cases.push_back({.name = name,
                     .op = OpId::WindowSum,
                     .in = {{in}},
                     .attrs = {radius},
                     .ref = ref,
                     .dtypes = kFloatTypes});
  }
  cases.push_back({.name = "long",
                   .op = OpId::WindowSum,
                   .in = {{{40, 700}}},
                   .attrs = {5},
                   .ref = ref,
                   .has_grad = false});
}

}  // namespace

std::vector<OpCase> reduce_cases() {
  std::vector<OpCase> cases;
  add_reductions(cases, OpId::ReduceSum, sum_of);
  add_reductions(cases, OpId::ReduceMean, mean_of);
  add_reductions(cases, OpId::ReduceMax, max_of);
  add_reductions(cases, OpId::ReduceMin, min_of);
  add_reductions(cases, OpId::ReduceProd, prod_of);
  add_large(cases, OpId::ReduceSum, sum_of);
  add_large(cases, OpId::ReduceMax, max_of);
  cases.push_back({.name = "zeros",  // two in the first row, one in the second, none in the third
                   .op = OpId::ReduceProd,
                   .in = {{{3, 4}, 0, 0, {}, {2, 0, 3, 0, 1, 2, 0, 3, 1, 2, 3, 1}}},
                   .attrs = {ints({1}), false},
                   .ref = reduced(prod_of)});
  for (const bool any : {true, false}) {
    cases.push_back(
        {.name = "rows",
         .op = any ? OpId::ReduceAny : OpId::ReduceAll,
         .in = {{{4, 3}, 0, 1, Input::Kind::kBool, {1, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 0}}},
         .attrs = {ints({1}), false},
         .ref = reduced(any ? max_of : min_of),
         .dtypes = {DType::kBool}});
  }
  add_scans(cases);
  add_top_k(cases);
  add_window_sums(cases);
  return cases;
}

}  // namespace plimsoll::testing_ops
