#include "training_lifetimes.h"

#include <algorithm>
#include <random>

namespace plimsoll::bench {
namespace {

constexpr int64_t kAlignment = 64;

// One training step of `layers` layers: layer i runs forward at step i and backward at step
// 2 * layers - 1 - i.
class Step {
 public:
  Step(int num_buffers, uint64_t seed) : random_(seed), wanted_(num_buffers) {
    layers_ = std::max(1, 2 * num_buffers / 11);  // a layer makes 5.5 buffers on average
    while (missing()) {
      for (int i = 0; i < layers_ && missing(); ++i) add_layer(i);
    }
  }
  planner::Problem take() { return std::move(problem_); }

 private:
  bool missing() const { return static_cast<int>(problem_.buffers.size()) < wanted_; }
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }
  bool one_in(int n) { return below(n) == 0; }

  void add(int64_t lower, int64_t upper, int64_t size) {
    if (!missing()) return;
    problem_.buffers.push_back({.lower = lower,
                                .upper = std::min<int64_t>(std::max(upper, lower + 1), 2 * layers_),
                                .size = std::max<int64_t>(size, 4),
                                .alignment = kAlignment});
  }

  void add_layer(int i) {
    const int64_t forward = i;
    const int64_t backward = 2 * layers_ - 1 - i;
    // Activations shrink from stage to stage, weights grow.
    const int stage = 4 * i / layers_;
    const int64_t activation = ((int64_t{1} << 22) >> stage) / (1 + below(4));
    const int64_t weight = (int64_t{1} << (14 + 2 * stage)) * (1 + below(3));
    const int reach =
        one_in(3) ? 2 + static_cast<int>(below(3)) : 1;  // a residual link skips layers
    if (one_in(4)) {  // not read by any gradient: gone when the last reader is done
      add(forward, forward + 1 + reach, activation);
      add(forward, backward + 1, activation / 32);  // its mask is kept instead
    } else {
      add(forward, backward + 1, activation);
    }
    if (!one_in(3)) add(forward, forward + 1, activation / (1 + below(8)));  // scratch
    add(backward - reach, backward + 1, activation);                         // gradient, from above
    if (!one_in(3)) add(backward, backward + 1, weight + activation / (1 + below(8)));
    add(backward, backward + 1 + below(2), weight);  // weight gradient, applied soon
    if (one_in(2)) add(forward, backward + 1, 256 + 4 * below(512));  // statistics
  }

  std::mt19937_64 random_;
  int wanted_;
  int layers_ = 0;
  planner::Problem problem_;
};

}  // namespace

planner::Problem make_training_problem(int num_buffers, uint64_t seed) {
  return Step(num_buffers, seed).take();
}

}  // namespace plimsoll::bench
