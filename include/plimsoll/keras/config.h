// Configurations: a struct with one `visit`, from which come get_config, from_config, file loading
// and the keywords of the Python front.
//
//   struct Config {
//     std::int64_t units = 0;
//     bool use_bias = true;
//     void visit(ConfigVisitor& v) {
//       v("units", units);
//       v("use_bias", use_bias);
//     }
//   };
//
// The order of the calls is the order in get_config, which is Keras's. A type of its own takes part
// by to_config(value) and from_config(json, value) beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/dtype.h"
#include "plimsoll/json.h"

namespace plimsoll::keras {

inline Json to_config(const Json& value) {
  return value;
}
inline void from_config(const Json& json, Json& value) {
  value = json;
}
inline Json to_config(bool value) {
  return value;
}
inline Json to_config(std::int64_t value) {
  return value;
}
inline Json to_config(double value) {
  return value;
}
inline Json to_config(const std::string& value) {
  return value;
}
// throws: InvalidArgumentError for a value of another kind, all of them.
void from_config(const Json& json, bool& value);
void from_config(const Json& json, std::int64_t& value);
void from_config(const Json& json, double& value);
void from_config(const Json& json, std::string& value);
inline Json to_config(DType value) {
  return Json(dtype_name(value));
}
inline void from_config(const Json& json, DType& value) {
  value = parse_dtype(json.as_string());
}
template <class T>
Json to_config(const std::vector<T>& values);
template <class T>
void from_config(const Json& json, std::vector<T>& values);
template <class T>
Json to_config(const std::optional<T>& value) {
  return value ? to_config(*value) : Json();
}
template <class T>
void from_config(const Json& json, std::optional<T>& value) {
  if (json.is_null()) {
    value.reset();
    return;
  }
  T read{};
  from_config(json, read);
  value = std::move(read);
}
template <class T>
Json to_config(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(to_config(value));
  return list;
}
template <class T>
void from_config(const Json& json, std::vector<T>& values) {
  values.clear();
  if (json.is_null()) return;
  for (const Json& item : json.as_array()) {
    T value{};
    from_config(item, value);
    values.push_back(std::move(value));
  }
}

// One number for all directions or one for each: windows, strides, paddings. A layer makes them as
// many as it has directions when it is made, as Keras does.
class Sizes {
 public:
  Sizes() noexcept = default;  // none
  Sizes(int all) : values_{all} {}
  Sizes(std::int64_t all) : values_{all} {}
  Sizes(std::initializer_list<std::int64_t> values) : values_(values), is_list_(true) {}
  Sizes(std::vector<std::int64_t> values) : values_(std::move(values)), is_list_(true) {}

  bool is_none() const noexcept { return values_.empty() && !is_list_; }
  const std::vector<std::int64_t>& values() const noexcept { return values_; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  // `num` numbers. throws: InvalidArgumentError that names `what` unless there are one or `num` of
  // them, none below `min`.
  Sizes repeated(std::size_t num, std::string_view what, std::int64_t min = 1) const;

  friend Json to_config(const Sizes& sizes);
  friend void from_config(const Json& json, Sizes& sizes);

 private:
  std::vector<std::int64_t> values_;
  bool is_list_ = false;
};

// A number that is written as it was given: 1000 or 1000.0.
class Number {
 public:
  Number(int value) noexcept : value_(value), is_whole_(true) {}
  Number(std::int64_t value) noexcept : value_(static_cast<double>(value)), is_whole_(true) {}
  Number(double value = 0) noexcept : value_(value) {}
  operator double() const noexcept { return value_; }

  friend Json to_config(const Number& number);
  friend void from_config(const Json& json, Number& number);

 private:
  double value_ = 0;
  bool is_whole_ = false;
};

// While it lives, on this thread: a visitor that is to read a `what` notes the members it is asked
// for, with the values that they have by then, and `finish` throws Done.
class ConfigListing {
 public:
  struct Done {};
  ConfigListing(std::string what, Json& members) noexcept;
  ~ConfigListing();
  ConfigListing(const ConfigListing&) = delete;
  ConfigListing& operator=(const ConfigListing&) = delete;
  // Where to note the members; null: nobody lists a `what`.
  static Json* find(std::string_view what) noexcept;

 private:
  const std::string what_;
  Json& members_;
  const ConfigListing* outer_;
};

class ConfigVisitor {
 public:
  // Writes into `to`.
  explicit ConfigVisitor(Json& to) noexcept : to_(&to) {}
  // Reads from `from`; `what` is named in errors. What is not there keeps its value.
  ConfigVisitor(const Json& from, std::string what);

  bool is_reading() const noexcept { return from_ != nullptr; }
  template <class T>
  void operator()(std::string_view name, T& value) {
    if (to_) {
      (*to_)[name] = to_config(value);
    } else if (listing_) {
      (*listing_)[name] = to_config(value);
    } else if (const Json* found = take(name)) {
      try {
        from_config(*found, value);
      } catch (const std::exception& e) {
        wrong_value(name, e.what());
      }
    }
  }
  // A member that is written only where it differs from what it is by default.
  template <class T>
  void optional(std::string_view name, T& value, const T& by_default) {
    if (to_ && to_config(value) == to_config(by_default)) return;
    (*this)(name, value);
  }
  // A member that Keras writes and that has one value here. throws: InvalidArgumentError if another
  // one is read.
  void constant(std::string_view name, const Json& value);
  // A member that others visit where it is set, and that Keras writes as null where it is not.
  void null_unless_there(std::string_view name) {
    if (to_ && !to_->find(name)) (*to_)[name] = Json();
    ignore(name);
  }
  // Reads and drops a member that has no meaning here.
  void ignore(std::string_view name) {
    if (from_) take(name);
  }
  // After reading. throws: InvalidArgumentError for members that nobody asked for.
  void finish() const;

 private:
  const Json* take(std::string_view name);
  [[noreturn]] void wrong_value(std::string_view name, const char* why) const;

  Json* to_ = nullptr;
  const Json* from_ = nullptr;
  Json* listing_ = nullptr;  // members are noted there, not read
  std::string what_;
  std::vector<std::string> taken_;
};

}  // namespace plimsoll::keras
