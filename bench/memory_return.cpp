// What is freed comes back to the system: by itself within a second, at once on trim().
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "memory_cases.h"
#include "memory_stamps.h"
#include "plimsoll/bytes.h"
#include "rows.h"

namespace plimsoll::bench {
namespace {

using memory::Block;
using memory::Budget;
using memory::Heap;
using memory::Owner;
using memory::Tag;

constexpr std::uint64_t kTotal = 2_GiB;

// "MemFree:   123 kB" -> MiB. No memory is asked for, so that looking changes nothing.
double read_mib(const char* path, const char* field) {
  std::FILE* file = std::fopen(path, "r");
  verify(file != nullptr, fmt::format("cannot read {}", path));
  char line[256];
  long long kib = -1;
  const std::size_t length = std::strlen(field);
  while (std::fgets(line, sizeof line, file)) {
    if (std::strncmp(line, field, length) == 0 && line[length] == ':') {
      std::sscanf(line + length + 1, "%lld", &kib);
      break;
    }
  }
  std::fclose(file);
  verify(kib >= 0, fmt::format("{} has no field {}", path, field));
  return static_cast<double>(kib) / 1024;
}

double rss_anon() {
  return read_mib("/proc/self/status", "RssAnon");
}
double mem_free() {
  return read_mib("/proc/meminfo", "MemFree");
}

struct Held {
  double rss_anon;  // MiB while all blocks were held
  double mem_free;
};

// Allocates, touches every page, reads back and frees.
Held hold_and_free(Heap& heap, std::uint64_t block_bytes) {
  const Owner owner(Tag::kActivations, "blocks");
  std::vector<Block> blocks;
  blocks.reserve(kTotal / block_bytes);
  while (blocks.size() < kTotal / block_bytes) {
    blocks.push_back(heap.allocate(block_bytes, owner));
    write_stamps(blocks.back().data(), block_bytes, blocks.size(), kEveryPage);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    verify(has_stamps(blocks[i].data(), block_bytes, i + 1, kEveryPage), "contents were lost");
  }
  const Held held{rss_anon(), mem_free()};
  blocks.clear();
  return held;
}

void run_return(std::uint64_t block_bytes) {
  const std::string size = fmt::format("{} blocks, 2 GiB", format_bytes(block_bytes));
  rss_anon();
  const double start = rss_anon();
  Budget budget({.name = "CPU:0", .limit = 3_GiB});
  Heap heap(memory::make_host_source(), budget, {});

  const Held held = hold_and_free(heap, block_bytes);
  verify(held.rss_anon - start > 2000, "2 GiB were held, but RssAnon did not rise");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const double left = rss_anon() - start;
  const double risen = mem_free() - held.mem_free;
  print(
      {.what = fmt::format("{}: RssAnon above the start 1 s after freeing", size),
       .ours = left,
       .unit = "MiB",
       .bar = "<= 16 MiB",
       .holds = left <= 16 && risen >= 1536,
       .note = fmt::format("was {:.0f} MiB; MemFree rose by {:.0f} MiB, which must be 1536 or more",
                           held.rss_anon - start, risen)});

  hold_and_free(heap, block_bytes);
  const double before_trim = now_seconds();
  heap.trim();
  const double trim_ms = (now_seconds() - before_trim) * 1e3;
  const double left_by_trim = rss_anon() - start;
  print({.what = fmt::format("{}: RssAnon above the start after freeing and trim()", size),
         .ours = left_by_trim,
         .unit = "MiB",
         .bar = "<= 2 MiB",
         .holds = left_by_trim <= 2,
         .note = fmt::format("a second time in the same process; trim() took {:.1f} ms", trim_ms)});
  verify(heap.is_valid() && budget.in_use() == 0, "the heap is not valid at the end");
}

}  // namespace

void run_return_1kib(const MemoryOptions&) {
  run_return(1_KiB);
}
void run_return_1mib(const MemoryOptions&) {
  run_return(1_MiB);
}
void run_return_40mib(const MemoryOptions&) {
  run_return(40_MiB);
}

}  // namespace plimsoll::bench
