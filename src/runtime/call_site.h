// Where the user's program is, as far as a front says: interop::set_call_site.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "plimsoll/interop.h"
#include "plimsoll/memory/owner.h"

namespace plimsoll {

inline constexpr std::uint64_t kLargeTensor = std::uint64_t{1} << 20;  // bytes; smaller: not asked
inline std::atomic<interop::CallSite> call_site{nullptr};

// "train.py:12", or nothing.
inline std::string current_call_site() {
  const interop::CallSite ask = call_site.load(std::memory_order_relaxed);
  return ask ? ask() : std::string();
}

// While one lives, what this thread makes is booked under its tag: elements of datasets.
class TagScope {
 public:
  explicit TagScope(memory::Tag tag) noexcept : outer_(current_) {
    current_ = static_cast<int>(tag);
  }
  ~TagScope() { current_ = outer_; }
  TagScope(const TagScope&) = delete;
  TagScope& operator=(const TagScope&) = delete;

  // The owner under the tag of this thread's scope; without one, as it is.
  static memory::Owner retagged(memory::Owner owner) noexcept {
    if (current_ < 0) [[likely]]
      return owner;
    return memory::Owner::from_id((owner.id() & ~15U) | static_cast<std::uint32_t>(current_));
  }

 private:
  inline static constinit thread_local int current_ = -1;
  const int outer_;
};

// The owner of a tensor of so many bytes: with the line that makes it, if it is large.
inline memory::Owner owner_here(memory::Owner owner, std::uint64_t nbytes) {
  owner = TagScope::retagged(owner);
  if (nbytes < kLargeTensor || !call_site.load(std::memory_order_relaxed)) return owner;
  const std::string site = current_call_site();
  if (site.empty()) return owner;
  const std::string name = owner.name();
  return memory::Owner(owner.tag(), name.empty() ? site : name + " at " + site);
}

}  // namespace plimsoll
