// Problems and plans as text, in the columns MiniMalloc uses.
#include <charconv>
#include <unordered_set>

#include "base/check.h"
#include "plimsoll/planner.h"

namespace plimsoll::planner {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

int64_t parse_int(std::string_view text, int line, std::string_view what) {
  text = trim(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  PLIMSOLL_CHECK(error == std::errc{} && end == text.data() + text.size(), InvalidArgumentError,
                 "CSV line {}: {} must be a 64-bit integer, received '{}'", line, what, text);
  return value;
}

// `end` columns hold the last step itself; ours are half-open.
int64_t add_one(int64_t value, int line) {
  PLIMSOLL_CHECK(value < kUnlimited, InvalidArgumentError, "CSV line {}: end {} is too large", line,
                 value);
  return value + 1;
}

// Where each column stands; -1 where it is absent.
struct Columns {
  int id = -1, lower = -1, upper = -1, size = -1, alignment = -1, gaps = -1, offset = -1, hint = -1;
  bool inclusive = false;  // the upper column is called `end`
  int count = 0;
};

Columns read_header(std::string_view line) {
  Columns columns;
  for (std::string_view field : split(line, ',')) {
    const std::string_view name = trim(field);
    int* column = nullptr;
    if (name == "id" || name == "buffer" || name == "buffer_id") column = &columns.id;
    if (name == "lower" || name == "start" || name == "begin") column = &columns.lower;
    if (name == "upper" || name == "end") column = &columns.upper;
    if (name == "size") column = &columns.size;
    if (name == "alignment") column = &columns.alignment;
    if (name == "gaps") column = &columns.gaps;
    if (name == "offset") column = &columns.offset;
    if (name == "hint") column = &columns.hint;
    if (name == "end") columns.inclusive = true;
    PLIMSOLL_CHECK(column != nullptr, InvalidArgumentError,
                   "CSV header: unknown column '{}'; known are id, lower, upper, size, alignment, "
                   "gaps, offset, hint",
                   name);
    PLIMSOLL_CHECK(*column < 0, InvalidArgumentError, "CSV header: column '{}' stands twice", name);
    *column = columns.count++;
  }
  PLIMSOLL_CHECK(columns.id >= 0 && columns.lower >= 0 && columns.upper >= 0 && columns.size >= 0,
                 InvalidArgumentError,
                 "CSV header must name id, lower, upper and size, received '{}'", line);
  return columns;
}

std::vector<Gap> read_gaps(std::string_view text, int line, bool inclusive) {
  std::vector<Gap> gaps;
  for (std::string_view part : split(trim(text), ' ')) {
    if (part.empty()) continue;
    PLIMSOLL_CHECK(part.find('@') == std::string_view::npos, InvalidArgumentError,
                   "CSV line {}: gap '{}' keeps a window; only whole gaps are supported", line,
                   part);
    const size_t dash = part.find('-', 1);  // the first may be a sign
    PLIMSOLL_CHECK(dash != std::string_view::npos, InvalidArgumentError,
                   "CSV line {}: a gap is written lower-upper, received '{}'", line, part);
    const int64_t lower = parse_int(part.substr(0, dash), line, "gap");
    const int64_t upper = parse_int(part.substr(dash + 1), line, "gap");
    gaps.push_back({lower, inclusive ? add_one(upper, line) : upper});
  }
  return gaps;
}

Buffer read_buffer(const std::vector<std::string_view>& fields, const Columns& columns, int line) {
  Buffer buffer;
  buffer.lower = parse_int(fields[columns.lower], line, "lower");
  buffer.upper = parse_int(fields[columns.upper], line, "upper");
  if (columns.inclusive) buffer.upper = add_one(buffer.upper, line);
  buffer.size = parse_int(fields[columns.size], line, "size");
  if (columns.alignment >= 0) {
    buffer.alignment = parse_int(fields[columns.alignment], line, "alignment");
  }
  if (columns.gaps >= 0) buffer.gaps = read_gaps(fields[columns.gaps], line, columns.inclusive);
  if (columns.offset >= 0 && !trim(fields[columns.offset]).empty()) {
    buffer.offset = parse_int(fields[columns.offset], line, "offset");
  }
  return buffer;
}

std::string join_gaps(const std::vector<Gap>& gaps) {
  std::string text;
  for (const Gap& gap : gaps) {
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", gap.lower, gap.upper);
  }
  return text;
}

}  // namespace

Problem read_csv(std::string_view text) {
  Problem problem;
  std::optional<Columns> columns;
  int line = 0;
  for (std::string_view raw : split(text, '\n')) {
    ++line;
    const std::string_view record = trim(raw);
    if (record.empty()) continue;
    if (!columns) {
      columns = read_header(record);
      continue;
    }
    const std::vector<std::string_view> fields = split(record, ',');
    PLIMSOLL_CHECK(static_cast<int>(fields.size()) == columns->count, InvalidArgumentError,
                   "CSV line {}: {} fields under {} columns: '{}'", line, fields.size(),
                   columns->count, record);
    problem.buffers.push_back(read_buffer(fields, *columns, line));
    problem.ids.emplace_back(trim(fields[columns->id]));
  }
  PLIMSOLL_CHECK(columns.has_value(), InvalidArgumentError, "CSV text has no header line");
  check(problem);
  return problem;
}

std::string write_csv(const Problem& problem, const Solution* solution) {
  const size_t count = problem.buffers.size();
  PLIMSOLL_CHECK(solution == nullptr || solution->offsets.size() == count, InvalidArgumentError,
                 "a solution of {} offsets for {} buffers", solution->offsets.size(), count);
  bool alignment = false;
  bool gaps = false;
  bool offset = solution != nullptr;
  for (const Buffer& buffer : problem.buffers) {
    alignment |= buffer.alignment != 1;
    gaps |= !buffer.gaps.empty();
    offset |= buffer.offset.has_value();
  }
  std::string text = "id,lower,upper,size";
  if (alignment) text += ",alignment";
  if (gaps) text += ",gaps";
  if (offset) text += ",offset";
  text += '\n';
  for (size_t i = 0; i < count; ++i) {
    const Buffer& buffer = problem.buffers[i];
    text += problem.ids.size() == count ? problem.ids[i] : std::to_string(i);
    text += fmt::format(",{},{},{}", buffer.lower, buffer.upper, buffer.size);
    if (alignment) text += fmt::format(",{}", buffer.alignment);
    if (gaps) text += "," + join_gaps(buffer.gaps);
    if (solution != nullptr) {
      text += fmt::format(",{}", solution->offsets[i]);
    } else if (offset) {
      text += buffer.offset ? fmt::format(",{}", *buffer.offset) : ",";
    }
    text += '\n';
  }
  return text;
}

}  // namespace plimsoll::planner
