#include "runtime/arena_check.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "memory/rounding.h"
#include "plimsoll/settings.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, nbytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(at, nbytes) static_cast<void>(0)
#endif

namespace plimsoll {
namespace {

using graph::at;
using graph::Place;

constexpr int kNobody = -1;  // storages own by their number, scratch of step i as -2 - i
constexpr unsigned char kCanary = 0xC5;
constexpr unsigned char kPoison = 0xFF;  // nan in every floating point type, an index out of range

}  // namespace

bool is_checking_arenas() {
#ifdef PLIMSOLL_WALKERS
  return true;
#else
  return settings::get_bool("check_arena");
#endif
}

std::unique_ptr<ArenaCheck> ArenaCheck::make(const CompiledGraph& graph, memory::Address arena) {
  return graph.has_canaries ? std::make_unique<ArenaCheck>(graph, arena) : nullptr;
}

ArenaCheck::ArenaCheck(const CompiledGraph& graph, memory::Address arena)
    : c_(graph),
      arena_(reinterpret_cast<unsigned char*>(arena)),
      owner_(memory::round_up(graph.plan.arena_bytes, memory::kGrain) / memory::kGrain, kNobody),
      is_alive_(graph.storage.storages.size(), 0) {
  for (int s = 0; s < static_cast<int>(is_alive_.size()); ++s) {
    if (is_in_arena(s)) by_end_.push_back(s);
  }
  std::ranges::stable_sort(by_end_, {}, [&](int s) { return c_.storage.storages[at(s)].last; });
  ASAN_POISON_MEMORY_REGION(arena_, c_.plan.arena_bytes);
}

ArenaCheck::~ArenaCheck() {
  ASAN_UNPOISON_MEMORY_REGION(arena_, c_.plan.arena_bytes);
}

void ArenaCheck::before(const Step& step, const DeviceSpan* operands) {
  const graph::Node& node = c_.graph.nodes[at(step.node)];
  retire_before(step.node, nullptr);
  check_owners(node.in, step);
  for (std::size_t i = 0; i < node.out.size(); ++i) {
    const int s = c_.storage.of_value[at(node.out[i])];
    const graph::Storage& storage = c_.storage.storages[at(s)];
    if (is_in_arena(s)) {
      if (!is_alive_[at(s)]) begin_life(of_storage(s));
      is_alive_[at(s)] = 1;
    } else if (storage.place == Place::kOutput && storage.first == step.node) {
      const DeviceSpan& out = operands[node.in.size() + i];
      // The states of loops may be written in place.
      const bool is_input =
          std::any_of(operands, operands + node.in.size(),
                      [&](const DeviceSpan& in) { return in.buffer == out.buffer; });
      if (!is_input) std::fill_n(out.as<unsigned char>(), out.nbytes, kPoison);  // of none, too
    }
  }
  if (step.scratch_bytes()) begin_life(of_scratch(step));
  // What the step writes to lies apart from what it reads.
  check_owners(node.in, step);
  check_owners(node.out, step);
}

void ArenaCheck::after(const Step& step) {
  for (const graph::ValueId v : c_.graph.nodes[at(step.node)].out) {
    const int s = c_.storage.of_value[at(v)];
    if (is_in_arena(s)) check_canary(of_storage(s), &step);
  }
  if (step.scratch_bytes()) {
    check_canary(of_scratch(step), &step);
    end_life(of_scratch(step));
  }
  retire_before(step.node + 1, &step);
}

// Ends the lives of storages whose last step is before `node`.
void ArenaCheck::retire_before(int node, const Step* step) {
  for (; num_retired_ < by_end_.size(); ++num_retired_) {
    const int s = by_end_[num_retired_];
    if (c_.storage.storages[at(s)].last >= node) return;
    if (!is_alive_[at(s)]) continue;
    is_alive_[at(s)] = 0;
    check_canary(of_storage(s), step);
    end_life(of_storage(s));
  }
}

void ArenaCheck::begin_life(const Buffer& b) {
  ASAN_UNPOISON_MEMORY_REGION(arena_ + b.offset, b.nbytes + kCanaryBytes);
  std::memset(arena_ + b.offset, kPoison, b.nbytes);
  std::memset(arena_ + b.offset + b.nbytes, kCanary, kCanaryBytes);
  const std::uint64_t end = b.offset + b.nbytes + kCanaryBytes;
  for (std::uint64_t i = b.offset; i < end; i += memory::kGrain)
    owner_[i / memory::kGrain] = b.owner;
}

// What others have taken by now is theirs.
void ArenaCheck::end_life(const Buffer& b) {
  const std::uint64_t end = b.offset + b.nbytes + kCanaryBytes;
  for (std::uint64_t begin = b.offset; begin < end; begin += memory::kGrain) {
    int& owner = owner_[begin / memory::kGrain];
    if (owner != b.owner) continue;
    owner = kNobody;
    const std::uint64_t nbytes = std::min(memory::kGrain, end - begin);
    std::memset(arena_ + begin, kPoison, nbytes);
    ASAN_POISON_MEMORY_REGION(arena_ + begin, nbytes);
  }
}

void ArenaCheck::check_owners(std::span<const graph::ValueId> values, const Step& step) const {
  for (const graph::ValueId v : values) {
    const int s = c_.storage.of_value[at(v)];
    if (is_in_arena(s)) check_owner(of_storage(s), &step);
  }
}

void ArenaCheck::check_owner(const Buffer& b, const Step* step) const {
  for (std::uint64_t i = b.offset; i < b.offset + b.nbytes + kCanaryBytes; i += memory::kGrain) {
    const int owner = owner_[i / memory::kGrain];
    PLIMSOLL_CHECK(owner == b.owner, InternalError,
                   "the plan of '{}' is wrong: at {} the buffer of {}, offset {} of the arena, {} "
                   "from offset {} on",
                   c_.plan.function, name_of(step), name_of(b.owner), b.offset,
                   owner == kNobody ? "is dead" : "belongs to " + name_of(owner), i);
  }
}

void ArenaCheck::check_canary(const Buffer& b, const Step* step) const {
  check_owner(b, step);
  const unsigned char* canary = arena_ + b.offset + b.nbytes;
  for (std::uint64_t i = 0; i < kCanaryBytes; ++i) {
    PLIMSOLL_CHECK(canary[i] == kCanary, InternalError,
                   "function '{}': byte {} behind the buffer of {}, {} bytes at offset {} of the "
                   "arena, was overwritten; seen after {}",
                   c_.plan.function, i, name_of(b.owner), b.nbytes, b.offset, name_of(step));
  }
}

bool ArenaCheck::is_in_arena(int storage) const noexcept {
  return c_.storage.storages[at(storage)].place == Place::kArena;
}
ArenaCheck::Buffer ArenaCheck::of_storage(int storage) const noexcept {
  return {c_.offsets[at(storage)], c_.storage.storages[at(storage)].nbytes, storage};
}
ArenaCheck::Buffer ArenaCheck::of_scratch(const Step& step) const noexcept {
  const auto index = static_cast<int>(&step - c_.steps.data());
  return {step.scratch_offset, step.scratch_bytes(), -2 - index};
}

std::string ArenaCheck::name_of(const Step* step) const {
  if (!step) return "a step that needs no kernel";
  return fmt::format("step {} ({})", step->node, c_.plan.step_names[at(step->node)]);
}
std::string ArenaCheck::name_of(int owner) const {
  if (owner < kNobody) return "the scratch of " + name_of(&c_.steps[at(-2 - owner)]);
  const graph::Storage& storage = c_.storage.storages[at(owner)];
  const TensorSpec& spec = c_.graph.spec(storage.value);
  return fmt::format("{}{} from step {} ({})", dtype_name(spec.dtype), spec.shape.to_string(),
                     storage.first, c_.plan.step_names[at(storage.first)]);
}

}  // namespace plimsoll
