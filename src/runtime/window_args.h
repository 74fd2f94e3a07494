// The arguments of convolutions and pools as TensorFlow's functions take them, as attributes.
#pragma once

#include <string_view>

#include "ops/conv_shape.h"
#include "plimsoll/ops/conv.h"

namespace plimsoll {

// How many directions a window slides in: one, two or three.
enum class Directions : int { k1 = 1, k2, k3 };

// NWC or NCW, NHWC or NCHW, NDHWC or NCDHW.
DataFormat parse_data_format(std::string_view data_format, Directions directions);
// strides, padding, explicit_paddings, `last` (dilations or ksize), data_format. Images of one
// direction are images of height 1.
Attrs window_attrs(const nn::WindowSizes& strides, const nn::PaddingArg& padding,
                   std::string_view data_format, const nn::WindowSizes& last,
                   std::string_view last_name, Directions directions = Directions::k2);

// [batch, width, channels] or [batch, channels, width] as images of height 1, and back. views.
Tensor as_image(const Tensor& t, std::string_view data_format, std::string_view what);
Tensor from_image(const Tensor& t, std::string_view data_format);

}  // namespace plimsoll
