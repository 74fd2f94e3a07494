// A function of elements whose memory is measured at its first call, and again for larger elements.
#pragma once

#include <atomic>
#include <functional>

#include "data/node.h"
#include "plimsoll/memory_api.h"
#include "runtime/output_place.h"

namespace plimsoll::data {

class Measured {
 public:
  explicit Measured(WorkOptions options = {}) : options_(std::move(options)) {}

  // run(), which uses the function. `given` says how many bytes of a result are the function's.
  template <class Run, class Given>
  auto call(const Element& element, const Run& run, const Given& given) const {
    const std::uint64_t size = bytes_of(element) + 1;  // 0: none was measured
    if (size <= measured_.load(std::memory_order_acquire)) return run();
    const OutputPlace none;  // what is measured has memory of its own
    if (options_.prepare) {
      const memory::BudgetScope scope(memory::kNoLimit);
      options_.prepare(element);
      constants_ = std::max(constants_.load(), scope.in_use());
    }
    const memory::BudgetScope scope(memory::kNoLimit);
    auto made = run();
    const std::uint64_t nbytes = given(made);
    work_ = scope.peak();
    shared_ = nbytes - std::min(nbytes, scope.in_use());
    measured_.store(size, std::memory_order_release);
    return made;
  }

  // What it does with elements that are batches of these numbers of rows. What it keeps is made for
  // each of them.
  Making making(std::uint64_t element, const Use& use, const BatchRows& batches) const {
    if (use.there && constants_ > 0) use.there->add_constants(this, constants_);
    const bool keeps = options_.keeps_work && options_.keeps_work();
    const std::uint64_t num_others = batches.rows.empty() || !keeps ? 0 : batches.rows.size() - 1;
    if (use.filled && num_others > 0 && constants_ > 0) {  // which stay behind the run
      use.filled->add_constants(&constants_, num_others * constants_);
      use.filled->trust(Trust::kMost);
    }
    return {.element = element,
            .shared = shared_,
            .work = work_,
            .keeps_work = keeps,
            .others = num_others * (constants_ + work_)};
  }
  // At the end of a run.
  void trim() const {
    if (options_.trim) options_.trim();
  }

 private:
  const WorkOptions options_;
  mutable std::atomic<std::uint64_t> measured_{0};  // the size of the largest element
  mutable std::atomic<std::uint64_t> work_{0}, shared_{0}, constants_{0};
};

}  // namespace plimsoll::data
