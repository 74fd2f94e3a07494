#include <algorithm>
#include <bit>

#include "h5/btree.h"
#include "h5/heap.h"

namespace plimsoll::h5 {
namespace {

constexpr int kHugeObjects = 1;  // type of the B-tree
constexpr int kMaxDepth = 16;    // of indirect blocks
constexpr std::uint64_t kMaxTableWidth = 64;
constexpr std::uint64_t kMaxRows = 64;  // each doubles what is addressed

std::size_t bytes_for_bits(std::uint64_t bits) {
  return static_cast<std::size_t>((bits + 7) / 8);
}

}  // namespace

FractalHeap::FractalHeap(const Source& source, std::uint64_t address)
    : source_(source), address_(address) {
  const auto bytes = source.read(address, 146, "a fractal heap");
  Cursor cursor(source, address, bytes);
  cursor.signature("FRHP");
  cursor.require(cursor.u8() == 0, "version 0 of a fractal heap");
  const std::size_t id_nbytes = cursor.u16();
  if (cursor.u16() != 0) source.unimplemented(address, "a compressed heap, which is not read");
  check_checksum(source, address, bytes, "a fractal heap");
  cursor.skip(1);
  const std::uint64_t max_managed = cursor.u32();
  cursor.skip(8);
  huge_tree_ = cursor.u64();
  cursor.skip(10 * 8);
  table_width_ = cursor.u16();
  start_nbytes_ = cursor.u64();
  max_direct_nbytes_ = cursor.u64();
  const std::uint64_t max_bits = cursor.u16();
  cursor.skip(2);
  root_ = cursor.u64();
  root_rows_ = cursor.u16();
  cursor.require(id_nbytes >= 1 && id_nbytes <= 64 && max_bits >= 1 && max_bits <= 64 &&
                     table_width_ <= kMaxTableWidth && root_rows_ <= kMaxRows,
                 "a fractal heap of a plausible form");
  cursor.require(std::has_single_bit(table_width_) && std::has_single_bit(start_nbytes_) &&
                     std::has_single_bit(max_direct_nbytes_) &&
                     start_nbytes_ <= max_direct_nbytes_ && max_direct_nbytes_ <= kMaxMetadataBytes,
                 "a fractal heap whose sizes are powers of two");
  offset_width_ = bytes_for_bits(max_bits);
  length_width_ = std::min(bytes_for_bits(std::bit_width(max_direct_nbytes_) - 1u),
                           bytes_for_bits(std::bit_width(max_managed)));
}

FractalHeap::Object FractalHeap::object(Cursor id) {
  const std::uint8_t flags = id.u8();
  id.require((flags >> 6) == 0, "version 0 of a heap's object");
  const int kind = (flags >> 4) & 3;
  if (kind == 2) {  // in the identifier itself
    const std::uint64_t offset = id.offset();
    const auto bytes = id.take((flags & 15) + 1u);
    return {offset, std::vector<std::byte>(bytes.begin(), bytes.end())};
  }
  id.require(kind < 2, "a managed, huge or tiny object of a heap");
  const Place place = kind == 0 ? managed(id) : huge(id);
  total_ += std::min(place.nbytes, source_.size());
  id.require(total_ <= source_.size(), "objects of a heap that do not overlap");
  return {place.address, source_.read(place.address, place.nbytes, "an object of a heap")};
}

FractalHeap::Place FractalHeap::managed(Cursor id) const {
  const std::uint64_t offset = id.uint(offset_width_);
  const std::uint64_t nbytes = id.uint(length_width_);
  std::uint64_t start = 0;
  const std::uint64_t block = direct_block(offset, start);
  id.require(nbytes <= max_direct_nbytes_, "an object that a block holds");
  return {block + (offset - start), nbytes};
}

FractalHeap::Place FractalHeap::huge(Cursor id) {
  const std::uint64_t wanted = id.uint(std::min<std::size_t>(id.left(), 8));
  id.require(huge_tree_ != kUndefined, "a tree of huge objects");
  if (huge_.empty()) {
    walk_tree_v2(source_, huge_tree_, kHugeObjects, [&](Cursor record) {
      const std::uint64_t address = record.u64();
      const std::uint64_t nbytes = record.u64();
      huge_[record.u64()] = {address, nbytes};
    });
  }
  const auto found = huge_.find(wanted);
  id.require(found != huge_.end(), "a huge object that the heap has");
  return found->second;
}

std::uint64_t FractalHeap::row_nbytes(std::uint64_t row) const {
  return row <= 1 ? start_nbytes_ : start_nbytes_ << std::min<std::uint64_t>(row - 1, 63);
}

std::uint64_t FractalHeap::direct_block(std::uint64_t offset, std::uint64_t& start) const {
  std::uint64_t block = root_;
  std::uint64_t rows = root_rows_;
  start = 0;
  for (int depth = 0; rows > 0; ++depth) {
    source_.require(depth < kMaxDepth && rows <= kMaxRows, block, "fewer levels of a fractal heap");
    // Row 0 begins at 0 and row r > 0 at the sum of those before, a power of two.
    const std::uint64_t units = (offset - start) / (start_nbytes_ * table_width_);
    const std::uint64_t row = static_cast<std::uint64_t>(std::bit_width(units));
    source_.require(row < rows && row < 48, block, "an object inside its heap");
    const std::uint64_t nbytes = row_nbytes(row);
    const std::uint64_t row_start = row == 0 ? 0 : nbytes * table_width_;
    const std::uint64_t column = (offset - start - row_start) / nbytes;
    const std::uint64_t head = 4 + 1 + 8 + offset_width_;
    const auto bytes = source_.read(block, head + 8 * rows * table_width_ + 4, "an indirect block");
    Cursor cursor(source_, block, bytes);
    cursor.signature("FHIB");
    check_checksum(source_, block, bytes, "an indirect block");
    cursor.skip(1);
    cursor.require(cursor.u64() == address_, "a block of this heap");
    cursor.require(cursor.uint(offset_width_) == start, "the block at this place of the heap");
    cursor.skip(8 * (row * table_width_ + column));
    block = cursor.u64();
    start += row_start + column * nbytes;
    rows = nbytes <= max_direct_nbytes_
               ? 0
               : static_cast<std::uint64_t>(std::bit_width(nbytes) -
                                            std::bit_width(start_nbytes_ * table_width_) + 1);
  }
  source_.require(offset - start < max_direct_nbytes_, address_, "an object inside its heap");
  const auto bytes = source_.read(block, 13, "a direct block");
  Cursor cursor(source_, block, bytes);
  cursor.signature("FHDB");
  cursor.skip(1);
  cursor.require(cursor.u64() == address_, "a block of this heap");
  return block;
}

}  // namespace plimsoll::h5
