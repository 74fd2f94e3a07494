// The header of an .npy file: a literal of Python behind eight bytes and a length.
#pragma once

#include <cstdint>
#include <istream>
#include <string>

#include "plimsoll/shape.h"

namespace plimsoll::npy {

struct Header {
  std::string descr;             // "<f4"
  char letter = 0;               // of descr: 'f'
  std::uint64_t item_bytes = 0;  // of an element; text has 4 bytes a letter
  bool is_big_endian = false;
  bool is_fortran_order = false;
  Shape shape;
  std::uint64_t data_offset = 0;
};

// throws: DataLossError that names the path; UnimplementedError for records and objects.
Header read_header(std::istream& file, std::uint64_t file_bytes, const std::string& path);
std::string make_header(const std::string& descr, const Shape& shape);  // version 1

}  // namespace plimsoll::npy
