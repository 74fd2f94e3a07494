#include "runtime/kernel_cache.h"

#include <list>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "runtime/context.h"

namespace plimsoll {
namespace {

constexpr std::size_t kMaxEntries = 1024;

struct Key {
  const KernelTable* table;
  OpId op;
  Attrs attrs;
  std::vector<TensorSpec> in;

  bool matches(const KernelTable& t, const KernelCall& call) const noexcept {
    return table == &t && op == call.op && attrs == call.attrs && std::ranges::equal(in, call.in);
  }
};

std::uint64_t hash_call(const KernelTable& table, const KernelCall& call) noexcept {
  std::uint64_t h =
      hash_mix(reinterpret_cast<std::uintptr_t>(&table), static_cast<std::uint64_t>(call.op));
  h = hash_mix(h, call.attrs.hash());
  for (const TensorSpec& spec : call.in) {
    h = hash_mix(h, static_cast<std::uint64_t>(spec.dtype) << 8 |
                        static_cast<std::uint64_t>(spec.shape.rank()));
    for (const std::int64_t dim : spec.shape.dims())
      h = hash_mix(h, static_cast<std::uint64_t>(dim));
  }
  return h;
}

class KernelCache {
 public:
  std::shared_ptr<const PreparedKernel::Entry> find(const KernelTable& table,
                                                    const KernelCall& call, std::uint64_t hash) {
    std::scoped_lock lock(mutex_);
    const auto [begin, end] = index_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (!it->second->key.matches(table, call)) continue;
      ++hits_;
      used_.splice(used_.begin(), used_, it->second);
      return it->second->entry;
    }
    ++misses_;
    return nullptr;
  }

  void insert(const KernelTable& table, const KernelCall& call, std::uint64_t hash,
              std::shared_ptr<const PreparedKernel::Entry> entry) {
    const std::uint64_t nbytes = entry->state ? entry->state->nbytes() : 128;
    // A cache may be left out when there is no room for it.
    memory::Reservation claim = Context::get().cpu().budget().try_reserve(
        nbytes, memory::Owner(memory::Tag::kCache, "kernels"));
    if (!claim) return;
    std::list<Item> dropped;  // freed after the lock
    std::scoped_lock lock(mutex_);
    while (used_.size() >= kMaxEntries) drop_last(dropped);
    used_.push_front({{&table, call.op, call.attrs, {call.in.begin(), call.in.end()}},
                      hash,
                      std::move(entry),
                      std::move(claim)});
    index_.emplace(hash, used_.begin());
  }

  KernelCacheStats stats() {
    std::scoped_lock lock(mutex_);
    KernelCacheStats stats{.num_entries = used_.size(), .hits = hits_, .misses = misses_};
    for (const Item& item : used_) stats.nbytes += item.claim.nbytes();
    return stats;
  }

  void clear() noexcept {
    std::list<Item> dropped;
    std::scoped_lock lock(mutex_);
    dropped.swap(used_);
    index_.clear();
  }

 private:
  struct Item {
    Key key;
    std::uint64_t hash;
    std::shared_ptr<const PreparedKernel::Entry> entry;
    memory::Reservation claim;
  };

  void drop_last(std::list<Item>& to) {
    const auto last = std::prev(used_.end());
    const auto [begin, end] = index_.equal_range(last->hash);
    for (auto it = begin; it != end; ++it) {
      if (it->second != last) continue;
      index_.erase(it);
      break;
    }
    to.splice(to.begin(), used_, last);
  }

  Mutex mutex_;
  std::list<Item> used_;  // most recently used first
  std::unordered_multimap<std::uint64_t, std::list<Item>::iterator> index_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

KernelCache& cache() {
  static KernelCache& made = *new KernelCache;
  return made;
}

DType key_dtype(const KernelCall& call) noexcept {
  return call.in.empty() ? call.out[0].dtype : call.in[0].dtype;
}

PreparedKernel choose_kernel(const KernelTable& table, const KernelCall& call, bool use_cache) {
  std::string reasons;
  std::uint64_t hash = 0;
  for (const KernelDef* def : table.rows(call.op)) {
    if (!def->dtypes.has(key_dtype(call)) || (def->accepts && !def->accepts(call))) continue;
    if (!def->prepare) return PreparedKernel(def);
    if (use_cache && !hash) {
      hash = hash_call(table, call);
      if (auto found = cache().find(table, call, hash)) return PreparedKernel(std::move(found));
    }
    auto entry = std::make_shared<PreparedKernel::Entry>();
    entry->def = def;
    KernelCall on_device = call;
    on_device.device = table.device();
    try {
      entry->state = def->prepare(on_device, entry->scratch);
    } catch (const UnimplementedError& e) {
      reasons += fmt::format("\n  {}", e.what());
      continue;
    }
    if (use_cache) cache().insert(table, call, hash, entry);
    return PreparedKernel(std::move(entry));
  }
  throw UnimplementedError(fmt::format("{} has no kernel for {} of type {}{}", table.backend_name(),
                                       op_name(call.op), dtype_name(key_dtype(call)), reasons));
}

}  // namespace

PreparedKernel find_kernel(const KernelTable& table, const KernelCall& call) {
  return choose_kernel(table, call, true);
}
PreparedKernel prepare_kernel(const KernelTable& table, const KernelCall& call) {
  return choose_kernel(table, call, false);
}

KernelCacheStats kernel_cache_stats() {
  return cache().stats();
}
void clear_kernel_cache() noexcept {
  cache().clear();
}

}  // namespace plimsoll
