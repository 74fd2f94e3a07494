#include "base/settings_table.h"

namespace plimsoll::settings {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

constexpr Row kRows[] = {
    {.name = "budget",
     .variable = "PLIMSOLL_BUDGET",
     .type = Type::kBytes,
     .min = 1,
     .doc =
         "Limit for the host's memory that the process holds: CPUs, staging, caches, and GPUs that "
         "share it. Read when the runtime starts; `memory::set_budget` changes it later."},
    {.name = "cpu_limit",
     .variable = "PLIMSOLL_CPU_LIMIT",
     .type = Type::kBytes,
     .min = 1,
     .tensorflow = {{{.name = "TF_CPU_ALLOCATOR_MEM_LIMIT", .replaced = false},
                     {.name = "TF_CPU_BFC_MEM_LIMIT_IN_MB", .unit = kMiB},
                     {.name = "TF_MKL_ALLOC_MAX_BYTES"}}},
     .doc =
         "Limit of the CPU; where it is not set, 90 % of what the machine has left. Read when the "
         "runtime starts."},
    {.name = "staging_limit",
     .variable = "PLIMSOLL_STAGING_LIMIT",
     .type = Type::kBytes,
     .min = 1,
     .tensorflow = {{{.name = "TF_GPU_HOST_MEM_LIMIT_IN_MB", .unit = kMiB}}},
     .doc =
         "Limit of the host memory through which copies to and from a GPU go; where it is not set, "
         "4 MiB."},
    {.name = "gpu_growth",
     .variable = "PLIMSOLL_GPU_GROWTH",
     .type = Type::kBool,
     .default_text = "on",
     .tensorflow = {{{.name = "TF_FORCE_GPU_ALLOW_GROWTH"}}},
     .doc = "On: a GPU's memory is taken as it is needed. Off: the whole limit is taken when the "
            "runtime starts. `config::set_memory_growth` says it per device."},
    {.name = "sim_devices",
     .variable = "PLIMSOLL_SIM_DEVICES",
     .type = Type::kList,
     .doc =
         "Profiles of simulated GPUs, in order, separated by commas; docs/devices.md lists them."},
    {.name = "opencl",
     .variable = "PLIMSOLL_OPENCL",
     .type = Type::kChoice,
     .default_text = "auto",
     .choices = "auto on off 1 0",
     .doc = "Which devices of the system's OpenCL drivers are GPUs here. auto: its GPUs and "
            "accelerators. on: its CPUs too (PoCL). off: none."},
    {.name = "cache_dir",
     .variable = "PLIMSOLL_CACHE_DIR",
     .type = Type::kString,
     .doc = "Folder for what the next process can use again: compiled programs of OpenCL. Where it "
            "is not set, `plimsoll` in the user's cache folder."},
    {.name = "program_cache_limit",
     .variable = "PLIMSOLL_PROGRAM_CACHE_LIMIT",
     .type = Type::kBytes,
     .doc = "Limit of the compiled programs in `cache_dir`; where it is not set, 256 MiB. What was "
            "not used for longest goes first. 0: none are kept in files."},
    {.name = "passes",
     .variable = "PLIMSOLL_PASSES",
     .type = Type::kList,
     .fixed = false,
     .doc = "Which passes functions go through, for comparing: `none`, names of passes, or names "
            "with a minus for all but those. Where it is not set, all; docs/functions.md lists "
            "them. Counts for functions traced afterwards."},
    {.name = "dump",
     .variable = "PLIMSOLL_DUMP",
     .type = Type::kString,
     .fixed = false,
     .doc = "A folder to which each traced function is written after each pass, as text and for "
            "Graphviz, with its memory plan as JSON."},
    {.name = "check_arena",
     .variable = "PLIMSOLL_CHECK_ARENA",
     .type = Type::kBool,
     .default_text = "off",
     .fixed = false,
     .doc = "Watch every step of a function: canaries behind buffers, nan in those that are dead, "
            "and an error for a step that reads what is not its own. Plans count the canaries. "
            "Counts for functions traced afterwards; always on in the debug-full build."},
    {.name = "warm_ms",
     .variable = "PLIMSOLL_WARM_MS",
     .type = Type::kInt,
     .default_text = "250",
     .max = 3'000,
     .fixed = false,
     .doc = "How long a heap keeps freed pages for the next allocation before it gives them back, "
            "in milliseconds, 0 to 3000. Counts for heaps made afterwards."},
    {.name = "huge_pages",
     .variable = "PLIMSOLL_HUGE_PAGES",
     .type = Type::kBool,
     .default_text = "on",
     .fixed = false,
     .doc = "Ask the system for huge pages where one block owns the whole 2 MiB. Counts for host "
            "sources made afterwards."},
    {.name = "trace",
     .variable = "PLIMSOLL_TRACE",
     .type = Type::kString,
     .doc = "File to which every heap writes its allocation trace, from the first heap on."},
    {.name = "log",
     .variable = "PLIMSOLL_LOG",
     .type = Type::kChoice,
     .default_text = "warning",
     .choices = "error warning info debug",
     .fixed = false,
     .doc = "What is written to stderr: messages of this level and graver ones."},
};

}  // namespace

std::span<const Row> table() noexcept {
  return kRows;
}

std::string_view type_name(Type type) noexcept {
  switch (type) {
    case Type::kBytes:
      return "bytes";
    case Type::kInt:
      return "int";
    case Type::kBool:
      return "bool";
    case Type::kString:
      return "string";
    case Type::kChoice:
      return "choice";
    case Type::kList:
      return "list";
  }
  return "";
}

}  // namespace plimsoll::settings
