#include "keras/pipeline_plan.h"

#include <algorithm>

#include "data/node.h"

namespace plimsoll::keras {
namespace {

std::uint64_t ahead_of(const data::Holds& holds) {
  return holds.most() - std::min(holds.most(), holds.given);
}

}  // namespace

data::FullCaches kept_by(const Feed& feed) {
  data::FullCaches there;
  feed.batches.node()->holds({.there = &there});
  return there;
}

bool has_open_cache(const Feed& feed) {
  data::FullCaches filled;
  feed.batches.node()->holds({.filled = &filled});
  return filled.has_open();
}

data::Holds PipelinePlan::run(const Feed& feed, data::FullCaches& filled) const {
  data::Holds holds = feed.batches.node()->holds(
      {.depth = depth_, .num_taken = feed.num_taken, .full = &full_, .filled = &filled});
  // The first full batch is made before there are an arena and results beside it, and with the last
  // one steps may have given back what they keep: that counts if it is the only one.
  const std::int64_t num = std::min(feed.num_taken, feed.num_batches.value_or(feed.num_taken));
  const bool changes = holds.kept > 0 || holds.busy > holds.kept + holds.given;
  if (feed.scope && changes && num <= static_cast<std::int64_t>(feed.forms.size()))
    holds.trust = std::max(holds.trust, data::Trust::kMost);
  return holds;
}

PipelinePlan::Ahead PipelinePlan::idle() const {
  return {full_.nbytes() + going_on_.nbytes, std::max(full_.trust(), going_on_.trust)};
}

PipelinePlan::Ahead PipelinePlan::beside(const Ahead& others, const data::Holds& holds) {
  return {others.nbytes + ahead_of(holds), std::max(others.trust, holds.trust)};
}

PipelinePlan::Ahead PipelinePlan::train() {
  data::FullCaches filled;
  const data::Holds holds = run(training_, filled);
  const Ahead ahead = beside({full_.nbytes(), full_.trust()}, holds);
  if (training_.goes_on) {
    growing_ = filled;
    going_on_ = {holds.kept + holds.last(), holds.trust};
    // An epoch that ends with the data leaves nothing.
    const bool may_end = training_.num_batches && training_.num_taken > *training_.num_batches;
    if (may_end) going_on_.trust = std::max(holds.trust, data::Trust::kMost);
    if (holds.may_keep_last)
      going_on_ = {holds.kept + holds.given, std::max(holds.trust, data::Trust::kMost)};
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
  const Ahead ahead = beside(idle(), holds);
  full_.add(filled);
  return ahead;
}

}  // namespace plimsoll::keras
