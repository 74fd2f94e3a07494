#include "plimsoll/json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"

namespace plimsoll {

void Json::wrong_kind(const char* expected) const {
  std::string text = dump();
  constexpr std::size_t kShown = 200;
  if (text.size() > kShown) text = text.substr(0, kShown) + "...";
  throw InvalidArgumentError(fmt::format("expected {}, received {}", expected, text));
}

bool Json::as_bool() const {
  if (!is_bool()) wrong_kind("true or false");
  return std::get<bool>(value_);
}
std::int64_t Json::as_int() const {
  if (is_double()) {
    const double value = std::get<double>(value_);
    if (std::floor(value) == value && std::abs(value) < 0x1p62)
      return static_cast<std::int64_t>(value);
  }
  if (!is_int()) wrong_kind("an integer");
  return std::get<std::int64_t>(value_);
}
double Json::as_double() const {
  if (is_int()) return static_cast<double>(std::get<std::int64_t>(value_));
  if (!is_double()) wrong_kind("a number");
  return std::get<double>(value_);
}
const std::string& Json::as_string() const {
  if (!is_string()) wrong_kind("a string");
  return std::get<std::string>(value_);
}
const Json::Array& Json::as_array() const {
  if (!is_array()) wrong_kind("a list");
  return std::get<Array>(value_);
}
Json::Array& Json::as_array() {
  if (!is_array()) wrong_kind("a list");
  return std::get<Array>(value_);
}
const Json::Object& Json::as_object() const {
  if (!is_object()) wrong_kind("a dictionary");
  return std::get<Object>(value_);
}
Json::Object& Json::as_object() {
  if (!is_object()) wrong_kind("a dictionary");
  return std::get<Object>(value_);
}

const Json* Json::find(std::string_view key) const noexcept {
  if (!is_object()) return nullptr;
  for (const Member& member : std::get<Object>(value_)) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}
const Json& Json::at(std::string_view key) const {
  const Json* found = find(key);
  if (found) return *found;
  std::string text = dump().substr(0, 200);
  throw NotFoundError(fmt::format("no member '{}' in {}", key, text));
}
Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  for (Member& member : as_object()) {
    if (member.first == key) return member.second;
  }
  return as_object().emplace_back(std::string(key), Json()).second;
}
void Json::erase(std::string_view key) {
  std::erase_if(as_object(), [&](const Member& member) { return member.first == key; });
}
void Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  as_array().push_back(std::move(value));
}

namespace {

void write_string(std::string& to, std::string_view text) {
  to += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      to += '\\';
      to += c;
    } else if (c == '\n') {
      to += "\\n";
    } else if (c == '\r') {
      to += "\\r";
    } else if (c == '\t') {
      to += "\\t";
    } else if (byte < 0x20) {
      to += fmt::format("\\u{:04x}", byte);
    } else {
      to += c;
    }
  }
  to += '"';
}

// As Python's repr: the shortest digits that give the number again, with a point or an exponent.
void write_double(std::string& to, double value) {
  if (std::isnan(value)) {
    to += "NaN";
  } else if (std::isinf(value)) {
    to += value < 0 ? "-Infinity" : "Infinity";
  } else {
    const std::string digits = fmt::format("{}", value);
    to += digits;
    if (digits.find_first_of(".e") == std::string::npos) to += ".0";
  }
}

class Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Json& json, int depth) {
    if (json.is_null()) {
      text += "null";
    } else if (json.is_bool()) {
      text += json.as_bool() ? "true" : "false";
    } else if (json.is_int()) {
      text += std::to_string(json.as_int());
    } else if (json.is_double()) {
      write_double(text, json.as_double());
    } else if (json.is_string()) {
      write_string(text, json.as_string());
    } else if (json.is_array()) {
      write_all('[', ']', json.as_array(), depth,
                [&](const Json& item) { write(item, depth + 1); });
    } else {
      write_all('{', '}', json.as_object(), depth, [&](const Json::Member& member) {
        write_string(text, member.first);
        text += ": ";
        write(member.second, depth + 1);
      });
    }
  }

  std::string text;

 private:
  template <class List, class F>
  void write_all(char open, char close, const List& list, int depth, F write_item) {
    text += open;
    bool is_first = true;
    for (const auto& item : list) {
      if (!is_first) text += indent_ < 0 ? ", " : ",";
      is_first = false;
      new_line(depth + 1);
      write_item(item);
    }
    if (!list.empty()) new_line(depth);
    text += close;
  }
  void new_line(int depth) {
    if (indent_ < 0) return;
    text += '\n';
    text.append(static_cast<std::size_t>(indent_ * depth), ' ');
  }

  const int indent_;
};

// Builds our values out of nlohmann's events, so that depth is bounded before anything nests.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(int max_depth) : max_depth_(max_depth) {}

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(Json(value)); }
  bool number_integer(number_integer_t value) override { return add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(INT64_MAX))
      return add(Json(static_cast<double>(value)));
    return add(Json(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t&) override { return add(Json(value)); }
  bool string(string_t& value) override { return add(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(string_t& name) override {
    keys_.back() = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& e) override {
    error = fmt::format("not JSON at byte {}: {}", position, e.what());
    return false;
  }

  Json result;
  std::string error;

 private:
  bool open(Json json) {
    if (static_cast<int>(open_.size()) >= max_depth_) {
      error = fmt::format("JSON is nested deeper than {} levels", max_depth_);
      return false;
    }
    open_.push_back(std::move(json));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    Json done = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(done));
  }
  bool add(Json json) {
    if (open_.empty()) {
      result = std::move(json);
    } else if (open_.back().is_array()) {
      open_.back().as_array().push_back(std::move(json));
    } else {
      open_.back().as_object().emplace_back(std::move(keys_.back()), std::move(json));
    }
    return true;
  }

  const int max_depth_;
  std::vector<Json> open_;
  std::vector<std::string> keys_;
};

// Python writes what JSON has no word for; readers of its files have to know it.
std::string without_python_words(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += c;
      out += text[++i];
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (!in_string && text.substr(i, 3) == "NaN") {
      out += "null";
      i += 2;
    } else if (!in_string && text.substr(i, 8) == "Infinity") {
      out += "1e999";
      i += 7;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.write(*this, 0);
  return std::move(writer.text);
}

Json Json::parse(std::string_view text, int max_depth) {
  Builder builder(max_depth);
  if (!nlohmann::json::sax_parse(text, &builder)) {
    const bool has_words = text.find("NaN") != text.npos || text.find("Infinity") != text.npos;
    if (has_words) {
      const std::string plain = without_python_words(text);
      Builder again(max_depth);
      if (nlohmann::json::sax_parse(plain, &again)) return std::move(again.result);
    }
    throw InvalidArgumentError(builder.error.empty() ? "not JSON" : builder.error);
  }
  return std::move(builder.result);
}

}  // namespace plimsoll
