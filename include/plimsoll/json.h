// JSON as a value: the configurations of models, layers and optimizers.
//
//   Json config = Json::object({{"units", 10}, {"activation", "relu"}});
//   config["use_bias"] = true;
//   config.at("units").as_int();   // 10
//   config.dump();                 // {"units": 10, "activation": "relu", "use_bias": true}
//
// Members keep their order. Integers and floating numbers are told apart, as Python does.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace plimsoll {

class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() noexcept = default;  // null
  Json(std::nullptr_t) noexcept {}
  Json(bool value) noexcept : value_(value) {}
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Json(T value)
  noexcept : value_(static_cast<std::int64_t>(value)) {}
  Json(double value) noexcept : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string value) noexcept : value_(std::move(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(Array value) noexcept : value_(std::move(value)) {}
  Json(Object value) noexcept : value_(std::move(value)) {}
  template <class T>
  requires(std::is_integral_v<T>) Json(const std::vector<T>& values)
      : value_(Array(values.begin(), values.end())) {}

  static Json array(std::initializer_list<Json> values = {}) { return Json(Array(values)); }
  static Json object(std::initializer_list<Member> members = {}) { return Json(Object(members)); }

  bool is_null() const noexcept { return holds<std::monostate>(); }
  bool is_bool() const noexcept { return holds<bool>(); }
  bool is_int() const noexcept { return holds<std::int64_t>(); }
  bool is_double() const noexcept { return holds<double>(); }
  bool is_number() const noexcept { return is_int() || is_double(); }
  bool is_string() const noexcept { return holds<std::string>(); }
  bool is_array() const noexcept { return holds<Array>(); }
  bool is_object() const noexcept { return holds<Object>(); }

  // throws: InvalidArgumentError that shows what is there instead. A whole number may be read as
  // either kind of number.
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;
  const std::string& as_string() const;
  const Array& as_array() const;
  Array& as_array();
  const Object& as_object() const;
  Object& as_object();

  // A member, or null if there is none or this is no object.
  const Json* find(std::string_view key) const noexcept;
  // throws: NotFoundError.
  const Json& at(std::string_view key) const;
  // A member, made if it is not there; null becomes an object.
  Json& operator[](std::string_view key);
  void erase(std::string_view key);
  void push_back(Json value);  // null becomes an array

  // As Python's json.dumps writes it; with indent >= 0 over several lines.
  std::string dump(int indent = -1) const;
  // throws: InvalidArgumentError with the position, also for nesting deeper than max_depth.
  static Json parse(std::string_view text, int max_depth = 128);

  friend bool operator==(const Json&, const Json&) = default;

 private:
  template <class T>
  bool holds() const noexcept {
    return std::holds_alternative<T>(value_);
  }
  [[noreturn]] void wrong_kind(const char* expected) const;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

}  // namespace plimsoll
