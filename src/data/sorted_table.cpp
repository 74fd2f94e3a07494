#include "data/sorted_table.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "data/crc32c.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

constexpr std::uint64_t kMagic = 0xdb4775248b80fb57U;
constexpr std::size_t kFooterBytes = 48;
constexpr std::size_t kTrailerBytes = 5;  // kind of compression, checksum
constexpr std::size_t kBlockBytes = 256u << 10;
constexpr int kRestartInterval = 16;

void put_u32(std::string& to, std::uint32_t value) {
  to.append(reinterpret_cast<const char*>(&value), 4);
}
std::uint32_t u32_at(std::string_view bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data(), 4);
  return value;
}

// Entries whose keys leave out what they share with the one before.
class BlockWriter {
 public:
  explicit BlockWriter(int restart_interval = kRestartInterval) : interval_(restart_interval) {}

  void add(const std::string& key, std::string_view value) {
    std::size_t shared = 0;
    if (count_ % interval_ == 0) {
      restarts_.push_back(static_cast<std::uint32_t>(text_.size()));
    } else {
      const std::size_t most = std::min(key.size(), last_.size());
      while (shared < most && key[shared] == last_[shared]) ++shared;
    }
    put_varint(text_, shared);
    put_varint(text_, key.size() - shared);
    put_varint(text_, value.size());
    text_.append(key, shared);
    text_.append(value);
    last_ = key;
    ++count_;
  }
  std::size_t size() const noexcept { return text_.size(); }

  std::string finish() {
    if (restarts_.empty()) restarts_.push_back(0);
    for (const std::uint32_t offset : restarts_) put_u32(text_, offset);
    put_u32(text_, static_cast<std::uint32_t>(restarts_.size()));
    return std::exchange(*this, BlockWriter()).text_;
  }

 private:
  std::string text_, last_;
  std::vector<std::uint32_t> restarts_;
  int count_ = 0;
  int interval_;
};

// A short key that is not before `last`, and before `next`.
std::string key_between(const std::string& last, const std::string& next) {
  std::size_t i = 0;
  while (i < last.size() && i < next.size() && last[i] == next[i]) ++i;
  if (i >= last.size() || i >= next.size()) return last;
  const auto a = static_cast<unsigned char>(last[i]), b = static_cast<unsigned char>(next[i]);
  if (a == 0xff || a + 1 >= b) return last;
  std::string made = last.substr(0, i + 1);
  made[i] = static_cast<char>(a + 1);
  return made;
}
// And one for the end, where nothing follows.
std::string key_after(const std::string& last) {
  for (std::size_t i = 0; i < last.size(); ++i) {
    const auto byte = static_cast<unsigned char>(last[i]);
    if (byte != 0xff) return last.substr(0, i) + static_cast<char>(byte + 1);
  }
  return last;
}

// Appends a block and its trailer; returns its place as tables write it.
std::string put_block(std::string& file, std::string block) {
  std::string place;
  put_varint(place, file.size());
  put_varint(place, block.size());
  block.push_back('\0');  // not compressed
  const std::uint32_t crc = masked_crc32c(std::as_bytes(std::span(block)));
  file += block;
  put_u32(file, crc);
  return place;
}

[[noreturn]] void damaged(const std::string& name, const char* what) {
  throw DataLossError(fmt::format("'{}' is no table, or damaged: {}", name, what));
}

std::string_view block_at(std::string_view file, std::string_view& place, const std::string& name) {
  std::uint64_t offset = 0, size = 0;
  if (!take_varint(place, offset) || !take_varint(place, size)) damaged(name, "a block's place");
  if (size > file.size() || offset > file.size() - size ||
      file.size() - size - offset < kTrailerBytes)
    damaged(name, "a block beyond the end");
  const std::string_view with_kind = file.substr(offset, size + 1);
  if (masked_crc32c(std::as_bytes(std::span(with_kind))) != u32_at(file.substr(offset + size + 1)))
    damaged(name, "a block's checksum");
  PLIMSOLL_CHECK(with_kind.back() == '\0', UnimplementedError,
                 "'{}' has compressed blocks (kind {}), which are not read", name,
                 static_cast<int>(with_kind.back()));
  return file.substr(offset, size);
}

template <class F>
void for_each_entry(std::string_view block, const std::string& name, F use) {
  if (block.size() < 4) damaged(name, "a short block");
  const std::uint64_t tail = 4 + std::uint64_t{4} * u32_at(block.substr(block.size() - 4));
  if (tail > block.size()) damaged(name, "a block's restarts");
  block.remove_suffix(static_cast<std::size_t>(tail));
  std::string key;
  while (!block.empty()) {
    std::uint64_t shared = 0, rest = 0, length = 0;
    if (!take_varint(block, shared) || !take_varint(block, rest) || !take_varint(block, length) ||
        shared > key.size() || rest > block.size() || length > block.size() - rest)
      damaged(name, "an entry");
    key.resize(static_cast<std::size_t>(shared));
    key += block.substr(0, static_cast<std::size_t>(rest));
    block.remove_prefix(static_cast<std::size_t>(rest));
    use(key, block.substr(0, static_cast<std::size_t>(length)));
    block.remove_prefix(static_cast<std::size_t>(length));
  }
}

}  // namespace

void put_varint(std::string& to, std::uint64_t value) {
  while (value >= 0x80) {
    to.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  to.push_back(static_cast<char>(value));
}

bool take_varint(std::string_view& from, std::uint64_t& value) noexcept {
  value = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return true;
  }
  return false;
}

std::string write_table(const SortedTable& table) {
  std::string file;
  BlockWriter block, index(1);
  for (auto entry = table.begin(); entry != table.end();) {
    block.add(entry->first, entry->second);
    const std::string& last = entry->first;
    ++entry;
    const bool is_end = entry == table.end();
    if (!is_end && block.size() < kBlockBytes) continue;
    const std::string place = put_block(file, block.finish());
    index.add(is_end ? key_after(last) : key_between(last, entry->first), place);
  }
  std::string footer = put_block(file, BlockWriter().finish());  // nothing about the table itself
  footer += put_block(file, index.finish());
  footer.resize(kFooterBytes - 8, '\0');
  footer.append(reinterpret_cast<const char*>(&kMagic), 8);
  return file + footer;
}

SortedTable read_table(std::string_view bytes, const std::string& name) {
  if (bytes.size() < kFooterBytes) damaged(name, "it is too short");
  std::string_view footer = bytes.substr(bytes.size() - kFooterBytes);
  std::uint64_t magic = 0;
  std::memcpy(&magic, footer.data() + kFooterBytes - 8, 8);
  if (magic != kMagic) damaged(name, "its last bytes");
  block_at(bytes, footer, name);
  const std::string_view index = block_at(bytes, footer, name);
  SortedTable table;
  for_each_entry(index, name, [&](const std::string&, std::string_view place) {
    for_each_entry(block_at(bytes, place, name), name,
                   [&](const std::string& key, std::string_view value) { table[key] = value; });
  });
  return table;
}

}  // namespace plimsoll::data
