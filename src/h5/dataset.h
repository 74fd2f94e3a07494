// A dataset: its type, its shape, and its elements read straight into a buffer of the caller's.
#pragma once

#include "h5/filters.h"
#include "h5/layout.h"
#include "h5/object_header.h"

namespace plimsoll::h5 {

inline constexpr std::uint64_t kMaxStringTableBytes = 256u << 20;  // elements of a string dataset

class Dataset {
 public:
  // throws: DataLossError, or UnimplementedError for what is not read.
  Dataset(std::shared_ptr<const Source> source, std::string path,
          const std::vector<Message>& messages);

  const Type& type() const noexcept { return type_; }
  const Shape& shape() const noexcept { return space_.shape; }
  bool is_null() const noexcept { return space_.is_null; }
  std::uint64_t num_elements() const noexcept { return space_.num_elements(); }
  std::uint64_t nbytes() const noexcept { return num_elements() * type_.nbytes; }

  // All elements in the order of rows. pre: numbers, booleans or fixed strings.
  // memory: of chunks, two at a time; otherwise nothing.
  // throws: InvalidArgumentError unless to.size() == nbytes(); DataLossError.
  void read_into(std::span<std::byte> to) const;
  // memory: the strings and kMaxStringTableBytes at most.
  std::vector<std::string> strings() const;

 private:
  void read_raw(std::span<std::byte> to) const;
  void read_chunk(const Chunk& chunk, std::uint64_t chunk_nbytes, std::span<std::byte> to) const;
  void copy_chunk(const Chunk& chunk, std::span<const std::byte> from,
                  std::span<std::byte> to) const;
  void fill(std::span<std::byte> to) const;
  void check_layout(const Message& message) const;

  std::shared_ptr<const Source> source_;
  std::string path_;
  Type type_;
  Space space_;
  Layout layout_;
  std::vector<Filter> filters_;
  std::vector<std::byte> fill_value_;  // empty: zeros
};

}  // namespace plimsoll::h5
