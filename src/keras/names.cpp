#include "keras/names.h"

#include <cctype>
#include <cmath>
#include <mutex>
#include <unordered_map>

#include "plimsoll/json.h"

namespace plimsoll::keras {
namespace {

struct Counts {
  std::mutex mutex;
  std::unordered_map<std::string, int> used;  // by base: how many
};
Counts& counts() {
  static Counts all;
  return all;
}

bool is_upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
bool is_lower(char c) {
  return std::islower(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

std::string to_snake_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') continue;
    const bool begins_word = is_upper(c) && i > 0 && i + 1 < name.size() && is_lower(name[i + 1]);
    const bool follows_lower = is_upper(c) && i > 0 && is_lower(name[i - 1]);
    if ((begins_word || follows_lower) && !out.empty()) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string unique_name(std::string_view base) {
  Counts& all = counts();
  std::scoped_lock lock(all.mutex);
  const int n = all.used[std::string(base)]++;
  return n == 0 ? std::string(base) : std::string(base) + "_" + std::to_string(n);
}

void forget_names() noexcept {
  Counts& all = counts();
  std::scoped_lock lock(all.mutex);
  all.used.clear();
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return Json(value).dump();
}

}  // namespace plimsoll::keras
