// Bytes from outside: what is whole is read, what is damaged is an error and nothing else.
#include "plimsoll/data/io.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "plimsoll/data/dataset.h"
#include "plimsoll/data/files.h"
#include "plimsoll/data/image_files.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::io {
namespace {

std::uint64_t in_use() {
  return Context::get().cpu().budget().in_use();
}

Tensor picture(std::int64_t height, std::int64_t width, std::int64_t channels) {
  const Tensor numbers = range(0, height * width * channels) * constant(7);
  return cast(reshape(floormod(numbers, constant(256)), {height, width, channels}), uint8);
}
std::string bytes_of(const Tensor& text) {
  return text.item<std::string>();
}

// Cut off everywhere, and with bytes changed: whatever comes, it is a result or an Error.
template <class F>
void damage(const std::string& whole, const F& read) {
  const std::uint64_t before = in_use();
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 16) {
    try {
      read(whole.substr(0, size));
    } catch (const Error&) {
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    std::string bad = whole;
    for (int j = 0; j < 1 + i % 3; ++j) bad[random() % bad.size()] = static_cast<char>(random());
    try {
      read(bad);
    } catch (const Error&) {
    }
  }
  EXPECT_EQ(in_use(), before);
}

TEST(IoTest, TensorsComeBack) {
  for (const DType dtype :
       {float32, float64, float16, bfloat16, int8, uint8, int16, uint16, int32, int64}) {
    const Tensor t = cast(reshape(range(0, 6), {2, 3}), dtype);
    const Tensor back = parse_tensor(serialize_tensor(t), dtype);
    EXPECT_EQ(back.shape(), t.shape());
    EXPECT_EQ(cast(back, int32).to_vector<int>(), cast(t, int32).to_vector<int>());
  }
  const Tensor words = constant({std::string("a"), std::string(), std::string("bcd")}, {3, 1});
  EXPECT_EQ(parse_tensor(serialize_tensor(words)).to_vector<std::string>(),
            words.to_vector<std::string>());
  EXPECT_THROW(parse_tensor(serialize_tensor(words), int32), InvalidArgumentError);
}

TEST(IoTest, ListedValuesFillUp) {
  // float32 [4] with the values 1 and 2: the last one stands for the rest.
  const std::string text = std::string("\x08\x01\x12\x04\x12\x02\x08\x04\x2a\x08") +
                           std::string("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  EXPECT_EQ(parse_tensor(text).to_vector<float>(), (std::vector<float>{1, 2, 2, 2}));
}

TEST(IoTest, ALyingShapeTakesNoMemory) {
  const std::uint64_t before = in_use();
  // float32 [2^40] with a content of 4 bytes.
  const std::string text =
      "\x08\x01\x12\x09\x12\x07\x08\x80\x80\x80\x80\x80\x20\x22\x04" + std::string("abcd");
  EXPECT_THROW(parse_tensor(text), InvalidArgumentError);
  EXPECT_EQ(in_use(), before);
}

TEST(IoTest, DamagedMessages) {
  damage(serialize_tensor(reshape(range(0, 60), {3, 4, 5})),
         [](const std::string& text) { parse_tensor(text); });
  damage(serialize_tensor(constant({std::string("hello"), std::string("world")}, {2})),
         [](const std::string& text) { parse_tensor(text); });
  const std::string example = serialize_example({{"id", Int64List{1, -2, 300}},
                                                 {"x", FloatList{1.5F, 2.5F}},
                                                 {"name", BytesList{"a", "bc"}}});
  damage(example, [](const std::string& text) { parse_features(text); });
  damage(example, [](const std::string& text) {
    parse_example(constant(text), {{"id", FixedLenSequenceFeature{{}, int64, true, {}}},
                                   {"x", FixedLenFeature{{2}, float32, {}}}});
  });
}

TEST(IoTest, ExamplesInBatches) {
  const std::vector<std::string> texts = {serialize_example({{"n", Int64List{1}}}),
                                          serialize_example({{"n", Int64List{2, 3}}}),
                                          serialize_example({})};
  const Nest<Tensor> parsed =
      parse_example(constant(std::span<const std::string>(texts), {3}),
                    {{"n", FixedLenSequenceFeature{{}, int64, true, constant(std::int64_t{-1})}}});
  EXPECT_EQ(parsed.find("n")->leaf().to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{1, -1, 2, 3, -1, -1}));
  EXPECT_THROW(parse_example(constant(texts[1]), {{"n", FixedLenFeature{{}, int64, {}}}}),
               InvalidArgumentError);
}

TEST(ImageFilesTest, PngComesBack) {
  for (const std::int64_t channels : {1, 2, 3, 4}) {
    const Tensor image = picture(9, 11, channels);
    const Tensor back = decode_png(bytes_of(encode_png(image)));
    EXPECT_EQ(back.shape(), image.shape());
    EXPECT_EQ(back.to_vector<std::uint8_t>(), image.to_vector<std::uint8_t>());
  }
  EXPECT_THROW(encode_png(picture(3, 3, 5)), InvalidArgumentError);
  EXPECT_THROW(decode_png(bytes_of(encode_png(picture(3, 3, 1))), 7), InvalidArgumentError);
}

TEST(ImageFilesTest, DamagedImages) {
  damage(bytes_of(encode_png(picture(20, 20, 3))),
         [](const std::string& text) { decode_image(text); });
  damage(bytes_of(encode_jpeg(picture(24, 24, 3))),
         [](const std::string& text) { decode_image(text); });
  damage(bytes_of(encode_jpeg(picture(24, 24, 3), {.progressive = true})),
         [](const std::string& text) { decode_jpeg(text, {.try_recover_truncated = true}); });
  const std::string gif(
      "GIF89a\x04\x00\x02\x00\x91\x00\x00\x00\x00\x00\xff\x00\x00\x00\xff\x00\x09\x08"
      "\x07,\x00\x00\x00\x00\x04\x00\x02\x00\x00\x02\x05\x84\x41\x10\x09\x05\x00;",
      44);
  damage(gif, [](const std::string& text) { decode_image(text); });
  std::string bmp(
      "BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00\x00\x00"
      "\x02\x00\x00\x00\x01\x00\x18\x00",
      30);
  bmp.resize(54 + 16, 'x');
  EXPECT_EQ(decode_bmp(bmp).shape(), (Shape{2, 2, 3}));
  damage(bmp, [](const std::string& text) { decode_image(text); });
}

TEST(ImageFilesTest, SizesAreKnownBeforeMemoryIsTaken) {
  std::string png = bytes_of(encode_png(picture(20, 20, 3)));
  png[16] = 0x7f;  // a width of two thousand millions
  const std::uint64_t peak = Context::get().cpu().budget().peak();
  EXPECT_THROW(decode_png(png), Error);
  EXPECT_EQ(Context::get().cpu().budget().peak(), peak);
}

TEST(ElementFilesTest, SavedElementsComeBack) {
  const auto folder = std::filesystem::temp_directory_path() / "plimsoll_saved_elements";
  std::filesystem::remove_all(folder);
  using data::Dataset;
  const Dataset whole = Dataset::range(5).map([](const data::Element& e) {
    return data::Element::dict({{"n", e}, {"pair", data::Element{e, constant(std::string("x"))}}});
  });
  data::save(whole, folder.string(), "GZIP");
  const Dataset back = data::load(folder.string());
  EXPECT_EQ(back.cardinality(), 5);
  std::int64_t next = 0;
  for (const data::Element& e : back) {
    EXPECT_EQ(e.find("n")->leaf().item<std::int64_t>(), next++);
    EXPECT_EQ(e.find("pair")->list()[1].leaf().item<std::string>(), "x");
  }
  EXPECT_EQ(next, 5);
  EXPECT_THROW(data::load((folder / "none").string()), NotFoundError);
  std::filesystem::remove_all(folder);
}

TEST(ElementFilesTest, ACacheOnDiskIsWholeOrNotThere) {
  const auto folder = std::filesystem::temp_directory_path() / "plimsoll_cached_elements";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  int num_calls = 0;
  const data::Dataset cached = data::cache(data::Dataset::range(4).map([&](const data::Element& e) {
    ++num_calls;
    return e;
  }),
                                           (folder / "kept").string());
  { cached.make_iterator()->next(); }  // given up
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  num_calls = 0;
  for (int round = 0; round < 3; ++round) {
    std::int64_t num = 0;
    for (const data::Element& e : cached) num += e.leaf().num_elements();
    EXPECT_EQ(num, 4);
  }
  EXPECT_EQ(num_calls, 4);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace plimsoll::io
