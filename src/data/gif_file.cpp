// GIF: frames of colour numbers, packed by LZW.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "data/pixels.h"
#include "plimsoll/data/image_files.h"

namespace plimsoll::io {
namespace {

[[noreturn]] void damaged(const char* what) {
  throw InvalidArgumentError(fmt::format("Invalid GIF data: {}", what));
}

class Bytes {
 public:
  explicit Bytes(std::string_view all) : left_(all) {}
  std::uint8_t byte() { return static_cast<std::uint8_t>(take(1)[0]); }
  int word() {
    const std::string_view two = take(2);
    return static_cast<std::uint8_t>(two[0]) | static_cast<std::uint8_t>(two[1]) << 8;
  }
  std::string_view take(std::size_t count) {
    if (count > left_.size()) damaged("the file is cut off");
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  bool is_empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

using Colours = std::string_view;  // red, green, blue

struct Frame {
  int left = 0, top = 0, width = 0, height = 0;
  bool is_interlaced = false;
  Colours colours;
  int transparent = -1;
  int code_bits = 0;
  std::vector<std::string_view> blocks;
};

struct Gif {
  int width = 0, height = 0;
  std::vector<Frame> frames;
};

std::vector<std::string_view> read_blocks(Bytes& bytes) {
  std::vector<std::string_view> blocks;
  while (const std::uint8_t size = bytes.byte()) blocks.push_back(bytes.take(size));
  return blocks;
}

Colours read_colours(Bytes& bytes, int packed) {
  return packed & 128 ? bytes.take(std::size_t{3} << ((packed & 7) + 1)) : Colours();
}

Frame read_frame(Bytes& bytes, Colours colours, int transparent) {
  Frame frame;
  frame.left = bytes.word();
  frame.top = bytes.word();
  frame.width = bytes.word();
  frame.height = bytes.word();
  const int packed = bytes.byte();
  frame.is_interlaced = packed & 64;
  const Colours own = read_colours(bytes, packed);
  frame.colours = own.empty() ? colours : own;
  if (frame.colours.empty()) damaged("a frame has no colours");
  frame.transparent = transparent;
  frame.code_bits = bytes.byte();
  if (frame.code_bits < 1 || frame.code_bits > 11)
    damaged("a frame has codes of a size that cannot be");
  frame.blocks = read_blocks(bytes);
  return frame;
}

Gif read_gif(std::string_view all) {
  Bytes bytes(all);
  const std::string_view name = bytes.take(6);
  if (name != "GIF87a" && name != "GIF89a") damaged("it does not begin as GIF does");
  Gif gif;
  gif.width = bytes.word();
  gif.height = bytes.word();
  const int packed = bytes.byte();
  bytes.take(2);
  const Colours colours = read_colours(bytes, packed);
  int transparent = -1;
  while (!bytes.is_empty()) {
    const std::uint8_t kind = bytes.byte();
    if (kind == ';') break;
    if (kind == '!') {
      const bool is_control = bytes.byte() == 0xf9;
      const std::vector<std::string_view> blocks = read_blocks(bytes);
      if (is_control && !blocks.empty() && blocks[0].size() >= 4)
        transparent = blocks[0][0] & 1 ? static_cast<std::uint8_t>(blocks[0][3]) : -1;
    } else if (kind == ',') {
      gif.frames.push_back(read_frame(bytes, colours, transparent));
      transparent = -1;
    } else {
      damaged("there is something that is no frame");
    }
  }
  if (gif.frames.empty()) damaged("it has no frames");
  return gif;
}

// Codes of growing size out of blocks.
class Codes {
 public:
  explicit Codes(const std::vector<std::string_view>& blocks) : blocks_(blocks) {}
  std::optional<int> next(int bits) {
    while (num_bits_ < bits) {
      while (block_ < blocks_.size() && at_ == blocks_[block_].size()) {
        ++block_;
        at_ = 0;
      }
      if (block_ == blocks_.size()) return {};
      held_ |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(blocks_[block_][at_++]))
               << num_bits_;
      num_bits_ += 8;
    }
    const int code = static_cast<int>(held_ & ((1U << bits) - 1));
    held_ >>= bits;
    num_bits_ -= bits;
    return code;
  }

 private:
  const std::vector<std::string_view>& blocks_;
  std::size_t block_ = 0, at_ = 0;
  std::uint32_t held_ = 0;
  int num_bits_ = 0;
};

// The colour numbers of a frame; fewer than its pixels if it is cut off.
std::vector<std::uint8_t> unpack(const Frame& frame) {
  constexpr int kMaxCodes = 4096;
  struct Entry {
    std::int16_t before;
    std::uint8_t last;
  };
  std::array<Entry, kMaxCodes> table;
  const int clear = 1 << frame.code_bits, end = clear + 1;
  const auto size = static_cast<std::size_t>(frame.width) * static_cast<std::size_t>(frame.height);
  std::vector<std::uint8_t> out;
  Codes codes(frame.blocks);
  int bits = frame.code_bits + 1, num = end + 1, previous = -1;
  while (out.size() < size) {
    const std::optional<int> code = codes.next(bits);
    if (!code || *code == end) break;
    if (*code == clear) {
      bits = frame.code_bits + 1;
      num = end + 1;
      previous = -1;
      continue;
    }
    if (*code > num || (*code == num && previous < 0)) damaged("a code that cannot be");
    const std::size_t first = out.size();
    int at = *code == num ? previous : *code;
    for (; at > end; at = table[static_cast<std::size_t>(at)].before)
      out.push_back(table[static_cast<std::size_t>(at)].last);
    if (at >= clear) damaged("a code that cannot be");
    const auto head = static_cast<std::uint8_t>(at);
    out.push_back(head);
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
    if (*code == num) out.push_back(head);
    if (previous >= 0 && num < kMaxCodes) {
      table[static_cast<std::size_t>(num++)] = {static_cast<std::int16_t>(previous), head};
      if (num == 1 << bits && bits < 12) ++bits;
    }
    previous = *code;
  }
  out.resize(std::min(out.size(), size));
  return out;
}

// The rows of a frame in the order in which they are stored.
std::vector<int> row_order(const Frame& frame) {
  std::vector<int> rows;
  if (!frame.is_interlaced) {
    for (int row = 0; row < frame.height; ++row) rows.push_back(row);
    return rows;
  }
  for (const auto& [first, step] :
       {std::pair(0, 8), std::pair(4, 8), std::pair(2, 4), std::pair(1, 2)})
    for (int row = first; row < frame.height; row += step) rows.push_back(row);
  return rows;
}

// Onto what was there before.
void draw(const Gif& gif, const Frame& frame, std::uint8_t* to) {
  const std::vector<std::uint8_t> numbers = unpack(frame);
  const auto width = static_cast<std::size_t>(frame.width);
  if (numbers.size() < width * static_cast<std::size_t>(frame.height))
    damaged("a frame has fewer pixels than its size says");
  std::size_t at = 0;
  for (const int row : row_order(frame)) {
    for (int column = 0; column < frame.width; ++column) {
      const std::uint8_t number = numbers[at++];
      const int x = frame.left + column, y = frame.top + row;
      if (x >= gif.width || y >= gif.height || number == frame.transparent) continue;
      if (std::size_t{number} * 3 + 3 > frame.colours.size()) damaged("a colour that is not there");
      std::memcpy(to + (static_cast<std::size_t>(y) * static_cast<std::size_t>(gif.width) +
                        static_cast<std::size_t>(x)) *
                           3,
                  frame.colours.data() + std::size_t{number} * 3, 3);
    }
  }
}

}  // namespace

Tensor decode_gif(std::string_view bytes) {
  const Gif gif = read_gif(bytes);
  const Tensor images = allocate_pixels(
      "GIF", {static_cast<std::int64_t>(gif.frames.size()), gif.height, gif.width, 3});
  const std::size_t size =
      static_cast<std::size_t>(gif.height) * static_cast<std::size_t>(gif.width) * 3;
  std::uint8_t* to = pixels_of(images);
  for (std::size_t i = 0; i < gif.frames.size(); ++i, to += size) {
    if (i == 0) {
      std::memset(to, 0, size);
    } else {
      std::memcpy(to, to - size, size);
    }
    draw(gif, gif.frames[i], to);
  }
  return images;
}

}  // namespace plimsoll::io
