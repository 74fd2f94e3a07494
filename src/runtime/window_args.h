// The arguments of convolutions and pools as TensorFlow's functions take them, as attributes.
#pragma once

#include <string_view>

#include "ops/conv_shape.h"
#include "plimsoll/ops/conv.h"

namespace plimsoll {

DataFormat parse_data_format(std::string_view data_format);
// Height and width out of 1, 2 or 4 numbers; 4 must have ones for batch and channels.
AttrValue window_pair(const nn::WindowSizes& sizes, DataFormat format, std::string_view what);
// strides, padding, explicit_paddings, `last` (dilations or ksize), data_format.
Attrs window_attrs(const nn::WindowSizes& strides, const nn::PaddingArg& padding,
                   std::string_view data_format, const nn::WindowSizes& last,
                   std::string_view last_name);

}  // namespace plimsoll
