#include "h5/heap.h"

#include <algorithm>

namespace plimsoll::h5 {

LocalHeap::LocalHeap(const Source& source, std::uint64_t address) : source_(source) {
  const auto head = source.read(address, 32, "a local heap");
  Cursor cursor(source, address, head);
  cursor.signature("HEAP");
  cursor.require(cursor.u8() == 0, "version 0 of a local heap");
  cursor.skip(3);
  const std::uint64_t nbytes = cursor.u64();
  cursor.skip(8);
  data_address_ = cursor.u64();
  data_ = source.read(data_address_, nbytes, "the data of a local heap");
}

std::string LocalHeap::text(std::uint64_t offset) const {
  source_.require(offset < data_.size(), data_address_, "a name inside its heap");
  const auto begin = data_.begin() + static_cast<std::ptrdiff_t>(offset);
  const auto limit = begin + std::min<std::ptrdiff_t>(data_.end() - begin, kMaxNameBytes + 1);
  const auto end = std::find(begin, limit, std::byte{0});
  source_.require(end != limit, data_address_ + offset, "a name of at most 65536 bytes and a NUL");
  return std::string(reinterpret_cast<const char*>(&*begin), static_cast<std::size_t>(end - begin));
}

std::span<const std::byte> GlobalHeap::object(std::uint64_t address, std::uint32_t index) {
  const Collection& found = collection(address);
  const auto object = found.objects.find(index);
  source_.require(object != found.objects.end(), address, "a global heap that has the object");
  return object->second;
}

const GlobalHeap::Collection& GlobalHeap::collection(std::uint64_t address) {
  const auto known = collections_.find(address);
  if (known != collections_.end()) return known->second;

  const auto head = source_.read(address, 16, "a global heap");
  Cursor cursor(source_, address, head);
  cursor.signature("GCOL");
  cursor.require(cursor.u8() == 1, "version 1 of a global heap");
  cursor.skip(3);
  const std::uint64_t nbytes = cursor.u64();
  cursor.require(nbytes >= 16, "a global heap of at least 16 bytes");
  // Collections do not overlap; ones that do could ask for any amount of memory.
  total_ += std::min(nbytes, source_.size());
  source_.require(total_ <= source_.size(), address, "global heaps that do not overlap");

  Collection& made = collections_[address];
  made.bytes = source_.read(address, nbytes, "a global heap");
  Cursor objects(source_, address, made.bytes);
  objects.skip(16);
  while (objects.left() >= 16) {
    const std::uint16_t index = objects.u16();
    objects.skip(6);
    const std::uint64_t size = objects.u64();
    if (index == 0) break;  // the free space at the end
    made.objects[index] = objects.take(size);
    objects.skip(std::min<std::uint64_t>((8 - size % 8) % 8, objects.left()));
  }
  return made;
}

}  // namespace plimsoll::h5
