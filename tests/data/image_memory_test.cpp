// What libraries take to read and write images is reserved before it exists.
#include <gtest/gtest.h>

#include <functional>

#include "data/count_mallocs.h"
#include "plimsoll/data/image_files.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::io {
namespace {

memory::Budget budget() {
  return Context::get().cpu().budget();
}

Tensor picture(std::int64_t height, std::int64_t width, std::int64_t channels) {
  const Tensor numbers = range(0, height * width * channels);
  const Tensor mixed =
      floormod(numbers * numbers * constant(7) + numbers * constant(31), constant(251));
  return cast(reshape(mixed, {height, width, channels}), uint8);
}
std::string bytes_of(const Tensor& text) {
  return text.item<std::string>();
}

// 60 x 50 pixels in colours of which there are four, never packed, and two frames.
std::string gif() {
  std::string out("GIF89a\x3c\x00\x32\x00\x91\x00\x00", 13);
  out += std::string("\x00\x00\x00\xff\x00\x00\x00\xff\x00\x09\x08\x07", 12);
  for (int frame = 0; frame < 2; ++frame) {
    out += std::string(",\x00\x00\x00\x00\x3c\x00\x32\x00\x00\x02", 11);
    std::string data;
    unsigned held = 0;
    int num_bits = 0;
    const auto add = [&](unsigned code) {
      held |= code << num_bits;
      for (num_bits += 3; num_bits >= 8; num_bits -= 8, held >>= 8)
        data += static_cast<char>(held & 255);
    };
    for (unsigned i = 0; i < 3000; ++i) {
      if (i % 2 == 0) add(4);
      add((i + static_cast<unsigned>(frame)) % 4);
    }
    add(5);
    add(0);
    add(0);
    for (std::size_t at = 0; at < data.size(); at += 255) {
      const std::string block = data.substr(at, 255);
      out += static_cast<char>(block.size());
      out += block;
    }
    out += '\0';
  }
  return out + ";";
}

struct Case {
  const char* name;
  std::function<Tensor()> run;
};

std::vector<Case> cases() {
  const Tensor image = picture(150, 203, 3), grey = picture(90, 70, 1);
  const std::string png = bytes_of(encode_png(image)), small = bytes_of(encode_png(grey));
  const std::string jpeg = bytes_of(encode_jpeg(image)),
                    progressive = bytes_of(encode_jpeg(image, {.progressive = true}));
  return {
      {"decode_png", [=] { return decode_png(png); }},
      {"decode_png, grey", [=] { return decode_png(small, 3); }},
      {"decode_jpeg", [=] { return decode_jpeg(jpeg); }},
      {"decode_jpeg, progressive", [=] { return decode_jpeg(progressive); }},
      {"decode_jpeg, half", [=] { return decode_jpeg(jpeg, {.ratio = 2}); }},
      {"jpeg_shape", [=] { return jpeg_shape(jpeg); }},
      {"decode_gif", [text = gif()] { return decode_gif(text); }},
      {"encode_png", [=] { return encode_png(image); }},
      {"encode_jpeg", [=] { return encode_jpeg(image); }},
      {"encode_jpeg, progressive", [=] { return encode_jpeg(image, {.progressive = true}); }},
      {"encode_jpeg, optimized",
       [=] { return encode_jpeg(image, {.optimize_size = true, .chroma_downsampling = false}); }},
  };
}

// Of a run, with its result.
std::uint64_t peak_growth(const Case& c) {
  const std::uint64_t before = budget().in_use();
  budget().reset_peak();
  const Tensor made = c.run();
  return budget().peak() - before;
}

TEST(ImageMemoryTest, EveryLimitEndsInSuccessOrResourceExhausted) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const std::uint64_t needed = peak_growth(c), before = budget().in_use();
    const std::uint64_t old = budget().limit();
    int num_refused = 0;
    for (std::uint64_t room = 0; room < needed; room += 64 + needed / 300 / 64 * 64) {
      budget().set_limit(before + room);
      try {
        const Tensor made = c.run();
        ADD_FAILURE() << "with " << room << " of " << needed << " bytes";
      } catch (const ResourceExhaustedError&) {
        ++num_refused;
      }
      budget().set_limit(old);
      ASSERT_EQ(budget().in_use(), before) << "with " << room << " of " << needed << " bytes";
    }
    EXPECT_GT(num_refused, 50);
    budget().set_limit(before + needed);
    EXPECT_TRUE(c.run().is_valid());
    budget().set_limit(old);
    EXPECT_EQ(budget().in_use(), before);
  }
}

TEST(ImageMemoryTest, ImagesAreTheSameInTheSmallestRoom) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Tensor expected = c.run();
    const std::uint64_t needed = peak_growth(c), old = budget().limit();
    budget().set_limit(budget().in_use() + needed);
    const Tensor made = c.run();
    budget().set_limit(old);
    ASSERT_EQ(made.shape(), expected.shape());
    if (made.dtype() == uint8) {
      EXPECT_EQ(made.to_vector<std::uint8_t>(), expected.to_vector<std::uint8_t>());
    }
    if (made.dtype() == DType::kString) {
      EXPECT_EQ(bytes_of(made), bytes_of(expected));
    }
  }
}

TEST(ImageMemoryTest, LibrariesAreBookedAsIo) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    budget().reset_peak();
    c.run();
    const auto at_peak = budget().stats().by_tag_at_peak;
    EXPECT_GT(at_peak[static_cast<std::size_t>(memory::Tag::kIo)], 0U);
  }
}

#if PLIMSOLL_COUNTS_MALLOCS
// Pixels come from the heap and strings from malloc; what malloc gives besides is small things of
// tensors.
TEST(ImageMemoryTest, ReservationsCoverWhatMallocGives) {
  constexpr std::int64_t kSmallThings = 4096;
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    c.run();  // tables that are made once
    const auto before = static_cast<std::int64_t>(budget().in_use());
    budget().reset_peak();
    const std::int64_t start = malloced_bytes;
    most_malloced_bytes = start;
    const Tensor made = c.run();
    const std::int64_t grown = most_malloced_bytes - start;
    const auto reserved = static_cast<std::int64_t>(budget().peak()) - before;
    const std::int64_t in_heap = made.dtype() == DType::kString ? 0 : made.nbytes();
    EXPECT_LE(grown + in_heap, reserved + kSmallThings);
  }
}

TEST(ImageMemoryTest, MallocsAreCounted) {  // or the test above could not fail
  const std::int64_t start = malloced_bytes;
  std::vector<char> some(100'000);
  EXPECT_GE(malloced_bytes, start + 100'000);
}
#endif

}  // namespace
}  // namespace plimsoll::io
