// Files: records, lines, pieces of one length. Files of TensorFlow go through the same in
// tests/oracle.
#include "plimsoll/data/files.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "data/crc32c.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"

namespace plimsoll::data {
namespace {

class FilesTest : public testing::Test {
 protected:
  FilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "plimsoll_data_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~FilesTest() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  static std::string text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
};

std::vector<std::string> all_of(const Dataset& dataset) {
  std::vector<std::string> all;
  for (const Element& element : dataset) {
    for (const std::string& text : element.leaf().to_vector<std::string>()) all.push_back(text);
  }
  return all;
}
template <class E>
std::string message_of(const Dataset& dataset) {
  try {
    all_of(dataset);
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

TEST_F(FilesTest, TheChecksumIsCastagnolis) {
  const std::string digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xe3069283U);
  const std::string zeros(32, '\0');
  EXPECT_EQ(crc32c(std::as_bytes(std::span(zeros))), 0x8a9136aaU);
}

TEST_F(FilesTest, RecordsComeBack) {
  const std::vector<std::string> records{"one", "", std::string(300'000, 'x'), "four"};
  for (const char* compression : {"", "GZIP", "ZLIB"}) {
    SCOPED_TRACE(compression);
    const std::string path = file(std::string("records") + compression);
    {
      io::TFRecordWriter writer(path, compression);
      for (const std::string& record : records) writer.write(record);
      writer.flush();
      writer.close();
      EXPECT_THROW(writer.write("more"), FailedPreconditionError);
    }
    EXPECT_EQ(all_of(TFRecordDataset({path}, {.compression_type = compression})), records);
    const auto twice = TFRecordDataset({path, path}, {.compression_type = compression});
    EXPECT_EQ(all_of(twice).size(), 8U);
  }
  EXPECT_THROW(TFRecordDataset({file("x")}, {.compression_type = "LZ4"}), InvalidArgumentError);
  EXPECT_THROW(all_of(TFRecordDataset({file("not there")})), NotFoundError);
}

TEST_F(FilesTest, DamagedRecordsNameTheirPlace) {
  const std::string path = file("records");
  {
    io::TFRecordWriter writer(path);
    writer.write("first");
    writer.write("second");
  }
  const std::string whole = text_of(path);
  const std::size_t second = 12 + 5 + 4;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string bad = whole;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    const std::string message = message_of<DataLossError>(TFRecordDataset({write("bad", bad)}));
    EXPECT_NE(message.find(i < second ? "at byte 0" : "at byte 21"), std::string::npos) << message;
  }
  for (std::size_t n = 1; n < whole.size(); ++n) {
    if (n == second) continue;  // a whole file
    EXPECT_THROW(all_of(TFRecordDataset({write("short", whole.substr(0, n))})), DataLossError) << n;
  }
}

TEST_F(FilesTest, Lines) {
  const std::string path = write("lines", "a\nbb\r\n\nlast");
  EXPECT_EQ(all_of(TextLineDataset({path})), (std::vector<std::string>{"a", "bb", "", "last"}));
  const std::string ended = write("ended", "a\nb\n");
  EXPECT_EQ(all_of(TextLineDataset({ended, path})).size(), 6U);
  const std::string wide = write("wide", std::string(600'000, 'y') + "\nz\n");
  EXPECT_EQ(all_of(TextLineDataset({wide})).back(), "z");
}

// A file that cannot be read is left with an error, and the next one begins.
TEST_F(FilesTest, FilesBehindABadOneAreRead) {
  using Texts = std::vector<std::string>;
  const auto with_errors = [](const Dataset& dataset) {
    Texts found;
    const auto run = dataset.make_iterator();
    while (found.size() < 100) {
      try {
        const auto element = run->next();
        if (!element) return found;
        found.push_back(element->leaf().to_vector<std::string>()[0]);
      } catch (const Error&) {
        found.emplace_back("error");
      }
    }
    return found;
  };
  const auto records = [&](const std::string& name, const std::string& compression) {
    io::TFRecordWriter writer(file(name), compression);
    for (const char* record : {"one", "two", "three"}) writer.write(record);
    writer.close();
    return text_of(file(name));
  };
  const std::string whole = records("whole", "");
  const Texts behind_error{"error", "one", "two", "three"};
  EXPECT_EQ(with_errors(TFRecordDataset({file("not there"), file("whole")})), behind_error);
  EXPECT_EQ(with_errors(TextLineDataset({file("not there"), write("line", "a")})),
            (Texts{"error", "a"}));
  std::string bad = whole;
  bad[0] ^= 1;  // the length
  EXPECT_EQ(with_errors(TFRecordDataset({write("bad", bad), file("whole")})), behind_error);
  EXPECT_EQ(with_errors(TFRecordDataset({write("bad", whole.substr(0, 13)), file("whole")})),
            behind_error);
  bad = whole;
  bad[12] ^= 1;  // a byte: where the next record is, is known
  EXPECT_EQ(with_errors(TFRecordDataset({write("bad", bad)})), (Texts{"error", "two", "three"}));

  std::string packed = records("packed", "GZIP");
  packed[10] = '\xff';  // a block of no kind
  EXPECT_EQ(with_errors(TFRecordDataset({write("bad", packed), file("packed")},
                                        {.compression_type = "GZIP"})),
            behind_error);
  EXPECT_EQ(with_errors(TextLineDataset({file("bad")}, {.compression_type = "GZIP"})),
            Texts{"error"});
  EXPECT_EQ(with_errors(FixedLengthRecordDataset({file("bad"), file("bad")}, 2,
                                                 {.header_bytes = 1, .compression_type = "GZIP"})),
            (Texts{"error", "error"}));
  const std::string pieces = write("pieces", "aabbc");
  EXPECT_EQ(with_errors(FixedLengthRecordDataset({pieces, pieces}, 2)),
            (Texts{"aa", "bb", "error", "aa", "bb", "error"}));
}

TEST_F(FilesTest, PiecesOfOneLength) {
  const std::string path = write("pieces", "HHaabbccF");
  EXPECT_EQ(all_of(FixedLengthRecordDataset({path}, 2, {.header_bytes = 2, .footer_bytes = 1})),
            (std::vector<std::string>{"aa", "bb", "cc"}));
  const auto message = message_of<InvalidArgumentError>(FixedLengthRecordDataset({path}, 4));
  EXPECT_NE(message.find("Excess bytes"), std::string::npos) << message;
  EXPECT_THROW(FixedLengthRecordDataset({path}, 0), InvalidArgumentError);
}

TEST_F(FilesTest, NamesOfFiles) {
  for (const char* name : {"b.txt", "a.txt", "c.csv"}) write(name, "x");
  EXPECT_EQ(all_of(list_files(file("*.txt"), false)),
            (std::vector<std::string>{file("a.txt"), file("b.txt")}));
  EXPECT_EQ(all_of(list_files(file("*"), true, 3)).size(), 3U);
  EXPECT_THROW(list_files(file("*.png")), InvalidArgumentError);
}

// While it lives, there is room for so many more bytes on the CPU.
class Room {
 public:
  explicit Room(std::uint64_t nbytes)
      : budget_(Context::get().cpu().budget()), old_(budget_.limit()) {
    budget_.set_limit(budget_.in_use() + nbytes);
  }
  ~Room() { budget_.set_limit(old_); }

 private:
  memory::Budget budget_;
  const std::uint64_t old_;
};

TEST_F(FilesTest, NoRecordIsLostWhereMemoryIsShort) {
  constexpr std::size_t kBytes = 64 << 10;
  constexpr int kNum = 60;
  const auto item = [](int i) { return std::string(kBytes, static_cast<char>(i)); };
  {
    io::TFRecordWriter writer(file("records"));
    for (int i = 0; i < kNum; ++i) writer.write(item(i));
  }
  std::string pieces;
  for (int i = 0; i < kNum; ++i) pieces += item(i);
  write("pieces", pieces);
  for (const Dataset& dataset :
       {TFRecordDataset({file("records")}), FixedLengthRecordDataset({file("pieces")}, kBytes)}) {
    const Room room(5 * kBytes + (256 << 10));  // and the buffer of the file
    int next = 0;
    for (const Element& element : dataset.prefetch(16))
      EXPECT_EQ(element.leaf().item<std::string>(), item(next++));
    EXPECT_EQ(next, kNum);
  }
}

TEST_F(FilesTest, FilesAreReadAndWrittenInEveryRoomOrNot) {
  memory::Budget budget = Context::get().cpu().budget();
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919 % 10007);
  for (const char* compression : {"", "GZIP", "ZLIB"}) {
    const auto go = [&] {
      io::TFRecordWriter writer(file("records"), compression);
      for (int i = 0; i < 8; ++i) writer.write(text);
      writer.close();
      return all_of(TFRecordDataset({file("records")}, {.compression_type = compression}));
    };
    const std::uint64_t before = budget.in_use();
    budget.reset_peak();
    EXPECT_EQ(go(), std::vector<std::string>(8, text));
    const std::uint64_t needed = budget.peak() - before;
    EXPECT_GT(needed, 256U << 10);
    for (std::uint64_t nbytes = 0; nbytes < needed; nbytes += needed / 40) {
      const Room room(nbytes);
      EXPECT_THROW(go(), ResourceExhaustedError) << "with " << nbytes << " of " << needed;
      EXPECT_EQ(budget.in_use(), before);
    }
    const Room room(needed);
    EXPECT_EQ(go(), std::vector<std::string>(8, text));
  }
}

// Whoever asks again after a refusal, anywhere in an item, gets that item.
TEST_F(FilesTest, ItemsThatFindNoMemoryComeAgain) {
  constexpr std::size_t kBytes = 3 << 20;
  const std::string large(kBytes, 'x'), small = "small";
  const std::vector<std::string> all{small, large, "", small};
  for (const char* compression : {"", "GZIP"}) {
    io::TFRecordWriter writer(file(std::string("records") + compression), compression);
    for (const std::string& item : all) writer.write(item);
  }
  write("lines", small + "\n" + large + "\r\n\n" + small);
  const RecordOptions gzip{.compression_type = "GZIP"};
  for (const Dataset& dataset :
       {TFRecordDataset({file("records")}), TFRecordDataset({file("recordsGZIP")}, gzip),
        TextLineDataset({file("lines")})}) {
    memory::Budget budget = Context::get().cpu().budget();
    const std::uint64_t before = budget.in_use();
    const auto run = dataset.make_iterator();
    std::vector<std::string> found;
    int num_refused = 0;
    while (found.size() < all.size()) {
      for (std::uint64_t nbytes = 0;; nbytes += 256 << 10) {
        const Room room(nbytes);
        try {
          const auto element = run->next();
          ASSERT_TRUE(element);
          found.push_back(element->leaf().item<std::string>());
          break;
        } catch (const ResourceExhaustedError&) {
          ++num_refused;
        }
      }
    }
    EXPECT_EQ(found, all);
    EXPECT_GT(num_refused, 10);
    EXPECT_FALSE(run->next());
    EXPECT_EQ(budget.in_use(), before);
  }
}

TEST_F(FilesTest, WhatARunTakesIsBooked) {
  constexpr std::size_t kBytes = 4 << 20;
  {
    io::TFRecordWriter writer(file("records"));
    for (int i = 0; i < 3; ++i) writer.write(std::string(kBytes, 'x'));
  }
  memory::Budget budget = Context::get().cpu().budget();
  const std::uint64_t before = budget.in_use();
  const auto run = TFRecordDataset({file("records")}).make_iterator();
  budget.reset_peak();
  while (run->next()) {
  }
  // One record, once, and the buffer of the file.
  EXPECT_GE(budget.peak() - before, kBytes + (256 << 10));
  EXPECT_LE(budget.peak() - before, kBytes + (257 << 10));
}

// A length with the right checksum that the file does not have.
TEST_F(FilesTest, ALyingLengthTakesNoMemory) {
  std::string head(12, '\0');
  const std::uint64_t length = std::uint64_t{3} << 30;
  std::memcpy(head.data(), &length, 8);
  const std::uint32_t sum = masked_crc32c(std::as_bytes(std::span(head)).first(8));
  std::memcpy(head.data() + 8, &sum, 4);
  write("lie", head + "abc");
  memory::Budget budget = Context::get().cpu().budget();
  budget.reset_peak();
  const std::uint64_t before = budget.in_use();
  EXPECT_NE(
      message_of<DataLossError>(TFRecordDataset({file("lie")})).find("truncated record at byte 0"),
      std::string::npos);
  EXPECT_LT(budget.peak() - before, 1U << 20);
}

}  // namespace
}  // namespace plimsoll::data
