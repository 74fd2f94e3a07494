// Prints docs/settings.md from the settings table.
//
//   print_settings > docs/settings.md
//   print_settings --check docs/settings.md     exit code 1 if the file is not what would be
//   printed
#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/settings_table.h"

namespace plimsoll {
namespace {

using settings::Row;
using settings::Type;

constexpr std::string_view kHead =
    R"(<!-- Printed from the settings table by print_settings; edit src/base/settings_table.cpp instead. -->
# Settings

A setting is set by a call, `settings::set("budget", "2GiB")`, or by its environment variable,
`PLIMSOLL_BUDGET=2GiB`. The call wins over our variable, and our variable over TensorFlow's. The
environment is read when a setting is first used, not when the library is loaded; an empty variable
counts as not set. A value that cannot be read is an `InvalidArgumentError` that names the variable;
a `PLIMSOLL_` variable that is not listed here does nothing.

Types: `bytes` reads `1073741824`, `512MiB`, `1.5 GiB`, `2GB`; `bool` reads on, 1, true, yes and off, 0,
false, no; a `list` is separated by commas. "Fixed" settings cannot change once the runtime uses them.

| setting | variable | type | default | fixed | what it does |
|---|---|---|---|---|---|
)";

constexpr std::string_view kTensorFlowHead = R"(
## TensorFlow's variables

They are honoured where neither a call nor our variable says otherwise. Those marked "replaced" are
better given as the setting. TensorFlow's MB are MiB.

| variable | unit | setting | replaced |
|---|---|---|---|
)";

std::string type_text(const Row& row) {
  if (row.type != Type::kChoice) return std::string(settings::type_name(row.type));
  std::string choices(row.choices);
  for (std::size_t at = 0; (at = choices.find(' ', at)) != std::string::npos; at += 2) {
    choices.replace(at, 1, ", ");
  }
  return choices;
}

std::string page() {
  std::string text(kHead);
  for (const Row& row : settings::table()) {
    text += fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", row.name, row.variable,
                        type_text(row), row.default_text.empty() ? "not set" : row.default_text,
                        row.fixed ? "yes" : "no", row.doc);
  }
  text += kTensorFlowHead;
  for (const Row& row : settings::table()) {
    for (const settings::TensorFlowVariable& tf : row.tensorflow) {
      if (tf.name.empty()) continue;
      const std::string_view unit = tf.unit > 1 ? "MB" : settings::type_name(row.type);
      text += fmt::format("| `{}` | {} | `{}` | {} |\n", tf.name, unit, row.name,
                          tf.replaced ? "yes" : "no");
    }
  }
  return text;
}

int check(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file && text == page()) return 0;
  fmt::print(stderr,
             "{} is not what the settings table says; print it anew:\n"
             "  build/release/bin/print_settings > docs/settings.md\n",
             path);
  return 1;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--check") return plimsoll::check(argv[2]);
  if (argc != 1) {
    fmt::print(stderr, "usage: print_settings [--check FILE]\n");
    return 2;
  }
  fmt::print("{}", plimsoll::page());
  return 0;
}
