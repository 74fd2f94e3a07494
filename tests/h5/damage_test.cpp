// Whatever a file holds, reading it gives a result or an Error and comes to an end. Files of h5py
// go through the same in tests/oracle/h5_test.py.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "h5/read_all.h"
#include "h5/temporary.h"
#include "h5/writer.h"

namespace plimsoll::h5 {
namespace {

std::vector<std::byte> small_file() {
  const TemporaryFolder folder;
  const std::string path = folder.file("small.h5");
  const std::array<float, 6> kernel{1, 2, 3, 4, 5, 6};
  Writer writer(path);
  writer.dataset("layers/dense/kernel", Type::floating(4), {2, 3},
                 std::as_bytes(std::span(kernel)));
  writer.dataset("layers/words", {"one", "two", ""}, {3});
  writer.attribute("/", "layer_names", {"dense", "words"}, {2}, Type::fixed_string(5));
  writer.attribute("layers", "backend", "plimsoll");
  writer.attribute("layers/words", "count", 3);
  writer.finish();
  return file_bytes(path);
}

void put_u64(std::vector<std::byte>& bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, 8);
}

std::uint64_t get_u64(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, 8);
  return value;
}

std::size_t find(const std::vector<std::byte>& bytes, std::string_view text, std::size_t from = 0) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return all.find(text, from);
}

TEST(DamageTest, WholeFileHasNoError) {
  const ReadAll result = read_all(small_file());
  EXPECT_EQ(result.num_bad, 0);
  EXPECT_GT(result.num_good, 10);
}

TEST(DamageTest, EveryLengthAndEveryByte) {
  const std::vector<std::byte> whole = small_file();
  const int num_clean = read_damaged(whole);
  EXPECT_GT(num_clean, 0);  // elements and what nobody reads may be anything
  EXPECT_LT(num_clean, static_cast<int>(3 * whole.size()));
}

// A size of elements that is larger than a chunk once took minutes.
TEST(DamageTest, ShuffleOfElementsThatAreTooLarge) {
  const Source source("memory", std::vector<std::byte>(64));
  const std::vector<std::byte> chunk(16);
  EXPECT_THROW(undo_filters({{2, {0xffffffffU}}}, 0, chunk, 16, source, 0), DataLossError);
  EXPECT_EQ(undo_filters({{2, {4}}}, 0, chunk, 16, source, 0), chunk);
}

// Every aligned word as an address or a size that leads somewhere else in the file, or out of it.
TEST(DamageTest, EveryWordAsAnAddress) {
  const std::vector<std::byte> whole = small_file();
  std::vector<std::uint64_t> values{0,
                                    1,
                                    96,
                                    whole.size() - 1,
                                    whole.size(),
                                    kUndefined - 1,
                                    kUndefined,
                                    std::uint64_t{1} << 63,
                                    std::uint64_t{1} << 32};
  for (const std::string_view text : {"TREE", "SNOD", "HEAP", "GCOL"}) {
    for (std::size_t at = find(whole, text); at != std::string_view::npos;
         at = find(whole, text, at + 1)) {
      values.push_back(at);
    }
  }
  for (std::size_t at = 0; at + 8 <= whole.size(); at += 8) {
    std::vector<std::byte> bytes = whole;
    for (const std::uint64_t value : values) {
      put_u64(bytes, at, value);
      read_all(bytes);
    }
  }
}

TEST(DamageTest, TruncationSaysSo) {
  std::vector<std::byte> bytes = small_file();
  const std::size_t size = bytes.size();
  bytes.pop_back();
  try {
    File("model.h5", std::move(bytes));
    FAIL();
  } catch (const DataLossError& error) {
    EXPECT_EQ(error.what(),
              fmt::format("'model.h5' is cut short: it says that it has {} bytes, but has {}", size,
                          size - 1));
  }
}

TEST(DamageTest, GroupThatHoldsItselfIsVisitedOnce) {
  std::vector<std::byte> bytes = small_file();
  const std::uint64_t root = get_u64(bytes, 64);
  const std::size_t table = find(bytes, "SNOD");
  ASSERT_NE(table, std::string_view::npos);
  put_u64(bytes, table + 16, root);  // the first entry leads to the root
  const ReadAll result = read_all(bytes);
  EXPECT_GT(result.num_good, 0);
}

TEST(DamageTest, TreeThatHoldsItselfIsRefused) {
  std::vector<std::byte> bytes = small_file();
  const std::size_t tree = find(bytes, "TREE");
  bytes[tree + 5] = std::byte{1};  // an inner node
  put_u64(bytes, tree + 32, tree);
  EXPECT_GT(read_all(bytes).num_bad, 0);
}

// A thousand groups that share one table would be read a thousand times, and each of those again.
TEST(DamageTest, GroupsThatShareATableAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("groups.h5");
  Writer writer(path);
  for (int i = 0; i < 1000; ++i) writer.group(fmt::format("all/{}", i));
  writer.finish();
  std::vector<std::byte> bytes = file_bytes(path);
  // The symbol table message of each group, after the 16 bytes of its header and its own 8.
  const File whole("whole", bytes);
  const Object all = whole.find("all");
  const std::uint64_t tree = get_u64(bytes, all.address() + 24);
  const std::uint64_t heap = get_u64(bytes, all.address() + 32);
  for (const Link& link : all.links()) {
    put_u64(bytes, link.address + 24, tree);
    put_u64(bytes, link.address + 32, heap);
  }
  EXPECT_GT(read_all(bytes).num_bad, 0);
}

TEST(DamageTest, DepthOfGroupsHasALimit) {
  const TemporaryFolder folder;
  const std::string path = folder.file("deep.h5");
  std::string deep;
  for (int i = 0; i < 128; ++i) deep += "a/";
  Writer writer(path);
  writer.group(deep);
  EXPECT_THROW(writer.group(deep + "b"), InvalidArgumentError);
  writer.finish();
  EXPECT_EQ(read_all(file_bytes(path)).num_bad, 0);
  EXPECT_EQ(File(path).find(deep).link_names().size(), 0u);
}

TEST(DamageTest, ErrorNamesFileAndByte) {
  std::vector<std::byte> bytes = small_file();
  const std::size_t tree = find(bytes, "TREE");
  bytes[tree] = std::byte{'X'};
  const File file("model.h5", std::move(bytes));
  try {
    for_each_object(file.root(), [](const Object&) {});
    FAIL();
  } catch (const DataLossError& error) {
    EXPECT_EQ(error.what(),
              fmt::format("'model.h5' is damaged at byte {}: expected the signature TREE", tree));
  }
}

}  // namespace
}  // namespace plimsoll::h5
