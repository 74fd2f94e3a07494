// Codes of JPEG files, read by tables: the pixels are those of libjpeg alone, of any file.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>

#include "data/jpeg_huffman.h"
#include "plimsoll/error.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"

namespace plimsoll::io {
namespace {

struct Sampling {
  int width, height;  // of the first component, in units of the others
};
struct FileOptions {
  int height = 33, width = 47, channels = 3;
  int quality = 90;
  Sampling sampling{2, 2};
  unsigned restart_interval = 0;  // units
  bool optimize = false, progressive = false, arithmetic = false;
  double noise = 40;
};

// A slope of light with noise on it, written by libjpeg.
std::string make_file(const FileOptions& options, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, options.noise);
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_height = static_cast<JDIMENSION>(options.height);
  jpeg.image_width = static_cast<JDIMENSION>(options.width);
  jpeg.input_components = options.channels;
  jpeg.in_color_space = options.channels == 1   ? JCS_GRAYSCALE
                        : options.channels == 3 ? JCS_RGB
                                                : JCS_CMYK;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, options.quality, TRUE);
  jpeg.comp_info[0].h_samp_factor = options.sampling.width;
  jpeg.comp_info[0].v_samp_factor = options.sampling.height;
  jpeg.restart_interval = options.restart_interval;
  jpeg.optimize_coding = options.optimize;
  jpeg.arith_code = options.arithmetic;
  if (options.progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<JSAMPLE> row(static_cast<std::size_t>(options.width * options.channels));
  for (int y = 0; y < options.height; ++y) {
    for (std::size_t x = 0; x < row.size(); ++x)
      row[x] = static_cast<JSAMPLE>(
          std::clamp(3.0 * y + static_cast<double>(x) + noise(random), 0.0, 255.0));
    JSAMPROW line = row.data();
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return file;
}

bool is_same(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(interop::host_data(a), interop::host_data(b),
                                               static_cast<std::size_t>(a.nbytes())) == 0;
}

// Pixels, or the error.
template <class F>
std::pair<Tensor, std::string> outcome(F decode) {
  try {
    return {decode(), ""};
  } catch (const InvalidArgumentError& error) {
    return {Tensor(), error.what()};
  }
}

void expect_same(const std::string& file, const JpegOptions& options = {}) {
  const Tensor fast = decode_jpeg_by(JpegCodes::kFast, file, options);
  ASSERT_TRUE(fast.is_valid());
  EXPECT_TRUE(is_same(fast, decode_jpeg_by(JpegCodes::kAny, file, options)));
}

TEST(JpegTest, FilesOfManyKinds) {
  unsigned seed = 0;
  for (const int channels : {1, 3, 4}) {
    for (const Sampling sampling : {Sampling{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}}) {
      for (const int quality : {1, 20, 75, 95, 100}) {
        SCOPED_TRACE(testing::Message() << channels << " channels, sampled by " << sampling.width
                                        << " x " << sampling.height << ", quality " << quality);
        expect_same(
            make_file({.channels = channels, .quality = quality, .sampling = sampling}, ++seed));
        expect_same(make_file({.height = 8,
                               .width = 130,
                               .channels = channels,
                               .quality = quality,
                               .sampling = sampling,
                               .optimize = true,
                               .noise = 3},
                              ++seed));
      }
    }
  }
}

TEST(JpegTest, SizesAndOptions) {
  for (int side = 1; side < 40; side += 3) {
    SCOPED_TRACE(side);
    const std::string file = make_file({.height = side, .width = 41 - side}, 7);
    for (const int ratio : {1, 2, 4, 8}) expect_same(file, {.ratio = ratio});
    expect_same(file, {.channels = 1});
    expect_same(file, {.fancy_upscaling = false, .dct_method = "INTEGER_ACCURATE"});
  }
  expect_same(make_file({.height = 500, .width = 700, .quality = 98, .noise = 90}, 8));
}

TEST(JpegTest, Restarts) {
  for (const unsigned interval : {1U, 2U, 3U, 7U, 100U}) {
    SCOPED_TRACE(interval);
    expect_same(make_file({.height = 90, .width = 120, .restart_interval = interval}, interval));
  }
}

// They are libjpeg's to read, from the start.
TEST(JpegTest, OtherCodes) {
  expect_same(make_file({.progressive = true}, 1));
  expect_same(make_file({.restart_interval = 3, .progressive = true}, 1));
  expect_same(make_file({.arithmetic = true}, 1));
}

// A file that ends too early shows that tables are used at all: they give up, libjpeg does not.
TEST(JpegTest, CutOffFilesAreLibjpegs) {
  const std::string file = make_file({}, 2), half = file.substr(0, file.size() * 3 / 4);
  const JpegOptions recover{.try_recover_truncated = true};
  EXPECT_FALSE(decode_jpeg_by(JpegCodes::kFast, half, recover).is_valid());
  EXPECT_TRUE(is_same(decode_jpeg(half, recover), decode_jpeg_by(JpegCodes::kAny, half, recover)));
  EXPECT_THROW(decode_jpeg(half), InvalidArgumentError);
}

TEST(JpegTest, DamagedFilesAreWhatLibjpegMakesOfThem) {
  std::mt19937 random(3);
  int num_made = 0, num_errors = 0;
  const int num_files = 400;
  for (int i = 0; i < num_files; ++i) {
    std::string file =
        make_file({.restart_interval = i % 3 ? 0U : 2U, .optimize = i % 2 == 0, .noise = 60},
                  static_cast<unsigned>(random()));
    const auto any = [&](std::size_t end) { return random() % end; };
    for (std::size_t changes = 1 + any(4); changes > 0; --changes) {
      const std::size_t at = i % 4 ? file.size() / 3 + any(file.size() * 2 / 3) : any(file.size());
      file[at] = static_cast<char>(i % 5 ? file[at] ^ 1 << any(8) : 0xff);
    }
    if (i % 7 == 0) file.resize(file.size() - any(file.size() / 2));
    const JpegOptions options{.try_recover_truncated = i % 2 == 0};
    const auto [made, error] = outcome([&] { return decode_jpeg(file, options); });
    const auto [plain, plain_error] =
        outcome([&] { return decode_jpeg_by(JpegCodes::kAny, file, options); });
    ASSERT_EQ(error, plain_error) << i;
    ++(made.is_valid() ? num_made : num_errors);
    if (made.is_valid()) {
      ASSERT_TRUE(is_same(made, plain)) << i;
    }
  }
  EXPECT_GT(num_made, num_files / 4);
  EXPECT_GT(num_errors, num_files / 20);
}

}  // namespace
}  // namespace plimsoll::io
