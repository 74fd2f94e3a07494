#include "data/library_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/check.h"
#include "runtime/budget_scope.h"
#include "runtime/context.h"
#include "runtime/strings.h"

namespace plimsoll::io {

namespace {

std::optional<memory::Budget> scope_of_thread(const Device& device) {
  const memory::Budget* const scope = scope_budget(device);
  return scope ? std::optional(*scope) : std::nullopt;
}

}  // namespace

LibraryMemory::LibraryMemory(const char* what)
    : device_(Context::get().cpu()),
      owner_(memory::Tag::kIo, what),
      scope_(scope_of_thread(device_)) {}

LibraryMemory::~LibraryMemory() {
  while (first_) free(reinterpret_cast<std::byte*>(first_) + kHeadBytes);
}

void* LibraryMemory::try_allocate(std::size_t nbytes) noexcept {
  memory::Refusal why;
  memory::Block block;
  if (!device_.heap().try_allocate(kHeadBytes + nbytes, owner_, &block, &why, kAlignment,
                                   scope_ ? &*scope_ : nullptr)) {
    if (!is_refused_) why_ = why;
    is_refused_ = true;
    return nullptr;
  }
  void* const start = block.data();
  auto* head = new (start) Head{std::move(block), nullptr, first_};
  if (first_) first_->previous = head;
  first_ = head;
  return static_cast<std::byte*>(start) + kHeadBytes;
}

void LibraryMemory::free(void* data) noexcept {
  if (!data) return;
  auto* head = reinterpret_cast<Head*>(static_cast<std::byte*>(data) - kHeadBytes);
  (head->previous ? head->previous->next : first_) = head->next;
  if (head->next) head->next->previous = head->previous;
  const memory::Block taken = std::move(head->block);  // which holds the head itself
  head->~Head();
}

void* LibraryMemory::allocate(std::size_t nbytes) {
  void* const data = try_allocate(nbytes);
  if (!data) throw_refusal();
  return data;
}

memory::Reservation LibraryMemory::reserve(std::size_t nbytes) const {
  return (scope_ ? *scope_ : device_.budget()).reserve(nbytes, owner_);
}

void LibraryMemory::throw_refusal() const {
  throw ResourceExhaustedError(fmt::format("OOM when allocating memory for {} on {}\n{}",
                                           owner_.name(), device_.full_name(),
                                           memory::describe(why_)));
}

OutputBytes::Room OutputBytes::try_extend() noexcept {
  constexpr std::size_t kFirst = 16u << 10, kLargest = 4u << 20;
  if (!last_ || last_->used == last_->capacity) {
    const std::size_t capacity = last_ ? std::min(last_->capacity * 2, kLargest) : kFirst;
    void* const place = memory_.try_allocate(sizeof(Piece) + capacity);
    if (!place) return {};
    auto* piece = new (place) Piece{nullptr, capacity, 0};
    (last_ ? last_->next : first_) = piece;
    last_ = piece;
  }
  return {last_->data() + last_->used, last_->capacity - last_->used};
}

bool OutputBytes::try_append(const void* bytes, std::size_t count) noexcept {
  const auto* from = static_cast<const unsigned char*>(bytes);
  while (count > 0) {
    const Room room = try_extend();
    if (!room.data) return false;
    const std::size_t some = std::min(count, room.nbytes);
    std::memcpy(room.data, from, some);
    commit(some);
    from += some;
    count -= some;
  }
  return true;
}

Tensor OutputBytes::to_tensor() {
  NewString made = allocate_string(size_);
  char* to = made.bytes->data();
  while (first_) {
    Piece* const piece = first_;
    std::memcpy(to, piece->data(), piece->used);
    to += piece->used;
    first_ = piece->next;
    memory_.free(piece);
  }
  last_ = nullptr;
  size_ = 0;
  return made.tensor;
}

}  // namespace plimsoll::io
