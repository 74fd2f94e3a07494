#include "data/jpeg_huffman.h"

#include <algorithm>
#include <bit>
#include <cstring>
// After jpeglib.h, which they need.
#include <jerror.h>
#if __has_include(<jpegint.h>)
#include <jpegint.h>
#endif

namespace plimsoll::io {
namespace {

// The places of coefficients, from low to high frequencies.
constexpr std::uint8_t kZigzag[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

constexpr int kMaxCode = 16;  // bits
constexpr int kMaxValue = 32767;

}  // namespace

#if defined(LIBJPEG_TURBO_VERSION_NUMBER) && __has_include(<jpegint.h>)

// Bits of the buffer, in registers while a block is read.
struct JpegHuffman::Bits {
  const std::uint8_t* next;  // byte
  std::uint64_t held = 0;    // the next bit is the highest
  int num_held = 0;

  explicit Bits(const std::uint8_t* begin, std::size_t at) : next(begin + at / 8) {
    fill();
    drop(at % 8);
  }
  // At least 56 bits.
  void fill() noexcept {
    std::uint64_t eight = 0;
    std::memcpy(&eight, next, 8);
    if constexpr (std::endian::native == std::endian::little) eight = __builtin_bswap64(eight);
    held |= eight >> num_held;
    next += (63 - num_held) >> 3;
    num_held |= 56;
  }
  std::uint64_t first(int n) const noexcept { return held >> (64 - n); }  // pre: n > 0
  void drop(std::size_t n) noexcept {
    held <<= n;
    num_held -= static_cast<int>(n);
  }
  std::size_t at(const std::uint8_t* begin) const noexcept {
    return static_cast<std::size_t>(next - begin) * 8 - static_cast<std::size_t>(num_held);
  }
};

// A code of so many bits.
JpegHuffman::Entry JpegHuffman::entry_of(std::uint8_t symbol, int num_bits, bool is_dc) noexcept {
  const Entry number = symbol & 15, code = static_cast<Entry>(num_bits);
  const Entry skipped = is_dc ? 0 : symbol >> 4;
  const bool is_end = !is_dc && number == 0 && skipped < 15;
  return (code + number) | (is_end ? kEnd : skipped) << 8 | code << 16 | (63 - number) << 24;
}

// pre: libjpeg has looked at them.
void JpegHuffman::fill(Table& table, const JHUFF_TBL& codes, bool is_dc) noexcept {
  std::ranges::fill(table.entries, 0);
  std::memcpy(table.symbols, codes.huffval, sizeof table.symbols);
  table.is_dc = is_dc;
  std::uint32_t code = 0;  // the next one, as the first of kMaxCode bits
  std::int32_t place = 0;
  for (int n = 1; n <= kMaxCode; ++n) {
    const int rest = kMaxCode - n;
    table.offset[n] = place - static_cast<std::int32_t>(code >> rest);
    for (int i = 0; i < codes.bits[n]; ++i, ++place, code += 1U << rest) {
      if (n > kLookBits) continue;
      std::fill_n(table.entries + (code >> (kMaxCode - kLookBits)),
                  std::size_t{1} << (kLookBits - n), entry_of(codes.huffval[place], n, is_dc));
    }
    table.limit[n] = code;
  }
}

// The code, longer than tables look, that these kMaxCode bits begin with; 0 for none.
JpegHuffman::Entry JpegHuffman::find_long(const Table& table, std::uint32_t bits) noexcept {
  for (int n = kLookBits + 1; n <= kMaxCode; ++n) {
    if (bits >= table.limit[n]) continue;
    const auto place = static_cast<std::int32_t>(bits >> (kMaxCode - n)) + table.offset[n];
    return entry_of(table.symbols[place & 255], n, table.is_dc);
  }
  return 0;
}

// A code with its number has 27 bits at most in files as they should be: two are read at a time.
bool JpegHuffman::read_block(Bits& all, const Block& block, JCOEF* to) noexcept {
  Bits bits = all;
  int skipped = 0;
  const auto next = [&](const Table& table, int* number) {
    Entry entry = table.entries[bits.first(kLookBits)];
    if (entry == 0) [[unlikely]]
      entry = find_long(table, static_cast<std::uint32_t>(bits.first(kMaxCode)));
    // Numbers whose first bit is 0 are negative: less by as many ones as they have bits.
    const std::uint64_t behind = bits.held << (entry >> 16 & 63);
    const auto ones = ~static_cast<std::uint64_t>(static_cast<std::int64_t>(behind) >> 63);
    const auto shift = static_cast<int>(entry >> 24);
    *number = static_cast<int>((behind >> 1 >> shift) - (ones >> 1 >> shift));
    skipped = static_cast<int>(entry >> 8 & 255);
    bits.drop(entry & 63);
    return entry != 0;
  };
  int number = 0;
  bits.fill();
  if (!next(*block.dc, &number)) return false;
  *block.last += number;
  if (std::abs(*block.last) > kMaxValue) return false;
  to[0] = static_cast<JCOEF>(*block.last);

  const Table& table = *block.ac;
  int k = 0;
  const auto read = [&] {
    if (!next(table, &number)) return false;
    k += skipped + 1;
    if (k > 63) return false;
    to[kZigzag[k]] = static_cast<JCOEF>(number);
    return true;
  };
  while (read() && k < 63) {
    if (bits.num_held < 0) return false;
    bits.fill();
    if (!read() || k == 63) break;
  }
  all = bits;
  return (k == 63 || skipped == kEnd) && bits.num_held >= 0;
}

void JpegHuffman::fill_buffer(jpeg_source_mgr& source) noexcept {
  Buffer& b = *buffer_;
  const std::size_t begin = at_ / 8;
  b.size -= begin;
  std::memmove(b.bytes, b.bytes + begin, b.size);
  at_ %= 8;
  const JOCTET *from = source.next_input_byte, *const end = from + source.bytes_in_buffer;
  const std::size_t capacity = sizeof b.bytes - Buffer::kUnitBytes - sizeof(std::uint64_t);
  while (b.size < capacity && !b.is_last) {
    const auto most = std::min(capacity - b.size, static_cast<std::size_t>(end - from));
    const void* const found = std::memchr(from, 0xff, most);
    const auto count =
        found ? static_cast<std::size_t>(static_cast<const JOCTET*>(found) - from) : most;
    std::memcpy(b.bytes + b.size, from, count);
    from += count;
    b.size += count;
    if (found && end - from > 1 && from[1] == 0) {
      b.bytes[b.size++] = 0xff;
      from += 2;
    } else {
      b.is_last = found || from == end;
    }
  }
  std::memset(b.bytes + b.size, 0, sizeof b.bytes - b.size);
  source.next_input_byte = from;
  source.bytes_in_buffer = static_cast<std::size_t>(end - from);
}

// A marker stands between the units, and all begins anew behind it.
bool JpegHuffman::read_restart(j_decompress_ptr jpeg) noexcept {
  jpeg_source_mgr& source = *jpeg->src;
  const JOCTET* at = source.next_input_byte;
  if (!buffer_->is_last || buffer_->size != (at_ + 7) / 8 || source.bytes_in_buffer < 2 ||
      at[0] != 0xff || at[1] != JPEG_RST0 + next_restart_)
    return false;
  source.next_input_byte += 2;
  source.bytes_in_buffer -= 2;
  next_restart_ = (next_restart_ + 1) % 8;
  jpeg->marker->next_restart_num = next_restart_;
  until_restart_ = jpeg->restart_interval;
  std::ranges::fill(last_, 0);
  buffer_->size = at_ = 0;
  buffer_->is_last = false;
  return true;
}

bool JpegHuffman::read_unit(j_decompress_ptr jpeg, JBLOCKROW* blocks) noexcept {
  if (jpeg->restart_interval && until_restart_ == 0 && !read_restart(jpeg)) return false;
  --until_restart_;
  if (buffer_->size < at_ / 8 + Buffer::kUnitBytes && !buffer_->is_last) fill_buffer(*jpeg->src);
  Bits bits(buffer_->bytes, at_);
  for (int i = 0; i < jpeg->blocks_in_MCU; ++i) {
    if (!read_block(bits, blocks_[i], *blocks[i])) return false;
  }
  at_ = bits.at(buffer_->bytes);
  return at_ <= buffer_->size * 8;
}

boolean JpegHuffman::decode(j_decompress_ptr jpeg, JBLOCKROW* blocks) {
  auto& self = *static_cast<JpegHuffman*>(jpeg->client_data);
  if (!blocks || !self.read_unit(jpeg, blocks)) {
    self.is_odd_ = true;
    ERREXIT(jpeg, JERR_BAD_PROGRESSION);
  }
  return TRUE;
}

const JpegHuffman::Table* JpegHuffman::table_for(j_decompress_ptr jpeg, int number, bool is_dc) {
  const JHUFF_TBL* const codes = (is_dc ? jpeg->dc_huff_tbl_ptrs : jpeg->ac_huff_tbl_ptrs)[number];
  Table*& table = tables_[is_dc ? 0 : 1][number];
  if (!table) {
    auto* const common = reinterpret_cast<j_common_ptr>(jpeg);
    table = static_cast<Table*>(jpeg->mem->alloc_large(common, JPOOL_IMAGE, sizeof(Table)));
    fill(*table, *codes, is_dc);
  }
  return table;
}

void JpegHuffman::take_over(j_decompress_ptr jpeg) {
  if (jpeg_has_multiple_scans(jpeg) || jpeg->progressive_mode || jpeg->arith_code ||
      jpeg->data_precision != 8 || jpeg->output_scanline != 0)
    return;
  for (int i = 0; i < jpeg->blocks_in_MCU; ++i) {
    const int number = jpeg->MCU_membership[i];
    const jpeg_component_info& component = *jpeg->cur_comp_info[number];
    blocks_[i] = {table_for(jpeg, component.dc_tbl_no, true),
                  table_for(jpeg, component.ac_tbl_no, false), &last_[number]};
  }
  until_restart_ = jpeg->restart_interval;
  auto* const common = reinterpret_cast<j_common_ptr>(jpeg);
  buffer_ = static_cast<Buffer*>(jpeg->mem->alloc_large(common, JPOOL_IMAGE, sizeof(Buffer)));
  buffer_->size = 0;
  buffer_->is_last = false;
  jpeg->client_data = this;
  jpeg->entropy->decode_mcu = decode;
}

#else  // another libjpeg, whose modules are not known

void JpegHuffman::take_over(j_decompress_ptr) {}

#endif

}  // namespace plimsoll::io
