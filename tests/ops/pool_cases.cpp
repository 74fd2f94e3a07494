#include <limits>

#include "ops/op_case.h"
#include "ops/windows.h"

namespace plimsoll::testing_ops {
namespace {

// Calls f(index in the output, indices in the image that its window holds, in row-major order).
template <class F>
void for_each_window(const PoolShape& s, F&& f) {
  for (std::int64_t n = 0; n < s.n; ++n)
    for (std::int64_t oy = 0; oy < s.h.out; ++oy)
      for (std::int64_t ox = 0; ox < s.w.out; ++ox)
        for (std::int64_t c = 0; c < s.c; ++c) {
          std::vector<std::size_t> window;
          for (std::int64_t ky = 0; ky < s.h.size; ++ky)
            for (std::int64_t kx = 0; kx < s.w.size; ++kx) {
              const std::int64_t y = oy * s.h.stride - s.h.pad_before + ky;
              const std::int64_t x = ox * s.w.stride - s.w.pad_before + kx;
              if (y >= 0 && y < s.h.in && x >= 0 && x < s.w.in)
                window.push_back(at(s.in_image(), s.format, n, y, x, c));
            }
          f(at(s.out_image(), s.format, n, oy, ox, c), window);
        }
}

std::size_t place_of_max(const std::vector<double>& values,
                         const std::vector<std::size_t>& window) {
  std::size_t best = window[0];
  for (const std::size_t i : window) {
    if (values[i] > values[best]) best = i;
  }
  return best;
}

std::vector<HostTensor> reference(OpId op, const RefCall& c) {
  const Shape input = op == OpId::AvgPool2DGrad
                          ? Shape(c.attrs[attr::AvgPool2DGrad::input_sizes].as_ints())
                          : c.in[0].shape;
  const PoolShape s = pool_shape(input, c.attrs, "test");
  const bool to_input = op == OpId::MaxPool2DGrad || op == OpId::AvgPool2DGrad;
  HostTensor out{to_input ? input : s.out_image().shape(s.format), {}};
  out.values.resize(static_cast<std::size_t>(out.shape.num_elements()));
  for_each_window(s, [&](std::size_t o, const std::vector<std::size_t>& window) {
    const auto size = static_cast<double>(window.size());
    switch (op) {
      case OpId::MaxPool2D:
        out.values[o] = c.in[0].values[place_of_max(c.in[0].values, window)];
        break;
      case OpId::MaxPool2DGrad:
        out.values[place_of_max(c.in[0].values, window)] += c.in[1].values[o];
        break;
      case OpId::MaxPool2DGradGrad:
        out.values[o] = c.in[1].values[place_of_max(c.in[0].values, window)];
        break;
      case OpId::AvgPool2D:
        for (const std::size_t i : window) out.values[o] += c.in[0].values[i] / size;
        break;
      default:
        for (const std::size_t i : window) out.values[i] += c.in[0].values[o] / size;
    }
  });
  return {out};
}

struct Pool {
  std::string name;
  ImageShape image;
  std::vector<std::int64_t> ksize, strides;
  Padding padding = Padding::kValid;
  std::vector<std::int64_t> pads = {};
  DataFormat format = DataFormat::kNhwc;
};

// Both pools and their gradients.
void add_all(std::vector<OpCase>& cases, const Pool& p, const std::vector<double>& values) {
  const Shape image = p.image.shape(p.format);
  const Attrs a{ints(p.strides), static_cast<std::int64_t>(p.padding), ints(p.pads), ints(p.ksize),
                static_cast<std::int64_t>(p.format)};
  const PoolShape s = pool_shape(image, a, "test");
  const Shape out = s.out_image().shape(s.format);
  const auto add = [&](OpId op, std::vector<Input> in, const Attrs& attrs, bool is_max) {
    cases.push_back({.name = p.name,
                     .op = op,
                     .in = std::move(in),
                     .attrs = attrs,
                     .ref = [op](const RefCall& call) { return reference(op, call); },
                     .dtypes = is_max && values.empty() ? kNumberTypes : kFloatTypes,
                     .has_grad = values.empty(),  // none where values are equal
                     .tolerance = 4});
  };
  const Input picture{.shape = image, .lo = -20, .hi = 20, .values = values};
  const Input gradient{.shape = out, .lo = -4, .hi = 4};
  add(OpId::MaxPool2D, {picture}, a, true);
  add(OpId::MaxPool2DGrad, {picture, gradient}, a, true);
  add(OpId::MaxPool2DGradGrad, {picture, {.shape = image, .lo = -4, .hi = 4}}, a, true);
  add(OpId::AvgPool2D, {{.shape = image, .lo = -2, .hi = 2, .values = values}}, a, false);
  add(OpId::AvgPool2DGrad, {{.shape = out, .lo = -2, .hi = 2}},
      {a[0], a[1], a[2], a[3], a[4], AttrValue(image)}, false);
}

}  // namespace

std::vector<OpCase> pool_cases() {
  using enum Padding;
  const auto nchw = DataFormat::kNchw;
  std::vector<OpCase> cases;
  const Pool pools[] = {
      {"valid_2x2", {2, 6, 4, 3}, {2, 2}, {2, 2}},
      {"valid_leftover", {1, 7, 6, 2}, {2, 3}, {3, 2}},
      {"same_overlapping", {2, 5, 6, 3}, {3, 3}, {2, 2}, kSame},
      {"same_dense", {1, 5, 4, 2}, {3, 2}, {1, 1}, kSame},
      {"explicit", {1, 5, 5, 2}, {3, 3}, {2, 2}, kExplicit, {1, 0, 0, 2}},
      {"whole_image", {2, 3, 4, 5}, {3, 4}, {1, 1}},
      {"window_beyond_image", {1, 3, 3, 2}, {5, 5}, {5, 5}, kSame},
      {"stride_beyond_window", {1, 7, 7, 2}, {1, 2}, {3, 3}},
      {"many_channels", {1, 4, 4, 67}, {2, 2}, {2, 2}},
      {"no_images", {0, 4, 4, 3}, {2, 2}, {2, 2}},
      {"no_output", {1, 1, 4, 3}, {2, 2}, {2, 2}},
      {"channels_first", {2, 5, 6, 3}, {3, 2}, {2, 2}, kSame, {}, nchw},
  };
  for (const Pool& p : pools) add_all(cases, p, {});
  // Of equal values the first gets the gradient.
  add_all(cases, {"ties", {1, 4, 6, 2}, {2, 3}, {1, 1}}, {1, 1, 0, 1, 1, 1, 0, 0, 1});
  return cases;
}

}  // namespace plimsoll::testing_ops
