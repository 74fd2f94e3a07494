#include <algorithm>
#include <cmath>

#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

using enum Input::Kind;

std::vector<HostTensor> searched(const RefCall& c) {
  const auto n = static_cast<std::ptrdiff_t>(c.in[0].shape.dim(c.in[0].shape.rank() - 1));
  const auto per_row = static_cast<std::size_t>(c.in[1].shape.dim(c.in[1].shape.rank() - 1));
  HostTensor made{c.in[1].shape, {}};
  for (std::size_t i = 0; i < c.in[1].values.size(); ++i) {
    const auto first = c.in[0].values.begin() + static_cast<std::ptrdiff_t>(i / per_row) * n;
    const bool right = c.attrs[attr::SearchSorted::right].as_bool();
    const double value = c.in[1].values[i];
    made.values.push_back(static_cast<double>(
        std::count_if(first, first + n, [&](double x) { return right ? x <= value : x < value; })));
  }
  return {made};
}

std::vector<HostTensor> in_top_k(const RefCall& c) {
  const std::int64_t rows = c.in[0].shape.dim(0), classes = c.in[0].shape.dim(1);
  HostTensor made{{rows}, {}};
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto* row = c.in[0].values.data() + r * classes;
    const double target = c.in[1].values[static_cast<std::size_t>(r)];
    bool is_in = target >= 0 && target < static_cast<double>(classes);
    if (is_in) {
      const double own = row[static_cast<std::int64_t>(target)];
      is_in = std::all_of(row, row + classes, [](double x) { return std::isfinite(x); }) &&
              std::count_if(row, row + classes, [&](double x) { return x > own; }) <
                  c.attrs[attr::InTopK::k].as_int();
    }
    made.values.push_back(is_in);
  }
  return {made};
}

}  // namespace

std::vector<OpCase> search_cases() {
  const Input sequence{{6}, 0, 0, {}, {0, 1, 1, 3, 5, 8}};
  const Input sequences{{2, 3}, 0, 0, {}, {0, 2, 4, 1, 1, 6}};
  const Input values{{8}, 0, 0, {}, {0, 1, 2, 3, 4, 8, 9, 5}};
  std::vector<OpCase> cases;
  for (const bool right : {false, true}) {
    const std::string side = right ? "right" : "left";
    const auto add = [&](const std::string& name, const Input& in, const Input& what, DType to) {
      cases.push_back({.name = side + name,
                       .op = OpId::SearchSorted,
                       .in = {in, what},
                       .attrs = {right, to},
                       .ref = searched,
                       .dtypes = kNumberTypes});
    };
    add("", sequence, values, DType::kInt32);
    add("_batch", sequences, {{2, 5}, 0, 0, {}, {1, 4, 0, 9, 2, 1, 0, 6, 7, 3}}, DType::kInt64);
    add("_in_nothing", {{0}}, values, DType::kInt32);
    add("_of_nothing", sequence, {{0}}, DType::kInt32);
    add("_large", sequence, {{20000}, 0, 10}, DType::kInt32);
  }
  const auto add = [&](const char* name, const Input& predictions, const Input& targets,
                       std::int64_t k) {
    cases.push_back({.name = name,
                     .op = OpId::InTopK,
                     .in = {predictions, targets},
                     .attrs = {k},
                     .ref = in_top_k,
                     .dtypes = kFloatTypes});
  };
  const Input targets{{5}, 0, 0, kInt32, {0, 3, 1, 2, 3}};
  add("two", {{5, 4}}, targets, 2);
  add("ties", {{5, 4}, 0, 0, {}, {1, 2, 2, 1}}, targets, 2);
  add("no_class", {{3, 2}}, {{3}, 0, 0, kInt64, {2, -1, 0}}, 2);
  add("none", {{5, 4}}, targets, 0);
  add("all", {{5, 4}}, targets, 9);
  add("no_rows", {{0, 4}}, {{0}, 0, 0, kInt32}, 1);
  add("large", {{300, 400}}, {{300}, 0, 400, kInt32}, 100);
  return cases;
}

}  // namespace plimsoll::testing_ops
