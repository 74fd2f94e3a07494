// Datasets of what is in files, and TFRecord files in and out.
//
//   auto records = tf::data::TFRecordDataset({"a.tfrecord", "b.tfrecord"}, {.compression_type =
//   "GZIP"}); for (const tf::data::Element& record : records) parse(record.leaf());
//
//   tf::io::TFRecordWriter writer("a.tfrecord");
//   writer.write(bytes);
//   writer.close();
//
// memory: a record or a line at a time, and a buffer for each file that is open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/data/dataset.h"

namespace plimsoll::data {

struct RecordOptions {
  std::string compression_type = {};  // "GZIP", "ZLIB"; none: as it is
};
// Records as scalars of type string. throws, when it is run: NotFoundError; DataLossError with the
// offset for damaged and truncated records; InvalidArgumentError for an unknown compression.
Dataset TFRecordDataset(const std::vector<std::string>& filenames,
                        const RecordOptions& options = {});
// Lines without their ends.
Dataset TextLineDataset(const std::vector<std::string>& filenames,
                        const RecordOptions& options = {});

struct FixedLengthOptions {
  std::int64_t header_bytes = 0;  // that are skipped at the beginning of each file
  std::int64_t footer_bytes = 0;  // and left at its end
  std::string compression_type = {};
};
// throws, when it is run: InvalidArgumentError for a file that is no multiple of the record.
Dataset FixedLengthRecordDataset(const std::vector<std::string>& filenames,
                                 std::int64_t record_bytes, const FixedLengthOptions& options = {});

// Names that match a pattern of the shell, sorted, then shuffled.
// throws: InvalidArgumentError if there are none.
Dataset list_files(const std::string& pattern, bool shuffle = true,
                   std::optional<std::int64_t> seed = {});
Dataset list_files(const std::vector<std::string>& patterns, bool shuffle = true,
                   std::optional<std::int64_t> seed = {});

// Writes all elements below a folder. throws: FailedPreconditionError, ResourceExhaustedError.
void save(const Dataset& dataset, const std::string& path,
          const std::string& compression_type = "");
// What save wrote. throws: NotFoundError; DataLossError, also when it is run.
Dataset load(const std::string& path);
// Kept in a file the first time that it is run to its end.
Dataset cache(const Dataset& dataset, const std::string& filename);
// throws, when it is run: FailedPreconditionError if there are more or fewer elements.
Dataset assert_cardinality(const Dataset& dataset, std::int64_t expected);

}  // namespace plimsoll::data

namespace plimsoll::io {

class TFRecordWriter {
 public:
  // compression_type: "GZIP", "ZLIB" or none. memory: 256 KiB (tag io), and 288 KiB to compress.
  // throws: NotFoundError, InvalidArgumentError, ResourceExhaustedError.
  explicit TFRecordWriter(const std::string& path, const std::string& compression_type = "");
  ~TFRecordWriter();  // closes it, and says nothing of errors
  TFRecordWriter(const TFRecordWriter&) = delete;
  TFRecordWriter& operator=(const TFRecordWriter&) = delete;

  // throws: ResourceExhaustedError where the disk is full; FailedPreconditionError once it is
  // closed.
  void write(std::string_view record);
  void flush();
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::io
