// Files read from front to back, packed or not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "data/booked_text.h"

namespace plimsoll::data {

class FileStream {
 public:
  // memory: a buffer as long as the file, up to 256 KiB, and of a packed one another 320 KiB (tag
  // io); most_bytes is the most that it can be. throws: NotFoundError, FailedPreconditionError;
  // InvalidArgumentError for an unknown compression; ResourceExhaustedError.
  FileStream(const std::string& path, const std::string& compression_type);
  ~FileStream();
  static std::uint64_t most_bytes(const std::string& compression_type);
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::uint64_t offset() const noexcept { return offset_; }  // of what was read, unpacked
  // Fills `to` as far as there is something, and gives how many bytes that were.
  // throws: DataLossError for packed data that is damaged.
  std::size_t read(std::span<std::byte> to);
  // Appends to `line` up to the next '\n', without it and without a '\r' before it. False at the
  // end. throws: as read; ResourceExhaustedError, after which the call can be repeated.
  bool read_line(BookedText& line);
  // The bytes behind `offset`, if the file is not packed and has a length.
  std::optional<std::uint64_t> bytes_left() const;

 private:
  bool fill();  // the buffer; false at the end

  struct State;
  std::unique_ptr<State> state_;
  std::string path_;
  std::uint64_t offset_ = 0;
};

// "" gives -1 for what is stored as it is, else the windowBits of zlib.
// throws: InvalidArgumentError.
int window_bits(const std::string& compression_type);

}  // namespace plimsoll::data
