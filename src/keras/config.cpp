#include "plimsoll/keras/config.h"

#include <algorithm>

#include "base/check.h"

namespace plimsoll::keras {

void from_config(const Json& json, bool& value) {
  value = json.as_bool();
}
void from_config(const Json& json, std::int64_t& value) {
  value = json.as_int();
}
void from_config(const Json& json, double& value) {
  value = json.as_double();
}
void from_config(const Json& json, std::string& value) {
  value = json.as_string();
}

Sizes Sizes::repeated(std::size_t num, std::string_view what, std::int64_t min) const {
  std::vector<std::int64_t> made = values_;
  if (!is_list_ && made.size() == 1) made.resize(num, made[0]);
  const bool is_right =
      made.size() == num && std::ranges::all_of(made, [&](std::int64_t v) { return v >= min; });
  PLIMSOLL_CHECK(is_right, InvalidArgumentError,
                 "The `{}` argument must be a tuple of {} integers{}. Received: {}={}", what, num,
                 min > 0 ? " greater than 0" : "", what, to_config(*this).dump());
  return Sizes(std::move(made));
}

Json to_config(const Number& number) {
  return number.is_whole_ ? Json(static_cast<std::int64_t>(number.value_)) : Json(number.value_);
}
void from_config(const Json& json, Number& number) {
  number = json.is_int() ? Number(json.as_int()) : Number(json.as_double());
}

Json to_config(const Sizes& sizes) {
  if (sizes.is_none()) return Json();
  if (!sizes.is_list_) return sizes.values_[0];
  return Json(sizes.values_);
}
void from_config(const Json& json, Sizes& sizes) {
  if (json.is_null()) {
    sizes = Sizes();
  } else if (json.is_array()) {
    std::vector<std::int64_t> values;
    from_config(json, values);
    sizes = Sizes(std::move(values));
  } else {
    sizes = Sizes(json.as_int());
  }
}

namespace {
constinit thread_local const ConfigListing* listing = nullptr;
}  // namespace

ConfigListing::ConfigListing(std::string what, Json& members) noexcept
    : what_(std::move(what)), members_(members), outer_(listing) {
  listing = this;
}
ConfigListing::~ConfigListing() {
  listing = outer_;
}
Json* ConfigListing::find(std::string_view what) noexcept {
  return listing && listing->what_ == what ? &listing->members_ : nullptr;
}

ConfigVisitor::ConfigVisitor(const Json& from, std::string what)
    : from_(&from), listing_(ConfigListing::find(what)), what_(std::move(what)) {}

const Json* ConfigVisitor::take(std::string_view name) {
  taken_.emplace_back(name);
  return from_->find(name);
}

void ConfigVisitor::constant(std::string_view name, const Json& value) {
  if (to_) {
    (*to_)[name] = value;
    return;
  }
  if (listing_) (*listing_)[name] = value;
  const Json* found = take(name);
  PLIMSOLL_CHECK(!found || found->is_null() || *found == value, UnimplementedError,
                 "{}: {}={} is not supported, {} is", what_, name, found->dump(), value.dump());
}

void ConfigVisitor::wrong_value(std::string_view name, const char* why) const {
  throw InvalidArgumentError(fmt::format("{}: {}: {}", what_, name, why));
}

void ConfigVisitor::finish() const {
  if (listing_) throw ConfigListing::Done();
  if (!from_ || !from_->is_object()) return;
  for (const auto& [name, value] : from_->as_object()) {
    if (value.is_null()) continue;  // other versions have members that say nothing
    PLIMSOLL_CHECK(std::ranges::find(taken_, name) != taken_.end(), InvalidArgumentError,
                   "Unrecognized keyword arguments passed to {}: {{'{}': {}}}", what_, name,
                   value.dump().substr(0, 200));
  }
}

}  // namespace plimsoll::keras
