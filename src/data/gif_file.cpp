// GIF: frames of colour numbers, packed by LZW.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "data/library_memory.h"
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
  std::string_view left() const { return left_; }

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
  std::string_view blocks;  // a byte with a length, so many bytes, and so on; 0 behind the last

  std::size_t num_pixels() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  }
};

// Blocks, of which the first is given too.
std::string_view take_blocks(Bytes& bytes, std::string_view* first = nullptr) {
  const std::string_view all = bytes.left();
  while (const std::uint8_t size = bytes.byte()) {
    const std::string_view block = bytes.take(size);
    if (first && first->empty()) *first = block;
  }
  return all.substr(0, all.size() - bytes.left().size());
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
  frame.blocks = take_blocks(bytes);
  return frame;
}

// The frames of a file, one after the other, without memory of its own.
class Gif {
 public:
  explicit Gif(std::string_view all) : bytes_(all) {
    const std::string_view name = bytes_.take(6);
    if (name != "GIF87a" && name != "GIF89a") damaged("it does not begin as GIF does");
    width = bytes_.word();
    height = bytes_.word();
    const int packed = bytes_.byte();
    bytes_.take(2);
    colours_ = read_colours(bytes_, packed);
  }

  std::optional<Frame> next() {
    int transparent = -1;
    while (!bytes_.is_empty()) {
      const std::uint8_t kind = bytes_.byte();
      if (kind == ';') break;
      if (kind == ',') return read_frame(bytes_, colours_, transparent);
      if (kind != '!') damaged("there is something that is no frame");
      const bool is_control = bytes_.byte() == 0xf9;
      std::string_view first;
      take_blocks(bytes_, &first);
      if (is_control && first.size() >= 4)
        transparent = first[0] & 1 ? static_cast<std::uint8_t>(first[3]) : -1;
    }
    return {};
  }

  int width = 0, height = 0;

 private:
  Bytes bytes_;
  Colours colours_;
};

// Codes of growing size out of blocks.
class Codes {
 public:
  explicit Codes(std::string_view blocks) : left_(blocks) {}
  std::optional<int> next(int bits) {
    while (num_bits_ < bits) {
      if (in_block_ == 0) {
        in_block_ = left_.empty() ? 0 : static_cast<std::uint8_t>(take());
        if (in_block_ == 0) return {};
      }
      held_ |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(take())) << num_bits_;
      --in_block_;
      num_bits_ += 8;
    }
    const int code = static_cast<int>(held_ & ((1U << bits) - 1));
    held_ >>= bits;
    num_bits_ -= bits;
    return code;
  }

 private:
  char take() {
    const char byte = left_.front();
    left_.remove_prefix(1);
    return byte;
  }

  std::string_view left_;
  int in_block_ = 0;  // bytes of the block that are left
  std::uint32_t held_ = 0;
  int num_bits_ = 0;
};

constexpr int kMaxCodes = 4096;

// The colour numbers of a frame; how many there are, which is fewer than its pixels if it is cut
// off. pre: room for its pixels and kMaxCodes more.
std::size_t unpack(const Frame& frame, std::uint8_t* out) {
  struct Entry {
    std::int16_t before;
    std::uint8_t last;
  };
  std::array<Entry, kMaxCodes> table;
  const int clear = 1 << frame.code_bits, end = clear + 1;
  const std::size_t size = frame.num_pixels();
  std::size_t count = 0;
  Codes codes(frame.blocks);
  int bits = frame.code_bits + 1, num = end + 1, previous = -1;
  while (count < size) {
    const std::optional<int> code = codes.next(bits);
    if (!code || *code == end) break;
    if (*code == clear) {
      bits = frame.code_bits + 1;
      num = end + 1;
      previous = -1;
      continue;
    }
    if (*code > num || (*code == num && previous < 0)) damaged("a code that cannot be");
    const std::size_t first = count;
    int at = *code == num ? previous : *code;
    for (; at > end; at = table[static_cast<std::size_t>(at)].before)
      out[count++] = table[static_cast<std::size_t>(at)].last;
    if (at >= clear) damaged("a code that cannot be");
    const auto head = static_cast<std::uint8_t>(at);
    out[count++] = head;
    std::reverse(out + first, out + count);
    if (*code == num) out[count++] = head;
    if (previous >= 0 && num < kMaxCodes) {
      table[static_cast<std::size_t>(num++)] = {static_cast<std::int16_t>(previous), head};
      if (num == 1 << bits && bits < 12) ++bits;
    }
    previous = *code;
  }
  return std::min(count, size);
}

// The rows of a frame in the order in which they are stored.
class RowOrder {
 public:
  explicit RowOrder(const Frame& frame)
      : height_(frame.height), pass_(frame.is_interlaced ? 0 : kNumPasses - 1) {}
  int next() {
    while (at_ >= height_ && pass_ + 1 < kNumPasses - 1) at_ = kPasses[++pass_].first;
    const int row = at_;
    at_ += kPasses[pass_].step;
    return row;
  }

 private:
  struct Pass {
    int first, step;
  };
  static constexpr Pass kPasses[] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}, {0, 1}};  // the last: plain
  static constexpr int kNumPasses = 5;

  const int height_;
  int pass_;
  int at_ = 0;
};

// Onto what was there before. `numbers` is scratch for the frame.
void draw(const Gif& gif, const Frame& frame, std::uint8_t* numbers, std::uint8_t* to) {
  if (unpack(frame, numbers) < frame.num_pixels())
    damaged("a frame has fewer pixels than its size says");
  RowOrder order(frame);
  for (int i = 0; i < frame.height; ++i) {
    const int y = frame.top + order.next();
    for (int column = 0; column < frame.width; ++column) {
      const std::uint8_t number = *numbers++;
      const int x = frame.left + column;
      if (x >= gif.width || y >= gif.height || number == frame.transparent) continue;
      if (std::size_t{number} * 3 + 3 > frame.colours.size()) damaged("a colour that is not there");
      std::memcpy(to + (static_cast<std::size_t>(y) * static_cast<std::size_t>(gif.width) +
                        static_cast<std::size_t>(x)) *
                           3,
                  frame.colours.data() + std::size_t{number} * 3, 3);
    }
  }
}

// A code has 2 bits or more and stands for kMaxCodes pixels at most: what a frame says beyond that
// it cannot have, and takes no memory.
void check_size(const Frame& frame) {
  if (frame.num_pixels() / kMaxCodes > frame.blocks.size() * 4)
    damaged("a frame has fewer pixels than its size says");
}

}  // namespace

Tensor decode_gif(std::string_view bytes) {
  std::int64_t num_frames = 0;
  std::size_t most = 0;  // pixels of a frame
  Gif all(bytes);
  while (const std::optional<Frame> frame = all.next()) {
    check_size(*frame);
    most = std::max(most, frame->num_pixels());
    ++num_frames;
  }
  if (num_frames == 0) damaged("it has no frames");
  LibraryMemory memory("decode_gif");
  auto* const numbers = static_cast<std::uint8_t*>(memory.allocate(most + kMaxCodes));
  const Tensor images = allocate_pixels("GIF", {num_frames, all.height, all.width, 3});
  const std::size_t size =
      static_cast<std::size_t>(all.height) * static_cast<std::size_t>(all.width) * 3;
  std::uint8_t* to = pixels_of(images);
  Gif gif(bytes);
  for (std::int64_t i = 0; i < num_frames; ++i, to += size) {
    if (i == 0) {
      std::memset(to, 0, size);
    } else {
      std::memcpy(to, to - size, size);
    }
    draw(gif, *gif.next(), numbers, to);
  }
  return images;
}

}  // namespace plimsoll::io
