#include "h5/object_header.h"

#include <algorithm>
#include <set>

namespace plimsoll::h5 {
namespace {

constexpr std::size_t kMaxMessages = 1u << 16;
constexpr std::size_t kMaxBlocks = 4096;
constexpr std::uint8_t kSharedFlag = 0x02;

struct Block {
  std::uint64_t offset;
  std::uint64_t nbytes;
};

class Reader {
 public:
  Reader(const Source& source, std::uint64_t address) : source_(source), address_(address) {}

  std::vector<Message> run() {
    const auto start = source_.read(address_, 4, "an object header");
    const bool is_second = start == signature_bytes("OHDR");
    is_second ? begin_second() : begin_first();
    while (!todo_.empty()) {
      const Block block = todo_.back();
      todo_.pop_back();
      source_.require(seen_.insert(block.offset).second && seen_.size() <= kMaxBlocks, block.offset,
                      "blocks of an object header without a cycle");
      const auto bytes = source_.read(block.offset, block.nbytes, "a block of an object header");
      total_ += bytes.size();
      source_.require(total_ <= kMaxMetadataBytes, block.offset, "a smaller object header");
      is_second ? continue_second(block, bytes) : read_first(block.offset, bytes);
    }
    return std::move(messages_);
  }

 private:
  static std::vector<std::byte> signature_bytes(std::string_view text) {
    const auto* begin = reinterpret_cast<const std::byte*>(text.data());
    return {begin, begin + text.size()};
  }

  void begin_first() {
    const auto bytes = source_.read(address_, 16, "an object header");
    Cursor cursor(source_, address_, bytes);
    cursor.require(cursor.u8() == 1, "an object header of version 1 or 2");
    cursor.skip(1 + 2 + 4);  // the number of messages is redundant
    todo_.push_back({address_ + 16, cursor.u32()});
  }

  void begin_second() {
    const auto head = source_.read(address_, 6, "an object header");
    Cursor cursor(source_, address_, head);
    cursor.skip(4);
    cursor.require(cursor.u8() == 2, "version 2 of an object header");
    flags_ = cursor.u8();
    const std::uint64_t fixed = 6 + ((flags_ & 0x20) ? 16u : 0u) + ((flags_ & 0x10) ? 4u : 0u);
    const std::uint64_t width = std::uint64_t{1} << (flags_ & 3);
    const auto sized = source_.read(address_, fixed + width, "an object header");
    Cursor size(source_, address_, sized);
    size.skip(fixed);
    const std::uint64_t nbytes = size.uint(width);
    source_.require(nbytes <= kMaxMetadataBytes, address_, "a smaller object header");
    const auto bytes = source_.read(address_, fixed + width + nbytes + 4, "an object header");
    check_checksum(source_, address_, bytes, "an object header");
    seen_.insert(address_);
    total_ += bytes.size();
    read_second(address_ + fixed + width,
                std::span(bytes).subspan(fixed + width, static_cast<std::size_t>(nbytes)));
  }

  void continue_second(const Block& block, std::span<const std::byte> bytes) {
    Cursor cursor(source_, block.offset, bytes);
    cursor.signature("OCHK");
    check_checksum(source_, block.offset, bytes, "a block of an object header");
    read_second(block.offset + 4,
                bytes.subspan(4, bytes.size() - std::min<std::size_t>(bytes.size(), 8)));
  }

  void read_first(std::uint64_t offset, std::span<const std::byte> bytes) {
    Cursor cursor(source_, offset, bytes);
    while (cursor.left() >= 8) {
      const std::uint16_t type = cursor.u16();
      const std::uint16_t nbytes = cursor.u16();
      const std::uint8_t flags = cursor.u8();
      cursor.skip(3);
      add(type, flags, cursor.part(nbytes), nbytes);
    }
  }

  void read_second(std::uint64_t offset, std::span<const std::byte> bytes) {
    const std::size_t prefix = (flags_ & 0x04) ? 6 : 4;
    Cursor cursor(source_, offset, bytes);
    while (cursor.left() >= prefix) {  // less than that is a gap
      const std::uint8_t type = cursor.u8();
      const std::uint16_t nbytes = cursor.u16();
      const std::uint8_t flags = cursor.u8();
      cursor.skip(prefix - 4);
      add(type, flags, cursor.part(nbytes), nbytes);
    }
  }

  void add(std::uint16_t type, std::uint8_t flags, Cursor body, std::uint16_t nbytes) {
    if (type == static_cast<std::uint16_t>(MessageType::kContinuation)) {
      const std::uint64_t offset = body.u64();
      todo_.push_back({offset, body.u64()});
      return;
    }
    if (type == 0) return;  // room for a message
    source_.require(messages_.size() < kMaxMessages, body.offset(), "fewer messages");
    const std::uint64_t offset = body.offset();
    const auto bytes = body.take(nbytes);
    messages_.push_back({static_cast<MessageType>(type), (flags & kSharedFlag) != 0, offset,
                         std::vector<std::byte>(bytes.begin(), bytes.end())});
  }

  const Source& source_;
  std::uint64_t address_;
  std::uint8_t flags_ = 0;  // of a header of version 2
  std::vector<Block> todo_;
  std::set<std::uint64_t> seen_;
  std::uint64_t total_ = 0;
  std::vector<Message> messages_;
};

}  // namespace

std::vector<Message> read_object_header(const Source& source, std::uint64_t address) {
  return Reader(source, address).run();
}

const Message* find_message(const std::vector<Message>& messages, MessageType type) noexcept {
  const auto found = std::find_if(messages.begin(), messages.end(),
                                  [type](const Message& message) { return message.type == type; });
  return found == messages.end() ? nullptr : &*found;
}

}  // namespace plimsoll::h5
