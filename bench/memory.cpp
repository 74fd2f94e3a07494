// bench_memory: what the memory layer promises, measured. bench/memory_cases.h lists the cases.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "memory_cases.h"
#include "rows.h"

namespace plimsoll::bench {

void verify(bool ok, const std::string& message) {
  if (!ok) throw std::runtime_error(message);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

namespace {

constexpr MemoryCase kCases[] = {
    {"replay", "a training trace inside its live peak + 5 %", run_replay},
    {"history", "large blocks under a limit after any history of small ones", run_history},
    {"small", "small allocate + free against glibc, jemalloc and mimalloc", run_small},
    {"return-1KiB", "memory that comes back by itself and on trim(), 1 KiB blocks",
     run_return_1kib},
    {"return-1MiB", "the same with 1 MiB blocks", run_return_1mib},
    {"return-40MiB", "the same with 40 MiB blocks", run_return_40mib},
    {"refusal", "how long a refusal takes", run_refusal},
    {"budget", "8 threads on a tree of budgets", run_budget},
};

void print_help() {
  std::puts(
      "bench_memory: measures the memory layer; one JSON row per line on stdout\n"
      "\n"
      "  bench_memory [--seconds N] [--only TEXT]\n"
      "\n"
      "  --seconds N   let the threads of the budget case run for N seconds (10)\n"
      "  --only TEXT   only the cases with TEXT in their name\n"
      "\n"
      "cases:");
  for (const MemoryCase& c : kCases) std::printf("  %-14s%s\n", c.name, c.doc);
}

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(2);
}

// The environment of the cases: jemalloc needs more thread-local room than dlopen() has to spare.
std::vector<std::string> case_environment() {
  const std::string name = "GLIBC_TUNABLES=";
  std::string tunables = "glibc.rtld.optional_static_tls=16384";
  std::vector<std::string> result;
  for (char** at = environ; *at; ++at) {
    const std::string_view entry = *at;
    if (!entry.starts_with(name)) {
      result.emplace_back(entry);
    } else if (entry.size() > name.size()) {
      tunables = fmt::format("{}:{}", entry.substr(name.size()), tunables);
    }
  }
  result.push_back(name + tunables);
  return result;
}

std::vector<char*> to_pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Runs one case in a fresh process. Returns whether it came to its end.
bool spawn_case(const MemoryCase& c, const MemoryOptions& options) {
  std::vector<std::string> arguments{"bench_memory", "--case", c.name, "--seconds",
                                     fmt::format("{}", options.seconds)};
  std::vector<std::string> environment = case_environment();
  pid_t pid = 0;
  const int error = posix_spawn(&pid, "/proc/self/exe", nullptr, nullptr,
                                to_pointers(arguments).data(), to_pointers(environment).data());
  if (error != 0) fail(fmt::format("cannot start case {}: {}", c.name, std::strerror(error)));
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "error: case %s was ended by signal %d\n", c.name, WTERMSIG(status));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run_case(std::string_view name, const MemoryOptions& options) {
  for (const MemoryCase& c : kCases) {
    if (name != c.name) continue;
    try {
      c.run(options);
      return 0;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "error: case %s: %s\n", c.name, e.what());
      return 1;
    }
  }
  fail(fmt::format("no case is called '{}'", name));
}

double parse_seconds(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end || !std::isfinite(value) || value <= 0) {
    fail(fmt::format("--seconds needs a number above 0, got '{}'", text));
  }
  return value;
}

int run(int argc, char** argv) {
  MemoryOptions options;
  std::string only;
  std::string inner;  // the case to run in this process
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "-h" || option == "--help") {
      print_help();
      return 0;
    }
    const bool is_known = option == "--seconds" || option == "--only" || option == "--case";
    if (!is_known) fail(fmt::format("unknown option '{}'; --help lists them", option));
    if (++i == argc) fail(fmt::format("{} needs a value", option));
    if (option == "--seconds") options.seconds = parse_seconds(argv[i]);
    if (option == "--only") only = argv[i];
    if (option == "--case") inner = argv[i];
  }
  if (!inner.empty()) return run_case(inner, options);
  bool ok = true;
  bool any = false;
  for (const MemoryCase& c : kCases) {
    if (std::string_view(c.name).find(only) == std::string_view::npos) continue;
    any = true;
    progress(fmt::format("{}: {}", c.name, c.doc));
    ok &= spawn_case(c, options);
  }
  if (!any) fail(fmt::format("no case has '{}' in its name; --help lists them", only));
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace plimsoll::bench

int main(int argc, char** argv) {
  return plimsoll::bench::run(argc, argv);
}
