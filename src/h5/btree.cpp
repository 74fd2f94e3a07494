#include "h5/btree.h"

#include <bit>
#include <set>

namespace plimsoll::h5 {
namespace {

class FirstTree {
 public:
  using Visit = std::function<void(Cursor, std::uint64_t)>;

  FirstTree(const Source& source, TreeKind kind, std::size_t key_nbytes, const Visit& visit)
      : source_(source), kind_(kind), key_nbytes_(key_nbytes), visit_(visit) {}

  // `level` is that of the node, or -1 at the root, which says it.
  void node(std::uint64_t address, int level) {
    source_.require(seen_.insert(address).second && seen_.size() <= kMaxTreeNodes, address,
                    "a B-tree without cycles");
    const auto head = source_.read(address, 24, "a node of a B-tree");
    Cursor cursor(source_, address, head);
    cursor.signature("TREE");
    cursor.require(cursor.u8() == static_cast<std::uint8_t>(kind_), "a B-tree of the other kind");
    const int own_level = cursor.u8();
    cursor.require(own_level <= kMaxTreeDepth && (level < 0 || own_level == level),
                   "a node one level below its parent");
    const std::uint64_t count = cursor.u16();
    const std::uint64_t nbytes = count * (key_nbytes_ + 8);
    const auto body = source_.read(address + 24, nbytes, "the entries of a B-tree");
    total_ += 24 + nbytes;
    source_.require(total_ <= source_.size(), address, "nodes that do not overlap");
    Cursor entries(source_, address + 24, body);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Cursor key = entries.part(key_nbytes_);
      const std::uint64_t child = entries.u64();
      own_level == 0 ? visit_(key, child) : node(child, own_level - 1);
    }
  }

 private:
  const Source& source_;
  TreeKind kind_;
  std::size_t key_nbytes_;
  const Visit& visit_;
  std::set<std::uint64_t> seen_;
  std::uint64_t total_ = 0;  // bytes of nodes
};

// The bytes that hold any number up to `limit`.
std::size_t width_for(std::uint64_t limit) {
  return static_cast<std::size_t>(std::bit_width(limit) + 7) / 8;
}

class SecondTree {
 public:
  using Visit = std::function<void(Cursor)>;

  SecondTree(const Source& source, int type, const Visit& visit)
      : source_(source), type_(type), visit_(visit) {}

  void run(std::uint64_t address) {
    const auto bytes = source_.read(address, 38, "a B-tree");
    Cursor cursor(source_, address, bytes);
    cursor.signature("BTHD");
    check_checksum(source_, address, bytes, "a B-tree");
    cursor.require(cursor.u8() == 0 && cursor.u8() == type_, "a B-tree of the right kind");
    node_nbytes_ = cursor.u32();
    record_nbytes_ = cursor.u16();
    const int depth = cursor.u16();
    cursor.require(record_nbytes_ > 0 && node_nbytes_ >= 10 + record_nbytes_,
                   "nodes that hold a record");
    cursor.require(depth <= kMaxTreeDepth, "a B-tree of less depth");
    cursor.skip(2);
    const std::uint64_t root = cursor.u64();
    const std::uint64_t count = cursor.u16();
    set_widths(depth, cursor);
    if (root != kUndefined && count > 0) node(root, count, depth);
  }

 private:
  void set_widths(int depth, const Cursor& at) {
    std::uint64_t total = (node_nbytes_ - 10) / record_nbytes_;
    count_width_ = width_for(total);
    total_widths_ = {width_for(total)};
    for (int level = 1; level <= depth; ++level) {
      const std::uint64_t pointer = pointer_nbytes(level);
      at.require(node_nbytes_ > 10 + pointer, "nodes that hold a pointer");
      const std::uint64_t count = (node_nbytes_ - 10 - pointer) / (record_nbytes_ + pointer);
      at.require(count > 0, "nodes that hold a record");
      total = product(count + 1, total);
      at.require(total <= kMaxElements, "a B-tree of less depth");
      total += count;
      total_widths_.push_back(width_for(total));
    }
  }

  std::uint64_t pointer_nbytes(int level) const {
    return 8 + count_width_ + (level > 1 ? total_widths_[static_cast<std::size_t>(level) - 1] : 0);
  }

  void node(std::uint64_t address, std::uint64_t count, int level) {
    source_.require(seen_.insert(address).second && seen_.size() <= kMaxTreeNodes, address,
                    "a B-tree without cycles");
    const std::uint64_t pointers = level > 0 ? count + 1 : 0;
    const std::uint64_t nbytes = 6 + count * record_nbytes_ + pointers * pointer_nbytes(level) + 4;
    source_.require(nbytes <= node_nbytes_, address, "a node with fewer records");
    total_ += nbytes;
    source_.require(total_ <= source_.size(), address, "nodes that do not overlap");
    const auto bytes = source_.read(address, nbytes, "a node of a B-tree");
    Cursor cursor(source_, address, bytes);
    cursor.signature(level > 0 ? "BTIN" : "BTLF");
    check_checksum(source_, address, bytes, "a node of a B-tree");
    cursor.require(cursor.u8() == 0 && cursor.u8() == type_, "a node of the right kind");
    Cursor records = cursor.part(count * record_nbytes_);
    for (std::uint64_t i = 0; i < count || i < pointers; ++i) {
      if (level > 0) {
        const std::uint64_t child = cursor.u64();
        const std::uint64_t child_count = cursor.uint(count_width_);
        if (level > 1) cursor.skip(pointer_nbytes(level) - 8 - count_width_);
        node(child, child_count, level - 1);
      }
      if (i < count) visit_(records.part(record_nbytes_));
    }
  }

  const Source& source_;
  int type_;
  const Visit& visit_;
  std::uint64_t node_nbytes_ = 0;
  std::uint64_t record_nbytes_ = 0;
  std::size_t count_width_ = 0;
  std::vector<std::size_t> total_widths_;  // by level
  std::set<std::uint64_t> seen_;
  std::uint64_t total_ = 0;  // bytes of nodes
};

}  // namespace

void walk_tree_v1(const Source& source, std::uint64_t address, TreeKind kind,
                  std::size_t key_nbytes,
                  const std::function<void(Cursor key, std::uint64_t child)>& visit) {
  FirstTree(source, kind, key_nbytes, visit).node(address, -1);
}

void walk_tree_v2(const Source& source, std::uint64_t address, int type,
                  const std::function<void(Cursor record)>& visit) {
  SecondTree(source, type, visit).run(address);
}

}  // namespace plimsoll::h5
