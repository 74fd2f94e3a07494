// Images: [batch, height, width, channels], or without the batch.
#pragma once

#include <array>
#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll::image {

// method: bilinear, nearest, bicubic, area, lanczos3, lanczos5, gaussian or mitchellcubic. The
// result is float32; of nearest, it has the type of the images.
// antialias: what shrinks is filtered; nearest and area do not look at it.
Tensor resize(const Tensor& images, std::array<std::int64_t, 2> size,
              std::string_view method = "bilinear", bool preserve_aspect_ratio = false,
              bool antialias = false);

}  // namespace plimsoll::image
