// JPEG, by libjpeg. It reports errors by longjmp: functions in between hold nothing that has to be
// destroyed.
#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "data/jpeg_huffman.h"
#include "data/jpeg_memory.h"
#include "data/pixels.h"
#include "plimsoll/data/image_files.h"
#include "plimsoll/ops.h"

namespace plimsoll::io {
namespace {

struct ErrorState : jpeg_error_mgr {
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX] = "";
};

void on_error(j_common_ptr jpeg) {
  auto* state = static_cast<ErrorState*>(jpeg->err);
  jpeg->err->format_message(jpeg, state->text);
  std::longjmp(state->back, 1);
}
void on_message(j_common_ptr, int) {}
void on_output(j_common_ptr) {}

void set_up(ErrorState& errors) {
  jpeg_std_error(&errors);
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  errors.output_message = on_output;
}

struct Source : jpeg_source_mgr {
  bool is_cut_off = false;
  bool waits_at_end = false;  // rows that are not whole are not given
};
void init_source(j_decompress_ptr) {}
// Beyond the end: an end marker, so that libjpeg comes to its end. FALSE is to wait for more bytes.
boolean fill_source(j_decompress_ptr jpeg) {
  static const JOCTET end[2] = {0xff, JPEG_EOI};
  auto* source = static_cast<Source*>(jpeg->src);
  source->is_cut_off = true;
  if (source->waits_at_end) return FALSE;
  source->next_input_byte = end;
  source->bytes_in_buffer = 2;
  return TRUE;
}
void skip_source(j_decompress_ptr jpeg, long count) {
  auto* source = jpeg->src;
  if (count <= 0) return;
  if (static_cast<std::size_t>(count) > source->bytes_in_buffer) {
    source->next_input_byte += source->bytes_in_buffer;
    source->bytes_in_buffer = 0;
  } else {
    source->next_input_byte += count;
    source->bytes_in_buffer -= static_cast<std::size_t>(count);
  }
}

struct Reader {
  JpegMemory memory{"decode_jpeg"};
  jpeg_decompress_struct jpeg{};
  ErrorState errors;
  Source source;
  JpegHuffman codes;
  bool is_made = false;
  int channels = 0;
  bool is_cmyk = false;
  JDIMENSION num_rows = 0;  // that were read

  ~Reader() {
    if (is_made) jpeg_destroy_decompress(&jpeg);
  }
};

bool read_header(Reader& r, std::string_view bytes, const JpegOptions& options) {
  set_up(r.errors);
  r.jpeg.err = &r.errors;
  if (setjmp(r.errors.back)) return false;
  jpeg_create_decompress(&r.jpeg);
  r.is_made = true;
  r.memory.take_over(reinterpret_cast<j_common_ptr>(&r.jpeg));
  r.source.waits_at_end = options.acceptable_fraction < 1 && !options.try_recover_truncated;
  r.source.init_source = init_source;
  r.source.fill_input_buffer = fill_source;
  r.source.skip_input_data = skip_source;
  r.source.resync_to_restart = jpeg_resync_to_restart;
  r.source.term_source = init_source;
  r.source.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
  r.source.bytes_in_buffer = bytes.size();
  r.jpeg.src = &r.source;
  jpeg_read_header(&r.jpeg, TRUE);
  r.channels = options.channels ? options.channels : r.jpeg.num_components == 1 ? 1 : 3;
  r.is_cmyk = r.jpeg.jpeg_color_space == JCS_CMYK || r.jpeg.jpeg_color_space == JCS_YCCK;
  r.jpeg.out_color_space = r.is_cmyk ? JCS_CMYK : r.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  r.jpeg.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  r.jpeg.dct_method = options.dct_method == "INTEGER_ACCURATE" ? JDCT_ISLOW : JDCT_IFAST;
  r.jpeg.scale_num = 1;
  r.jpeg.scale_denom = static_cast<unsigned>(options.ratio);
  jpeg_calc_output_dimensions(&r.jpeg);
  return true;
}

// Inks of Adobe's files are stored inverted.
void from_inks(const std::uint8_t* inks, std::uint8_t* to, std::size_t width, int channels,
               bool is_inverted) {
  for (std::size_t i = 0; i < width; ++i, inks += 4) {
    int rgb[3];
    for (int c = 0; c < 3; ++c)
      rgb[c] = is_inverted ? inks[3] * inks[c] / 255 : (255 - inks[c]) * (255 - inks[3]) / 255;
    if (channels == 1) {
      *to++ = static_cast<std::uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2]) / 1000);
    } else {
      for (const int value : rgb) *to++ = static_cast<std::uint8_t>(value);
    }
  }
}

constexpr JDIMENSION kMaxLines = 16;  // of a call: libjpeg gives as many as it has

// `scratch` has room for a row of inks.
bool read_rows(Reader& r, std::uint8_t* to, std::uint8_t* scratch, JpegCodes codes) {
  if (setjmp(r.errors.back)) return false;
  if (!jpeg_start_decompress(&r.jpeg)) return false;
  if (codes == JpegCodes::kFast) r.codes.take_over(&r.jpeg);
  const std::size_t row = std::size_t{r.jpeg.output_width} * static_cast<std::size_t>(r.channels);
  while (r.jpeg.output_scanline < r.jpeg.output_height) {
    std::uint8_t* line = to + r.jpeg.output_scanline * row;
    JSAMPROW lines[kMaxLines] = {scratch};
    JDIMENSION count = 1;
    if (!r.is_cmyk) {
      count = std::min(kMaxLines, r.jpeg.output_height - r.jpeg.output_scanline);
      for (JDIMENSION i = 0; i < count; ++i) lines[i] = line + i * row;
    }
    if (jpeg_read_scanlines(&r.jpeg, lines, count) == 0) return r.source.waits_at_end;
    r.num_rows = r.jpeg.output_scanline;
    if (r.is_cmyk)
      from_inks(scratch, line, r.jpeg.output_width, r.channels, r.jpeg.saw_Adobe_marker != 0);
  }
  jpeg_finish_decompress(&r.jpeg);
  return true;
}

// Where libjpeg writes to.
struct Target : jpeg_destination_mgr {
  explicit Target(LibraryMemory& memory) : jpeg_destination_mgr{}, bytes(memory) {}
  OutputBytes bytes;
  std::size_t given = 0;  // of the room that libjpeg writes into
};
void extend_target(j_compress_ptr jpeg) {
  auto* target = static_cast<Target*>(jpeg->dest);
  const OutputBytes::Room room = target->bytes.try_extend();
  if (!room.data) ERREXIT1(jpeg, JERR_OUT_OF_MEMORY, 0);
  target->next_output_byte = room.data;
  target->free_in_buffer = target->given = room.nbytes;
}
boolean empty_target(j_compress_ptr jpeg) {
  auto* target = static_cast<Target*>(jpeg->dest);
  target->bytes.commit(target->given);  // all of it, whatever free_in_buffer says
  extend_target(jpeg);
  return TRUE;
}
void end_target(j_compress_ptr jpeg) {
  auto* target = static_cast<Target*>(jpeg->dest);
  target->bytes.commit(target->given - target->free_in_buffer);
}

struct Writer {
  JpegMemory memory{"encode_jpeg"};
  Target target{memory.memory()};
  jpeg_compress_struct jpeg{};
  ErrorState errors;
  bool is_made = false;

  ~Writer() {
    if (is_made) jpeg_destroy_compress(&jpeg);
  }
};

// Behind the name of what it is, with the zero at its end.
void write_xmp(j_compress_ptr jpeg, std::string_view text) {
  constexpr std::string_view kName("http://ns.adobe.com/xap/1.0/\0", 29);
  // libjpeg takes lengths as 32 bits, and refuses all that 16 bits do not have.
  const std::size_t nbytes = std::min<std::size_t>(kName.size() + text.size(), 1 << 16);
  jpeg_write_m_header(jpeg, JPEG_APP0 + 1, static_cast<unsigned>(nbytes));
  for (const char byte : kName) jpeg_write_m_byte(jpeg, static_cast<unsigned char>(byte));
  for (const char byte : text) jpeg_write_m_byte(jpeg, static_cast<unsigned char>(byte));
}

bool write_rows(Writer& w, const std::uint8_t* from, const Shape& shape,
                const EncodeJpegOptions& options) {
  set_up(w.errors);
  w.jpeg.err = &w.errors;
  if (setjmp(w.errors.back)) return false;
  jpeg_create_compress(&w.jpeg);
  w.is_made = true;
  w.memory.take_over(reinterpret_cast<j_common_ptr>(&w.jpeg));
  w.target.init_destination = extend_target;
  w.target.empty_output_buffer = empty_target;
  w.target.term_destination = end_target;
  w.jpeg.dest = &w.target;
  w.jpeg.image_height = static_cast<JDIMENSION>(shape[0]);
  w.jpeg.image_width = static_cast<JDIMENSION>(shape[1]);
  w.jpeg.input_components = static_cast<int>(shape[2]);
  w.jpeg.in_color_space = shape[2] == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&w.jpeg);
  if (options.optimize_size) w.jpeg.optimize_coding = TRUE;
  jpeg_set_quality(&w.jpeg, options.quality, TRUE);
  if (options.progressive) jpeg_simple_progression(&w.jpeg);
  if (!options.chroma_downsampling) {
    for (int i = 0; i < w.jpeg.num_components; ++i) {
      w.jpeg.comp_info[i].h_samp_factor = 1;
      w.jpeg.comp_info[i].v_samp_factor = 1;
    }
  }
  w.jpeg.density_unit = options.density_unit == "cm" ? 2 : 1;
  w.jpeg.X_density = static_cast<UINT16>(options.x_density);
  w.jpeg.Y_density = static_cast<UINT16>(options.y_density);
  jpeg_start_compress(&w.jpeg, TRUE);
  if (!options.xmp_metadata.empty()) write_xmp(&w.jpeg, options.xmp_metadata);
  const std::size_t row = static_cast<std::size_t>(shape[1] * shape[2]);
  while (w.jpeg.next_scanline < w.jpeg.image_height) {
    auto* line = const_cast<JSAMPROW>(from + w.jpeg.next_scanline * row);
    jpeg_write_scanlines(&w.jpeg, &line, 1);
  }
  jpeg_finish_compress(&w.jpeg);
  return true;
}

void begin(Reader& r, std::string_view bytes, const JpegOptions& options) {
  const bool is_read = read_header(r, bytes, options);
  r.memory.memory().check();
  PLIMSOLL_CHECK(is_read && !r.source.is_cut_off, InvalidArgumentError,
                 "Invalid JPEG data or crop window, data size {}: {}", bytes.size(),
                 r.source.is_cut_off ? "the file is cut off" : r.errors.text);
}

// Whether a file that may be cut off gave as many rows as are asked for.
bool is_enough(const Reader& r, const JpegOptions& options) {
  if (!r.source.is_cut_off || options.try_recover_truncated) return true;
  const auto fraction = static_cast<float>(r.num_rows) / static_cast<float>(r.jpeg.output_height);
  return r.source.waits_at_end && fraction >= options.acceptable_fraction;
}

}  // namespace

Tensor decode_jpeg(std::string_view bytes, const JpegOptions& options) {
  check_channels("decode_jpeg", options.channels, "13");
  PLIMSOLL_CHECK(
      options.ratio == 1 || options.ratio == 2 || options.ratio == 4 || options.ratio == 8,
      InvalidArgumentError, "ratio must be 1, 2, 4, or 8, got {}", options.ratio);
  PLIMSOLL_CHECK(options.dct_method.empty() || options.dct_method == "INTEGER_FAST" ||
                     options.dct_method == "INTEGER_ACCURATE",
                 InvalidArgumentError,
                 "dct_method must be one of {{'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}}, got '{}'",
                 options.dct_method);
  const Tensor image = decode_jpeg_by(JpegCodes::kFast, bytes, options);
  return image.is_valid() ? image : decode_jpeg_by(JpegCodes::kAny, bytes, options);
}

Tensor decode_jpeg_by(JpegCodes codes, std::string_view bytes, const JpegOptions& options) {
  Reader r;
  begin(r, bytes, options);
  Tensor image = allocate_pixels("JPEG", {r.jpeg.output_height, r.jpeg.output_width, r.channels});
  void* inks = nullptr;
  if (r.is_cmyk) inks = r.memory.memory().allocate(std::size_t{r.jpeg.output_width} * 4);
  const bool is_read = read_rows(r, pixels_of(image), static_cast<std::uint8_t*>(inks), codes);
  r.memory.memory().check();
  // Which rows of a file that is cut off are whole is libjpeg's to say.
  const bool is_partial = r.source.is_cut_off && r.source.waits_at_end;
  if (r.codes.is_odd() || (is_partial && codes == JpegCodes::kFast)) return {};
  PLIMSOLL_CHECK(is_read && is_enough(r, options), InvalidArgumentError,
                 "Invalid JPEG data or crop window, data size {}: {}", bytes.size(),
                 r.source.is_cut_off ? "the file is cut off" : r.errors.text);
  const std::size_t row = std::size_t{r.jpeg.output_width} * static_cast<std::size_t>(r.channels);
  std::memset(pixels_of(image) + r.num_rows * row, 0, (r.jpeg.output_height - r.num_rows) * row);
  return image;
}

Tensor jpeg_shape(std::string_view bytes) {
  Reader r;
  begin(r, bytes, {});
  return constant({static_cast<std::int32_t>(r.jpeg.image_height),
                   static_cast<std::int32_t>(r.jpeg.image_width),
                   static_cast<std::int32_t>(r.jpeg.num_components)});
}

namespace {

void check_options(const Shape& shape, const EncodeJpegOptions& options) {
  const std::string& format = options.format;
  PLIMSOLL_CHECK(format.empty() || format == "grayscale" || format == "rgb", InvalidArgumentError,
                 "format must be one of {{'', 'grayscale', 'rgb'}}, got '{}'", format);
  PLIMSOLL_CHECK(options.density_unit == "in" || options.density_unit == "cm", InvalidArgumentError,
                 "density_unit must be one of {{'in', 'cm'}}, got '{}'", options.density_unit);
  PLIMSOLL_CHECK(options.quality >= 0 && options.quality <= 100, InvalidArgumentError,
                 "quality must be in [0,100], got {}", options.quality);
  const int wanted = format == "rgb" ? 3 : 1;
  PLIMSOLL_CHECK(format.empty() || shape[2] == wanted, InvalidArgumentError,
                 "format {} expects {} channels, got {}", format, wanted, shape.to_string());
}

}  // namespace

Tensor encode_jpeg(const Tensor& pixels, const EncodeJpegOptions& options) {
  check_image("encode_jpeg", pixels, "13");
  check_options(pixels.shape(), options);
  const Tensor image = interop::on_host(pixels);
  Writer w;
  const bool is_written = write_rows(w, pixels_of(image), image.shape(), options);
  w.memory.memory().check();
  PLIMSOLL_CHECK(is_written, InvalidArgumentError, "JPEG could not be written: {}", w.errors.text);
  return w.target.bytes.to_tensor();
}

}  // namespace plimsoll::io
