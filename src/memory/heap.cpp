#include "plimsoll/memory/heap.h"

#include <atomic>
#include <bit>
#include <utility>

#include "base/check.h"
#include "memory/heap_impl.h"
#include "plimsoll/bytes.h"
#include "plimsoll/settings.h"

namespace plimsoll::memory {
namespace {

constexpr std::uint64_t kMaxAlignment = 1_GiB;

std::atomic<std::uint64_t> num_borrowed_bytes{0}, num_borrowed_blocks{0};

HeapImpl* make_impl(SourcePtr source, const Budget& budget, HeapOptions options) {
  PLIMSOLL_CHECK(source != nullptr, InvalidArgumentError, "heap '{}' needs a source, got null",
                 options.name);
  if (!options.warm) options.warm = std::chrono::milliseconds(settings::get_int("warm_ms"));
  PLIMSOLL_CHECK(options.warm->count() >= 0 && options.warm->count() <= 3000, InvalidArgumentError,
                 "freed pages of heap '{}' can stay warm for 0 to 3000 ms, got {}", options.name,
                 options.warm->count());
  PLIMSOLL_CHECK(!options.up_front || budget.limit() < kNoLimit, InvalidArgumentError,
                 "heap '{}' cannot take its limit up front: its budget has none", options.name);
  if (options.name.empty()) options.name = budget.name();
  return new HeapImpl(std::move(source), budget, std::move(options));
}

bool is_valid_alignment(std::uint64_t alignment) noexcept {
  return std::has_single_bit(alignment) && alignment <= kMaxAlignment;
}

}  // namespace

Block::Block(Block&& other) noexcept
    : heap_(std::exchange(other.heap_, nullptr)),
      address_(std::exchange(other.address_, 0)),
      nbytes_(std::exchange(other.nbytes_, 0)),
      place_(other.place_),
      node_(other.node_),
      trace_id_(other.trace_id_),
      owner_(other.owner_),
      slot_(other.slot_),
      is_small_(other.is_small_),
      is_borrowed_(std::exchange(other.is_borrowed_, false)) {}

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    release();
    new (this) Block(std::move(other));
  }
  return *this;
}

void Block::release() noexcept {
  if (heap_) heap_->free(*this);
  if (is_borrowed_) {
    num_borrowed_bytes.fetch_sub(nbytes_, std::memory_order_relaxed);
    num_borrowed_blocks.fetch_sub(1, std::memory_order_relaxed);
  }
  is_borrowed_ = false;
  heap_ = nullptr;
  address_ = 0;
  nbytes_ = 0;
}

bool Block::try_change_owner(Owner owner) noexcept {
  if (heap_ && owner.id() != owner_.id()) {
    const std::uint64_t booked = round_up(nbytes_, kGrain);
    if (!rebook(node_, booked, owner_, owner, Backing::kPages)) return false;
  }
  owner_ = owner;
  return true;
}

Block Block::borrow(const void* data, std::uint64_t nbytes) noexcept {
  Block block;
  block.address_ = reinterpret_cast<Address>(data);
  block.nbytes_ = nbytes;
  block.is_borrowed_ = true;
  num_borrowed_bytes.fetch_add(nbytes, std::memory_order_relaxed);
  num_borrowed_blocks.fetch_add(1, std::memory_order_relaxed);
  return block;
}

ExternalUse external_use() noexcept {
  return {.nbytes = num_borrowed_bytes.load(std::memory_order_relaxed),
          .count = num_borrowed_blocks.load(std::memory_order_relaxed)};
}

Heap::Heap(SourcePtr source, const Budget& budget, HeapOptions options)
    : impl_(make_impl(std::move(source), budget, std::move(options))) {}

Heap::~Heap() {
  impl_->orphan();
}

Block Heap::allocate(std::uint64_t nbytes, Owner owner, std::uint64_t alignment) {
  PLIMSOLL_CHECK(is_valid_alignment(alignment), InvalidArgumentError,
                 "alignment must be a power of two of at most 1 GiB, got {}", alignment);
  Block block;
  Refusal why;
  if (!impl_->try_allocate(nbytes, owner, alignment, nullptr, &block, &why)) {
    throw_refusal(why, fmt::format("OOM when allocating {} on {}", format_bytes(nbytes),
                                   impl_->options().name));
  }
  return block;
}

bool Heap::try_allocate(std::uint64_t nbytes, Owner owner, Block* out, Refusal* why,
                        std::uint64_t alignment, const Budget* scope) noexcept {
  if (is_valid_alignment(alignment))
    return impl_->try_allocate(nbytes, owner, alignment, scope, out, why);
  if (why) *why = {.asked = nbytes, .owner = owner, .why = Refusal::Why::kSize};
  return false;
}

bool Heap::try_allocate_all(std::span<const Claim> claims, std::span<Block> out, Refusal* why,
                            const Budget* scope) noexcept {
  return impl_->try_allocate_all(claims, scope, out, why);
}

std::uint64_t Heap::trim() noexcept {
  return impl_->trim();
}
HeapStats Heap::stats() const {
  return impl_->stats();
}
Budget Heap::budget() const {
  return impl_->budget();
}
const SourcePtr& Heap::source() const noexcept {
  return impl_->source();
}
bool Heap::is_valid() const noexcept {
  return impl_->is_valid();
}

}  // namespace plimsoll::memory
