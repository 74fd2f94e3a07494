#include <fmt/format.h>

#include "ops/op_case.h"
#include "ops/windows.h"

namespace plimsoll::testing_ops {
namespace {

// Calls f(index in the image, in the filter, in the output) for every product of a convolution.
template <class F>
void for_each_product(const ConvShape& s, F&& f) {
  const std::int64_t gi = s.group_in(), go = s.group_out();
  for (std::int64_t n = 0; n < s.n; ++n)
    for (std::int64_t oy = 0; oy < s.h.out; ++oy)
      for (std::int64_t ox = 0; ox < s.w.out; ++ox)
        for (std::int64_t oc = 0; oc < s.out_c; ++oc)
          for (std::int64_t ky = 0; ky < s.h.size; ++ky)
            for (std::int64_t kx = 0; kx < s.w.size; ++kx)
              for (std::int64_t i = 0; i < gi; ++i) {
                const std::int64_t iy = oy * s.h.stride - s.h.pad_before + ky * s.h.dilation;
                const std::int64_t ix = ox * s.w.stride - s.w.pad_before + kx * s.w.dilation;
                if (iy < 0 || iy >= s.h.in || ix < 0 || ix >= s.w.in) continue;
                f(at(s.in_image(), s.format, n, iy, ix, oc / go * gi + i),
                  static_cast<std::size_t>(((ky * s.w.size + kx) * gi + i) * s.out_c + oc),
                  at(s.out_image(), s.format, n, oy, ox, oc));
              }
}

HostTensor zeros_of(const Shape& shape) {
  return {shape, std::vector<double>(static_cast<std::size_t>(shape.num_elements()))};
}

std::vector<TensorSpec> call_specs(const RefCall& c) {
  std::vector<TensorSpec> specs;
  for (const HostTensor& t : c.in) specs.push_back({t.dtype, t.shape});
  return specs;
}

std::vector<HostTensor> reference(OpId op, const RefCall& c) {
  const ConvShape s = conv_shape(op, call_specs(c), c.attrs);
  const auto &a = c.in[0].values, &b = c.in[1].values;
  switch (op) {
    case OpId::Conv2D:
    case OpId::DepthwiseConv2D: {
      HostTensor out = zeros_of(s.out_image().shape(s.format));
      for_each_product(s, [&](auto i, auto f, auto o) { out.values[o] += a[i] * b[f]; });
      return {out};
    }
    case OpId::Conv2DBackpropInput:
    case OpId::DepthwiseConv2DBackpropInput: {
      HostTensor out = zeros_of(s.in_image().shape(s.format));
      for_each_product(s, [&](auto i, auto f, auto o) { out.values[i] += a[f] * b[o]; });
      return {out};
    }
    default: {
      HostTensor out = zeros_of(Shape(c.attrs[attr::Conv2DBackpropFilter::filter_sizes].as_ints()));
      for_each_product(s, [&](auto i, auto f, auto o) { out.values[f] += a[i] * b[o]; });
      return {out};
    }
  }
}

struct Conv {
  std::string name;
  ImageShape image;
  Shape filter;
  std::vector<std::int64_t> strides = {1, 1};
  Padding padding = Padding::kValid;
  std::vector<std::int64_t> pads = {};
  std::vector<std::int64_t> dilations = {1, 1};
  DataFormat format = DataFormat::kNhwc;
};

std::vector<HostTensor> reference_with_bias(const RefCall& call) {
  auto made = reference(OpId::Conv2D, call);
  const ConvShape s = conv_shape(OpId::Conv2D, call_specs(call), call.attrs);
  const ImageShape out = s.out_image();
  for (std::size_t i = 0; i < made[0].values.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const std::int64_t channel =
        s.format == DataFormat::kNhwc ? at % out.c : at / (out.h * out.w) % out.c;
    double& y = made[0].values[i];
    y = activated(call.attrs[attr::Conv2DBias::activation],
                  y + call.in[2].values[static_cast<std::size_t>(channel)]);
  }
  return made;
}

// A convolution and its two gradients.
void add_three(std::vector<OpCase>& cases, const Conv& c, bool is_depthwise) {
  const Shape image = c.image.shape(c.format);
  const Attrs a{ints(c.strides), static_cast<std::int64_t>(c.padding), ints(c.pads),
                ints(c.dilations), static_cast<std::int64_t>(c.format)};
  const ConvShape s =
      conv_shape(image, c.filter, a, is_depthwise ? ConvKind::kDepthwise : ConvKind::kPlain);
  const Shape out = s.out_image().shape(s.format);
  const double tolerance = s.in_c < 128 ? 8 : 32;  // of long sums
  const auto add = [&](OpId op, const Shape& first, const Shape& second, const Attrs& attrs) {
    cases.push_back({.name = c.name,
                     .op = op,
                     .in = {{first, -1, 1}, {second, -1, 1}},
                     .attrs = attrs,
                     .ref = [op](const RefCall& call) { return reference(op, call); },
                     .dtypes = kFloatTypes,
                     .tolerance = tolerance});
  };
  const auto with = [&](const Shape& sizes) {
    return Attrs{a[0], a[1], a[2], a[3], a[4], AttrValue(sizes)};
  };
  add(is_depthwise ? OpId::DepthwiseConv2D : OpId::Conv2D, image, c.filter, a);
  if (!is_depthwise) {
    for (const int activation : {0, 1, 2}) {
      cases.push_back({.name = fmt::format("{}_{}", c.name, activation),
                       .op = OpId::Conv2DBias,
                       .in = {{image, -1, 1}, {c.filter, -1, 1}, {{s.out_c}, -2, 4}},
                       .attrs = {a[0], a[1], a[2], a[3], a[4], activation},
                       .ref = reference_with_bias,
                       .tolerance = tolerance});
    }
  }
  add(is_depthwise ? OpId::DepthwiseConv2DBackpropInput : OpId::Conv2DBackpropInput, c.filter, out,
      with(image));
  add(is_depthwise ? OpId::DepthwiseConv2DBackpropFilter : OpId::Conv2DBackpropFilter, image, out,
      with(c.filter));
}

}  // namespace

std::vector<OpCase> conv_cases() {
  using enum Padding;
  const auto nchw = DataFormat::kNchw;
  std::vector<OpCase> cases;
  const Conv plain[] = {
      {"valid_3x3", {2, 5, 6, 3}, {3, 3, 3, 4}},
      {"same_3x3", {2, 5, 6, 3}, {3, 3, 3, 4}, {1, 1}, kSame},
      {"wide", {1, 7, 7, 16}, {3, 3, 16, 32}, {1, 1}, kSame},
      {"one_by_one", {2, 4, 5, 8}, {1, 1, 8, 6}},
      {"one_by_one_strided", {1, 5, 5, 16}, {1, 1, 16, 16}, {2, 2}, kSame},
      {"strided_same", {1, 8, 7, 4}, {3, 3, 4, 5}, {2, 2}, kSame},
      {"strided_wide", {2, 6, 5, 64}, {3, 3, 64, 64}, {2, 2}, kSame},
      {"winograd_same", {1, 3, 4, 128}, {3, 3, 128, 130}, {1, 1}, kSame},
      {"winograd_explicit", {1, 2, 3, 130}, {3, 3, 130, 128}, {1, 1}, kExplicit, {2, 0, 1, 2}},
      {"winograd_lanes", {3, 11, 20, 64}, {3, 3, 64, 66}, {1, 1}, kSame},
      {"one_by_one_strided_wide", {2, 5, 5, 64}, {1, 1, 64, 72}, {2, 2}},
      {"strided_valid_leftover", {1, 8, 9, 4}, {3, 2, 4, 5}, {2, 3}},
      {"even_window", {1, 6, 6, 2}, {2, 4, 2, 3}, {1, 1}, kSame},
      {"dilated", {1, 9, 8, 4}, {3, 3, 4, 4}, {1, 1}, kSame, {}, {2, 3}},
      {"explicit", {1, 5, 5, 3}, {3, 3, 3, 2}, {1, 2}, kExplicit, {0, 2, 1, 0}},
      {"padding_beyond_window", {1, 3, 3, 2}, {1, 2, 2, 2}, {1, 1}, kExplicit, {2, 2, 3, 0}},
      {"groups", {2, 5, 5, 6}, {3, 3, 2, 9}, {1, 1}, kSame},
      {"groups_of_16", {1, 4, 4, 32}, {3, 3, 16, 32}, {1, 1}, kSame},
      {"first_layer", {1, 11, 11, 3}, {7, 7, 3, 16}, {2, 2}, kSame},
      {"window_of_image", {2, 4, 4, 3}, {4, 4, 3, 5}},
      {"few_channels", {2, 11, 13, 1}, {3, 3, 1, 6}, {1, 1}, kSame},
      {"long_window", {1, 1, 160, 5}, {1, 40, 5, 4}},
      {"stride_beyond_window", {1, 9, 9, 2}, {2, 2, 2, 2}, {4, 4}, kSame},
      {"no_images", {0, 5, 5, 3}, {3, 3, 3, 4}},
      {"no_output", {1, 2, 5, 3}, {3, 3, 3, 4}},
      {"channels_first", {2, 5, 6, 3}, {3, 3, 3, 4}, {2, 1}, kSame, {}, {1, 1}, nchw},
      {"channels_first_groups", {3, 4, 4, 4}, {2, 2, 2, 6}, {1, 1}, kValid, {}, {1, 1}, nchw},
  };
  for (const Conv& c : plain) add_three(cases, c, false);
  const Conv depthwise[] = {
      {"same_3x3", {2, 5, 6, 4}, {3, 3, 4, 1}, {1, 1}, kSame},
      {"valid_16", {1, 6, 5, 16}, {3, 3, 16, 1}},
      {"strided", {2, 7, 7, 8}, {3, 3, 8, 1}, {2, 2}, kSame},
      {"multiplier", {2, 5, 5, 3}, {3, 2, 3, 2}, {1, 1}, kSame},
      {"dilated", {1, 8, 8, 5}, {3, 3, 5, 1}, {1, 1}, kSame, {}, {2, 2}},
      {"explicit", {1, 4, 5, 3}, {3, 3, 3, 2}, {2, 1}, kExplicit, {1, 0, 0, 2}},
      {"one_channel", {1, 5, 5, 1}, {3, 3, 1, 3}, {1, 1}, kSame},
      {"no_images", {0, 5, 5, 3}, {3, 3, 3, 1}},
      {"channels_first", {2, 5, 4, 6}, {3, 3, 6, 1}, {1, 2}, kSame, {}, {1, 1}, nchw},
  };
  for (const Conv& c : depthwise) add_three(cases, c, true);
  return cases;
}

}  // namespace plimsoll::testing_ops
