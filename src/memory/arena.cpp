#include "plimsoll/memory/arena.h"

#include <utility>

#include "base/check.h"
#include "memory/budget_tree.h"
#include "plimsoll/bytes.h"

namespace plimsoll::memory {

// No constant fill by a kernel can pass for it everywhere.
std::uint8_t Arena::pattern_at(std::uint64_t at) noexcept {
  return static_cast<std::uint8_t>((at * 0x9E3779B97F4A7C15ULL) >> 56 | 1);
}

class Arena::Impl final : public Reclaimer {
 public:
  Impl(SourcePtr source, const Budget& budget, std::uint64_t nbytes, Owner owner)
      : source_(std::move(source)), budget_(budget), nbytes_(nbytes), owner_(owner) {
    PLIMSOLL_CHECK(source_ != nullptr, InvalidArgumentError, "an arena needs a source, got null");
    PLIMSOLL_CHECK(nbytes <= kMaxRequest - source_->granularity(), InvalidArgumentError,
                   "an arena of {} bytes is more than any device can address", nbytes);
    pages_ = round_up(nbytes_, source_->granularity());
    if (pages_) {
      address_ = source_->try_reserve(pages_);
      PLIMSOLL_CHECK(address_ != 0, ResourceExhaustedError,
                     "OOM when reserving addresses for an arena of {} for {}",
                     format_bytes(nbytes_), owner_.to_string());
    }
    add_reclaimer(*budget_.node()->tree, this);
  }
  Impl(Heap& heap, const Budget* scope, std::uint64_t nbytes, Owner owner)
      : source_(heap.source()),
        budget_(scope ? *scope : heap.budget()),
        nbytes_(nbytes),
        owner_(owner),
        heap_(&heap),
        is_scoped_(scope != nullptr) {
    add_reclaimer(*budget_.node()->tree, this);
  }

  ~Impl() override {
    remove_reclaimer(*budget_.node()->tree, this);
    drop();
    if (pages_) source_->release(address_, pages_);
  }

  bool acquire() {
    {
      std::scoped_lock lock(mutex_);
      if (is_held_) {
        if (is_idle_) note_idle(budget_.node(), -static_cast<std::int64_t>(booked()));
        is_idle_ = false;
        return true;
      }
    }
    Refusal why;
    if (heap_) {
      Block block;
      if (!heap_->try_allocate(nbytes_, owner_, &block, &why, kGrain,
                               is_scoped_ ? &budget_ : nullptr))
        refuse(why);
      std::scoped_lock lock(mutex_);
      block_ = std::move(block);
      is_held_ = true;
      return false;
    }
    if (!try_book(budget_.node(), nbytes_, owner_, Backing::kPages, &why)) refuse(why);
    bool looked_again = false;
    while (true) {
      const Excess excess = note_commit(budget_.node(), pages_, false);
      if (!excess.node) break;
      if (memory::reclaim_pages(excess.node, excess.nbytes)) continue;
      if (!source_->is_whole() || excess.nbytes <= kSharedBytes) {
        note_commit(budget_.node(), pages_, true);  // what is left is rounding
        break;
      }
      // Buffers that small blocks share hold more than they are asked for.
      if (memory::reclaim_idle(excess.node, excess.nbytes)) continue;
      if (std::exchange(looked_again, true)) give_up(&why, Refusal::Why::kHoles);
    }
    if (pages_ && !source_->try_commit(address_, pages_)) {
      memory::reclaim_pages(budget_.node(), kNoLimit);
      if (!source_->try_commit(address_, pages_)) {
        note_decommit(budget_.node(), pages_);
        give_up(&why, Refusal::Why::kSource);
      }
    }
    std::scoped_lock lock(mutex_);
    is_held_ = true;
    return false;
  }

  void rest() noexcept {
    if (heap_) {  // where all is taken already, a new block costs nothing
      drop();
      return;
    }
    std::scoped_lock lock(mutex_);
    if (!is_held_ || is_idle_) return;
    is_idle_ = true;
    note_idle(budget_.node(), static_cast<std::int64_t>(booked()));
  }

  // Gives everything back, unless it is in use and `only_idle`. Returns the bytes booked before.
  std::uint64_t drop(bool only_idle = false) noexcept {
    std::scoped_lock lock(mutex_);
    if (!is_held_ || (only_idle && !is_idle_)) return 0;
    if (heap_) {
      block_.release();
      is_held_ = false;
      return booked();
    }
    if (is_idle_) note_idle(budget_.node(), -static_cast<std::int64_t>(booked()));
    if (pages_) {
      source_->decommit(address_, pages_);
      note_decommit(budget_.node(), pages_);
    }
    unbook(budget_.node(), booked(), owner_, Backing::kPages);
    is_held_ = is_idle_ = false;
    return booked();
  }

  BudgetNode* reclaim_node() const noexcept override { return budget_.node(); }
  std::uint64_t reclaim_pages(std::uint64_t) noexcept override { return 0; }
  std::uint64_t reclaim_idle(std::uint64_t) noexcept override { return drop(true); }
  Mutex& mutex() noexcept override { return mutex_; }

  Address address() const noexcept { return heap_ ? block_.address() : address_; }
  std::uint64_t nbytes() const noexcept { return nbytes_; }
  bool is_held() const noexcept {
    std::scoped_lock lock(mutex_);
    return is_held_;
  }

 private:
  std::uint64_t booked() const noexcept { return round_up(nbytes_, kGrain); }
  // Undoes the booking and throws.
  [[noreturn]] void give_up(Refusal* why, Refusal::Why reason) {
    {
      std::scoped_lock lock(budget_.node()->tree->mutex);
      fill_refusal_locked(budget_.node(), nbytes_, owner_, why);
    }
    why->why = reason;
    unbook(budget_.node(), booked(), owner_, Backing::kPages);
    refuse(*why);
  }
  [[noreturn]] void refuse(const Refusal& why) const {
    throw_refusal(why, fmt::format("OOM when allocating an arena of {} on {}",
                                   format_bytes(nbytes_), budget_.name()));
  }

  const SourcePtr source_;
  const Budget budget_;
  const std::uint64_t nbytes_;
  const Owner owner_;
  std::uint64_t pages_ = 0;  // nbytes_ rounded up to the granularity
  Address address_ = 0;
  Heap* const heap_ = nullptr;  // instead of the source
  const bool is_scoped_ = false;
  Block block_;
  mutable Mutex mutex_;  // between reclaim and tree mutex in order
  bool is_held_ = false;
  bool is_idle_ = false;
};

Arena::Arena(SourcePtr source, const Budget& budget, std::uint64_t nbytes, Owner owner)
    : impl_(std::make_unique<Impl>(std::move(source), budget, nbytes, owner)) {}
Arena::Arena(Heap& heap, const Budget* scope, std::uint64_t nbytes, Owner owner)
    : impl_(std::make_unique<Impl>(heap, scope, nbytes, owner)) {}
Arena::~Arena() = default;

bool Arena::acquire() {
  return impl_->acquire();
}
void Arena::rest() noexcept {
  impl_->rest();
}
void Arena::trim() noexcept {
  impl_->drop();
}
Address Arena::address() const noexcept {
  return impl_->address();
}
std::uint64_t Arena::nbytes() const noexcept {
  return impl_->nbytes();
}
bool Arena::is_held() const noexcept {
  return impl_->is_held();
}

void Arena::fill_pattern() noexcept {
  auto* bytes = static_cast<std::uint8_t*>(data());
  for (std::uint64_t i = 0; i < nbytes(); ++i) bytes[i] = pattern_at(i);
}

std::uint64_t Arena::written_height() const noexcept {
  const auto* bytes = static_cast<const std::uint8_t*>(data());
  std::uint64_t height = nbytes();
  while (height && bytes[height - 1] == pattern_at(height - 1)) --height;
  return height;
}

}  // namespace plimsoll::memory
