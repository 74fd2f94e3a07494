#include "plimsoll/memory/owner.h"

#include <deque>
#include <mutex>
#include <unordered_map>

#include "base/check.h"
#include "base/mutex.h"
#include "memory/fork.h"

namespace plimsoll::memory {
namespace {

constexpr std::string_view kTagNames[kNumTags] = {"weights",     "gradients", "optimizer",
                                                  "activations", "workspace", "staging",
                                                  "dataset",     "io",        "cache"};
constexpr std::size_t kMaxNames = 65536;

// Name 0 is "no name", name 1 is shared by all that come after the table is full.
class NameTable {
 public:
  NameTable() {
    intern("");
    intern("(other)");
  }

  std::uint32_t intern(std::string_view name) {
    std::scoped_lock lock(mutex_);
    if (auto found = index_.find(name); found != index_.end()) return found->second;
    if (names_.size() >= kMaxNames) return 1;
    names_.emplace_back(name);
    const auto id = static_cast<std::uint32_t>(names_.size() - 1);
    index_.emplace(names_.back(), id);
    return id;
  }

  Mutex& mutex() { return mutex_; }

  std::string name(std::uint32_t id) {
    std::scoped_lock lock(mutex_);
    return id < names_.size() ? names_[id] : std::string();
  }

 private:
  Mutex mutex_;
  std::deque<std::string> names_;  // a deque keeps the strings where index_ points
  std::unordered_map<std::string_view, std::uint32_t> index_;
};

NameTable& names() {
  static NameTable& table = *new NameTable;  // never destroyed: owners may outlive main()
  return table;
}

}  // namespace

Mutex& owner_names_mutex() {
  return names().mutex();
}

std::string_view tag_name(Tag tag) noexcept {
  const auto i = static_cast<std::size_t>(tag);
  return i < kNumTags ? kTagNames[i] : "?";
}

Tag parse_tag(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < kNumTags; ++i) {
    if (kTagNames[i] == name) return static_cast<Tag>(i);
    known += (i ? ", " : "") + std::string(kTagNames[i]);
  }
  throw InvalidArgumentError(fmt::format("unknown memory tag '{}'; the tags are {}", name, known));
}

Owner::Owner(Tag tag, std::string_view name)
    : id_(names().intern(name) << 4 | static_cast<std::uint32_t>(tag)) {}

std::string Owner::name() const {
  return names().name(id_ >> 4);
}

std::string Owner::to_string() const {
  const std::string own = name();
  return own.empty() ? std::string(tag_name(tag())) : fmt::format("{} '{}'", tag_name(tag()), own);
}

Owner Owner::from_id(std::uint32_t id) noexcept {
  Owner owner;
  owner.id_ = id;
  return owner;
}

}  // namespace plimsoll::memory
