// What is written is read back. That h5py reads it too is in tests/oracle/h5_test.py.
#include "h5/writer.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <numeric>

#include "h5/file.h"
#include "h5/temporary.h"
#include "plimsoll/error.h"

namespace plimsoll::h5 {
namespace {

using Strings = std::vector<std::string>;

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <class T>
std::vector<T> values_of(const Dataset& dataset) {
  std::vector<T> values(dataset.num_elements());
  dataset.read_into(std::as_writable_bytes(std::span(values)));
  return values;
}

// The message of the error that `call` gives; empty if it gives none.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(WriterTest, KerasLikeTree) {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.weights.h5");
  std::vector<float> kernel(12);
  std::iota(kernel.begin(), kernel.end(), 0.5f);
  const std::vector<float> bias{1, 2, 3};
  {
    Writer writer(path);
    writer.dataset("model_weights/dense/dense/kernel:0", Type::floating(4), {4, 3},
                   bytes_of(kernel));
    writer.dataset("model_weights/dense/dense/bias:0", Type::floating(4), {3}, bytes_of(bias));
    writer.group("optimizer_weights");
    writer.attribute("model_weights", "layer_names", Strings{"dense"}, {1}, Type::fixed_string(5));
    writer.attribute("model_weights", "backend", "plimsoll");
    writer.attribute("/", "epoch", 12);
    writer.finish();
  }
  const File file(path);
  EXPECT_EQ(file.root().link_names(), (Strings{"model_weights", "optimizer_weights"}));
  const Object weights = file.find("model_weights");
  EXPECT_EQ(weights.attribute("layer_names").strings(), Strings{"dense"});
  EXPECT_EQ(weights.attribute("backend").string(), "plimsoll");
  EXPECT_EQ(file.root().attribute("epoch").integer(), 12);
  const Dataset read = weights.find("dense/dense/kernel:0").dataset();
  EXPECT_EQ(read.shape(), (Shape{4, 3}));
  EXPECT_EQ(read.type().name(), "float32");
  EXPECT_EQ(values_of<float>(read), kernel);
  EXPECT_EQ(values_of<float>(file.find("/model_weights/dense/dense/bias:0").dataset()), bias);
  EXPECT_TRUE(file.find("optimizer_weights").link_names().empty());
}

TEST(WriterTest, PiecesMakeADataset) {
  const TemporaryFolder folder;
  const std::string path = folder.file("file.h5");
  std::vector<std::int32_t> values(1000);
  std::iota(values.begin(), values.end(), -7);
  Writer writer(path);
  writer.begin_dataset("data", Type::signed_int(4), {1000});
  writer.append(bytes_of(values).first(1500));
  EXPECT_TRUE(contains(refusal([&] { writer.group("other"); }), "still lacks 2500 bytes"));
  EXPECT_TRUE(contains(refusal([&] { writer.append(bytes_of(values)); }), "takes 2500 more bytes"));
  writer.append(bytes_of(values).subspan(1500));
  writer.finish();
  EXPECT_EQ(values_of<std::int32_t>(File(path).find("data").dataset()), values);
}

TEST(WriterTest, ManyLinksAndLookups) {
  const TemporaryFolder folder;
  const std::string path = folder.file("file.h5");
  constexpr int kCount = 10000;
  Writer writer(path);
  for (int i = 0; i < kCount; ++i) {
    writer.dataset(fmt::format("group/{}", i), Type::signed_int(4), {},
                   std::as_bytes(std::span(&i, 1)));
  }
  writer.finish();
  const File file(path);
  EXPECT_EQ(file.find("group").link_names().size(), static_cast<std::size_t>(kCount));
  EXPECT_EQ(values_of<std::int32_t>(file.find("group/9876").dataset()),
            std::vector<std::int32_t>{9876});
  EXPECT_TRUE(
      contains(refusal([&] { file.find("group/10000"); }), "group '/group' has no '10000'"));
  EXPECT_TRUE(contains(refusal([&] { file.find("group/1/2"); }), "'/group/1' is not a group"));
  EXPECT_FALSE(file.has("nothing"));
}

TEST(WriterTest, FileInsideOfAnother) {
  const TemporaryFolder folder;
  const std::string path = folder.file("file.h5"), archive = folder.file("archive");
  Writer writer(path);
  writer.attribute("/", "text", "found");
  writer.finish();
  const std::vector<std::byte> bytes = file_bytes(path);
  std::ofstream(archive, std::ios::binary)
      << "head" << std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) << "tail";
  EXPECT_EQ(File(archive, 4, bytes.size()).root().attribute("text").string(), "found");
  EXPECT_TRUE(contains(refusal([&] { File(archive, 4, bytes.size() + 5); }), "expected"));
}

TEST(WriterTest, NothingIsLeftWithoutFinish) {
  const TemporaryFolder folder;
  {
    Writer writer(folder.file("file.h5"));
    writer.group("a");
    EXPECT_FALSE(folder.is_empty());
  }
  EXPECT_TRUE(folder.is_empty());
}

TEST(WriterTest, WhatStoodThereStaysUntilFinish) {
  const TemporaryFolder folder;
  const std::string path = folder.file("file.h5");
  for (const char* text : {"first", "second"}) {
    Writer writer(path);
    writer.attribute("/", "text", text);
    if (std::string_view(text) == "second") {
      EXPECT_EQ(File(path).root().attribute("text").string(), "first");
    }
    writer.finish();
    EXPECT_TRUE(contains(refusal([&] { writer.group("a"); }), "is finished"));
    EXPECT_EQ(File(path).root().attribute("text").string(), text);
  }
}

TEST(WriterTest, FullDiskIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  struct rlimit before {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 4096;
  setrlimit(RLIMIT_FSIZE, &small);
  const std::vector<float> large(5000);
  {
    Writer writer(folder.file("file.h5"));
    EXPECT_THROW(writer.dataset("a", Type::floating(4), {5000}, bytes_of(large)),
                 ResourceExhaustedError);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(folder.is_empty());
}

TEST(WriterTest, RefusesWhatDoesNotFit) {
  const TemporaryFolder folder;
  Writer writer(folder.file("file.h5"));
  writer.dataset("a/b", Type::floating(4), {0}, {});
  EXPECT_TRUE(
      contains(refusal([&] { writer.dataset("a/b", Type::floating(4), {0}, {}); }), "already in"));
  EXPECT_TRUE(contains(refusal([&] { writer.group("a/b/c"); }), "a dataset stands on the way"));
  EXPECT_TRUE(
      contains(refusal([&] { writer.attribute("a", "x", std::string("a\0b", 3)); }), "NUL"));
  EXPECT_TRUE(contains(
      refusal([&] { writer.attribute("a", "x", Strings{"abc"}, {1}, Type::fixed_string(2)); }),
      "a fixed string takes 2"));
  EXPECT_TRUE(contains(refusal([&] { writer.attribute("a", "x", Strings(5000, "abc"), {5000}); }),
                       "at most 65528"));
  EXPECT_TRUE(contains(refusal([&] {
                         writer.dataset("c", Type::floating(4), {1ull << 40, 1ull << 40}, {});
                       }),
                       "too large"));
  EXPECT_THROW(Writer(folder.file("nowhere/file.h5")), NotFoundError);
}

TEST(FileTest, WrongUseSaysWhatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder.file("file.h5");
  Writer writer(path);
  writer.dataset("words", Strings{"a", "b"}, {2});
  writer.attribute("/", "number", 3);
  writer.finish();
  const File file(path);
  std::vector<std::byte> buffer(32);
  EXPECT_TRUE(contains(refusal([&] { file.find("words").dataset().read_into(buffer); }),
                       "strings() reads them"));
  EXPECT_TRUE(contains(refusal([&] { file.root().dataset(); }), "is not a dataset"));
  EXPECT_TRUE(contains(refusal([&] { file.find("words").links(); }), "is not a group"));
  EXPECT_TRUE(contains(refusal([&] { file.root().attribute("number").strings(); }),
                       "holds int64, not strings"));
  EXPECT_TRUE(
      contains(refusal([&] { file.root().attribute("none"); }), "there is no attribute 'none'"));
  EXPECT_THROW(File(folder.file("none.h5")), NotFoundError);
}

}  // namespace
}  // namespace plimsoll::h5
