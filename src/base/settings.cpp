#include "plimsoll/settings.h"

#include <pthread.h>

#include <fmt/format.h>
#include <unistd.h>  // environ

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/settings_table.h"
#include "plimsoll/bytes.h"

namespace plimsoll::settings {
namespace {

constexpr std::string_view kPrefix = "PLIMSOLL_";

struct Value {
  std::string text;         // empty: not set
  std::int64_t number = 0;  // kBytes, kInt, kBool
  Origin origin{OriginKind::kDefault, "default"};
};

struct State {
  std::optional<Value> from_call;
  std::optional<Value> from_outside;  // environment or default; none: not read yet
  bool in_use = false;
};

// Never destroyed: threads may still log while the process ends.
struct Store {
  std::mutex mutex;  // held across fork(), so that the child finds it free
  std::vector<State> states = std::vector<State>(table().size());
  std::atomic<std::uint64_t> generation{1};
};

Store& store() {
  static Store& instance = *[] {
    static Store* made = new Store;
    pthread_atfork([] { made->mutex.lock(); }, [] { made->mutex.unlock(); },
                   [] { made->mutex.unlock(); });
    return made;
  }();
  return instance;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    parts.emplace_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view nearest_setting(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Row& row : table()) names.push_back(row.name);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return nearest(lower(name), names);
}

std::size_t index_of(std::string_view name) {
  const auto rows = table();
  const auto found = std::ranges::find(rows, name, &Row::name);
  if (found != rows.end()) return static_cast<std::size_t>(found - rows.begin());
  const std::string_view meant = nearest_setting(name);
  throw NotFoundError(
      meant.empty() ? fmt::format("no setting is called '{}'; docs/settings.md lists them", name)
                    : fmt::format("no setting is called '{}'; did you mean '{}'?", name, meant));
}

bool is_number(Type type) {
  return type == Type::kBytes || type == Type::kInt || type == Type::kBool;
}

std::int64_t parse_whole(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  PLIMSOLL_CHECK(error != std::errc::result_out_of_range, InvalidArgumentError,
                 "'{}' is out of range", text);
  PLIMSOLL_CHECK(error == std::errc{} && stop == end, InvalidArgumentError,
                 "not a whole number: '{}'", text);
  return number;
}

bool parse_bool(std::string_view text) {
  const std::string word = lower(text);
  for (const char* yes : {"on", "1", "true", "yes"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"off", "0", "false", "no"}) {
    if (word == no) return false;
  }
  throw InvalidArgumentError(
      fmt::format("neither on nor off: '{}'; on, 1, true, yes, off, 0, false and no are", text));
}

std::int64_t parse_number(const Row& row, std::string_view text, std::int64_t unit) {
  if (row.type == Type::kBool) return parse_bool(text);
  std::int64_t number = row.type == Type::kBytes && unit == 1
                            ? static_cast<std::int64_t>(parse_bytes(text))
                            : parse_whole(text);
  const std::int64_t min = unit == 1 ? row.min : (row.min + unit - 1) / unit;
  const std::int64_t max = row.max / unit;
  PLIMSOLL_CHECK(number >= min && number <= max, InvalidArgumentError,
                 "'{}' is out of range: at least {}, at most {}{}", text, min, max,
                 row.default_text.empty() ? "; leave it out for no limit" : "");
  return number * unit;
}

Value parse_value(const Row& row, std::string_view text, std::int64_t unit) {
  Value value{.text = std::string(text)};
  switch (row.type) {
    case Type::kBytes:
    case Type::kInt:
    case Type::kBool:
      value.number = parse_number(row, text, unit);
      break;
    case Type::kChoice: {
      const auto choices = split(row.choices, ' ');
      value.text = lower(text);
      PLIMSOLL_CHECK(std::ranges::find(choices, value.text) != choices.end(), InvalidArgumentError,
                     "'{}' is none of {}", text, fmt::join(choices, ", "));
      break;
    }
    case Type::kList:
      for (const std::string& part : split(text, ',')) {
        PLIMSOLL_CHECK(!part.empty(), InvalidArgumentError, "an empty name in the list '{}'", text);
      }
      break;
    case Type::kString:
      PLIMSOLL_CHECK(!text.empty(), InvalidArgumentError, "it is empty");
      break;
  }
  return value;
}

// Reads `text`, in units of `unit` bytes; a complaint begins with where it comes from.
Value parse(const Row& row, std::string_view text, Origin origin, std::int64_t unit = 1) {
  try {
    Value value = parse_value(row, text, unit);
    value.origin = std::move(origin);
    return value;
  } catch (const InvalidArgumentError& e) {
    throw InvalidArgumentError(fmt::format("{}: {}", origin.text, e.what()));
  }
}

// The variable's value; an empty one counts as not there.
const char* variable(std::string_view name) {
  const char* text = std::getenv(std::string(name).c_str());
  return text && *text ? text : nullptr;
}

Value read_outside(const Row& row) {
  if (const char* text = variable(row.variable)) {
    return parse(row, text, {OriginKind::kEnvironment, std::string(row.variable)});
  }
  for (const TensorFlowVariable& tf : row.tensorflow) {
    if (tf.name.empty()) continue;
    if (const char* text = variable(tf.name)) {
      return parse(row, text, {OriginKind::kEnvironment, std::string(tf.name)}, tf.unit);
    }
  }
  const Origin origin{OriginKind::kDefault, "default"};
  return row.default_text.empty() ? Value{} : parse(row, row.default_text, origin);
}

// The value that counts. pre: the store is locked.
const Value& current(Store& s, std::size_t index) {
  State& state = s.states[index];
  if (state.from_call) return *state.from_call;
  if (!state.from_outside) state.from_outside = read_outside(table()[index]);
  return *state.from_outside;
}

Value get(std::string_view name, std::initializer_list<Type> types) {
  const std::size_t index = index_of(name);
  const Type type = table()[index].type;
  PLIMSOLL_CHECK(std::ranges::find(types, type) != types.end(), InvalidArgumentError,
                 "setting '{}' is of type {}, not {}", name, type_name(type),
                 type_name(*types.begin()));
  Store& s = store();
  const std::scoped_lock lock(s.mutex);
  return current(s, index);
}

// 1GiB and 1024MiB are the same.
bool same(const Row& row, const Value& a, const Value& b) {
  if (!is_number(row.type)) return a.text == b.text;
  return a.number == b.number && a.text.empty() == b.text.empty();
}

// Throws if a fixed setting in use would change from what it is to `next`.
void check_change(Store& s, std::size_t index, const Value& next) {
  const Row& row = table()[index];
  if (!row.fixed || !s.states[index].in_use) return;
  const Value& now = current(s, index);
  PLIMSOLL_CHECK(same(row, now, next), FailedPreconditionError,
                 "setting '{}' cannot be changed after it came into use; it is {} ({}), asked "
                 "for: {}",
                 row.name, now.text.empty() ? "not set" : now.text, now.origin.text,
                 next.text.empty() ? "not set" : next.text);
}

}  // namespace

void set(std::string_view name, std::string_view text) {
  const std::size_t index = index_of(name);
  Value value =
      parse(table()[index], text, {OriginKind::kCall, fmt::format("settings::set(\"{}\")", name)});
  Store& s = store();
  const std::scoped_lock lock(s.mutex);
  check_change(s, index, value);
  s.states[index].from_call = std::move(value);
  s.generation.fetch_add(1);
}

void unset(std::string_view name) {
  const std::size_t index = index_of(name);
  Store& s = store();
  const std::scoped_lock lock(s.mutex);
  State& state = s.states[index];
  if (!state.from_call) return;
  if (!state.from_outside) state.from_outside = read_outside(table()[index]);
  check_change(s, index, *state.from_outside);
  state.from_call.reset();
  s.generation.fetch_add(1);
}

std::optional<std::uint64_t> get_bytes(std::string_view name) {
  const Value value = get(name, {Type::kBytes});
  if (value.text.empty()) return std::nullopt;
  return static_cast<std::uint64_t>(value.number);
}

std::int64_t get_int(std::string_view name) {
  return get(name, {Type::kInt}).number;
}

bool get_bool(std::string_view name) {
  return get(name, {Type::kBool}).number != 0;
}

std::string get_string(std::string_view name) {
  return get(name, {Type::kString, Type::kChoice}).text;
}

std::vector<std::string> get_list(std::string_view name) {
  const std::string text = get(name, {Type::kList}).text;
  return text.empty() ? std::vector<std::string>{} : split(text, ',');
}

Origin origin(std::string_view name) {
  const std::size_t index = index_of(name);
  Store& s = store();
  const std::scoped_lock lock(s.mutex);
  return current(s, index).origin;
}

void freeze(std::string_view name) {
  const std::size_t index = index_of(name);
  Store& s = store();
  const std::scoped_lock lock(s.mutex);
  current(s, index);  // what is in use has been read
  s.states[index].in_use = true;
}

void freeze() {
  for (const Row& row : table()) freeze(row.name);
}

std::uint64_t generation() noexcept {
  return store().generation.load(std::memory_order_relaxed);
}

void reset_for_tests() {
  Store& s = store();
  const std::scoped_lock lock(s.mutex);
  s.states.assign(table().size(), State{});
  s.generation.fetch_add(1);
}

std::vector<std::string> environment_notes() {
  std::vector<std::string> notes;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix)) continue;
    if (std::ranges::find(table(), name, &Row::variable) != table().end()) continue;
    const std::string_view meant = nearest_setting(name);
    std::string note = fmt::format("{} is set, but no setting is called that", name);
    if (!meant.empty()) {
      const auto row = std::ranges::find(table(), meant, &Row::name);
      note += fmt::format("; did you mean {}?", row->variable);
    }
    notes.push_back(std::move(note));
  }
  std::ranges::sort(notes);
  for (const Row& row : table()) {
    std::string source;
    try {
      source = origin(row.name).text;
    } catch (const InvalidArgumentError& e) {  // whoever needs the value gets the error
      notes.emplace_back(e.what());
    }
    for (const TensorFlowVariable& tf : row.tensorflow) {
      if (!tf.replaced || tf.name.empty() || tf.name != source) continue;
      notes.push_back(fmt::format("{} is honoured; {} (or settings::set(\"{}\", ...)) replaces it",
                                  tf.name, row.variable, row.name));
    }
  }
  return notes;
}

void report_environment() {
  for (const std::string& note : environment_notes()) log_once(LogLevel::kWarning, note);
}

}  // namespace plimsoll::settings
