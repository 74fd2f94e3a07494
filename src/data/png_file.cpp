// PNG, by libpng. It reports errors by longjmp: functions in between hold nothing that has to be
// destroyed.
#include <png.h>

#include <bit>
#include <cstring>

#include "data/library_memory.h"
#include "data/pixels.h"
#include "plimsoll/data/image_files.h"
#include "plimsoll/ops.h"

namespace plimsoll::io {
namespace {

struct Source {
  const char* at = nullptr;
  std::size_t left = 0;
};
struct Message {
  char text[128] = "";
};

void on_error(png_structp png, png_const_charp text) {
  std::strncpy(static_cast<Message*>(png_get_error_ptr(png))->text, text, sizeof(Message) - 1);
  png_longjmp(png, 1);
}
void on_warning(png_structp, png_const_charp) {}
void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->left) png_error(png, "the file is cut off");
  std::memcpy(to, source->at, count);
  source->at += count;
  source->left -= count;
}
void append_bytes(png_structp png, png_bytep from, std::size_t count) {
  if (!static_cast<OutputBytes*>(png_get_io_ptr(png))->try_append(from, count))
    png_error(png, "no memory for the file");
}
void flush_bytes(png_structp) {}

void* allocate(png_structp png, png_alloc_size_t nbytes) {
  return static_cast<LibraryMemory*>(png_get_mem_ptr(png))->try_allocate(nbytes);
}
void release(png_structp png, void* data) {
  static_cast<LibraryMemory*>(png_get_mem_ptr(png))->free(data);
}

struct Reader {
  LibraryMemory memory{"decode_png"};
  png_structp png = nullptr;
  png_infop info = nullptr;
  Message message;
  Source source;
  png_uint_32 width = 0, height = 0;
  int channels = 0;
  bool is_wide = false;  // two bytes each, as the machine has them
  int num_passes = 1;

  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

// Sizes, and how pixels become those that are wanted. False: see message.
bool read_header(Reader& r) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  png_read_info(r.png, r.info);
  r.width = png_get_image_width(r.png, r.info);
  r.height = png_get_image_height(r.png, r.info);
  const int depth = png_get_bit_depth(r.png, r.info);
  const int kind = png_get_color_type(r.png, r.info);
  const bool has_key = png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0;
  const bool has_alpha = (kind & PNG_COLOR_MASK_ALPHA) != 0;
  const bool is_grey = (kind & PNG_COLOR_MASK_COLOR) == 0;
  if (r.channels == 0) {
    r.channels =
        kind == PNG_COLOR_TYPE_PALETTE ? (has_key ? 4 : 3) : png_get_channels(r.png, r.info);
  }
  if (kind == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(r.png);
  if (is_grey && depth < 8) png_set_expand_gray_1_2_4_to_8(r.png);
  if (r.channels < 3 && !is_grey) png_set_rgb_to_gray(r.png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (r.channels >= 3 && is_grey) png_set_gray_to_rgb(r.png);
  if (has_key) png_set_tRNS_to_alpha(r.png);
  if (r.channels % 2 == 0) {
    if (!has_alpha && !has_key) png_set_add_alpha(r.png, r.is_wide ? 65535 : 255, PNG_FILLER_AFTER);
  } else if (has_alpha || has_key) {
    png_set_strip_alpha(r.png);
  }
  if (depth > 8 && !r.is_wide) png_set_strip_16(r.png);
  if (r.is_wide) png_set_expand_16(r.png);
  if (r.is_wide && std::endian::native == std::endian::little) png_set_swap(r.png);
  r.num_passes = png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool read_rows(Reader& r, std::uint8_t* to) {
  if (setjmp(png_jmpbuf(r.png))) return false;
  const std::size_t width =
      std::size_t{r.width} * static_cast<std::size_t>(r.channels) * (r.is_wide ? 2 : 1);
  if (png_get_rowbytes(r.png, r.info) != width) png_error(r.png, "rows of another size");
  for (int pass = 0; pass < r.num_passes; ++pass) {
    for (png_uint_32 row = 0; row < r.height; ++row) png_read_row(r.png, to + row * width, nullptr);
  }
  png_read_end(r.png, nullptr);
  return true;
}

struct Writer {
  LibraryMemory memory{"encode_png"};
  OutputBytes bytes{memory};
  png_structp png = nullptr;
  png_infop info = nullptr;
  Message message;
  ~Writer() { png_destroy_write_struct(&png, &info); }
};

bool write_rows(Writer& w, const std::uint8_t* from, std::uint32_t height, std::uint32_t width,
                int channels, bool is_wide, int compression) {
  if (setjmp(png_jmpbuf(w.png))) return false;
  constexpr int kKinds[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  png_set_write_fn(w.png, &w.bytes, append_bytes, flush_bytes);
  if (compression >= 0) png_set_compression_level(w.png, compression);
  png_set_IHDR(w.png, w.info, width, height, is_wide ? 16 : 8, kKinds[channels], PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w.png, w.info);
  if (is_wide && std::endian::native == std::endian::little) png_set_swap(w.png);
  const std::size_t row =
      std::size_t{width} * static_cast<std::size_t>(channels) * (is_wide ? 2 : 1);
  for (std::uint32_t i = 0; i < height; ++i) png_write_row(w.png, from + i * row);
  png_write_end(w.png, nullptr);
  return true;
}

}  // namespace

Tensor decode_png(std::string_view bytes, int channels, DType dtype) {
  check_channels("decode_png", channels, "1234");
  check_pixels("decode_png", dtype);
  Reader r;
  PLIMSOLL_CHECK(
      bytes.size() >= 8 && png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 8) == 0,
      InvalidArgumentError, "Expected image (JPEG, PNG, or GIF), got {}",
      bytes.empty() ? "an empty file" : "something that does not begin as PNG does");
  r.source = {bytes.data(), bytes.size()};
  r.channels = channels;
  r.is_wide = dtype == uint16;
  r.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &r.message, on_error, on_warning,
                                   &r.memory, allocate, release);
  r.info = r.png ? png_create_info_struct(r.png) : nullptr;
  r.memory.check();
  PLIMSOLL_CHECK(r.info, InternalError, "libpng could not be started: {}", r.message.text);
  png_set_read_fn(r.png, &r.source, read_bytes);
  const bool has_header = read_header(r);
  r.memory.check();  // of chunks that libpng does without, too
  PLIMSOLL_CHECK(has_header, InvalidArgumentError, "Invalid PNG header, data size {}: {}",
                 bytes.size(), r.message.text);
  const Tensor image = allocate_pixels("PNG", {r.height, r.width, r.channels}, dtype);
  const bool is_read = read_rows(r, pixels_of(image));
  r.memory.check();
  PLIMSOLL_CHECK(is_read, InvalidArgumentError, "Invalid PNG data, size {}: {}", bytes.size(),
                 r.message.text);
  return image;
}

Tensor encode_png(const Tensor& pixels, int compression) {
  check_image("encode_png", pixels, "1234", true);
  const Tensor image = interop::on_host(pixels);
  PLIMSOLL_CHECK(compression >= -1 && compression <= 9, InvalidArgumentError,
                 "compression of encode_png should be in [-1,9], got {}", compression);
  Writer w;
  w.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &w.message, on_error, on_warning,
                                    &w.memory, allocate, release);
  w.info = w.png ? png_create_info_struct(w.png) : nullptr;
  w.memory.check();
  PLIMSOLL_CHECK(w.info, InternalError, "libpng could not be started: {}", w.message.text);
  const bool is_written =
      write_rows(w, pixels_of(image), static_cast<std::uint32_t>(image.shape()[0]),
                 static_cast<std::uint32_t>(image.shape()[1]), static_cast<int>(image.shape()[2]),
                 image.dtype() == uint16, compression);
  w.memory.check();
  PLIMSOLL_CHECK(is_written, InternalError, "PNG could not be written: {}", w.message.text);
  return w.bytes.to_tensor();
}

}  // namespace plimsoll::io
