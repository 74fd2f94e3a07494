#include "planner/hull_tree.h"

#include <algorithm>
#include <numeric>

namespace plimsoll::planner {

HullTree::HullTree(const Instance& instance, const std::vector<int>& rank)
    : instance_(&instance), by_rank_(rank.size()), points_(rank.size()), place_(rank.size()) {
  const int count = instance.count();
  std::iota(points_.begin(), points_.end(), 0);
  int nodes = 1;
  for (int width = count; width > kLeaf; width = (width + 1) / 2) nodes = 2 * nodes + 1;
  nodes_.resize(nodes);
  if (count > 0) build(0, 0, count, true);
  for (int i = 0; i < count; ++i) place_[points_[i]] = i;
  refill(rank);
}

void HullTree::build(int node, int begin, int end, bool by_first) {
  Node& box = nodes_[node];
  box = {kNone, -1, kNone, -1, kNone};
  for (int i = begin; i < end; ++i) {
    const Span& hull = instance_->hull[points_[i]];
    box.first_min = std::min(box.first_min, hull.begin);
    box.first_max = std::max(box.first_max, hull.begin);
    box.last_min = std::min(box.last_min, hull.end);
    box.last_max = std::max(box.last_max, hull.end);
  }
  if (end - begin <= kLeaf) return;
  const int middle = begin + (end - begin) / 2;
  std::nth_element(points_.begin() + begin, points_.begin() + middle, points_.begin() + end,
                   [&](int a, int b) {
                     const Span& x = instance_->hull[a];
                     const Span& y = instance_->hull[b];
                     const int left = by_first ? x.begin : x.end;
                     const int right = by_first ? y.begin : y.end;
                     return left != right ? left < right : a < b;
                   });
  build(2 * node + 1, begin, middle, !by_first);
  build(2 * node + 2, middle, end, !by_first);
}

void HullTree::refill(const std::vector<int>& rank) {
  rank_ = rank;
  for (size_t b = 0; b < rank.size(); ++b) by_rank_[rank[b]] = static_cast<int>(b);
  if (!rank.empty()) fill(0, 0, static_cast<int>(rank.size()));
}

void HullTree::fill(int node, int begin, int end) {
  int best = kNone;
  if (end - begin <= kLeaf) {
    for (int i = begin; i < end; ++i) best = std::min(best, rank_[points_[i]]);
  } else {
    const int middle = begin + (end - begin) / 2;
    fill(2 * node + 1, begin, middle);
    fill(2 * node + 2, middle, end);
    best = std::min(nodes_[2 * node + 1].best, nodes_[2 * node + 2].best);
  }
  nodes_[node].best = best;
}

void HullTree::query(int node, int begin, int end, const Span& inside, int& best) const {
  const Node& box = nodes_[node];
  if (box.best >= best || box.first_max < inside.begin || box.last_min > inside.end) return;
  if (box.first_min >= inside.begin && box.last_max <= inside.end) {
    best = box.best;
    return;
  }
  if (end - begin <= kLeaf) {
    for (int i = begin; i < end; ++i) {
      const int b = points_[i];
      const Span& hull = instance_->hull[b];
      if (rank_[b] < best && hull.begin >= inside.begin && hull.end <= inside.end) best = rank_[b];
    }
    return;
  }
  const int middle = begin + (end - begin) / 2;
  query(2 * node + 1, begin, middle, inside, best);
  query(2 * node + 2, middle, end, inside, best);
}

int HullTree::best_inside(int begin, int end) const {
  int best = kNone;
  if (!points_.empty()) query(0, 0, static_cast<int>(points_.size()), {begin, end}, best);
  return best == kNone ? -1 : by_rank_[best];
}

void HullTree::remove(int buffer) {
  rank_[buffer] = kNone;
  int node = 0;
  int begin = 0;
  int end = static_cast<int>(points_.size());
  while (end - begin > kLeaf) {
    const int middle = begin + (end - begin) / 2;
    const bool left = place_[buffer] < middle;
    node = 2 * node + (left ? 1 : 2);
    (left ? end : begin) = middle;
  }
  int best = kNone;
  for (int i = begin; i < end; ++i) best = std::min(best, rank_[points_[i]]);
  nodes_[node].best = best;
  while (node > 0) {
    node = (node - 1) / 2;
    best = std::min(nodes_[2 * node + 1].best, nodes_[2 * node + 2].best);
    if (nodes_[node].best == best) return;
    nodes_[node].best = best;
  }
}

}  // namespace plimsoll::planner
