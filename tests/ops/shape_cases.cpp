#include "ops/op_case.h"

namespace plimsoll::testing_ops {
namespace {

using Ints = std::vector<std::int64_t>;

AttrValue ints(const Ints& values) {
  return AttrValue(std::span<const std::int64_t>(values));
}

// The reference: out[at] = in[from(at)], with `outside` where from() has a negative position.
using From = std::function<Ints(const Ints&)>;

Ints position(const Shape& shape, std::int64_t index) {
  Ints at(static_cast<std::size_t>(shape.rank()));
  for (int i = shape.rank() - 1; i >= 0; --i) {
    at[static_cast<std::size_t>(i)] = index % shape.dim(i);
    index /= shape.dim(i);
  }
  return at;
}

auto moved(Shape out, From from, double outside = 0) {
  return [out, from, outside](const RefCall& c) {
    const HostTensor& in = c.in[0];
    HostTensor made{out, {}};
    for (std::int64_t i = 0; i < out.num_elements(); ++i) {
      std::int64_t offset = 0;
      bool is_inside = true;
      const Ints at = from(position(out, i));
      for (std::size_t k = 0; k < at.size(); ++k) {
        is_inside &= at[k] >= 0 && at[k] < in.shape.dim(static_cast<int>(k));
        offset = offset * in.shape.dim(static_cast<int>(k)) + at[k];
      }
      made.values.push_back(is_inside ? in.values[static_cast<std::size_t>(offset)] : outside);
    }
    return std::vector{made};
  };
}

// The position along each dimension through a function of (position, dimension).
From each(std::function<std::int64_t(std::int64_t, std::size_t)> f) {
  return [f](const Ints& at) {
    Ints from = at;
    for (std::size_t i = 0; i < at.size(); ++i) from[i] = f(at[i], i);
    return from;
  };
}

OpCase transpose_case(const std::string& name, const Shape& in, const Ints& perm,
                      std::vector<DType> dtypes = kFloatTypes) {
  Ints dims;
  for (const std::int64_t axis : perm) dims.push_back(in.dim(static_cast<int>(axis)));
  const From from = [perm](const Ints& at) {
    Ints there(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) there[static_cast<std::size_t>(perm[i])] = at[i];
    return there;
  };
  return {.name = name,
          .op = OpId::Transpose,
          .in = {{in}},
          .attrs = {ints(perm)},
          .ref = moved(Shape(std::span<const std::int64_t>(dims)), from),
          .dtypes = std::move(dtypes)};
}

void add_copies(std::vector<OpCase>& cases) {
  const auto same = [](const RefCall& c) { return c.map1([](double x) { return x; }); };
  cases.push_back({.name = "plain",
                   .op = OpId::Reshape,
                   .in = {{{2, 3}}},
                   .attrs = {Shape{3, 2}},
                   .ref =
                       [](const RefCall& c) {
                         return std::vector{HostTensor{{3, 2}, c.in[0].values}};
                       },
                   .dtypes = kNumberTypes});
  cases.push_back({.name = "rows",
                   .op = OpId::BroadcastTo,
                   .in = {{{3}}},
                   .attrs = {Shape{2, 3}},
                   .ref = moved({2, 3}, [](const Ints& at) { return Ints{at[1]}; }),
                   .dtypes = kNumberTypes});
  cases.push_back({.name = "columns",
                   .op = OpId::BroadcastTo,
                   .in = {{{2, 1}}},
                   .attrs = {Shape{2, 3}},
                   .ref = moved({2, 3}, [](const Ints& at) {
                     return Ints{at[0], 0};
                   })});
  cases.push_back({.name = "middle",
                   .op = OpId::BroadcastTo,
                   .in = {{{2, 1, 3, 1}}},
                   .attrs = {Shape{4, 2, 5, 3, 2}},
                   .ref = moved({4, 2, 5, 3, 2}, [](const Ints& at) {
                     return Ints{at[1], 0, at[3], 0};
                   })});
  cases.push_back(transpose_case("matrix", {2, 3}, {1, 0}, kNumberTypes));
  cases.push_back(transpose_case("tiles", {37, 21}, {1, 0}));
  cases.push_back(transpose_case("batch_of_matrices", {3, 17, 6}, {0, 2, 1}));
  cases.push_back(transpose_case("to_channels_first", {2, 5, 4, 6}, {0, 3, 1, 2}));
  cases.push_back(transpose_case("outer_two", {3, 4, 5}, {1, 0, 2}));
  cases.push_back(transpose_case("nothing_moves", {3, 4}, {0, 1}));
  cases.push_back(transpose_case("eight", {1, 2, 1, 3, 2, 1, 2, 2}, {7, 0, 3, 5, 2, 6, 1, 4}));
  cases.push_back(transpose_case("empty", {0, 3}, {1, 0}));
  cases.push_back(
      {.name = "scalar", .op = OpId::Transpose, .in = {{{}}}, .attrs = {ints({})}, .ref = same});
  cases.push_back({.name = "both",
                   .op = OpId::Tile,
                   .in = {{{2, 3}}},
                   .attrs = {ints({2, 3})},
                   .ref = moved({4, 9}, each([](auto x, auto i) { return x % (i ? 3 : 2); })),
                   .dtypes = kNumberTypes});
  cases.push_back(
      {.name = "last",
       .op = OpId::Tile,
       .in = {{{2, 1, 3}}},
       .attrs = {ints({1, 1, 4})},
       .ref = moved({2, 1, 12}, each([](auto x, auto i) { return i == 2 ? x % 3 : x; }))});
  cases.push_back({.name = "none",
                   .op = OpId::Tile,
                   .in = {{{2, 3}}},
                   .attrs = {ints({0, 2})},
                   .ref = moved({0, 6}, each([](auto x, auto) { return x; }))});
  cases.push_back({.name = "both",
                   .op = OpId::Reverse,
                   .in = {{{3, 5}}},
                   .attrs = {ints({0, -1})},
                   .ref = moved({3, 5}, each([](auto x, auto i) { return (i ? 4 : 2) - x; })),
                   .dtypes = kNumberTypes});
  cases.push_back(
      {.name = "middle",
       .op = OpId::Reverse,
       .in = {{{2, 4, 3}}},
       .attrs = {ints({1})},
       .ref = moved({2, 4, 3}, each([](auto x, auto i) { return i == 1 ? 3 - x : x; }))});
  cases.push_back(
      {.name = "both",
       .op = OpId::Roll,
       .in = {{{3, 5}}},
       .attrs = {ints({1, -7})},
       .ref = moved({3, 5}, each([](auto x, auto i) { return i ? (x + 7) % 5 : (x + 2) % 3; })),
       .dtypes = kNumberTypes});
  cases.push_back(
      {.name = "empty", .op = OpId::Roll, .in = {{{0, 5}}}, .attrs = {ints({1, 2})}, .ref = same});
}

void add_slices(std::vector<OpCase>& cases) {
  cases.push_back({.name = "plain",
                   .op = OpId::StridedSlice,
                   .in = {{{4, 5}}},
                   .attrs = {ints({1, 2}), ints({2, 3}), ints({1, 1})},
                   .ref = moved({2, 3}, each([](auto x, auto i) { return x + (i ? 2 : 1); })),
                   .dtypes = kNumberTypes});
  cases.push_back({.name = "steps_back",
                   .op = OpId::StridedSlice,
                   .in = {{{4, 5, 2}}},
                   .attrs = {ints({3, 0, 0}), ints({2, 3, 2}), ints({-2, 2, 1})},
                   .ref = moved({2, 3, 2}, each([](auto x, auto i) {
                                  return i == 0 ? 3 - 2 * x : i == 1 ? 2 * x : x;
                                }))});
  cases.push_back({.name = "nothing",
                   .op = OpId::StridedSlice,
                   .in = {{{4, 5}}},
                   .attrs = {ints({0, 2}), ints({0, 3}), ints({1, 1})},
                   .ref = moved({0, 3}, each([](auto x, auto) { return x; }))});
  cases.push_back({.name = "steps",
                   .op = OpId::StridedSliceGrad,
                   .in = {{{2, 3}}},
                   .attrs = {Shape{4, 7}, ints({3, 1}), ints({-2, 2})},
                   .ref = moved({4, 7}, each([](auto x, auto i) {
                                  if (i == 0) return x % 2 == 1 ? (3 - x) / 2 : std::int64_t{-1};
                                  return x % 2 == 1 ? (x - 1) / 2 : std::int64_t{-1};
                                })),
                   .dtypes = kFloatTypes});
  cases.push_back({.name = "zeros",
                   .op = OpId::Pad,
                   .in = {{{2, 3}}},
                   .attrs = {ints({1, 0}), ints({0, 2}), 0.0},
                   .ref = moved({3, 5}, each([](auto x, auto i) { return i ? x : x - 1; })),
                   .dtypes = kNumberTypes});
  cases.push_back({.name = "fives",
                   .op = OpId::Pad,
                   .in = {{{2, 1, 3}}},
                   .attrs = {ints({0, 2, 1}), ints({1, 0, 1}), 5.0},
                   .ref = moved({3, 3, 5}, each([](auto x, auto i) {
                                  return x - (i == 0 ? 0 : i == 1 ? 2 : 1);
                                }),
                                5)});
  cases.push_back({.name = "empty",
                   .op = OpId::Pad,
                   .in = {{{0, 2}}},
                   .attrs = {ints({1, 0}), ints({0, 0}), 2.0},
                   .ref = moved({1, 2}, each([](auto, auto) { return -1; }), 2)});
  const auto mirror = [](std::int64_t x, std::int64_t n, std::int64_t skip) {
    if (x < 0) return -1 - x + skip;
    return x >= n ? 2 * n - 1 - skip - x : x;
  };
  const auto mirrored = [&](std::int64_t skip) {
    return moved({5, 8}, each([mirror, skip](auto x, auto i) {
                   return i ? mirror(x - 3, 4, skip) : mirror(x - 1, 3, skip);
                 }));
  };
  cases.push_back({.name = "symmetric",
                   .op = OpId::MirrorPad,
                   .in = {{{3, 4}}},
                   .attrs = {ints({1, 3}), ints({1, 1}), true},
                   .ref = mirrored(0),
                   .dtypes = kNumberTypes});
  cases.push_back({.name = "reflect",
                   .op = OpId::MirrorPad,
                   .in = {{{3, 4}}},
                   .attrs = {ints({1, 3}), ints({1, 1}), false},
                   .ref = mirrored(1)});
  cases.push_back({.name = "reflect",
                   .op = OpId::MirrorPadGrad,
                   .in = {{{8}}},
                   .attrs = {ints({3}), ints({1}), false},
                   .ref =
                       [](const RefCall& c) {
                         const auto& d = c.in[0].values;
                         return std::vector{
                             HostTensor{{4}, {d[3], d[2] + d[4], d[1] + d[5] + d[7], d[0] + d[6]}}};
                       },
                   .dtypes = kFloatTypes});
}

void add_joins(std::vector<OpCase>& cases) {
  const auto joined = [](int rows_a, int rows_b) {
    return [=](const RefCall& c) {  // [2, a, 3] and [2, b, 3]
      HostTensor made{{2, rows_a + rows_b, 3}, {}};
      for (int i = 0; i < 2; ++i) {
        for (int part = 0; part < 2; ++part) {
          const int n = (part ? rows_b : rows_a) * 3;
          const auto& from = c.in[static_cast<std::size_t>(part)].values;
          made.values.insert(made.values.end(), from.begin() + i * n, from.begin() + (i + 1) * n);
        }
      }
      return std::vector{made};
    };
  };
  cases.push_back({.name = "middle",
                   .op = OpId::Concat,
                   .in = {{{2, 1, 3}}, {{2, 4, 3}}},
                   .attrs = {-2},
                   .ref = joined(1, 4),
                   .dtypes = kNumberTypes});
  cases.push_back({.name = "with_nothing",
                   .op = OpId::Concat,
                   .in = {{{2, 0, 3}}, {{2, 2, 3}}},
                   .attrs = {1},
                   .ref = joined(0, 2)});
  const auto parted = [](Ints sizes) {
    return [sizes](const RefCall& c) {  // of [2, n]
      std::vector<HostTensor> parts;
      std::int64_t at = 0;
      for (const std::int64_t size : sizes) {
        HostTensor part{{2, size}, {}};
        for (int i = 0; i < 2; ++i) {
          const auto from = c.in[0].values.begin() + i * c.in[0].shape.dim(1) + at;
          part.values.insert(part.values.end(), from, from + size);
        }
        parts.push_back(part);
        at += size;
      }
      return parts;
    };
  };
  cases.push_back({.name = "equal",
                   .op = OpId::Split,
                   .in = {{{2, 6}}},
                   .attrs = {-1, 3, ints({})},
                   .ref = parted({2, 2, 2}),
                   .dtypes = kNumberTypes});
  cases.push_back({.name = "sizes",
                   .op = OpId::Split,
                   .in = {{{2, 6}}},
                   .attrs = {1, 3, ints({1, 0, 5})},
                   .ref = parted({1, 0, 5})});
  cases.push_back({.name = "many",
                   .op = OpId::Split,
                   .in = {{{2, 9}}},
                   .attrs = {1, 9, ints({})},
                   .ref = parted(Ints(9, 1))});
}

}  // namespace

std::vector<OpCase> shape_cases() {
  std::vector<OpCase> cases;
  add_copies(cases);
  add_slices(cases);
  add_joins(cases);
  return cases;
}

}  // namespace plimsoll::testing_ops
