// Tables and checkpoints. Files of TensorFlow go through the same in
// tests/oracle/python_v1_test.py.
#include "plimsoll/data/tensor_bundle.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "data/sorted_table.h"
#include "plimsoll/error.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::data {
namespace {

class TensorBundleTest : public testing::Test {
 protected:
  TensorBundleTest() {
    std::string name = (std::filesystem::temp_directory_path() / "plimsoll_ckpt_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~TensorBundleTest() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t num_files() const {
    const std::filesystem::directory_iterator all(folder_);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

 private:
  std::filesystem::path folder_;
};

TEST(SortedTableTest, ManyBlocksComeBack) {
  SortedTable table;
  for (int i = 0; i < 5000; ++i)
    table["layer/weights/" + std::to_string(i)] =
        std::string(static_cast<std::size_t>(i % 300), 'x');
  const std::string bytes = write_table(table);
  EXPECT_GT(bytes.size(), 600u << 10);
  EXPECT_EQ(read_table(bytes, "table"), table);
  EXPECT_EQ(read_table(write_table({}), "table"), SortedTable());
}

TEST(SortedTableTest, EveryCutIsAnError) {
  const std::string bytes = write_table({{"", "head"}, {"a", "1"}, {"ab", "2"}});
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(read_table(bytes.substr(0, size), "table"), DataLossError) << size;
}

TEST(SortedTableTest, NoChangedByteGoesUnseen) {
  const SortedTable table{{"", "head"}, {"a", "1"}, {"ab", "2"}};
  const std::string bytes = write_table(table);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    try {
      EXPECT_EQ(read_table(changed, "table"), table) << i;  // what only fills the footer
    } catch (const Error&) {
    }
  }
}

TEST_F(TensorBundleTest, ThereAndBack) {
  io::TensorBundleWriter writer(file("m"));
  writer.add("b", constant({1.0F, 2.0F, 3.0F}));
  writer.add("a", zeros({2, 0}, int64));
  writer.add("c", constant(true));
  EXPECT_THROW(writer.add("b", constant(1.0F)), InvalidArgumentError);
  EXPECT_THROW(writer.add("text", constant("word")), UnimplementedError);
  writer.finish();
  EXPECT_EQ(num_files(), 2u);
  const io::TensorBundleReader reader(file("m"));
  EXPECT_EQ(reader.specs().size(), 3u);
  EXPECT_EQ(reader.specs().at("a").shape, Shape({2, 0}));
  EXPECT_EQ(reader.read("b").to_vector<float>(), std::vector<float>({1, 2, 3}));
  EXPECT_TRUE(reader.read("c").item<bool>());
  EXPECT_THROW(reader.read("d"), NotFoundError);
}

TEST_F(TensorBundleTest, NothingStaysWithoutFinish) {
  { io::TensorBundleWriter(file("m")).add("a", constant(1.0F)); }
  EXPECT_EQ(num_files(), 0u);
  EXPECT_THROW(io::TensorBundleReader(file("m")), NotFoundError);
  EXPECT_THROW(io::TensorBundleWriter(file("no/m")), NotFoundError);
}

TEST_F(TensorBundleTest, ReadingTakesTheTensorAlone) {
  const Tensor large = ones({1 << 18});
  io::TensorBundleWriter writer(file("m"));
  const std::uint64_t before = memory::stats("CPU:0").in_use;
  writer.add("large", large);
  writer.finish();
  EXPECT_EQ(memory::stats("CPU:0").in_use, before);
  const io::TensorBundleReader reader(file("m"));
  const Tensor again = reader.read("large");
  EXPECT_EQ(memory::stats("CPU:0").in_use, before + (1u << 20));
  const memory::BudgetScope scope("512KiB");
  EXPECT_THROW(reader.read("large"), ResourceExhaustedError);
}

TEST_F(TensorBundleTest, AShortFileIsAnError) {
  io::TensorBundleWriter writer(file("m"));
  writer.add("a", ones({100}));
  writer.finish();
  std::filesystem::resize_file(file("m.data-00000-of-00001"), 200);
  EXPECT_THROW(io::TensorBundleReader(file("m")).read("a"), DataLossError);
}

}  // namespace
}  // namespace plimsoll::data
