// The settings table, and what the runtime (not its users) does with settings.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::settings {

enum class Type { kBytes, kInt, kBool, kString, kChoice, kList };

std::string_view type_name(Type type) noexcept;

// A variable of TensorFlow that feeds a setting when neither a call nor our variable does.
struct TensorFlowVariable {
  std::string_view name;
  std::int64_t unit = 1;  // bytes for 1; 2^20 where TensorFlow counts in MB (its MB are MiB)
  bool replaced = true;   // say once which setting replaces it
};

struct Row {
  std::string_view name;
  std::string_view variable;  // PLIMSOLL_ + the name in capitals
  Type type;
  std::string_view default_text;  // as it would stand in the environment; empty: not set
  std::string_view choices;       // kChoice: "error warning info debug"
  std::int64_t min = 0;           // kInt, kBytes
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  bool fixed = true;                             // may not change once in use
  std::array<TensorFlowVariable, 3> tensorflow;  // first found wins; unnamed ones are no variables
  std::string_view doc;                          // one sentence or two, in Markdown
};

std::span<const Row> table() noexcept;

// From now on the setting is in use: a fixed one cannot be changed any more. Without a name: all.
void freeze(std::string_view name);
void freeze();

// What there is to say about the environment: PLIMSOLL_ variables that are no setting, TensorFlow
// variables in use that a setting of ours replaces, and values that cannot be read. One line each.
std::vector<std::string> environment_notes();

// Logs environment_notes() as warnings, each once per process.
void report_environment();

// Rises whenever set() or unset() changes something; for those who keep a value they have read.
std::uint64_t generation() noexcept;

// Forgets calls, what was read from the environment and what is in use.
void reset_for_tests();

}  // namespace plimsoll::settings
