#include "ops/conv_shape.h"

#include "base/check.h"

namespace plimsoll {
namespace {

// Attributes stand at the same places in all ops of conv.def and pool.def.
static_assert(int{attr::Conv2D::padding} == int{attr::MaxPool2D::padding} &&
              int{attr::Conv2D::data_format} == int{attr::AvgPool2DGrad::data_format} &&
              int{attr::Conv2DBackpropInput::dilations} == int{attr::Conv2D::dilations});

// Rejects sizes with which the arithmetic below would overflow.
void check_small(std::int64_t value, std::string_view what, std::string_view name) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  PLIMSOLL_CHECK(value <= kMost, InvalidArgumentError, "{} must be at most 2^31, got {} [Op:{}]",
                 what, value, name);
}

// A direction of the window: its place and how many there are.
struct Direction {
  std::size_t i, count;
};

std::int64_t value_of(const AttrValue& value, Direction at, std::string_view what,
                      std::string_view name) {
  PLIMSOLL_CHECK(value.as_ints().size() == at.count, InvalidArgumentError,
                 "{} must be {}, got {} [Op:{}]", what,
                 at.count == 2 ? "a height and a width" : "a depth, a height and a width",
                 value.to_string(), name);
  const std::size_t i = at.i;
  check_small(value.as_ints()[i], what, name);
  return value.as_ints()[i];
}

Padding padding_of(const Attrs& attrs, std::size_t directions, std::string_view name) {
  const std::int64_t padding = attrs[attr::Conv2D::padding].as_int();
  PLIMSOLL_CHECK(padding >= 0 && padding <= 2, InvalidArgumentError,
                 "padding must be 0 (valid), 1 (same) or 2 (explicit), got {} [Op:{}]", padding,
                 name);
  const auto pads = attrs[attr::Conv2D::explicit_paddings].as_ints();
  const bool is_explicit = padding == static_cast<std::int64_t>(Padding::kExplicit);
  const std::size_t wanted = is_explicit ? 2 * directions : 0;
  PLIMSOLL_CHECK(pads.size() == wanted, InvalidArgumentError,
                 "explicit_paddings must have {} values, got {} [Op:{}]", wanted,
                 attrs[attr::Conv2D::explicit_paddings].to_string(), name);
  for (const std::int64_t pad : pads) {
    PLIMSOLL_CHECK(pad >= 0, InvalidArgumentError,
                   "All elements of explicit_paddings must be nonnegative, got {} [Op:{}]",
                   attrs[attr::Conv2D::explicit_paddings].to_string(), name);
    check_small(pad, "explicit_paddings", name);
  }
  return static_cast<Padding>(padding);
}

DataFormat format_of(const Attrs& attrs, std::string_view name) {
  const std::int64_t format = attrs[attr::Conv2D::data_format].as_int();
  PLIMSOLL_CHECK(format == 0 || format == 1, InvalidArgumentError,
                 "data_format must be 0 (NHWC) or 1 (NCHW), got {} [Op:{}]", format, name);
  return static_cast<DataFormat>(format);
}

// `axis`: in, size, stride and dilation are set.
void slide(WindowAxis& axis, const Attrs& attrs, Direction at, std::string_view name) {
  PLIMSOLL_CHECK(axis.stride > 0, InvalidArgumentError, "Stride must be > 0, but got {} [Op:{}]",
                 axis.stride, name);
  PLIMSOLL_CHECK(axis.dilation > 0, InvalidArgumentError,
                 "Dilated rates should be larger than 0, got {} [Op:{}]", axis.dilation, name);
  check_small(axis.size, "the window", name);
  check_small(axis.in, "the image", name);
  const std::int64_t reach = (axis.size - 1) * axis.dilation + 1;
  switch (padding_of(attrs, at.count, name)) {
    case Padding::kValid:
      axis.pad_before = axis.pad_after = 0;
      break;
    case Padding::kSame: {
      axis.out = (axis.in + axis.stride - 1) / axis.stride;
      const std::int64_t pad =
          std::max<std::int64_t>(0, (axis.out - 1) * axis.stride + reach - axis.in);
      axis.pad_before = pad / 2;
      axis.pad_after = pad - pad / 2;
      return;
    }
    case Padding::kExplicit: {
      const auto pads = attrs[attr::Conv2D::explicit_paddings].as_ints();
      axis.pad_before = pads[2 * at.i];
      axis.pad_after = pads[2 * at.i + 1];
      break;
    }
  }
  const std::int64_t room = axis.in + axis.pad_before + axis.pad_after - reach + axis.stride;
  PLIMSOLL_CHECK(room >= 0, InvalidArgumentError,
                 "Computed output size would be negative: {} [input_size: {}, "
                 "effective_filter_size: {}, stride: {}] [Op:{}]",
                 room / axis.stride - 1, axis.in + axis.pad_before + axis.pad_after, reach,
                 axis.stride, name);
  axis.out = room / axis.stride;
}

}  // namespace

Shape ImageShape::shape(DataFormat format) const {
  if (is_3d) return format == DataFormat::kNhwc ? Shape{n, d, h, w, c} : Shape{n, c, d, h, w};
  return format == DataFormat::kNhwc ? Shape{n, h, w, c} : Shape{n, c, h, w};
}

ImageShape image_shape(const Shape& s, DataFormat format) noexcept {
  const int first = format == DataFormat::kNhwc ? 1 : 2;  // of the directions
  const std::int64_t c = s[format == DataFormat::kNhwc ? s.rank() - 1 : 1];
  if (s.rank() == 5) return {s[0], s[first + 1], s[first + 2], c, s[first], true};
  return {s[0], s[first], s[first + 1], c};
}

ConvShape conv_shape(const Shape& input, const Shape& filter, const Attrs& attrs, ConvKind kind) {
  constexpr std::string_view kNames[] = {"Conv2D", "DepthwiseConv2dNative", "Conv3D"};
  const std::string_view name = kNames[static_cast<int>(kind)];
  const int rank = kind == ConvKind::k3d ? 5 : 4;
  PLIMSOLL_CHECK(input.rank() == rank, InvalidArgumentError,
                 "input must be {}-dimensional: {} [Op:{}]", rank, input.to_string(), name);
  PLIMSOLL_CHECK(filter.rank() == rank, InvalidArgumentError,
                 "filter must be {}-dimensional: {} [Op:{}]", rank, filter.to_string(), name);
  PLIMSOLL_CHECK(filter.num_elements() > 0, InvalidArgumentError,
                 "filter must not have zero elements (i.e. all dimensions must be non-zero): {} "
                 "[Op:{}]",
                 filter.to_string(), name);
  ConvShape s{};
  s.format = format_of(attrs, name);
  s.kind = kind;
  const ImageShape image = image_shape(input, s.format);
  s.n = image.n;
  s.in_c = image.c;
  const std::int64_t filter_in = filter[rank - 2], filter_out = filter[rank - 1];
  if (kind == ConvKind::kDepthwise) {
    PLIMSOLL_CHECK(image.c == filter_in, InvalidArgumentError,
                   "input and filter must have the same depth: {} vs {} [Op:{}]", image.c,
                   filter_in, name);
    s.groups = image.c;
    s.out_c = image.c * filter_out;
  } else {
    PLIMSOLL_CHECK(image.c > 0 && image.c % filter_in == 0, InvalidArgumentError,
                   "input depth must be evenly divisible by filter depth: {} vs {} [Op:{}]",
                   image.c, filter_in, name);
    s.groups = image.c / filter_in;
    s.out_c = filter_out;
    PLIMSOLL_CHECK(s.out_c % s.groups == 0, InvalidArgumentError,
                   "output depth must be evenly divisible by number of groups: {} vs {} [Op:{}]",
                   s.out_c, s.groups, name);
  }
  const auto count = static_cast<std::size_t>(rank - 2);
  const auto axis = [&](std::int64_t in, std::size_t i) {
    WindowAxis made{};
    made.in = in;
    made.size = filter[static_cast<int>(i)];
    made.stride = value_of(attrs[attr::Conv2D::strides], {i, count}, "strides", name);
    made.dilation = value_of(attrs[attr::Conv2D::dilations], {i, count}, "dilations", name);
    slide(made, attrs, {i, count}, name);
    return made;
  };
  s.d = kind == ConvKind::k3d ? axis(image.d, 0) : WindowAxis{1, 1, 1, 1, 1, 0, 0};
  s.h = axis(image.h, count - 2);
  s.w = axis(image.w, count - 1);
  return s;
}

ConvKind conv_kind(OpId op) noexcept {
  switch (op) {
    case OpId::DepthwiseConv2D:
    case OpId::DepthwiseConv2DBackpropInput:
    case OpId::DepthwiseConv2DBackpropFilter:
      return ConvKind::kDepthwise;
    case OpId::Conv3D:
    case OpId::Conv3DBackpropInput:
    case OpId::Conv3DBackpropFilter:
      return ConvKind::k3d;
    default:
      return ConvKind::kPlain;
  }
}

ConvShape conv_shape(OpId op, std::span<const TensorSpec> in, const Attrs& attrs) {
  const auto sizes = [&] { return Shape(attrs[attr::Conv2DBackpropInput::input_sizes].as_ints()); };
  switch (op) {
    case OpId::Conv2DBackpropInput:
    case OpId::DepthwiseConv2DBackpropInput:
    case OpId::Conv3DBackpropInput:
      return conv_shape(sizes(), in[0].shape, attrs, conv_kind(op));
    case OpId::Conv2DBackpropFilter:
    case OpId::DepthwiseConv2DBackpropFilter:
    case OpId::Conv3DBackpropFilter:
      return conv_shape(in[0].shape, sizes(), attrs, conv_kind(op));
    default:
      return conv_shape(in[0].shape, in[1].shape, attrs, conv_kind(op));
  }
}

PoolShape pool_shape(const Shape& input, const Attrs& attrs, std::string_view name) {
  PLIMSOLL_CHECK(input.rank() == 4, InvalidArgumentError, "Input must be 4-dimensional: {} [Op:{}]",
                 input.to_string(), name);
  PoolShape s{};
  s.format = format_of(attrs, name);
  const ImageShape image = image_shape(input, s.format);
  s.n = image.n;
  s.c = image.c;
  const auto axis = [&](std::int64_t in, std::size_t i) {
    WindowAxis made{};
    made.in = in;
    made.size = value_of(attrs[attr::MaxPool2D::ksize], {i, 2}, "ksize", name);
    PLIMSOLL_CHECK(
        made.size > 0, InvalidArgumentError,
        "Sliding window ksize must be positive. The specified or inferred ksize is: {} [Op:{}]",
        attrs[attr::MaxPool2D::ksize].to_string(), name);
    made.stride = value_of(attrs[attr::MaxPool2D::strides], {i, 2}, "strides", name);
    made.dilation = 1;
    slide(made, attrs, {i, 2}, name);
    // Otherwise some windows would see nothing but padding.
    PLIMSOLL_CHECK(made.in > 0 || made.out == 0, InvalidArgumentError,
                   "a window over an image without pixels: {} [Op:{}]", input.to_string(), name);
    PLIMSOLL_CHECK(made.pad_before < made.size && made.pad_after < made.size, InvalidArgumentError,
                   "Padding must be smaller than the window: {} and {} vs {} [Op:{}]",
                   made.pad_before, made.pad_after, made.size, name);
    return made;
  };
  s.h = axis(image.h, 0);
  s.w = axis(image.w, 1);
  return s;
}

}  // namespace plimsoll
