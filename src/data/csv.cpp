// Tables of text.
#include <charconv>

#include "base/check.h"
#include "plimsoll/data/io.h"
#include "plimsoll/interop.h"
#include "plimsoll/ops.h"

namespace plimsoll::io {
namespace {

struct Field {
  std::string text;
  bool is_quoted = false;
};

// The fields of a line, as RFC 4180 has them.
std::vector<Field> split(const std::string& line, const CsvOptions& options) {
  std::vector<Field> fields;
  std::size_t at = 0;
  while (true) {
    Field field;
    if (options.use_quote_delim && at < line.size() && line[at] == '"') {
      field.is_quoted = true;
      for (++at;; ++at) {
        PLIMSOLL_CHECK(at < line.size(), InvalidArgumentError,
                       "Quoted field has to end with quote followed by delim or end: {}", line);
        if (line[at] == '"') {
          if (at + 1 < line.size() && line[at + 1] == '"') {
            ++at;
          } else {
            ++at;
            break;
          }
        }
        field.text += line[at];
      }
      PLIMSOLL_CHECK(at == line.size() || line[at] == options.field_delim || line[at] == '\n' ||
                         line[at] == '\r',
                     InvalidArgumentError,
                     "Quoted field has to end with quote followed by delim or end: {}", line);
    } else {
      while (at < line.size() && line[at] != options.field_delim && line[at] != '\n' &&
             line[at] != '\r') {
        PLIMSOLL_CHECK(!options.use_quote_delim || line[at] != '"', InvalidArgumentError,
                       "Unquoted fields cannot have quotes/CRLFs inside: {}", line);
        field.text += line[at++];
      }
    }
    fields.push_back(std::move(field));
    if (at >= line.size() || line[at] != options.field_delim) return fields;
    ++at;
  }
}

template <class T>
T parse(const std::string& text, std::size_t column, std::size_t record, DType dtype) {
  T value{};
  std::string_view digits = text;
  while (!digits.empty() && digits.front() == ' ') digits.remove_prefix(1);
  while (!digits.empty() && digits.back() == ' ') digits.remove_suffix(1);
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  PLIMSOLL_CHECK(code == std::errc() && end == digits.data() + digits.size() && !digits.empty(),
                 InvalidArgumentError, "Field {} in record {} is not a valid {}: {}", column,
                 record, dtype_name(dtype), text);
  return value;
}

template <class T>
Tensor column_of(const std::vector<std::vector<Field>>& rows, std::size_t column, std::size_t field,
                 const Tensor& fallback, const CsvOptions& options, const Shape& shape) {
  std::vector<T> values;
  const std::vector<T> given = fallback.to_vector<T>();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Field& found = rows[r][field];
    const bool is_missing =
        !found.is_quoted && (found.text.empty() || found.text == options.na_value);
    if (is_missing || (found.text.empty() && !std::is_same_v<T, std::string>)) {
      PLIMSOLL_CHECK(!given.empty(), InvalidArgumentError,
                     "Field {} is required but missing in record {}!", column, r);
      values.push_back(given[0]);
    } else if constexpr (std::is_same_v<T, std::string>) {
      values.push_back(found.text);
    } else {
      values.push_back(parse<T>(found.text, column, r, fallback.dtype()));
    }
  }
  if constexpr (std::is_same_v<T, std::string>) {
    return constant(std::span<const std::string>(values), shape);
  } else {
    return interop::copy_from_host(fallback.dtype(), shape, values.data());
  }
}

}  // namespace

std::vector<Tensor> decode_csv(const Tensor& records, const std::vector<Tensor>& defaults,
                               const CsvOptions& options) {
  PLIMSOLL_CHECK(records.dtype() == DType::kString, InvalidArgumentError,
                 "decode_csv takes strings; received {}", dtype_name(records.dtype()));
  PLIMSOLL_CHECK(options.select_cols.empty() || options.select_cols.size() == defaults.size(),
                 InvalidArgumentError,
                 "The length of select_cols ({}) and of record_defaults ({}) do not match",
                 options.select_cols.size(), defaults.size());
  std::vector<std::vector<Field>> rows;
  for (const std::string& line : records.to_vector<std::string>()) {
    rows.push_back(split(line, options));
    const std::size_t found = rows.back().size();
    for (const std::int64_t wanted : options.select_cols)
      PLIMSOLL_CHECK(wanted >= 0 && static_cast<std::size_t>(wanted) < found, InvalidArgumentError,
                     "Column {} was asked for, and record {} has {} fields", wanted,
                     rows.size() - 1, found);
    PLIMSOLL_CHECK(!options.select_cols.empty() || found == defaults.size(), InvalidArgumentError,
                   "Expect {} fields but have {} in record {}", defaults.size(), found,
                   rows.size() - 1);
  }
  std::vector<Tensor> columns;
  for (std::size_t i = 0; i < defaults.size(); ++i) {
    const std::size_t field =
        options.select_cols.empty() ? i : static_cast<std::size_t>(options.select_cols[i]);
    const auto make = [&]<class T>(T) {
      return column_of<T>(rows, i, field, defaults[i], options, records.shape());
    };
    switch (defaults[i].dtype()) {
      case DType::kFloat32:
        columns.push_back(make(float{}));
        break;
      case DType::kFloat64:
        columns.push_back(make(double{}));
        break;
      case DType::kInt32:
        columns.push_back(make(std::int32_t{}));
        break;
      case DType::kInt64:
        columns.push_back(make(std::int64_t{}));
        break;
      case DType::kString:
        columns.push_back(make(std::string()));
        break;
      default:
        throw InvalidArgumentError(
            fmt::format("decode_csv makes float32, float64, int32, int64 and string, not {}",
                        dtype_name(defaults[i].dtype())));
    }
  }
  return columns;
}

}  // namespace plimsoll::io
