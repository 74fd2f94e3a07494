// Exact search: is there a plan of at most `target` bytes?
//
// Any plan can be let down until every buffer rests on another or on the ground. Such plans are
// built bottom up: the next buffer always goes to the lowest offset it can have above what is
// placed, and offsets never decrease along a path, so each plan is met once. A branch ends when in
// some section the bytes still to come do not fit above its floor.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "planner/instance.h"

namespace plimsoll::planner {

struct SearchRun {
  enum class End { kFound, kExhausted, kLimit };
  End end = End::kLimit;
  std::vector<int64_t> offsets;  // kFound
  int64_t next_bound = 0;        // kExhausted: no plan is lower than this
  int64_t nodes = 0;
  std::vector<int64_t> failed;  // branches that ended in each section
};

// Which buffer to try first among those at the same offset.
struct Preference {
  std::vector<int> order;
  bool by_load = false;  // sort again by load whenever what is left falls into parts
};

class Search {
 public:
  Search(const Instance& instance, const Techniques& techniques);

  // `interrupted` is asked now and then; it may end the run.
  SearchRun run(int64_t target, const Preference& preference, int64_t node_limit,
                const std::function<bool()>& interrupted);

 private:
  enum class Outcome : char { kFound, kFailed, kStopped };
  struct Change {
    enum class Kind : char { kPlaced, kPassed, kLowest, kFloor };
    Kind kind;
    int index;
    int64_t before;
  };
  struct Candidate {
    int64_t offset;
    int place;  // in lists_
    int buffer;
  };
  // What is left to place: buffers lists_[begin, end), preferred first, in sections [lower, upper).
  struct Part {
    int begin, end;
    int lower, upper;
    int64_t slack;  // of its tightest section
  };

  void reset(int64_t target, const std::vector<int>& order);
  Outcome visit(const Part& part, int64_t floor);
  Outcome descend(const Part& part, int placed);
  Outcome visit_parts(const Part& part, int placed);
  bool collect(const Part& part, int64_t floor, std::vector<Candidate>& candidates);
  void sort_by_load(const Part& part);
  bool known_failure(uint64_t key, uint64_t check) const;
  bool place(int buffer, bool& covered);
  bool lift_neighbours(int buffer, bool& covered);
  bool update_floors(int64_t offset);
  int64_t highest_offset(const Part& part) const;
  void undo(size_t mark);
  bool fail(int64_t bound, int section);

  const Instance& instance_;
  const Techniques techniques_;
  // Fixed after construction.
  std::vector<int> neighbours_, first_neighbour_;  // buffers in conflict
  std::vector<int> members_, first_member_;        // buffers of a section
  // State of a run, restored by undo().
  std::vector<int64_t> lowest_;  // offset above everything placed; the offset once placed
  std::vector<char> placed_;
  std::vector<char> passed_;      // tried here before: waits until something is put under it
  std::vector<int64_t> floor_;    // of a section: smallest `lowest_` of what is to come
  std::vector<int64_t> to_come_;  // of a section: bytes not placed yet
  std::vector<int> joins_;        // unplaced hulls over the boundary behind a section
  std::vector<Change> changes_;
  // Of a run.
  std::vector<int64_t> load_;
  bool by_load_ = false;
  std::vector<int> lists_;  // buffers of the parts on the path, stacked
  std::vector<int> dirty_;  // sections whose floor may rise
  std::vector<char> is_dirty_;
  std::vector<std::vector<Candidate>> candidates_;  // by depth
  std::vector<int64_t> failed_;
  int depth_ = 0;
  int64_t target_ = 0;
  int64_t next_bound_ = kUnlimited;
  int64_t nodes_ = 0;
  int64_t node_limit_ = 0;
  const std::function<bool()>* interrupted_ = nullptr;
  uint64_t key_ = 0, check_ = 0;  // of the state last collected
  struct Failure {
    uint64_t key = 0, check = 0;
  };
  std::vector<Failure> failures_;  // states without a plan; a hash table that forgets
  uint64_t salt_ = 0;              // new for every run: failures hold for one target and order
};

}  // namespace plimsoll::planner
