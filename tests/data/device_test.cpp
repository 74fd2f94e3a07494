// Files and strings of what stands on a GPU.
#include "plimsoll/data/image_files.h"
#include "plimsoll/ops.h"
#include "runtime/fresh.h"

namespace plimsoll {
namespace {

class DataDeviceTest : public FreshTest {};

// Strings, and files of images, are made on the host of what stands elsewhere.
TEST_F(DataDeviceTest, HostsReadWhatStandsOnAGpu) {
  simulate("rtx-3060-12gb");
  const std::vector<std::uint8_t> values{1, 2, 3, 250, 251, 252};
  const Tensor image = constant(std::span<const std::uint8_t>(values), {1, 2, 3});
  ASSERT_NE(image.device().find("GPU"), std::string::npos);
  const std::string png = io::encode_png(image).item<std::string>();
  EXPECT_EQ(io::decode_png(png).to_vector<std::uint8_t>(), values);
  const std::string jpeg = io::encode_jpeg(image, {.quality = 100}).item<std::string>();
  EXPECT_EQ(io::decode_jpeg(jpeg).shape(), image.shape());
  const std::vector<std::string> names{"a", "b", "c"};
  const Tensor texts = constant(std::span<const std::string>(names), {3});
  const Tensor places = cast(constant({2.0F, 1.0F}), int64);
  ASSERT_NE(places.device().find("GPU"), std::string::npos);
  EXPECT_EQ(gather(texts, places).to_vector<std::string>(), (std::vector<std::string>{"c", "b"}));
}

}  // namespace
}  // namespace plimsoll
