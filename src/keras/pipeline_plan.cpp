#include "keras/pipeline_plan.h"

#include <algorithm>

#include "data/node.h"

namespace plimsoll::keras {
namespace {

std::uint64_t ahead_of(const data::Holds& holds) {
  return holds.most() - std::min(holds.most(), holds.given);
}

}  // namespace

data::Holds PipelinePlan::run(const Feed& feed, data::FullCaches& filled) const {
  return feed.batches.node()->holds(
      {.depth = depth_, .num_taken = feed.num_taken, .full = &full_, .filled = &filled});
}

PipelinePlan::Ahead PipelinePlan::train() {
  data::FullCaches filled;
  const data::Holds holds = run(training_, filled);
  const Ahead ahead{full_.nbytes() + ahead_of(holds), holds.trust};
  if (training_.goes_on) {
    growing_ = filled;
    going_on_ = ahead_of(holds) + batch_bytes_;
  } else {
    full_.add(filled);
  }
  return ahead;
}

PipelinePlan::Ahead PipelinePlan::test() {
  data::FullCaches filled;
  data::Holds holds = run(*validation_, filled);
  if (holds.element == 0) {  // not seen yet: taken for like the training's
    holds = run(training_, filled);
    holds.trust = data::Trust::kAbout;
  }
  const Ahead ahead{full_.nbytes() + going_on_ + ahead_of(holds), holds.trust};
  full_.add(filled);
  return ahead;
}

}  // namespace plimsoll::keras
