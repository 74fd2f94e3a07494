// Whether the steps of a run keep to their plan. On in walker builds (debug-full), and where the
// setting `check_arena` says so.
//
// - Behind every buffer of the arena is a canary. It is looked at after the step that wrote the
//   buffer, and when the buffer dies.
// - Results and scratch are filled with nan before the step that writes them, and every buffer
//   after its last reader: who reads what is not there gets numbers that show it.
// - Every 64 bytes of the arena have an owner: the buffer that they were last written for. A step
//   that reads bytes of another owner, or of none, is an InternalError before its kernel runs. So a
//   lifetime that is too short and buffers that overlap are found, and named.
// - Under AddressSanitizer, bytes without an owner are poisoned too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/executable.h"

namespace plimsoll {

bool is_checking_arenas();

class ArenaCheck {
 public:
  static constexpr std::uint64_t kCanaryBytes = 64;

  // For one run of a graph that was planned with canaries; null for others.
  static std::unique_ptr<ArenaCheck> make(const CompiledGraph& graph, memory::Address arena);
  ArenaCheck(const CompiledGraph& graph, memory::Address arena);
  ~ArenaCheck();
  ArenaCheck(const ArenaCheck&) = delete;
  ArenaCheck& operator=(const ArenaCheck&) = delete;

  // Around each step; `operands` are its inputs and outputs. throws: InternalError.
  void before(const Step& step, const DeviceSpan* operands);
  void after(const Step& step);

 private:
  // A stretch of the arena: a storage, or the scratch of a step.
  struct Buffer {
    std::uint64_t offset, nbytes;
    int owner;
  };

  Buffer of_storage(int storage) const noexcept;
  Buffer of_scratch(const Step& step) const noexcept;
  bool is_in_arena(int storage) const noexcept;
  void begin_life(const Buffer& buffer);
  void end_life(const Buffer& buffer);
  void retire_before(int node, const Step* step);
  void check_owners(std::span<const graph::ValueId> values, const Step& step) const;
  void check_owner(const Buffer& buffer, const Step* step) const;
  void check_canary(const Buffer& buffer, const Step* step) const;
  std::string name_of(int owner) const;
  std::string name_of(const Step* step) const;

  const CompiledGraph& c_;
  unsigned char* const arena_;
  std::vector<int> owner_;      // by 64 bytes
  std::vector<int> by_end_;     // storages of the arena, those that die first in front
  std::vector<char> is_alive_;  // by storage
  std::size_t num_retired_ = 0;
};

}  // namespace plimsoll
