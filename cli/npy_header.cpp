#include "npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <vector>

#include "plimsoll/error.h"

namespace plimsoll::npy {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::uint64_t kMaxHeader = 1 << 20;  // of records with many fields, which are refused

// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class Reader {
 public:
  Reader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  Header read() {
    Header header;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        skip_blanks();
        if (at_ < text_.size() && text_[at_] == '[')
          throw UnimplementedError(fmt::format(
              "'{}' holds records; an array of one type is needed: np.save(path, x['field'])",
              path_));
        header.descr = string();
        has_descr = true;
      } else if (key == "fortran_order") {
        header.is_fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = shape();
        has_shape = true;
      } else {
        fail(fmt::format("an unknown key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!has_descr || !has_order || !has_shape) fail("descr, fortran_order or shape is missing");
    read_descr(header);
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataLossError(fmt::format("the header of '{}' cannot be read: {} in: {}", path_, what,
                                    text_.substr(0, 200)));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}' is expected at {}", c, at_));
  }
  std::string string() {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail(fmt::format("a string is expected at {}", at_));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail(fmt::format("True or False is expected at {}", at_));
  }
  Shape shape() {
    std::vector<std::int64_t> dims;
    expect('(');
    while (!accept(')')) {
      skip_blanks();
      std::int64_t value = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0)
        fail(fmt::format("a dimension is expected at {}", at_));
      at_ = static_cast<std::size_t>(end - text_.data());
      if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // of Python 2
      dims.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return Shape(std::span<const std::int64_t>(dims));
  }
  void read_descr(Header& header) const {
    const std::string& descr = header.descr;
    if (descr.size() < 2) fail(fmt::format("the type '{}'", descr));
    std::size_t at = 0;
    if (std::string_view("<>|=").find(descr[0]) != std::string_view::npos) at = 1;
    header.is_big_endian = descr[0] == '>';
    header.letter = descr[at];
    if (header.letter == 'O')
      throw UnimplementedError(
          fmt::format("'{}' holds Python objects, which only Python can read: np.save(path, "
                      "x.astype(str)) for text",
                      path_));
    std::uint64_t size = 0;
    const auto [end, error] =
        std::from_chars(descr.data() + at + 1, descr.data() + descr.size(), size);
    if (error != std::errc() || end != descr.data() + descr.size() || size > kMaxHeader)
      fail(fmt::format("the type '{}'", descr));
    header.item_bytes = header.letter == 'U' ? size * 4 : size;
  }

  std::string_view text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

}  // namespace

Header read_header(std::istream& file, std::uint64_t file_bytes, const std::string& path) {
  unsigned char start[12] = {};
  file.read(reinterpret_cast<char*>(start), 8);
  if (!file || std::string_view(reinterpret_cast<char*>(start), 6) != kMagic)
    throw DataLossError(
        fmt::format("'{}' is no .npy file: it does not begin with \\x93NUMPY", path));
  const int version = start[6];
  if (version < 1 || version > 3)
    throw UnimplementedError(fmt::format("'{}' has version {}.{} of the format; 1 to 3 are read",
                                         path, version, start[7]));
  const int num_bytes = version == 1 ? 2 : 4;
  file.read(reinterpret_cast<char*>(start + 8), num_bytes);
  std::uint64_t size = 0;
  for (int i = num_bytes; i-- > 0;) size = size << 8 | start[8 + i];
  const std::uint64_t begin = 8 + static_cast<std::uint64_t>(num_bytes);
  if (!file || size > kMaxHeader || begin + size > file_bytes)
    throw DataLossError(
        fmt::format("the header of '{}' claims {} bytes, the file has {}", path, size, file_bytes));
  std::string text(static_cast<std::size_t>(size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(size));
  if (!file) throw DataLossError(fmt::format("'{}' ends in its header", path));
  Header header = Reader(text, path).read();
  header.data_offset = begin + size;
  return header;
}

std::string make_header(const std::string& descr, const Shape& shape) {
  std::string dims;
  for (const std::int64_t d : shape.dims()) dims += std::to_string(d) + ", ";
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  if (shape.rank() == 1) dims.resize(dims.size() - 1);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';  // the data begins at a multiple of 64
  text += '\n';
  std::string header(kMagic);
  header += '\1';
  header += '\0';
  header += static_cast<char>(text.size() & 255);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace plimsoll::npy
