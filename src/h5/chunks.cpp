// The indexes of chunks.
#include <algorithm>

#include "h5/btree.h"
#include "h5/layout.h"

namespace plimsoll::h5 {
namespace {

constexpr int kPlainChunks = 10, kFilteredChunks = 11;  // types of the B-tree

class Walker {
 public:
  Walker(const Source& source, const Layout& layout, const Shape& shape, std::uint64_t chunk_nbytes,
         bool has_filters, const std::function<void(const Chunk&)>& visit)
      : source_(source),
        layout_(layout),
        shape_(shape),
        chunk_nbytes_(chunk_nbytes),
        has_filters_(has_filters),
        visit_(visit) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      counts_.push_back(shape[axis] / layout.chunk[axis] + (shape[axis] % layout.chunk[axis] != 0));
      total_ = product(total_, counts_.back());
    }
    source.require(total_ <= kMaxChunks, layout.address, "at most 2^24 chunks");
  }

  void run() {
    if (total_ == 0 || layout_.address == kUndefined) return;
    switch (layout_.index) {
      case ChunkIndex::kTree:
        return tree();
      case ChunkIndex::kSingle:
        source_.require(total_ == 1, layout_.address, "a dataset of one chunk");
        return add(first(), layout_.address,
                   layout_.is_filtered ? layout_.single_nbytes : chunk_nbytes_,
                   layout_.is_filtered ? layout_.single_mask : ~0u);
      case ChunkIndex::kImplicit:
        for (std::uint64_t i = 0; i < total_; ++i) {
          source_.require(layout_.address <= source_.size(), layout_.address, "chunks");
          add(nth(i), layout_.address + i * chunk_nbytes_, chunk_nbytes_, ~0u);
        }
        return;
      case ChunkIndex::kFixedArray:
        return fixed_array();
      case ChunkIndex::kTree2:
        return tree2();
    }
  }

 private:
  Shape first() const { return Shape(shape_.size(), 0); }

  // The start of chunk `i` in the order of rows.
  Shape nth(std::uint64_t i) const {
    Shape start(shape_.size());
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
      start[axis] = i % counts_[axis] * layout_.chunk[axis];
      i /= counts_[axis];
    }
    return start;
  }

  void add(Shape start, std::uint64_t address, std::uint64_t nbytes, std::uint32_t mask) {
    if (address == kUndefined) return;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
      source_.require(start[axis] % layout_.chunk[axis] == 0, address,
                      "a chunk that begins where chunks do");
      if (start[axis] >= shape_[axis]) return;  // left from before the dataset became smaller
    }
    source_.require(++seen_ <= total_, address, "no more chunks than the shape has");
    stored_ += std::min(nbytes, source_.size());
    source_.require(stored_ <= source_.size(), address, "chunks that do not overlap");
    source_.require(has_filters_ || nbytes == chunk_nbytes_, address,
                    "a chunk of the size that the layout says");
    visit_({std::move(start), address, nbytes, mask});
  }

  void tree() {
    const std::size_t rank = shape_.size();
    walk_tree_v1(source_, layout_.address, TreeKind::kChunks, 8 + 8 * (rank + 1),
                 [&](Cursor key, std::uint64_t address) {
                   const std::uint64_t nbytes = key.u32();
                   const std::uint32_t mask = key.u32();
                   Shape start(rank);
                   for (std::uint64_t& at : start) at = key.u64();
                   add(std::move(start), address, nbytes, mask);
                 });
  }

  void tree2() {
    walk_tree_v2(source_, layout_.address, has_filters_ ? kFilteredChunks : kPlainChunks,
                 [&](Cursor record) {
                   const std::uint64_t address = record.u64();
                   std::uint64_t nbytes = chunk_nbytes_;
                   std::uint32_t mask = ~0u;
                   if (has_filters_) {
                     const std::size_t others = 4 + 8 * shape_.size();
                     record.require(record.left() > others && record.left() <= others + 8,
                                    "a record of a chunk");
                     nbytes = record.uint(record.left() - others);
                     mask = record.u32();
                   }
                   Shape start(shape_.size());
                   for (std::size_t axis = 0; axis < start.size(); ++axis) {
                     start[axis] = product(record.u64(), layout_.chunk[axis]);
                     record.require(start[axis] != kUndefined, "a chunk inside the dataset");
                   }
                   add(std::move(start), address, nbytes, mask);
                 });
  }

  void fixed_array() {
    const auto head = source_.read(layout_.address, 28, "an array of chunks");
    Cursor cursor(source_, layout_.address, head);
    cursor.signature("FAHD");
    check_checksum(source_, layout_.address, head, "an array of chunks");
    cursor.require(cursor.u8() == 0 && cursor.u8() == (has_filters_ ? 1 : 0),
                   "an array of chunks of the right kind");
    const std::uint64_t entry_nbytes = cursor.u8();
    const std::uint64_t page_bits = cursor.u8();
    const std::uint64_t count = cursor.u64();
    const std::uint64_t block = cursor.u64();
    cursor.require(count == total_ && page_bits < 32 && entry_nbytes >= (has_filters_ ? 13 : 8) &&
                       entry_nbytes <= 20,
                   "an array with an entry for each chunk");
    if (block == kUndefined) return;
    const std::uint64_t page = std::uint64_t{1} << page_bits;
    if (count <= page) {
      const auto bytes = source_.read(block, 14 + count * entry_nbytes + 4, "an array of chunks");
      check_checksum(source_, block, bytes, "an array of chunks");
      Cursor entries(source_, block, bytes);
      entries.signature("FADB");
      entries.skip(10);
      for (std::uint64_t i = 0; i < count; ++i) entry(i, entries.part(entry_nbytes));
      return;
    }
    const std::uint64_t num_pages = (count + page - 1) / page;
    const std::uint64_t head_nbytes = 14 + (num_pages + 7) / 8 + 4;
    const auto bytes = source_.read(block, head_nbytes, "an array of chunks");
    check_checksum(source_, block, bytes, "an array of chunks");
    Cursor pages(source_, block, bytes);
    pages.signature("FADB");
    pages.skip(10);
    const auto bitmap = pages.take((num_pages + 7) / 8);
    for (std::uint64_t p = 0; p < num_pages; ++p) {
      const auto bits = static_cast<unsigned>(bitmap[p / 8]);
      if ((bits >> (7 - p % 8) & 1) == 0) continue;  // no chunk of it is stored
      const std::uint64_t at = block + head_nbytes + p * (page * entry_nbytes + 4);
      page_entries(at, p * page, std::min(page, count - p * page), entry_nbytes);
    }
  }

  void page_entries(std::uint64_t at, std::uint64_t begin, std::uint64_t count,
                    std::uint64_t entry_nbytes) {
    const auto bytes = source_.read(at, count * entry_nbytes + 4, "a page of an array of chunks");
    check_checksum(source_, at, bytes, "a page of an array of chunks");
    Cursor entries(source_, at, bytes);
    for (std::uint64_t i = 0; i < count; ++i) entry(begin + i, entries.part(entry_nbytes));
  }

  void entry(std::uint64_t i, Cursor cursor) {
    const std::uint64_t address = cursor.u64();
    if (!has_filters_) return add(nth(i), address, chunk_nbytes_, ~0u);
    const std::uint64_t nbytes = cursor.uint(cursor.left() - 4);
    add(nth(i), address, nbytes, cursor.u32());
  }

  const Source& source_;
  const Layout& layout_;
  const Shape& shape_;
  std::uint64_t chunk_nbytes_;
  bool has_filters_;
  const std::function<void(const Chunk&)>& visit_;
  Shape counts_;  // of chunks along each axis
  std::uint64_t total_ = 1;
  std::uint64_t seen_ = 0;
  std::uint64_t stored_ = 0;  // bytes of chunks
};

}  // namespace

void for_each_chunk(const Source& source, const Layout& layout, const Shape& shape,
                    std::uint64_t chunk_nbytes, bool has_filters,
                    const std::function<void(const Chunk&)>& visit) {
  Walker(source, layout, shape, chunk_nbytes, has_filters, visit).run();
}

}  // namespace plimsoll::h5
