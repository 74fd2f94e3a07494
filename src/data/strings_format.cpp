// Tensors as text inside of a text.
#include <algorithm>

#include "base/short_number.h"
#include "data/host_values.h"
#include "data/strings_util.h"
#include "plimsoll/strings.h"

namespace plimsoll::strings {
namespace {

// Counts what is put, and has it too if there is somewhere to put it.
struct Text {
  std::string* out = nullptr;
  std::size_t size = 0;

  void put(std::string_view words) {
    size += words.size();
    if (out) *out += words;
  }
};

void put_element(Text& text, const std::string& element) {
  text.put("\"");
  for (const char c : element) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t at = std::string_view("\n\r\t\"'\\").find(c); at != std::string::npos) {
      const char escaped[] = {'\\', "nrt\"'\\"[at]};
      text.put({escaped, 2});
    } else if (byte < 0x20 || byte == 0x7F) {
      text.put(fmt::format("\\{:03o}", byte));
    } else {
      text.put({&c, 1});
    }
  }
  text.put("\"");
}
template <class T>
void put_element(Text& text, T element) {
  NumberText digits;
  if constexpr (std::is_same_v<T, double>) {
    text.put(short_number(element, digits));
  } else if constexpr (std::is_integral_v<T>) {
    text.put(fmt::format("{}", std::int64_t{element}));
  } else {
    text.put(short_number(static_cast<float>(element), digits));
  }
}

// `ends` elements at either end of each dimension.
template <class Values>
void put_nested(Text& text, const Values& values, std::size_t first, const Shape& shape, int dim,
                std::int64_t ends) {
  if (dim == shape.rank()) {
    if constexpr (std::is_same_v<Values, std::vector<bool>>) {
      return put_element(text, static_cast<int>(values[first]));
    } else {
      return put_element(text, values[first]);
    }
  }
  std::int64_t below = 1;
  for (int d = dim + 1; d < shape.rank(); ++d) below *= shape.dim(d);
  const auto put_space = [&] {
    if (dim + 1 == shape.rank()) return text.put(" ");
    for (int i = dim + 1; i < shape.rank(); ++i) text.put("\n");
    for (int i = 0; i <= dim; ++i) text.put(" ");
  };
  const auto put_row = [&](std::int64_t i) {
    put_nested(text, values, first + static_cast<std::size_t>(i * below), shape, dim + 1, ends);
  };
  const std::int64_t num = shape.dim(dim);
  text.put("[");
  for (std::int64_t i = 0; i < std::min(ends, num); ++i) {
    if (i > 0) put_space();
    put_row(i);
  }
  if (num > 2 * ends) {
    put_space();
    text.put("...");
  }
  for (std::int64_t i = std::max(ends, num - ends); i < num; ++i) {
    put_space();
    put_row(i);
  }
  text.put("]");
}

void put_tensor(Text& text, const Tensor& t, std::int64_t summarize) {
  const std::int64_t all = t.num_elements(), ends = summarize < 0 ? all : std::min(summarize, all);
  data::visit_values(t, "StringFormat",
                     [&](const auto& values) { put_nested(text, values, 0, t.shape(), 0, ends); });
}

}  // namespace

Tensor format(std::string_view text, std::span<const Tensor> inputs, std::string_view placeholder,
              std::int64_t summarize) {
  PLIMSOLL_CHECK(!placeholder.empty(), InvalidArgumentError,
                 "format needs a placeholder, received ''");
  std::vector<std::string_view> words;
  for (std::string_view rest = text;;) {
    const std::size_t end = rest.find(placeholder);
    words.push_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + placeholder.size());
  }
  PLIMSOLL_CHECK(words.size() == inputs.size() + 1, InvalidArgumentError,
                 "The template expects {} tensors, but the inputs only has {}. Please ensure the "
                 "number of placeholders in template matches inputs length.",
                 words.size() - 1, inputs.size());
  for (const Tensor& input : inputs) data::check_has_value(input, "StringFormat");
  const auto put_all = [&](Text& to) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      to.put(words[i]);
      if (i < inputs.size()) put_tensor(to, inputs[i], summarize);
    }
  };
  Text counted;
  put_all(counted);
  StringBuilder made(1, owner_of_op("StringFormat"));
  made.make_room(counted.size);
  std::string all;
  all.reserve(counted.size);
  Text written{&all};
  put_all(written);
  made.add(std::move(all));
  return made.finish({});
}

}  // namespace plimsoll::strings
