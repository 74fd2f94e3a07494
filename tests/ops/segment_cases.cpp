#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ops/op_case.h"
#include "ops/segment_scale.h"

namespace plimsoll::testing_ops {
namespace {

using enum Input::Kind;
using Fold = std::function<double(const std::vector<double>&, const RefCall&)>;

// f of what each segment has.
auto folded(Fold f) {
  return [f](const RefCall& c) {
    const Shape& data = c.in[0].shape;
    const std::int64_t num_segments = c.attrs[attr::SegmentSum::num_segments].as_int();
    std::vector<std::int64_t> dims{num_segments};
    for (int i = c.in[1].shape.rank(); i < data.rank(); ++i) dims.push_back(data.dim(i));
    const Shape shape(dims);
    std::size_t slice = 1;
    for (int i = 1; i < shape.rank(); ++i) slice *= static_cast<std::size_t>(shape.dim(i));
    std::vector<std::vector<double>> segments(static_cast<std::size_t>(shape.num_elements()));
    for (std::size_t i = 0; i < c.in[0].values.size(); ++i) {
      const double id = c.in[1].values[i / slice];
      if (id >= 0)
        segments[static_cast<std::size_t>(id) * slice + i % slice].push_back(c.in[0].values[i]);
    }
    HostTensor made{shape, {}};
    for (const auto& segment : segments) made.values.push_back(f(segment, c));
    return std::vector{made};
  };
}

double sum_of(const std::vector<double>& x, const RefCall& c) {
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  const auto scale = static_cast<SegmentScale>(c.attrs[attr::SegmentSum::scale].as_int());
  if (scale == SegmentScale::kNone || x.empty()) return sum;
  const auto count = static_cast<double>(x.size());
  const double scaled = sum / (scale == SegmentScale::kCount ? count : std::sqrt(count));
  return is_floating(c.in[0].dtype) ? scaled : std::trunc(scaled);
}
double prod_of(const std::vector<double>& x, const RefCall&) {
  return std::accumulate(x.begin(), x.end(), 1.0, std::multiplies<>());
}

// The largest number of a type, or the smallest.
double limit_of(DType dtype, bool smallest) {
  const auto pick = [smallest](auto like) {
    using L = std::numeric_limits<decltype(like)>;
    return static_cast<double>(smallest ? L::lowest() : L::max());
  };
  switch (dtype) {
    case DType::kFloat32:
      return pick(float());
    case DType::kFloat64:
      return pick(double());
    case DType::kFloat16:
      return smallest ? -65504 : 65504;
    case DType::kBFloat16:
      return smallest ? -0x1.FEp127 : 0x1.FEp127;
    case DType::kInt8:
      return pick(std::int8_t());
    case DType::kUInt8:
      return pick(std::uint8_t());
    case DType::kInt16:
      return pick(std::int16_t());
    case DType::kUInt16:
      return pick(std::uint16_t());
    case DType::kInt32:
      return pick(std::int32_t());
    default:
      return pick(std::int64_t());
  }
}
double max_of(const std::vector<double>& x, const RefCall& c) {
  if (!x.empty()) return *std::max_element(x.begin(), x.end());
  return c.attrs[attr::SegmentMax::sorted].as_bool() ? 0 : limit_of(c.in[0].dtype, true);
}
double min_of(const std::vector<double>& x, const RefCall& c) {
  if (!x.empty()) return *std::min_element(x.begin(), x.end());
  return c.attrs[attr::SegmentMin::sorted].as_bool() ? 0 : limit_of(c.in[0].dtype, false);
}

void add_segments(std::vector<OpCase>& cases, OpId op,
                  double (*f)(const std::vector<double>&, const RefCall&)) {
  const bool is_sum = op == OpId::SegmentSum;
  const bool is_extreme = op == OpId::SegmentMax || op == OpId::SegmentMin;
  const auto add = [&](const char* name, std::vector<Input> in, std::int64_t num_segments,
                       bool sorted,
                       std::vector<DType> dtypes = {DType::kFloat32, DType::kFloat64}) {
    OpCase made{
        .name = name, .op = op, .in = std::move(in), .ref = folded(f), .dtypes = std::move(dtypes)};
    made.attrs = is_sum ? Attrs{num_segments, sorted, 0} : Attrs{num_segments, sorted};
    cases.push_back(std::move(made));
  };
  const Input any{{6}, 0, 0, kInt32, {2, 0, 2, 1, 0, 2}};
  add("unsorted", {{{6, 3}}, any}, 3, false, kNumberTypes);
  add("dropped", {{{5, 2}}, {{5}, 0, 0, kInt64, {1, -1, 0, 1, -7}}}, 2, false);
  add("ids_of_rank_2", {{{2, 3, 2}}, {{2, 3}, 0, 0, kInt32, {1, 0, 1, 1, 0, 0}}}, 2, false);
  add("elements", {{{6}}, any}, 3, false);
  add("no_rows", {{{0, 2}}, {{0}, 0, 0, kInt32}}, 3, false);
  cases.back().has_grad = !is_extreme;  // sums of infinite numbers
  add("scalar", {{{}}, {{}, 0, 0, kInt32, {1}}}, 3, false);
  cases.back().has_grad = !is_extreme;
  add("no_segments", {{{2, 2}}, {{2}, 0, 0, kInt32, {-1, -1}}}, 0, false);
  add("sorted", {{{5, 2}}, {{5}, 0, 0, kInt32, {0, 0, 1, 3, 3}}}, 4, true, kNumberTypes);
  add("sorted_none", {{{0, 2}}, {{0}, 0, 0, kInt64}}, 0, true);
  add("empty_segments", {{{4, 2}}, {{4}, 0, 0, kInt64, {3, 1, 1, 3}}}, 5, false, kNumberTypes);
  cases.back().has_grad = !is_extreme;
  add("large", {{{3000, 40}}, {{3000}, 0, 999, kInt32}}, 1000, false,
      {DType::kFloat32, DType::kFloat16, DType::kInt32});
  cases.back().has_grad = false;
}

OpCase scaled(const char* name, SegmentScale scale, bool sorted, std::vector<DType> dtypes) {
  return {.name = name,
          .op = OpId::SegmentSum,
          .in = {{{5, 2}, -9, 9}, {{5}, 0, 0, kInt32, {0, 0, 2, 2, 2}}},
          .attrs = {3, sorted, static_cast<std::int64_t>(scale)},
          .ref = folded(sum_of),
          .dtypes = std::move(dtypes)};
}

OpCase bincount(const std::string& name, std::vector<Input> in, std::int64_t size, DType dtype,
                bool binary = false) {
  const auto ref = [](const RefCall& c) {
    const Shape& shape = c.in[0].shape;
    const std::int64_t bins = c.attrs[attr::Bincount::size].as_int();
    const std::int64_t rows = shape.rank() == 2 ? shape.dim(0) : 1;
    HostTensor made{shape.rank() == 2 ? Shape{rows, bins} : Shape{bins},
                    std::vector<double>(static_cast<std::size_t>(rows * bins))};
    for (std::size_t i = 0; i < c.in[0].values.size(); ++i) {
      const auto value = static_cast<std::int64_t>(c.in[0].values[i]);
      if (value >= bins) continue;
      const std::int64_t row = static_cast<std::int64_t>(i) * rows / shape.num_elements();
      double& count = made.values[static_cast<std::size_t>(row * bins + value)];
      count += c.in.size() > 1 ? c.in[1].values[i] : 1;
      if (c.attrs[attr::Bincount::binary_output].as_bool()) count = 1;
    }
    return std::vector{made};
  };
  return {.name = name,
          .op = OpId::Bincount,
          .in = std::move(in),
          .attrs = {size, dtype, binary},
          .ref = ref,
          .dtypes = {dtype}};
}

void add_bincounts(std::vector<OpCase>& cases) {
  const Input numbers{{8}, 0, 0, kInt32, {3, 1, 3, 0, 9, 3, 1, 5}};
  const Input matrix{{2, 4}, 0, 0, kInt64, {3, 1, 3, 0, 9, 3, 1, 1}};
  for (const DType dtype : {DType::kInt32, DType::kInt64, DType::kFloat32, DType::kFloat64})
    cases.push_back(bincount("counts_" + std::string(dtype_name(dtype)), {numbers}, 6, dtype));
  for (const DType dtype : kNumberTypes)
    cases.push_back(
        bincount("weights_" + std::string(dtype_name(dtype)), {numbers, {{8}}}, 12, dtype));
  cases.push_back(bincount("rows", {matrix}, 10, DType::kInt32));
  cases.push_back(bincount("rows_with_weights", {matrix, {{2, 4}}}, 4, DType::kFloat32));
  cases.push_back(bincount("binary", {matrix}, 4, DType::kInt32, true));
  cases.push_back(bincount("no_numbers", {{{0}, 0, 0, kInt32}}, 3, DType::kInt32));
  cases.push_back(bincount("no_bins", {numbers}, 0, DType::kInt32));
  cases.push_back(bincount("large", {{{200000}, 0, 1200, kInt32}}, 1000, DType::kInt32));
}

}  // namespace

std::vector<OpCase> segment_cases() {
  std::vector<OpCase> cases;
  add_segments(cases, OpId::SegmentSum, sum_of);
  add_segments(cases, OpId::SegmentProd, prod_of);
  add_segments(cases, OpId::SegmentMax, max_of);
  add_segments(cases, OpId::SegmentMin, min_of);
  cases.push_back(scaled("mean", SegmentScale::kCount, false, kFloatTypes));
  cases.push_back(scaled("mean_sorted", SegmentScale::kCount, true, kNumberTypes));
  cases.push_back(scaled("sqrt_n", SegmentScale::kSqrtCount, false, kFloatTypes));
  cases.push_back(
      {.name = "zeros",  // two in the first segment, one in the second, none in the third
       .op = OpId::SegmentProd,
       .in = {{{9}, 0, 0, {}, {2, 0, 3, 0, 1, 0, 3, 2, 3}},
              {{9}, 0, 0, kInt32, {0, 0, 0, 0, 1, 1, 1, 2, 2}}},
       .attrs = {3, false},
       .ref = folded(prod_of)});
  add_bincounts(cases);
  return cases;
}

}  // namespace plimsoll::testing_ops
