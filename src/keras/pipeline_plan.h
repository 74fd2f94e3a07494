// What the datasets of a fit hold besides the batch in use, one epoch after the other: caches are
// filled by the first run that comes to their end, and stay.
#pragma once

#include "data/holds.h"
#include "keras/feed.h"

namespace plimsoll::keras {

// What stays when no run is there: caches that are full now, and constants of functions.
data::FullCaches kept_by(const Feed& feed);
// Whether a run fills a cache of which nobody knows how many elements it will have.
bool has_open_cache(const Feed& feed);

class PipelinePlan {
 public:
  // pre: the feeds outlive it.
  PipelinePlan(data::Depth depth, const Feed& training, const Feed* validation)
      : depth_(depth), training_(training), validation_(validation) {
    full_.add(training.looked_at);
    if (validation) full_.add(validation->looked_at);
  }

  struct Ahead {
    std::uint64_t nbytes = 0;
    data::Trust trust = data::Trust::kExact;
  };
  Ahead train();       // the most in the next epoch of training
  Ahead test();        // the most in the next validation. pre: there is one
  Ahead idle() const;  // between two runs

  // What caches will keep that do not keep it yet, as far as it is known.
  std::uint64_t cached_bytes() const { return full_.cached_bytes() + growing_.cached_bytes(); }
  bool has_open_cache() const { return full_.has_open() || growing_.has_open(); }

 private:
  data::Holds run(const Feed& feed, data::FullCaches& filled) const;
  static Ahead beside(const Ahead& others, const data::Holds& holds);

  const data::Depth depth_;
  const Feed& training_;
  const Feed* const validation_;
  data::FullCaches full_;     // by runs that have ended
  data::FullCaches growing_;  // by a training that goes on
  Ahead going_on_;            // what that training holds between its epochs
};

}  // namespace plimsoll::keras
