// Prints docs/backends.md from the kernel rows of all backends.
//
//   print_backends > docs/backends.md
//   print_backends --check docs/backends.md     exit code 1 if the file is not what would be
//   printed
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "runtime/backends.h"

namespace plimsoll {
namespace {

struct Family {
  std::string_view name;
  std::vector<OpId> ops;
};

std::vector<Family> families() {
  std::vector<Family> made;
#define FAMILY(family) made.push_back({#family, {}});
#define OP(Name, ...) made.back().ops.push_back(OpId::Name);
#include "ops/ops.def"
#undef OP
  return made;
}

// "float, float16, int": the types for which there is a row; "" if there is none.
std::string types_of(const KernelTable& table, OpId op) {
  if (op_def(op).is_view) return "view";
  std::string list;
  int num = 0;
  for (int d = 0; d < kNumDTypes; ++d) {
    const auto dtype = static_cast<DType>(d);
    bool has = false;
    for (const KernelDef* row : table.rows(op)) has |= row->dtypes.has(dtype);
    if (!has) continue;
    list += fmt::format("{}{}", num++ ? ", " : "", dtype_name(dtype));
  }
  constexpr int kAllButStrings = kNumDTypes - 1;
  if (num >= kAllButStrings) return "all";
  if (list == "float32, float64, float16, bfloat16") return "floats";
  if (list == "float32, float64, float16, bfloat16, int8, uint8, int16, uint16, int32, int64")
    return "numbers";
  if (list == "int8, uint8, int16, uint16, int32, int64") return "integers";
  return list;
}

std::string page() {
  const std::vector<Backend> backends = all_backends();
  std::vector<KernelTable> tables;
  for (const Backend& backend : backends) tables.emplace_back(backend);
  std::string text =
      "<!-- Printed from the kernel rows by print_backends; edit the rows instead. -->\n"
      "# Backends\n\n"
      "Which ops a backend has a kernel for, and for which types of the first input (of the "
      "output, "
      "where there is\nno input). What a GPU lacks runs on the CPU under soft placement, which is "
      "on "
      "unless\n`config::set_soft_device_placement(false)`: eagerly with copies of the inputs; in a "
      "function over host memory\nthat its plan shows (`host_ops`, `host_bytes`). Without soft "
      "placement it is an `UnimplementedError` that\nnames op, type and backend.\n\n"
      "`view`: no kernel, the result is the input's memory under another shape. `floats`: float32, "
      "float64, float16,\nbfloat16; `integers`: int8, uint8, int16, uint16, int32, int64; "
      "`numbers`: both; "
      "`all`: bool too.\n\n"
      "OpenCL: float64 where the device has it. Tested on PoCL. CUDA: not built yet.\n";
  for (const Family& family : families()) {
    text += fmt::format("\n## {}\n\n| op |", family.name);
    std::string line = "|---|";
    for (const Backend& backend : backends) {
      text += fmt::format(" {} |", backend.name);
      line += "---|";
    }
    text += "\n" + line + "\n";
    for (const OpId op : family.ops) {
      text += fmt::format("| {} |", op_name(op));
      for (const KernelTable& table : tables) {
        const std::string types = types_of(table, op);
        text += types.empty() ? " |" : fmt::format(" {} |", types);
      }
      text += "\n";
    }
  }
  text += "\n## In numbers\n\n| backend | ops with a kernel | of |\n|---|---|---|\n";
  for (const KernelTable& table : tables) {
    int num = 0, all = 0;
    for (int i = 0; i < kNumOps; ++i) {
      if (op_def(static_cast<OpId>(i)).is_view) continue;
      ++all;
      num += !table.rows(static_cast<OpId>(i)).empty();
    }
    text += fmt::format("| {} | {} | {} |\n", table.backend_name(), num, all);
  }
  return text;
}

}  // namespace
}  // namespace plimsoll

int main(int argc, char** argv) {
  const std::string text = plimsoll::page();
  if (argc == 1) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
  }
  if (argc != 3 || std::strcmp(argv[1], "--check") != 0) {
    std::fputs("usage: print_backends [--check FILE]\n", stderr);
    return 2;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::string there{std::istreambuf_iterator<char>(file), {}};
  if (there == text) return 0;
  std::fprintf(stderr,
               "%s is not what the kernel rows say; print it anew:\n"
               "  build/release/bin/print_backends > docs/backends.md\n",
               argv[2]);
  return 1;
}
