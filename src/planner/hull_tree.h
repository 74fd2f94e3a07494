// The preferred buffer among those that live entirely inside a stretch of sections.
//
// A tree over the points (first section, last section), split in turn by either coordinate; every
// node knows the box of its points and the best rank still in it, so a query visits few nodes.
#pragma once

#include <vector>

#include "planner/instance.h"

namespace plimsoll::planner {

class HullTree {
 public:
  // rank: lower is preferred. All buffers are in the tree at first.
  HullTree(const Instance& instance, const std::vector<int>& rank);

  int best_inside(int begin, int end) const;  // buffer, or -1
  void remove(int buffer);
  // All buffers back in, under another preference.
  void refill(const std::vector<int>& rank);

 private:
  struct Node {
    int first_min, first_max;  // of hull.begin
    int last_min, last_max;    // of hull.end
    int best;                  // rank; kNone when empty
  };
  static constexpr int kNone = 0x7fffffff;
  static constexpr int kLeaf = 8;  // buffers in a leaf

  void build(int node, int begin, int end, bool by_first);
  void fill(int node, int begin, int end);
  void query(int node, int begin, int end, const Span& inside, int& best) const;

  const Instance* instance_;
  std::vector<int> rank_;     // of each buffer; kNone once removed
  std::vector<int> by_rank_;  // buffer of each rank
  std::vector<int> points_;   // buffers in tree order
  std::vector<int> place_;    // of each buffer in points_
  std::vector<Node> nodes_;   // children of i are 2i + 1 and 2i + 2
};

}  // namespace plimsoll::planner
