// Text as numbers, and numbers as text.
#include <fmt/printf.h>
#include <locale.h>

#include <charconv>
#include <cstdlib>

#include "data/host_values.h"
#include "data/strings_util.h"
#include "plimsoll/strings.h"

namespace plimsoll::strings {
namespace {

// strtof, and not from_chars: what is too large is infinite, and what is too small is 0. With the
// point of C, whatever the locale is.
template <class T>
bool parse(const std::string& text, T& value) {
  std::string_view digits = stripped(text);
  if constexpr (std::is_integral_v<T>) {
    if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
    const char* last = digits.data() + digits.size();
    const auto [end, code] = std::from_chars(digits.data(), last, value);
    return code == std::errc() && end == last;
  } else {
    static const ::locale_t plain = ::newlocale(LC_ALL_MASK, "C", nullptr);
    const std::string number(digits);  // which ends with a zero
    char* end = nullptr;
    if constexpr (std::is_same_v<T, float>) {
      value = ::strtof_l(number.c_str(), &end, plain);
    } else {
      value = ::strtod_l(number.c_str(), &end, plain);
    }
    return !number.empty() && end == number.data() + number.size();
  }
}

template <class T>
Tensor numbers_of(const Tensor& input) {
  std::vector<T> values;
  for (const std::string& text : strings_of(input, "StringToNumber")) {
    PLIMSOLL_CHECK(parse(text, values.emplace_back()), InvalidArgumentError,
                   "StringToNumberOp could not correctly convert string: {} [Op:StringToNumber]",
                   shown(text));
  }
  return constant(std::span<const T>(values), input.shape());
}

void check(const Tensor& input, const AsStringOptions& options) {
  const std::string_view name = dtype_name(input.dtype());
  const bool is_number = is_integer(input.dtype()) || input.dtype() == bool_;
  PLIMSOLL_CHECK(!is_number || !(options.scientific || options.shortest), InvalidArgumentError,
                 "scientific and shortest format not supported for datatype {} [Op:AsString]",
                 name);
  PLIMSOLL_CHECK(!is_number || options.precision < 0, InvalidArgumentError,
                 "precision not supported for datatype {}, received {} [Op:AsString]", name,
                 options.precision);
  PLIMSOLL_CHECK(!(options.scientific && options.shortest), InvalidArgumentError,
                 "Cannot select both scientific and shortest notation [Op:AsString]");
  PLIMSOLL_CHECK(options.fill.size() <= 1, InvalidArgumentError,
                 "Fill string must be one or fewer characters, received \"{}\" [Op:AsString]",
                 shown(options.fill));
  PLIMSOLL_CHECK(
      options.fill.empty() || std::string_view("0-+ ").find(options.fill) != std::string_view::npos,
      InvalidArgumentError, "Fill argument not supported: \"{}\" [Op:AsString]",
      shown(options.fill));
  constexpr std::int64_t kMost = 1 << 30;
  PLIMSOLL_CHECK(options.width < kMost && options.precision < kMost, InvalidArgumentError,
                 "width and precision are below 2^30, received {} and {} [Op:AsString]",
                 options.width, options.precision);
}

// "%-8.3f"
std::string printf_form(const AsStringOptions& options, char letter) {
  std::string form = "%";
  // Numbers without a sign have no place for one.
  if (letter != 'u' || options.fill == "0" || options.fill == "-") form += options.fill;
  if (options.width >= 0) form += std::to_string(options.width);
  if (options.precision >= 0) form += fmt::format(".{}", options.precision);
  return form + letter;
}

// How printf is told a number.
template <class T>
using Printed = std::conditional_t<!std::is_integral_v<T>, double,
                                   std::conditional_t<std::is_unsigned_v<T>, unsigned, long>>;

template <class T>
Tensor texts_of(const std::vector<T>& values, const AsStringOptions& options, const Shape& shape) {
  StringBuilder made(values.size(), owner_of_op("AsString"));
  if constexpr (std::is_same_v<T, bool>) {
    for (const bool value : values) made.add(value ? "true" : "false");
  } else {
    const char point = options.scientific ? 'e' : options.shortest ? 'g' : 'f';
    const char whole = std::is_unsigned_v<T> ? 'u' : 'd';
    const std::string form = printf_form(options, std::is_integral_v<T> ? whole : point);
    // The longest number has 309 digits before the point.
    const std::int64_t most = std::max(options.width, options.precision + 320);
    for (const T value : values) {
      if (most > 1024) made.make_room(static_cast<std::size_t>(most));
      made.add(fmt::sprintf(form, static_cast<Printed<T>>(value)));
    }
  }
  return made.finish(shape);
}
Tensor padded_texts(const Tensor& input, const AsStringOptions& options) {
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(options.width, 0));
  return each_string(
      input, "AsString", [&](const std::string& text) { return std::max(text.size(), width); },
      [&](const std::string& text, std::size_t nbytes) {
        const std::string space(nbytes - text.size(), ' ');
        return options.fill == "-" ? text + space : space + text;
      });
}

}  // namespace

Tensor to_number(const Tensor& input, DType out_type) {
  switch (out_type) {
    case DType::kFloat32:
      return numbers_of<float>(input);
    case DType::kFloat64:
      return numbers_of<double>(input);
    case DType::kInt32:
      return numbers_of<std::int32_t>(input);
    case DType::kInt64:
      return numbers_of<std::int64_t>(input);
    default:
      throw InvalidArgumentError(
          fmt::format("Value for attr 'out_type' of {} is not in the list of allowed values: "
                      "float, double, int32, int64 [Op:StringToNumber]",
                      dtype_word(out_type)));
  }
}

Tensor as_string(const Tensor& input, const AsStringOptions& options) {
  data::check_has_value(input, "AsString");
  check(input, options);
  if (input.dtype() == DType::kString) return padded_texts(input, options);
  return data::visit_values(input, "AsString", [&]<class Values>(const Values& values) -> Tensor {
    if constexpr (std::is_same_v<Values, std::span<const std::string>>) {
      return input;
    } else {
      return texts_of(values, options, input.shape());
    }
  });
}

}  // namespace plimsoll::strings
