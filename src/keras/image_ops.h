// Images moved, turned and cut: [batch, height, width, channels] everywhere. All of them are made
// of ops, and so have gradients and can be traced.
#pragma once

#include <array>
#include <string>

#include "plimsoll/tensor.h"

namespace plimsoll::keras {

// Where the pixel at x, y of a result comes from: (a0 x + a1 y + a2, b0 x + b1 y + b2). Each is
// float32 [batch, 1].
struct Affine {
  Tensor a0, a1, a2, b0, b1, b2;
};

struct AffineOptions {
  std::string interpolation = "bilinear";  // nearest
  std::string fill_mode = "constant";      // reflect, wrap, nearest: what is outside an image
  double fill_value = 0;                   // for constant
};

// As keras.ops.image.affine_transform computes it. throws: InvalidArgumentError for other names.
// memory: four times the images while it computes, twice with nearest.
Tensor affine_transform(const Tensor& images, const Affine& transform,
                        const AffineOptions& options);

// As keras.ops.image.resize: distorted, or cut or padded to the new proportions first.
struct ResizeOptions {
  std::string interpolation = "bilinear";  // nearest, bicubic, lanczos3, lanczos5
  bool antialias = false;
  bool crop_to_aspect_ratio = false, pad_to_aspect_ratio = false;
  double fill_value = 0;  // of what is padded
};
Tensor resize_images(const Tensor& images, std::array<std::int64_t, 2> size,
                     const ResizeOptions& options = {});
// The largest window in the middle with the proportions of `size`, resized to it.
Tensor smart_resize(const Tensor& images, std::array<std::int64_t, 2> size);

// To another type; what is outside its range becomes its smallest or largest number.
Tensor saturate_cast(const Tensor& x, DType dtype);

}  // namespace plimsoll::keras
