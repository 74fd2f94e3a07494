// Lengths, case, joins.
#include "plimsoll/strings.h"

#include <algorithm>

#include "data/strings_util.h"
#include "data/unicode_case.h"
#include "plimsoll/ops.h"

namespace plimsoll::strings {
namespace {

using data::Case;

// The letters of ASCII, whatever the locale is.
char changed(char c, Case to) noexcept {
  const char first = to == Case::kLower ? 'A' : 'a';
  return c >= first && c <= first + 25 ? static_cast<char>(c ^ 0x20) : c;
}

Tensor in_case(const Tensor& input, std::string_view encoding, Case to) {
  const char* op = to == Case::kLower ? "StringLower" : "StringUpper";
  PLIMSOLL_CHECK(encoding.empty() || encoding == "utf-8", InvalidArgumentError,
                 "only utf-8 or '' (no encoding) is supported, received {} [Op:{}]", encoding, op);
  if (encoding.empty()) {
    return each_string(
        input, op, [](const std::string& text) { return text.size(); },
        [&](std::string text, std::size_t) {
          std::ranges::transform(text, text.begin(), [&](char c) { return changed(c, to); });
          return text;
        });
  }
  return each_string(
      input, op, [&](const std::string& text) { return data::size_in_case(text, to); },
      [&](const std::string& text, std::size_t nbytes) { return data::to_case(text, to, nbytes); });
}

// How far apart the elements of each dimension stand.
std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()), 1);
  for (int d = shape.rank() - 2; d >= 0; --d)
    strides[static_cast<std::size_t>(d)] =
        strides[static_cast<std::size_t>(d) + 1] * shape.dim(d + 1);
  return strides;
}

// Where the elements of a part of the dimensions stand, in order; the last one varies fastest.
std::vector<std::int64_t> offsets_of(const Shape& shape, const std::vector<int>& axes) {
  const std::vector<std::int64_t> strides = strides_of(shape);
  std::vector<std::int64_t> offsets{0};
  for (const int axis : axes) {
    std::vector<std::int64_t> finer;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t i = 0; i < shape.dim(axis); ++i)
        finer.push_back(offset + i * strides[static_cast<std::size_t>(axis)]);
    }
    offsets = std::move(finer);
  }
  return offsets;
}

struct JoinAxes {
  std::vector<int> kept, joined;  // joined: from the one that varies most slowly
};
JoinAxes join_axes(const Shape& shape, const std::optional<std::vector<std::int64_t>>& axis) {
  JoinAxes axes;
  const int rank = shape.rank();
  std::vector<bool> is_joined(static_cast<std::size_t>(rank), !axis);
  for (const std::int64_t given : axis.value_or(std::vector<std::int64_t>())) {
    const std::int64_t at = given < 0 ? given + rank : given;
    PLIMSOLL_CHECK(at >= 0 && at < rank, InvalidArgumentError,
                   "Invalid reduction dimension {} for input with {} dimension(s) [Op:ReduceJoin]",
                   given, rank);
    PLIMSOLL_CHECK(!is_joined[static_cast<std::size_t>(at)], InvalidArgumentError,
                   "Duplicate reduction dimension {} [Op:ReduceJoin]", given);
    is_joined[static_cast<std::size_t>(at)] = true;
    axes.joined.insert(axes.joined.begin(), static_cast<int>(at));
  }
  for (int d = 0; d < rank; ++d) {
    if (!is_joined[static_cast<std::size_t>(d)]) axes.kept.push_back(d);
    if (!axis) axes.joined.push_back(d);
  }
  return axes;
}

// Booked, and then put together.
template <class At>
void add_joined(StringBuilder& made, std::size_t num, std::string_view separator, const At& at) {
  std::size_t nbytes = num ? (num - 1) * separator.size() : 0;
  for (std::size_t i = 0; i < num; ++i) nbytes += at(i).size();
  made.make_room(nbytes);
  std::string text;
  text.reserve(nbytes);
  for (std::size_t i = 0; i < num; ++i) {
    if (i) text += separator;
    text += at(i);
  }
  made.add(std::move(text));
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 80;
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    if (at >= kMost) return made + "...";
    const std::size_t first = at;
    const char32_t letter = data::next_letter(text, at);
    if (letter >= ' ' && letter != 0x7F && letter != data::kNoLetter) {
      made += text.substr(first, at - first);
    } else {
      for (const char c : text.substr(first, at - first))
        made += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return made;
}

Tensor length(const Tensor& input, std::string_view unit) {
  const bool is_letters = counts_letters(unit, "StringLength");
  std::vector<std::int32_t> sizes;
  for (const std::string& text : strings_of(input, "StringLength"))
    sizes.push_back(static_cast<std::int32_t>(
        is_letters ? std::ranges::count_if(text, [](char c) { return !is_trail(c); })
                   : static_cast<std::ptrdiff_t>(text.size())));
  return constant(std::span<const std::int32_t>(sizes), input.shape());
}

Tensor lower(const Tensor& input, std::string_view encoding) {
  return in_case(input, encoding, Case::kLower);
}
Tensor upper(const Tensor& input, std::string_view encoding) {
  return in_case(input, encoding, Case::kUpper);
}
Tensor strip(const Tensor& input) {
  return each_string(
      input, "StringStrip", [](const std::string& text) { return stripped(text).size(); },
      [](const std::string& text, std::size_t) { return std::string(stripped(text)); });
}

Tensor join(std::span<const Tensor> inputs, std::string_view separator) {
  std::vector<std::span<const std::string>> parts;
  const Tensor* shaped = nullptr;
  for (const Tensor& input : inputs) {
    parts.push_back(strings_of(input, "StringJoin"));
    if (input.rank() == 0) continue;
    PLIMSOLL_CHECK(!shaped || shaped->shape() == input.shape(), InvalidArgumentError,
                   "Input shapes do not match: {} vs. {} [Op:StringJoin]",
                   shaped->shape().to_string(), input.shape().to_string());
    shaped = &input;
  }
  const Shape shape = shaped ? shaped->shape() : Shape();
  const auto num = static_cast<std::size_t>(shape.num_elements());
  StringBuilder made(num, owner_of_op("StringJoin"));
  for (std::size_t i = 0; i < num; ++i)
    add_joined(made, parts.size(), separator, [&](std::size_t p) -> const std::string& {
      return parts[p][inputs[p].rank() == 0 ? 0 : i];
    });
  return made.finish(shape);
}

Tensor reduce_join(const Tensor& inputs, const std::optional<std::vector<std::int64_t>>& axis,
                   bool keepdims, std::string_view separator) {
  const std::span<const std::string> texts = strings_of(inputs, "ReduceJoin");
  const JoinAxes axes = join_axes(inputs.shape(), axis);
  std::vector<std::int64_t> dims;
  for (int d = 0; d < inputs.rank(); ++d) {
    const bool is_kept = std::ranges::find(axes.kept, d) != axes.kept.end();
    if (is_kept || keepdims) dims.push_back(is_kept ? inputs.shape().dim(d) : 1);
  }
  const std::vector<std::int64_t> rows = offsets_of(inputs.shape(), axes.kept);
  const std::vector<std::int64_t> steps = offsets_of(inputs.shape(), axes.joined);
  StringBuilder made(rows.size(), owner_of_op("ReduceJoin"));
  for (const std::int64_t row : rows)
    add_joined(made, steps.size(), separator, [&](std::size_t i) -> const std::string& {
      return texts[static_cast<std::size_t>(row + steps[i])];
    });
  return made.finish(Shape(std::span<const std::int64_t>(dims)));
}

}  // namespace plimsoll::strings
