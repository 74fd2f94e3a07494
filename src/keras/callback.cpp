#include "plimsoll/keras/callback.h"

#include <algorithm>

#include "plimsoll/error.h"

namespace plimsoll::keras {
namespace {

template <class Rows>
[[noreturn]] void no_such_name(std::string_view name, const Rows& rows) {
  std::string names;
  for (const auto& row : rows) names += (names.empty() ? "" : ", ") + row.first;
  throw NotFoundError("no log is called '" + std::string(name) + "'; there are: " + names);
}

}  // namespace

const double* Logs::find(std::string_view name) const noexcept {
  for (const auto& row : *this) {
    if (row.first == name) return &row.second;
  }
  return nullptr;
}
double Logs::at(std::string_view name) const {
  const double* found = find(name);
  if (!found) no_such_name(name, *this);
  return *found;
}
void Logs::set(std::string_view name, double value) {
  for (auto& row : *this) {
    if (row.first == name) {
      row.second = value;
      return;
    }
  }
  emplace_back(std::string(name), value);
}

void History::on_train_begin(const Logs&) {
  epoch.clear();
  history.clear();
}
void History::on_epoch_end(std::int64_t number, Logs& logs) {
  epoch.push_back(number);
  for (const auto& [name, value] : logs) {
    auto row = std::ranges::find_if(history, [&](const auto& r) { return r.first == name; });
    if (row == history.end()) row = history.emplace(row, name, std::vector<double>());
    row->second.push_back(value);
  }
}
const std::vector<double>& History::at(std::string_view name) const {
  for (const auto& row : history) {
    if (row.first == name) return row.second;
  }
  no_such_name(name, history);
}

}  // namespace plimsoll::keras
