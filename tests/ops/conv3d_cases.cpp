#include "ops/op_case.h"
#include "ops/windows.h"

namespace plimsoll::testing_ops {
namespace {

// Where a pixel stands in a batch of volumes.
std::size_t place(const ImageShape& s, DataFormat format, std::int64_t n, std::int64_t z,
                  std::int64_t y, std::int64_t x, std::int64_t c) {
  return static_cast<std::size_t>(format == DataFormat::kNhwc
                                      ? (((n * s.d + z) * s.h + y) * s.w + x) * s.c + c
                                      : (((n * s.c + c) * s.d + z) * s.h + y) * s.w + x);
}

// Where in the input an output's tap reads, or -1.
std::int64_t read_at(const WindowAxis& axis, std::int64_t out, std::int64_t tap) {
  const std::int64_t in = out * axis.stride - axis.pad_before + tap * axis.dilation;
  return in >= 0 && in < axis.in ? in : -1;
}

// Calls f(index in the image, in the filter, in the output) for every product.
template <class F>
void for_each_product(const ConvShape& s, F&& f) {
  const std::int64_t gi = s.group_in(), go = s.group_out();
  const ImageShape in = s.in_image(), out = s.out_image();
  for (std::int64_t o = 0; o < out.n * out.pixels() * s.out_c; ++o) {
    const std::int64_t oc = o % s.out_c, pixel = o / s.out_c % out.pixels();
    const std::int64_t n = o / s.out_c / out.pixels();
    const std::int64_t ox = pixel % out.w, oy = pixel / out.w % out.h, oz = pixel / out.w / out.h;
    for (std::int64_t tap = 0; tap < s.taps(); ++tap) {
      const std::int64_t kx = tap % s.w.size, ky = tap / s.w.size % s.h.size;
      const std::int64_t z = read_at(s.d, oz, tap / s.w.size / s.h.size);
      const std::int64_t y = read_at(s.h, oy, ky), x = read_at(s.w, ox, kx);
      if (z < 0 || y < 0 || x < 0) continue;
      for (std::int64_t i = 0; i < gi; ++i) {
        f(place(in, s.format, n, z, y, x, oc / go * gi + i),
          static_cast<std::size_t>((tap * gi + i) * s.out_c + oc),
          place(out, s.format, n, oz, oy, ox, oc));
      }
    }
  }
}

std::vector<HostTensor> reference(OpId op, const RefCall& c) {
  std::vector<TensorSpec> specs;
  for (const HostTensor& t : c.in) specs.push_back({t.dtype, t.shape});
  const ConvShape s = conv_shape(op, specs, c.attrs);
  const auto &a = c.in[0].values, &b = c.in[1].values;
  HostTensor out{op == OpId::Conv3D
                     ? s.out_image().shape(s.format)
                     : Shape(c.attrs[attr::Conv3DBackpropInput::input_sizes].as_ints()),
                 {}};
  out.values.resize(static_cast<std::size_t>(out.shape.num_elements()));
  for_each_product(s, [&](std::size_t i, std::size_t f, std::size_t o) {
    if (op == OpId::Conv3D) out.values[o] += a[i] * b[f];
    if (op == OpId::Conv3DBackpropInput) out.values[i] += a[f] * b[o];
    if (op == OpId::Conv3DBackpropFilter) out.values[f] += a[i] * b[o];
  });
  return {out};
}

struct Conv {
  std::string name;
  ImageShape image;  // n, h, w, c, d
  Shape filter;
  std::vector<std::int64_t> strides = {1, 1, 1};
  Padding padding = Padding::kValid;
  std::vector<std::int64_t> pads = {};
  std::vector<std::int64_t> dilations = {1, 1, 1};
  DataFormat format = DataFormat::kNhwc;
};

// A convolution and its two gradients.
void add_three(std::vector<OpCase>& cases, const Conv& c) {
  const Shape image = c.image.shape(c.format);
  const Attrs a{ints(c.strides), static_cast<std::int64_t>(c.padding), ints(c.pads),
                ints(c.dilations), static_cast<std::int64_t>(c.format)};
  const ConvShape s = conv_shape(image, c.filter, a, ConvKind::k3d);
  const Shape out = s.out_image().shape(s.format);
  const auto add = [&](OpId op, const Shape& first, const Shape& second, const Attrs& attrs) {
    cases.push_back({.name = c.name,
                     .op = op,
                     .in = {{first, -1, 1}, {second, -1, 1}},
                     .attrs = attrs,
                     .ref = [op](const RefCall& call) { return reference(op, call); },
                     .dtypes = kFloatTypes,
                     .tolerance = 8});
  };
  const auto with = [&](const Shape& sizes) {
    return Attrs{a[0], a[1], a[2], a[3], a[4], AttrValue(sizes)};
  };
  add(OpId::Conv3D, image, c.filter, a);
  add(OpId::Conv3DBackpropInput, c.filter, out, with(image));
  add(OpId::Conv3DBackpropFilter, image, out, with(c.filter));
}

}  // namespace

std::vector<OpCase> conv3d_cases() {
  using enum Padding;
  const auto nchw = DataFormat::kNchw;
  std::vector<OpCase> cases;
  const Conv convs[] = {
      {"valid", {2, 5, 4, 3, 4, true}, {2, 3, 2, 3, 4}},
      {"same", {2, 4, 5, 3, 3, true}, {3, 3, 3, 3, 2}, {1, 1, 1}, kSame},
      {"wide", {1, 5, 5, 16, 4, true}, {3, 3, 3, 16, 16}, {1, 1, 1}, kSame},
      {"strided", {1, 6, 7, 4, 5, true}, {3, 2, 3, 4, 5}, {2, 3, 2}, kSame},
      {"dilated", {1, 6, 5, 2, 7, true}, {3, 2, 2, 2, 3}, {1, 1, 1}, kSame, {}, {2, 3, 1}},
      {"explicit",
       {1, 4, 4, 2, 3, true},
       {2, 3, 3, 2, 3},
       {1, 2, 1},
       kExplicit,
       {1, 0, 0, 2, 1, 1}},
      {"one_by_one", {2, 3, 3, 5, 2, true}, {1, 1, 1, 5, 6}},
      {"groups", {1, 4, 4, 6, 3, true}, {2, 2, 2, 2, 9}, {1, 1, 1}, kSame},
      {"depth_of_one", {1, 5, 5, 3, 1, true}, {1, 3, 3, 3, 4}, {1, 1, 1}, kSame},
      // What has kernels of its own in two dimensions.
      {"many_channels", {1, 3, 3, 128, 2, true}, {1, 3, 3, 128, 128}, {1, 1, 1}, kSame},
      {"strided_wide", {1, 4, 4, 64, 2, true}, {1, 3, 3, 64, 64}, {1, 2, 2}, kSame},
      {"no_volumes", {0, 4, 4, 2, 3, true}, {2, 2, 2, 2, 3}},
      {"no_output", {1, 4, 4, 2, 1, true}, {2, 2, 2, 2, 3}},
      {"channels_first",
       {2, 4, 5, 3, 3, true},
       {2, 3, 3, 3, 4},
       {1, 2, 1},
       kSame,
       {},
       {1, 1, 1},
       nchw},
  };
  for (const Conv& c : convs) add_three(cases, c);
  return cases;
}

}  // namespace plimsoll::testing_ops
