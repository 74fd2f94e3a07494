// Parts of strings.
#include <limits>

#include "data/host_values.h"
#include "data/strings_util.h"
#include "plimsoll/strings.h"

namespace plimsoll::strings {
namespace {

// Calls f(part) for each part between separators. As Python has it, except that without any split
// to make the text stays as it is, spaces at its ends included.
template <class F>
void each_part(std::string_view text, std::string_view sep, std::int64_t maxsplit, F&& f) {
  if (maxsplit == 0) return f(text);
  std::int64_t left = maxsplit;
  if (!sep.empty()) {
    for (; left != 0; --left) {
      const std::size_t end = text.find(sep);
      if (end == std::string_view::npos) break;
      f(text.substr(0, end));
      text.remove_prefix(end + sep.size());
    }
    return f(text);
  }
  while (true) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    if (text.empty()) return;
    if (left == 0) return f(text);
    std::size_t end = 0;
    while (end < text.size() && !is_space(text[end])) ++end;
    f(text.substr(0, end));
    text.remove_prefix(end);
    --left;
  }
}

// Splits of outer dimensions, which are all of one length, and of the parts in them.
std::vector<Tensor> splits_of(const Shape& shape, const std::vector<std::int64_t>& innermost) {
  std::vector<Tensor> splits;
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < shape.rank(); ++d) {
    rows *= shape.dim(d);
    const std::int64_t length = shape.dim(d + 1);
    std::vector<std::int64_t> even;
    for (std::int64_t i = 0; i <= rows; ++i) even.push_back(i * length);
    splits.push_back(data::make_integers(even, int64));
  }
  splits.push_back(data::make_integers(innermost, int64));
  return splits;
}

// each(text, f) calls f for each part.
template <class Each>
RaggedTensor parts_of(const Tensor& input, const char* op, const Each& each) {
  const std::span<const std::string> texts = strings_of(input, op);
  std::vector<std::int64_t> ends{0};
  std::int64_t num = 0;
  std::uint64_t nbytes = 0;
  for (const std::string& text : texts) {
    each(text, [&](std::string_view part) {
      ++num;
      nbytes += part.size();
    });
    ends.push_back(num);
  }
  StringBuilder made(static_cast<std::size_t>(num), owner_of_op(op), nbytes);
  for (const std::string& text : texts)
    each(text, [&](std::string_view part) { made.add_copy(part); });
  return RaggedTensor(made.finish({num}), splits_of(input.shape(), ends));
}

// A part of `text`; none if it does not begin in it.
std::optional<std::string_view> part_of_bytes(std::string_view text, std::int64_t pos,
                                              std::int64_t len) noexcept {
  const auto size = static_cast<std::int64_t>(text.size());
  if (pos < -size || pos > size) return {};
  text.remove_prefix(static_cast<std::size_t>(pos < 0 ? pos + size : pos));
  return len < 0 ? text : text.substr(0, static_cast<std::size_t>(len));
}

// Moves over `num` letters; false if there are fewer.
bool go_on(std::string_view text, std::int64_t num, std::size_t& at) noexcept {
  for (; num > 0 && at < text.size(); --num) {
    ++at;
    while (at < text.size() && is_trail(text[at])) ++at;
  }
  return num <= 0;
}
bool go_back(std::string_view text, std::int64_t num, std::size_t& at) noexcept {
  for (; num > 0 && at > 0; --num) {
    --at;
    while (at > 0 && is_trail(text[at])) --at;
  }
  return num <= 0;
}
std::optional<std::string_view> part_of_letters(std::string_view text, std::int64_t pos,
                                                std::int64_t len) noexcept {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::size_t first = pos < 0 ? text.size() : 0;
  const bool is_in =
      pos < 0 ? go_back(text, pos < -kMost ? kMost : -pos, first) : go_on(text, pos, first);
  if (!is_in) return {};
  std::size_t last = first;
  go_on(text, len, last);
  return text.substr(first, last - first);
}

// Indices of an operand's elements for each element of the result.
std::vector<std::size_t> broadcast_indices(const Shape& from, const Shape& to) {
  std::vector<std::size_t> indices(static_cast<std::size_t>(to.num_elements()));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t index = 0, stride = 1;
    for (int d = to.rank() - 1, f = from.rank() - 1; f >= 0; --d, --f) {
      if (from.dim(f) != 1) index += rest % to.dim(d) * stride;
      rest /= to.dim(d);
      stride *= from.dim(f);
    }
    indices[i] = static_cast<std::size_t>(index);
  }
  return indices;
}

}  // namespace

RaggedTensor split(const Tensor& input, std::string_view sep, std::int64_t maxsplit) {
  return parts_of(input, "StringSplitV2",
                  [&](std::string_view text, const auto& f) { each_part(text, sep, maxsplit, f); });
}

RaggedTensor bytes_split(const Tensor& input) {
  return parts_of(input, "StringBytesSplit", [](std::string_view text, const auto& f) {
    for (std::size_t i = 0; i < text.size(); ++i) f(text.substr(i, 1));
  });
}

Tensor substr(const Tensor& input, const Tensor& pos, const Tensor& len, std::string_view unit) {
  const bool is_letters = counts_letters(unit, "Substr");
  const std::span<const std::string> texts = strings_of(input, "Substr");
  PLIMSOLL_CHECK(pos.shape() == len.shape(), InvalidArgumentError,
                 "pos and len should have the same shape, got: {} vs. {} [Op:Substr]",
                 pos.shape().to_string(), len.shape().to_string());
  const std::vector<std::int64_t> firsts = data::integers_of(pos, "Substr", "pos"),
                                  sizes = data::integers_of(len, "Substr", "len");
  const Shape shape = broadcast_shapes(input.shape(), pos.shape(), "Substr");
  const std::vector<std::size_t> text_at = broadcast_indices(input.shape(), shape),
                                 pos_at = broadcast_indices(pos.shape(), shape);
  StringBuilder made(text_at.size(), owner_of_op("Substr"));
  for (std::size_t i = 0; i < text_at.size(); ++i) {
    const std::string& text = texts[text_at[i]];
    const std::int64_t first = firsts[pos_at[i]], size = sizes[pos_at[i]];
    const auto part =
        is_letters ? part_of_letters(text, first, size) : part_of_bytes(text, first, size);
    PLIMSOLL_CHECK(part, InvalidArgumentError,
                   "pos {} out of range for string b'{}' at index {} [Op:Substr]", first,
                   shown(text), i);
    made.add_copy(*part);
  }
  return made.finish(shape);
}

}  // namespace plimsoll::strings
