#include "h5/group.h"

#include <fmt/core.h>

#include <algorithm>

#include "h5/btree.h"
#include "h5/heap.h"

namespace plimsoll::h5 {
namespace {

constexpr int kLinkNames = 5;  // type of the B-tree
constexpr std::size_t kLinkHashBytes = 4;
constexpr std::uint32_t kSoftLinkEntry = 2;
constexpr std::uint8_t kHardLink = 0, kSoftLink = 1, kExternalLink = 64;

class Reader {
 public:
  explicit Reader(const Source& source) : source_(source) {}

  void read_symbol_table(Cursor message) {
    const std::uint64_t tree = message.u64();
    const LocalHeap heap(source_, message.u64());
    walk_tree_v1(source_, tree, TreeKind::kGroup, 8,
                 [&](Cursor, std::uint64_t node) { read_symbols(node, heap); });
  }

  void read_dense(Cursor message) {
    message.require(message.u8() == 0, "version 0 of the links of a group");
    const std::uint8_t flags = message.u8();
    if (flags & 1) message.skip(8);
    const std::uint64_t heap_address = message.u64();
    const std::uint64_t tree = message.u64();
    if (heap_address == kUndefined || tree == kUndefined) return;  // links are in the header
    FractalHeap heap(source_, heap_address);
    walk_tree_v2(source_, tree, kLinkNames, [&](Cursor record) {
      record.skip(kLinkHashBytes);
      const FractalHeap::Object object = heap.object(record.part(record.left()));
      read_link(Cursor(source_, object.offset, object.bytes));
    });
  }

  void read_link(Cursor message) {
    message.require(message.u8() == 1, "version 1 of a link");
    const std::uint8_t flags = message.u8();
    const std::uint8_t kind = (flags & 0x08) ? message.u8() : kHardLink;
    if (flags & 0x04) message.skip(8);  // order of creation
    if (flags & 0x10) message.skip(1);  // character set
    const std::uint64_t length = message.uint(std::size_t{1} << (flags & 3));
    Link link;
    link.name = message.text(length);
    message.require(link.name.size() == length, "a name without NUL");
    if (kind == kHardLink) {
      link.address = message.u64();
    } else if (kind == kSoftLink) {
      link.kind = LinkKind::kSoft;
      link.target = message.text(message.u16());
    } else {
      message.require(kind == kExternalLink, "a hard, soft or external link");
      link.kind = LinkKind::kExternal;
    }
    add(std::move(link), message.offset());
  }

  std::vector<Link> finish(std::uint64_t offset) {
    std::sort(links_.begin(), links_.end(),
              [](const Link& a, const Link& b) { return a.name < b.name; });
    for (std::size_t i = 1; i < links_.size(); ++i) {
      source_.require(links_[i - 1].name != links_[i].name, offset,
                      "a group without two links of one name");
    }
    return std::move(links_);
  }

 private:
  void read_symbols(std::uint64_t address, const LocalHeap& heap) {
    const auto head = source_.read(address, 8, "a symbol table");
    Cursor cursor(source_, address, head);
    cursor.signature("SNOD");
    cursor.require(cursor.u8() == 1, "version 1 of a symbol table");
    cursor.skip(1);
    const std::uint64_t count = cursor.u16();
    const auto body = source_.read(address + 8, count * 40, "the entries of a symbol table");
    table_total_ += body.size();
    source_.require(table_total_ <= source_.size(), address, "symbol tables that do not overlap");
    Cursor entries(source_, address + 8, body);
    for (std::uint64_t i = 0; i < count; ++i) {
      Link link;
      link.name = heap.text(entries.u64());
      link.address = entries.u64();
      const std::uint32_t cache = entries.u32();
      entries.skip(4);
      Cursor scratch = entries.part(16);
      if (cache == kSoftLinkEntry) {
        link.kind = LinkKind::kSoft;
        link.target = heap.text(scratch.u32());
      }
      add(std::move(link), entries.offset());
    }
  }

  void add(Link link, std::uint64_t offset) {
    total_ += link.name.size() + link.target.size();
    source_.require(links_.size() < kMaxLinks && total_ <= kMaxMetadataBytes, offset,
                    "fewer links");
    source_.require(!link.name.empty() && link.name.size() <= kMaxNameBytes &&
                        link.name.find('/') == std::string::npos,
                    offset, "a name of 1 to 65536 bytes without '/'");
    links_.push_back(std::move(link));
  }

  const Source& source_;
  std::vector<Link> links_;
  std::size_t total_ = 0;          // bytes of names
  std::uint64_t table_total_ = 0;  // bytes of symbol tables
};

}  // namespace

bool is_group(const std::vector<Message>& messages) noexcept {
  return find_message(messages, MessageType::kSymbolTable) != nullptr ||
         find_message(messages, MessageType::kLinkInfo) != nullptr;
}

std::vector<Link> read_links(const Source& source, const std::vector<Message>& messages) {
  Reader reader(source);
  for (const Message& message : messages) {
    if (message.type == MessageType::kSymbolTable) reader.read_symbol_table(message.cursor(source));
    if (message.type == MessageType::kLinkInfo) reader.read_dense(message.cursor(source));
    if (message.type == MessageType::kLink) reader.read_link(message.cursor(source));
  }
  return reader.finish(messages.empty() ? 0 : messages.front().offset);
}

}  // namespace plimsoll::h5
