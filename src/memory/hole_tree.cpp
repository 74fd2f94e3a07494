#include "memory/hole_tree.h"

namespace plimsoll::memory {
namespace {

bool is_less(const Segment* a, const Segment* b) noexcept {
  return a->size != b->size ? a->size < b->size : a->address < b->address;
}

// A fixed hash of the address stands in for the treap's random priority: the same run of requests
// gives the same tree.
std::uint64_t priority(const Segment* s) noexcept {
  std::uint64_t x = s->address * 0x9E3779B97F4A7C15ULL;
  x ^= x >> 32;
  return x * 0xD6E8FEB86659FD93ULL;
}

// Splits `tree` into what is below `key` and the rest.
void split(Segment* tree, const Segment* key, Segment** low, Segment** high) noexcept {
  while (tree) {
    if (is_less(tree, key)) {
      *low = tree;
      low = &tree->right;
      tree = tree->right;
    } else {
      *high = tree;
      high = &tree->left;
      tree = tree->left;
    }
  }
  *low = nullptr;
  *high = nullptr;
}

Segment* merge(Segment* low, Segment* high) noexcept {
  Segment* root = nullptr;
  Segment** slot = &root;
  while (low && high) {
    if (priority(low) > priority(high)) {
      *slot = low;
      slot = &low->right;
      low = low->right;
    } else {
      *slot = high;
      slot = &high->left;
      high = high->left;
    }
  }
  *slot = low ? low : high;
  return root;
}

bool is_ordered(const Segment* s, const Segment* low, const Segment* high) noexcept {
  if (!s) return true;
  if (low && !is_less(low, s)) return false;
  if (high && !is_less(s, high)) return false;
  for (const Segment* child : {s->left, s->right}) {
    if (child && priority(child) > priority(s)) return false;
  }
  return s->state == Segment::State::kHole && is_ordered(s->left, low, s) &&
         is_ordered(s->right, s, high);
}

}  // namespace

void HoleTree::insert(Segment* hole) noexcept {
  Segment** slot = &root_;
  while (*slot && priority(*slot) >= priority(hole)) {
    slot = is_less(hole, *slot) ? &(*slot)->left : &(*slot)->right;
  }
  split(*slot, hole, &hole->left, &hole->right);
  *slot = hole;
}

void HoleTree::erase(Segment* hole) noexcept {
  Segment** slot = &root_;
  while (*slot != hole) slot = is_less(hole, *slot) ? &(*slot)->left : &(*slot)->right;
  *slot = merge(hole->left, hole->right);
  hole->left = hole->right = nullptr;
}

Segment* HoleTree::find_at_least(std::uint64_t size) const noexcept {
  Segment* best = nullptr;
  for (Segment* s = root_; s;) {
    if (s->size >= size) {
      best = s;
      s = s->left;
    } else {
      s = s->right;
    }
  }
  return best;
}

Segment* HoleTree::find_after(const Segment* hole) const noexcept {
  Segment* best = nullptr;
  for (Segment* s = root_; s;) {
    if (is_less(hole, s)) {
      best = s;
      s = s->left;
    } else {
      s = s->right;
    }
  }
  return best;
}

Segment* HoleTree::find_largest() const noexcept {
  Segment* s = root_;
  while (s && s->right) s = s->right;
  return s;
}

bool HoleTree::contains(const Segment* hole) const noexcept {
  const Segment* s = root_;
  while (s && s != hole) s = is_less(hole, s) ? s->left : s->right;
  return s == hole;
}

bool HoleTree::is_valid() const noexcept {
  return is_ordered(root_, nullptr, nullptr);
}

}  // namespace plimsoll::memory
