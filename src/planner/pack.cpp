#include "planner/pack.h"

#include <algorithm>
#include <memory>

#include "planner/greedy.h"
#include "planner/orders.h"

namespace plimsoll::planner {
namespace {

struct NamedOrder {
  const char* keys;
  const char* name;
};
constexpr NamedOrder kSkylineOrders[] = {{"WZ", "skyline by lifetime"},
                                         {"AW", "skyline by area"},
                                         {"TWA", "skyline by load"},
                                         {"ZW", "skyline by size"}};
constexpr NamedOrder kFirstFitOrders[] = {{"WZ", "first fit by lifetime"},
                                          {"ZW", "first fit by size"},
                                          {"AW", "first fit by area"},
                                          {"TAW", "first fit by load"},
                                          {"EZ", "first fit by start"}};
constexpr int64_t kPlacements = 1'000'000;  // that improving a skyline may take
constexpr int64_t kPairs = 200'000'000;     // that first fit may look at, all orders together

class Packer {
 public:
  Packer(const Instance& instance, int64_t goal, const Limits& limits)
      : instance_(instance), goal_(goal), limits_(limits) {}

  bool done() const { return has_ && (best_.height <= goal_ || limits_.interrupted()); }
  Packing take() { return std::move(best_); }

  void skylines(bool improve) {
    std::vector<std::vector<int>> orders;
    std::unique_ptr<HullTree> tree;
    for (const NamedOrder& order : kSkylineOrders) {
      if (done()) return;
      orders.push_back(make_order(instance_, order.keys));
      const std::vector<int> rank = to_rank(orders.back());
      if (tree) {
        tree->refill(rank);
      } else {
        tree = std::make_unique<HullTree>(instance_, rank);
      }
      offer(skyline_fit(instance_, *tree), order.name);
    }
    if (!improve) return;
    const int64_t rounds = kPlacements / std::max(1, instance_.count());
    for (std::vector<int>& order : orders) {
      promote(*tree, std::move(order), std::clamp<int64_t>(rounds / 4, 2, 16));
    }
  }

  void first_fits() {
    const int64_t count = instance_.count();
    int64_t pairs = 0;
    for (const NamedOrder& order : kFirstFitOrders) {
      pairs += count * count / 2;
      if (done() || (has_ && pairs > kPairs)) return;
      offer(first_fit(instance_, make_order(instance_, order.keys)), order.name);
    }
  }

 private:
  bool offer(std::vector<int64_t> offsets, const char* method) {
    const int64_t height = height_of(instance_, offsets);
    if (has_ && height >= best_.height) return false;
    best_ = {std::move(offsets), height, method};
    has_ = true;
    return true;
  }

  // What stood above the goal goes to the front of the order, and again from the start.
  void promote(HullTree& tree, std::vector<int> order, int64_t rounds) {
    std::vector<int64_t> offsets;
    std::vector<int> late;
    for (int64_t round = 0; round < rounds && !done(); ++round) {
      tree.refill(to_rank(order));
      offsets = skyline_fit(instance_, tree);
      late.clear();
      size_t kept = order.size();
      for (size_t i = order.size(); i-- > 0;) {
        const int b = order[i];
        if (offsets[b] + instance_.size[b] > goal_) {
          late.push_back(b);
        } else {
          order[--kept] = b;
        }
      }
      std::copy(late.rbegin(), late.rend(), order.begin());
      offer(offsets, "skyline, improved");
    }
  }

  const Instance& instance_;
  const int64_t goal_;
  const Limits& limits_;
  Packing best_;
  bool has_ = false;
};

}  // namespace

Packing pack(const Instance& instance, int64_t goal, const Techniques& techniques,
             const Limits& limits) {
  Packer packer(instance, goal, limits);
  if (techniques.skyline && !instance.has_fixed) packer.skylines(techniques.improve);
  if (techniques.first_fit || !techniques.skyline || instance.has_fixed) packer.first_fits();
  return packer.take();
}

}  // namespace plimsoll::planner
