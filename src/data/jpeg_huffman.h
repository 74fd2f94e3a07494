// The codes of a JPEG file's pixels, read faster than libjpeg does.
//
// libjpeg finds a code by eight bits, longer ones bit by bit, and looks at the length of the number
// behind it, and at what is left of the file, each time. Here one look at kLookBits bits gives the
// code and the length of its number, both are taken without another question, and the end of the
// file is looked for once for many codes. It takes the place of libjpeg's own decoder of codes,
// which is one of the modules that libjpeg is made of; all else stays libjpeg's.
//
//   JpegHuffman codes;
//   jpeg_start_decompress(&jpeg);
//   codes.take_over(&jpeg);          // of most files
//   ... jpeg_read_scanlines ...      // an error, and codes.is_odd(): begin again without it
//
// It reads files that are as they should be. Whatever else it meets is an error of libjpeg's kind:
// what to make of damaged files is libjpeg's to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
// After <cstdio>, which it needs.
#include <jpeglib.h>

#include "plimsoll/data/image_files.h"

namespace plimsoll::io {

enum class JpegCodes { kFast, kAny };  // read as below where that can be, or by libjpeg

// As decode_jpeg. Not valid if it was to be fast and met what is libjpeg's to read.
// pre: the options are valid.
Tensor decode_jpeg_by(JpegCodes codes, std::string_view bytes, const JpegOptions& options);

class JpegHuffman {
 public:
  // Reads the scan that begins now, if it is of the usual kind. pre: jpeg_start_decompress was
  // called, and no row was read; the whole file is in the source's buffer; client_data is free.
  // memory: tables, by the memory manager of `jpeg`, until the image is done.
  void take_over(j_decompress_ptr jpeg);

  // Whether it met what is libjpeg's to read.
  bool is_odd() const noexcept { return is_odd_; }

 private:
  static constexpr int kLookBits = 10;

  // A code that bits begin with, in one number. From the lowest bit on, 8 bits each: how many bits
  // the code and the number behind it take (0: the code is longer); zeros before the number (kEnd:
  // nothing but zeros is left); bits of the code; 63 - bits of the number.
  using Entry = std::uint32_t;
  static constexpr int kEnd = 64;

  struct Table {
    Entry entries[1 << kLookBits];
    // Of codes that are longer: those of `n` bits are below limit[n], seen as the first of 16 bits,
    // and stand at symbols[(code >> (16 - n)) + offset[n]].
    std::uint32_t limit[17];
    std::int32_t offset[17];
    std::uint8_t symbols[256];
    bool is_dc;
  };
  struct Block {  // of a unit of the scan
    const Table *dc, *ac;
    int* last;  // the number of the block before, of the same component
  };
  struct Bits;
  // Bytes of the scan, without the zeros that follow those of ones. Codes of a unit are read
  // without a look at the end: there are as many bytes as it can have, zeros behind the last.
  struct Buffer {
    static constexpr std::size_t kUnitBytes = 4 * DCTSIZE2 * D_MAX_BLOCKS_IN_MCU;
    std::uint8_t bytes[8192 + kUnitBytes + sizeof(std::uint64_t)];
    std::size_t size;  // without the zeros
    bool is_last;      // a marker comes behind them
  };

  static boolean decode(j_decompress_ptr jpeg, JBLOCKROW* blocks);
  static void fill(Table& table, const JHUFF_TBL& codes, bool is_dc) noexcept;
  static Entry entry_of(std::uint8_t symbol, int num_bits, bool is_dc) noexcept;
  static Entry find_long(const Table& table, std::uint32_t bits) noexcept;
  static bool read_block(Bits& all, const Block& block, JCOEF* to) noexcept;
  bool read_unit(j_decompress_ptr jpeg, JBLOCKROW* blocks) noexcept;
  void fill_buffer(jpeg_source_mgr& source) noexcept;
  bool read_restart(j_decompress_ptr jpeg) noexcept;
  const Table* table_for(j_decompress_ptr jpeg, int number, bool is_dc);

  Table* tables_[2][NUM_HUFF_TBLS] = {};  // for differences of means, and for all else
  Block blocks_[D_MAX_BLOCKS_IN_MCU] = {};
  int last_[MAX_COMPS_IN_SCAN] = {};
  Buffer* buffer_ = nullptr;
  std::size_t at_ = 0;          // bits of it that were read
  unsigned until_restart_ = 0;  // units
  int next_restart_ = 0;
  bool is_odd_ = false;
};

}  // namespace plimsoll::io
