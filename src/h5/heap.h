// Heaps: a local heap has the names of a group, the global heap has strings of variable length, and
// a fractal heap has the links and attributes of objects that have many of them.
#pragma once

#include <map>

#include "h5/bytes.h"

namespace plimsoll::h5 {

class LocalHeap {
 public:
  LocalHeap(const Source& source, std::uint64_t address);

  std::string text(std::uint64_t offset) const;

 private:
  const Source& source_;
  std::uint64_t data_address_ = 0;
  std::vector<std::byte> data_;
};

// memory: the collections that were asked for, together at most as large as the file.
class GlobalHeap {
 public:
  explicit GlobalHeap(const Source& source) : source_(source) {}

  // The object `index` of the collection at `address`.
  std::span<const std::byte> object(std::uint64_t address, std::uint32_t index);

 private:
  struct Collection {
    std::vector<std::byte> bytes;
    std::map<std::uint32_t, std::span<const std::byte>> objects;
  };
  const Collection& collection(std::uint64_t address);

  const Source& source_;
  std::map<std::uint64_t, Collection> collections_;
  std::uint64_t total_ = 0;
};

class FractalHeap {
 public:
  FractalHeap(const Source& source, std::uint64_t address);

  struct Object {
    std::uint64_t offset;  // in the file
    std::vector<std::byte> bytes;
  };
  // Objects do not overlap: all that are asked for are together no larger than the file.
  Object object(Cursor id);

 private:
  struct Place {
    std::uint64_t address;
    std::uint64_t nbytes;
  };
  Place managed(Cursor id) const;
  Place huge(Cursor id);
  // The address of the direct block that holds `offset`; `start` becomes where the block begins.
  std::uint64_t direct_block(std::uint64_t offset, std::uint64_t& start) const;
  std::uint64_t row_nbytes(std::uint64_t row) const;  // of one block in that row

  const Source& source_;
  std::uint64_t address_;
  std::size_t offset_width_ = 0;
  std::size_t length_width_ = 0;
  std::uint64_t huge_tree_ = kUndefined;
  std::map<std::uint64_t, Place> huge_;  // by identifier, once one is asked for
  std::uint64_t total_ = 0;              // bytes of objects
  std::uint64_t table_width_ = 0;
  std::uint64_t start_nbytes_ = 0;
  std::uint64_t max_direct_nbytes_ = 0;
  std::uint64_t root_ = kUndefined;
  std::uint64_t root_rows_ = 0;  // 0: the root is a direct block
};

}  // namespace plimsoll::h5
