// What Writer::finish adds: the headers of objects, the tables of groups and the superblock.
#include <algorithm>

#include "h5/encoder.h"
#include "h5/object_header.h"
#include "h5/writer.h"

namespace plimsoll::h5 {
namespace {

// Twice these are in a node; what libraries take when nothing is said.
constexpr std::uint16_t kLeafK = 4;
constexpr std::uint16_t kInternalK = 16;
constexpr std::size_t kSymbolsPerNode = 2 * kLeafK;
constexpr std::size_t kChildrenPerNode = 2 * kInternalK;
constexpr std::size_t kTreeNodeBytes = 24 + kChildrenPerNode * 16 + 8;
constexpr std::size_t kSymbolNodeBytes = 8 + kSymbolsPerNode * 40;
constexpr std::uint64_t kNoFreeBlock = 1;  // a local heap without room

}  // namespace

Writer::Placed Writer::write_node(const Node& node) {
  Placed placed;
  if (node.is_group) placed = write_links(node);
  placed.header = write_header(node, placed);
  return placed;
}

// Children first, then their names, the tables of symbols and the tree above those.
Writer::Placed Writer::write_links(const Node& node) {
  struct Symbol {
    std::uint64_t name;
    std::uint64_t header;
  };
  Encoder names;
  names.zeros(8);  // the empty name, which is before all others
  std::vector<Symbol> symbols;
  for (const auto& [name, child] : node.children) {  // in the order of names
    const std::uint64_t header = write_node(*child).header;
    symbols.push_back({names.size(), header});
    names.padded_text(name);
  }
  const std::vector<std::byte> name_bytes = names.finish();
  const std::uint64_t heap = allocate(32 + name_bytes.size());
  Encoder head;
  head.text("HEAP").u32(0).u64(name_bytes.size()).u64(kNoFreeBlock).u64(heap + 32);
  write_at(heap, head.bytes(name_bytes).finish());

  std::vector<Child> tables;
  for (std::size_t begin = 0; begin < symbols.size(); begin += kSymbolsPerNode) {
    const std::size_t count = std::min(kSymbolsPerNode, symbols.size() - begin);
    Encoder table;
    table.text("SNOD").u8(1).u8(0).u16(static_cast<std::uint16_t>(count));
    for (std::size_t i = begin; i < begin + count; ++i) {
      table.u64(symbols[i].name).u64(symbols[i].header).zeros(24);
    }
    table.zeros(kSymbolNodeBytes - table.size());
    tables.push_back({put(table.finish()), symbols[begin + count - 1].name});
  }
  return {kUndefined, write_tree(std::move(tables)), heap};
}

// One level after another until a single node is left. Nodes of a level stand side by side, so that
// each knows its neighbours.
std::uint64_t Writer::write_tree(std::vector<Child> children) {
  for (std::uint8_t level = 0;; ++level) {
    const std::size_t num_nodes =
        std::max<std::size_t>((children.size() + kChildrenPerNode - 1) / kChildrenPerNode, 1);
    const std::uint64_t start = allocate(num_nodes * kTreeNodeBytes);
    std::vector<Child> nodes;
    std::uint64_t key = 0;
    for (std::size_t n = 0; n < num_nodes; ++n) {
      const std::size_t begin = n * kChildrenPerNode;
      const std::size_t count = std::min(kChildrenPerNode, children.size() - begin);
      const std::uint64_t address = start + n * kTreeNodeBytes;
      Encoder node;
      node.text("TREE").u8(0).u8(level).u16(static_cast<std::uint16_t>(count));
      node.u64(n == 0 ? kUndefined : address - kTreeNodeBytes);
      node.u64(n + 1 == num_nodes ? kUndefined : address + kTreeNodeBytes);
      node.u64(key);
      for (std::size_t i = begin; i < begin + count; ++i) {
        key = children[i].last_name;
        node.u64(children[i].address).u64(key);
      }
      node.zeros(kTreeNodeBytes - node.size());
      write_at(address, node.finish());
      nodes.push_back({address, key});
    }
    if (num_nodes == 1) return start;
    children = std::move(nodes);
  }
}

std::uint64_t Writer::write_header(const Node& node, const Placed& links) {
  Encoder messages;
  std::size_t count = node.messages.size() + node.attributes.size();
  if (node.is_group) {
    messages.u16(static_cast<std::uint16_t>(MessageType::kSymbolTable)).u16(16).u32(0);
    messages.u64(links.tree).u64(links.heap);
    ++count;
  }
  for (const std::vector<std::byte>& message : node.messages) messages.bytes(message);
  for (const std::string& name : node.attribute_order) {
    messages.bytes(node.attributes.find(name)->second);
  }
  Encoder header;
  header.u8(1).u8(0).u16(static_cast<std::uint16_t>(count)).u32(1);
  header.u32(static_cast<std::uint32_t>(messages.size())).u32(0);
  return put(header.bytes(messages.finish()).finish());
}

void Writer::write_superblock(const Placed& root) {
  Encoder out;
  out.text("\x89HDF\r\n\x1a\n").zeros(5).u8(8).u8(8).u8(0);
  out.u16(kLeafK).u16(kInternalK).u32(0);
  out.u64(0).u64(kUndefined).u64(end_).u64(kUndefined);
  out.u64(0).u64(root.header).u32(1).u32(0).u64(root.tree).u64(root.heap);
  write_at(0, out.finish());
}

}  // namespace plimsoll::h5
