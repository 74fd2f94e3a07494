#include <cmath>
#include <numeric>

#include "ops/op_case.h"
#include "ops/random_stream.h"

namespace plimsoll::testing_ops {
namespace {

std::int64_t size_of(const RefCall& c) {
  return Shape(c.attrs[1].as_ints()).num_elements();
}
std::vector<HostTensor> made(const RefCall& c, std::vector<double> values) {
  return {HostTensor{Shape(c.attrs[1].as_ints()), std::move(values)}};
}

std::vector<HostTensor> uniform_ref(const RefCall& c) {
  const Stream s(c.in[0].values);
  const double lo = c.attrs[2].as_float(), hi = c.attrs[3].as_float();
  std::vector<double> out;
  for (std::int64_t i = 0; i < size_of(c); ++i) {
    out.push_back(lo +
                  (hi - lo) * uniform_at(s, c.attrs[0].as_dtype(), static_cast<std::uint64_t>(i)));
  }
  return made(c, out);
}
std::vector<HostTensor> uniform_int_ref(const RefCall& c) {
  const Stream s(c.in[0].values);
  const std::int64_t lo = c.attrs[2].as_int();
  const auto range = static_cast<std::uint64_t>(c.attrs[3].as_int() - lo);
  std::vector<double> out;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(size_of(c)); ++i) {
    std::uint64_t x = 0;
    if (c.attrs[0].as_dtype() == DType::kInt64) {
      const Four four = s.at(i / 2);
      x = four[i % 2 * 2] | std::uint64_t{four[i % 2 * 2 + 1]} << 32;
    } else {
      x = s.at(i / 4)[i % 4];
    }
    out.push_back(static_cast<double>(lo + static_cast<std::int64_t>(x % range)));
  }
  return made(c, out);
}
std::vector<HostTensor> normal_ref(const RefCall& c) {
  const Stream s(c.in[0].values);
  std::vector<double> out;
  for (std::uint64_t g = 0; static_cast<std::int64_t>(out.size()) < size_of(c); ++g) {
    for (const double x : normals(s.at(g), c.attrs[0].as_dtype()))
      out.push_back(c.attrs[2].as_float() + c.attrs[3].as_float() * x);
  }
  out.resize(static_cast<std::size_t>(size_of(c)));
  return made(c, out);
}
std::vector<HostTensor> truncated_ref(const RefCall& c) {
  const Stream s(c.in[0].values);
  const DType dtype = c.attrs[0].as_dtype();
  const std::size_t per_group = dtype == DType::kFloat64 ? 2 : 4;
  std::vector<double> out;
  for (std::uint64_t g = 0; static_cast<std::int64_t>(out.size()) < size_of(c); ++g) {
    std::vector<double> group;
    for (std::uint64_t i = g * per_group * 64; group.size() < per_group; ++i) {
      for (const double x : normals(s.at(i), dtype)) {
        if (std::abs(x) < 2 && group.size() < per_group) group.push_back(x);
      }
    }
    for (const double x : group) out.push_back(c.attrs[2].as_float() + c.attrs[3].as_float() * x);
  }
  out.resize(static_cast<std::size_t>(size_of(c)));
  return made(c, out);
}
std::vector<HostTensor> shuffle_ref(const RefCall& c) {
  const Stream s(c.in[1].values);
  const auto n = static_cast<std::size_t>(c.in[0].shape.dim(0));
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = 0; i + 1 < n; ++i)
    std::swap(order[i], order[i + s.at(i / 4)[i % 4] % (n - i)]);
  HostTensor out{c.in[0].shape, {}};
  const std::size_t row = n ? c.in[0].values.size() / n : 0;
  for (const std::size_t from : order) {
    for (std::size_t k = 0; k < row; ++k) out.values.push_back(c.in[0].values[from * row + k]);
  }
  return {out};
}
std::vector<HostTensor> dropout_ref(const RefCall& c) {
  const Stream s(c.in[1].values);
  const double rate = c.attrs[0].as_float();
  HostTensor out{c.in[0].shape, {}};
  for (std::size_t i = 0; i < c.in[0].values.size(); ++i) {
    const bool is_kept = uniform_at(s, c.in[0].dtype, i) >= rate;
    out.values.push_back(is_kept ? c.in[0].values[i] / (1 - rate) : 0);
  }
  return {out};
}

Input state(std::vector<double> values) {
  return {.shape = {static_cast<std::int64_t>(values.size())},
          .kind = Input::Kind::kInt64,
          .values = std::move(values)};
}

}  // namespace

std::vector<OpCase> random_cases() {
  std::vector<OpCase> cases;
  const struct {
    const char* name;
    Shape shape;
    std::vector<double> state;
  } places[] = {{"pair", {7}, {1, 2}},
                {"negative", {3, 5}, {123456789012, -5}},
                {"raw", {2, 700}, {77, 4294967290.0, 5}},
                {"none", {0, 2}, {1, 2}}};
  for (const auto& p : places) {
    for (const DType dtype : kFloatTypes) {
      const std::string name = std::string(p.name) + "_" + std::string(dtype_name(dtype));
      const auto add = [&](OpId op, double a, double b, auto ref, double tolerance) {
        cases.push_back({.name = name,
                         .op = op,
                         .in = {state(p.state)},
                         .attrs = {dtype, AttrValue(p.shape), a, b},
                         .ref = ref,
                         .dtypes = {dtype},
                         .tolerance = tolerance});
      };
      add(OpId::RandomUniform, -1, 3, uniform_ref, dtype == DType::kFloat32 ? 0.1 : 1);
      add(OpId::RandomNormal, 0.5, 2, normal_ref, 2);
      add(OpId::TruncatedNormal, -1, 1, truncated_ref, 2);
    }
    for (const DType dtype : {DType::kInt32, DType::kInt64}) {
      cases.push_back({.name = std::string(p.name) + "_" + std::string(dtype_name(dtype)),
                       .op = OpId::RandomUniformInt,
                       .in = {state(p.state)},
                       .attrs = {dtype, AttrValue(p.shape), -3, 1000},
                       .ref = uniform_int_ref,
                       .dtypes = {dtype}});
    }
    cases.push_back({.name = p.name,
                     .op = OpId::Dropout,
                     .in = {{p.shape}, state(p.state)},
                     .attrs = {0.25},
                     .ref = dropout_ref,
                     .dtypes = kFloatTypes});
    cases.push_back({.name = p.name,
                     .op = OpId::RandomShuffle,
                     .in = {{p.shape}, state(p.state)},
                     .ref = shuffle_ref,
                     .dtypes = kNumberTypes});
  }
  return cases;
}

}  // namespace plimsoll::testing_ops
