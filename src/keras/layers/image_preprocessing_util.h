// What the layers that change images share.
#pragma once

#include <array>
#include <string_view>

#include "keras/layers/windows.h"
#include "plimsoll/keras/layers/image_preprocessing.h"

namespace plimsoll::keras {

// The members that all of them have come first.
template <class C>
void visit_image_config(ConfigVisitor& v, C& config) {
  v("data_format", config.data_format);
  v.optional("bounding_box_format", config.bounding_box_format, std::optional<std::string>());
}

// Makes the data format a name of Keras's. Returns whether channels are first.
inline bool standardize(std::string& data_format) {
  data_format = standardize_data_format(data_format);
  return is_channels_first(data_format);
}

// throws: InvalidArgumentError unless there is something to cut or resize to.
void check_image_size(std::int64_t height, std::int64_t width, const char* class_name);

using Bounds = std::array<double, 2>;
// Of a factor in [least, most], which then is written as the two bounds. throws:
// InvalidArgumentError.
Bounds base_factor_bounds(Factor& factor, int least, int most);

}  // namespace plimsoll::keras
