#include "npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <vector>

#include "npy_header.h"
#include "plimsoll/error.h"
#include "plimsoll/ops.h"

namespace plimsoll::npy {
namespace {

static_assert(std::endian::native == std::endian::little);

struct Kind {
  char letter;  // of descr: "<f4" has 'f' and 4
  int size;
  DType dtype;
};
constexpr Kind kKinds[] = {
    {'f', 2, DType::kFloat16}, {'f', 4, DType::kFloat32}, {'f', 8, DType::kFloat64},
    {'i', 1, DType::kInt8},    {'i', 2, DType::kInt16},   {'i', 4, DType::kInt32},
    {'i', 8, DType::kInt64},   {'u', 1, DType::kUInt8},   {'u', 2, DType::kUInt16},
    {'b', 1, DType::kBool},
};

std::optional<DType> dtype_of_kind(char letter, std::uint64_t size) {
  for (const Kind& kind : kKinds) {
    if (kind.letter == letter && static_cast<std::uint64_t>(kind.size) == size) return kind.dtype;
  }
  return std::nullopt;
}

template <class T>
Tensor make(const std::vector<char>& bytes, const Shape& shape) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return constant(std::span<const T>(values), shape);
}

Tensor make_numbers(const std::vector<char>& bytes, DType dtype, const Shape& shape) {
  switch (dtype) {
    case DType::kFloat16:
      return make<Half>(bytes, shape);
    case DType::kFloat64:
      return make<double>(bytes, shape);
    case DType::kInt8:
      return make<std::int8_t>(bytes, shape);
    case DType::kInt16:
      return make<std::int16_t>(bytes, shape);
    case DType::kInt32:
      return make<std::int32_t>(bytes, shape);
    case DType::kInt64:
      return make<std::int64_t>(bytes, shape);
    case DType::kUInt8:
      return make<std::uint8_t>(bytes, shape);
    case DType::kUInt16:
      return make<std::uint16_t>(bytes, shape);
    case DType::kBool:
      return cast(make<std::uint8_t>(bytes, shape), bool_);
    default:
      return make<float>(bytes, shape);
  }
}

void append_utf8(std::string& text, std::uint32_t letter) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (letter < 0x80) {
    add(letter);
  } else if (letter < 0x800) {
    add(0xC0 | letter >> 6);
    add(0x80 | (letter & 63));
  } else if (letter < 0x10000) {
    add(0xE0 | letter >> 12);
    add(0x80 | (letter >> 6 & 63));
    add(0x80 | (letter & 63));
  } else {
    add(0xF0 | (letter >> 18 & 7));
    add(0x80 | (letter >> 12 & 63));
    add(0x80 | (letter >> 6 & 63));
    add(0x80 | (letter & 63));
  }
}

// Elements of `size` bytes, filled up with zeros: letters of 4 bytes, or bytes.
Tensor make_strings(const std::vector<char>& bytes, std::uint64_t size, bool is_text,
                    const Shape& shape) {
  std::vector<std::string> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* at = bytes.data() + i * size;
    if (!is_text) {
      values[i].assign(at, size);
      values[i].resize(values[i].find_last_not_of('\0') + 1);
      continue;
    }
    for (std::uint64_t k = 0; k < size; k += 4) {
      std::uint32_t letter = 0;
      std::memcpy(&letter, at + k, 4);
      if (letter) append_utf8(values[i], letter);
    }
  }
  return constant(std::span<const std::string>(values), shape);
}

std::uint64_t size_of(std::ifstream& file) {
  file.seekg(0, std::ios::end);
  const auto end = static_cast<std::uint64_t>(file.tellg());
  file.seekg(0);
  return end;
}

// The bytes of the array, in this machine's order.
std::vector<char> read_data(std::ifstream& file, const Header& header, std::uint64_t left,
                            const std::string& path) {
  const auto num = static_cast<std::uint64_t>(header.shape.num_elements());
  const std::uint64_t size = header.item_bytes;
  if (size && num > std::numeric_limits<std::uint64_t>::max() / size)
    throw DataLossError(fmt::format("'{}' claims {} elements of {} bytes", path, num, size));
  if (num * size > left)
    throw DataLossError(
        fmt::format("'{}' ends too early: shape {} of '{}' takes {} bytes, there are {}", path,
                    header.shape.to_string(), header.descr, num * size, left));
  std::vector<char> bytes(static_cast<std::size_t>(num * size));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw DataLossError(fmt::format("'{}' could not be read to its end", path));
  const std::size_t word = header.letter == 'U' ? 4 : header.letter == 'S' ? 1 : size;
  if (header.is_big_endian && word > 1) {
    for (std::size_t at = 0; at + word <= bytes.size(); at += word)
      std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + word));
  }
  return bytes;
}

}  // namespace

Tensor read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw NotFoundError(fmt::format("no file '{}' that can be read", path));
  const std::uint64_t size = size_of(file);
  const Header header = read_header(file, size, path);
  const bool is_string = header.letter == 'S' || header.letter == 'U';
  const auto dtype = dtype_of_kind(header.letter, header.item_bytes);
  if (!is_string && !dtype)
    throw UnimplementedError(
        fmt::format("'{}' holds elements of type '{}', which no tensor has here. Convert them: "
                    "np.save(path, x.astype('float32'))",
                    path, header.descr));
  if (header.is_fortran_order && header.shape.rank() > 1)
    throw UnimplementedError(fmt::format(
        "'{}' is in Fortran's order. Save it anew: np.save(path, np.ascontiguousarray(x))", path));
  const std::vector<char> bytes = read_data(file, header, size - header.data_offset, path);
  return is_string ? make_strings(bytes, header.item_bytes, header.letter == 'U', header.shape)
                   : make_numbers(bytes, *dtype, header.shape);
}

namespace {

template <class T>
void put_values(std::string& out, const Tensor& t) {
  const std::vector<T> values = t.to_vector<T>();
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string bytes_of(const Tensor& t) {
  std::string out;
  switch (t.dtype()) {
    case DType::kFloat16:
      put_values<Half>(out, t);
      break;
    case DType::kFloat64:
      put_values<double>(out, t);
      break;
    case DType::kInt8:
      put_values<std::int8_t>(out, t);
      break;
    case DType::kInt16:
      put_values<std::int16_t>(out, t);
      break;
    case DType::kInt32:
      put_values<std::int32_t>(out, t);
      break;
    case DType::kInt64:
      put_values<std::int64_t>(out, t);
      break;
    case DType::kUInt8:
      put_values<std::uint8_t>(out, t);
      break;
    case DType::kUInt16:
      put_values<std::uint16_t>(out, t);
      break;
    case DType::kBool:
      put_values<std::uint8_t>(out, cast(t, uint8));
      break;
    default:
      put_values<float>(out, t);
  }
  return out;
}

// The letters of a text; bytes that are no UTF-8 stand for themselves.
std::u32string letters_of(const std::string& text) {
  std::u32string letters;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t num = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    std::uint32_t letter = num == 1 ? first : first & (0xFFU >> (num + 1));
    if (i + num > text.size()) {
      letters += first;
      ++i;
      continue;
    }
    for (std::size_t k = 1; k < num; ++k)
      letter = letter << 6 | (static_cast<unsigned char>(text[i + k]) & 63U);
    letters += static_cast<char32_t>(letter);
    i += num;
  }
  return letters;
}

std::string text_bytes(const Tensor& t, std::size_t& num_letters) {
  std::vector<std::u32string> all;
  num_letters = 1;
  for (const std::string& text : t.to_vector<std::string>()) {
    all.push_back(letters_of(text));
    num_letters = std::max(num_letters, all.back().size());
  }
  std::string out;
  for (std::u32string& letters : all) {
    letters.resize(num_letters);
    out.append(reinterpret_cast<const char*>(letters.data()), num_letters * 4);
  }
  return out;
}

std::string descr_of(DType dtype) {
  for (const Kind& kind : kKinds) {
    if (kind.dtype == dtype)
      return fmt::format("{}{}{}", kind.size == 1 ? '|' : '<', kind.letter, kind.size);
  }
  return "<f4";
}

}  // namespace

void write(const std::string& path, const Tensor& given) {
  const Tensor t = given.dtype() == DType::kBFloat16 ? cast(given, float32) : given;
  std::string descr = descr_of(t.dtype()), data;
  if (t.dtype() == DType::kString) {
    std::size_t num_letters = 0;
    data = text_bytes(t, num_letters);
    descr = fmt::format("<U{}", num_letters);
  } else {
    data = bytes_of(t);
  }
  std::ofstream file(path, std::ios::binary);
  const std::string header = make_header(descr, t.shape());
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(data.data(), static_cast<std::streamsize>(data.size()));
  file.close();
  if (!file) throw NotFoundError(fmt::format("'{}' could not be written", path));
}

}  // namespace plimsoll::npy
