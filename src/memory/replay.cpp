#include <algorithm>
#include <unordered_map>

#include "plimsoll/memory/heap.h"
#include "plimsoll/memory/trace.h"

namespace plimsoll::memory {
namespace {

class HeapTarget final : public ReplayTarget {
 public:
  explicit HeapTarget(Heap& heap) : heap_(heap) {}

  bool allocate(std::uint64_t id, std::uint64_t nbytes, const Trace::Name& owner) override {
    Block block;
    if (!heap_.try_allocate(nbytes, Owner(owner.tag, owner.name), &block)) return false;
    blocks_.emplace(id, std::move(block));
    return true;
  }
  void free(std::uint64_t id) override { blocks_.erase(id); }
  std::uint64_t committed_bytes() const override { return heap_.stats().committed_bytes; }

 private:
  Heap& heap_;
  std::unordered_map<std::uint64_t, Block> blocks_;
};

}  // namespace

ReplayResult replay(const Trace& trace, ReplayTarget& target, bool stop_at_refusal) {
  ReplayResult result;
  std::unordered_map<std::uint64_t, std::uint64_t> live;  // id -> bytes
  std::uint64_t live_bytes = 0;
  for (const TraceEvent& event : trace.events) {
    ++result.num_events;
    if (event.kind == TraceEvent::Kind::kAllocate) {
      if (!target.allocate(event.id, event.nbytes, trace.owners[event.owner])) {
        ++result.num_refused;
        if (stop_at_refusal) break;
        continue;
      }
      live.emplace(event.id, event.nbytes);
      live_bytes += event.nbytes;
      result.live_peak = std::max(result.live_peak, live_bytes);
      result.committed_peak = std::max(result.committed_peak, target.committed_bytes());
    } else if (event.kind == TraceEvent::Kind::kFree) {
      const auto found = live.find(event.id);
      if (found == live.end()) continue;  // a reservation, or refused
      live_bytes -= found->second;
      live.erase(found);
      target.free(event.id);
    }
  }
  return result;
}

std::unique_ptr<ReplayTarget> make_heap_target(Heap& heap) {
  return std::make_unique<HeapTarget>(heap);
}

}  // namespace plimsoll::memory
