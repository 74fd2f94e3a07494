// Images in files: PNG, JPEG, GIF and BMP.
//
//   tf::Tensor image = tf::io::decode_jpeg(tf::io::read_file("cat.jpg"), {.channels = 3});
//   tf::Tensor png = tf::io::encode_png(image);
//
// memory: the pixels (tag dataset), reserved once the header has said how many there are, and what
// the libraries work with (tag io) while they do.
// throws, all of them: InvalidArgumentError for files that are damaged, cut off or of another kind;
// ResourceExhaustedError.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll::io {

// Of shape [height, width, channels]. channels: 0 as the file has it, 1 grey, 3 RGB; of PNG 2 and 4
// too, with alpha. dtype: uint8, or uint16 up to 65535, whatever the file has.
Tensor decode_png(std::string_view bytes, int channels = 0, DType dtype = uint8);

struct JpegOptions {
  int channels = 0;
  int ratio = 1;  // 1, 2, 4 or 8: how many times smaller
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  // Of the rows: a file that is cut off after as many is read, with zeros for the others.
  float acceptable_fraction = 1;
  std::string dct_method = {};  // "INTEGER_FAST", "INTEGER_ACCURATE"; none: fast
};
Tensor decode_jpeg(std::string_view bytes, const JpegOptions& options = {});
Tensor jpeg_shape(std::string_view bytes);  // int32: height, width, channels

// channels: 0 as the file has it, 3 or 4.
Tensor decode_bmp(std::string_view bytes, int channels = 0);
Tensor decode_gif(std::string_view bytes);  // [frames, height, width, 3]
// Whichever it is. Of a GIF all frames, or the first one alone. As uint16 a file of bytes that is
// no PNG has multiples of 256, as in TensorFlow.
Tensor decode_image(std::string_view bytes, int channels = 0, bool expand_animations = true,
                    DType dtype = uint8);

// image: uint8, of PNG uint16 too, [height, width, channels]. A scalar of type string.
Tensor encode_png(const Tensor& image, int compression = -1);
struct EncodeJpegOptions {
  int quality = 95;
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  std::string format = {};          // "grayscale", "rgb"; none: what the image is
  std::string density_unit = "in";  // or "cm"
  int x_density = 300;              // pixels a unit, of which the file has 16 bits
  int y_density = 300;
  std::string xmp_metadata = {};
};
Tensor encode_jpeg(const Tensor& image, const EncodeJpegOptions& options = {});

}  // namespace plimsoll::io
