// Functions of elements, on the thread that asks.
#include <algorithm>
#include <atomic>
#include <thread>

#include "data/node.h"
#include "plimsoll/memory_api.h"
#include "runtime/call_site.h"

namespace plimsoll::data {
namespace {

using MapFn = std::function<Element(const Element&)>;

class MapRun : public Iterator {
 public:
  MapRun(std::unique_ptr<Iterator> in, const MapFn& fn) : in_(std::move(in)), fn_(fn) {}
  std::optional<Element> next() override {
    if (!waiting_) waiting_ = in_->next();
    if (!waiting_) return std::nullopt;
    Element made;
    try {
      const TagScope tag(memory::Tag::kDataset);
      made = fn_(*waiting_);
    } catch (const ResourceExhaustedError&) {
      throw;  // it can be tried again
    } catch (...) {
      waiting_.reset();
      throw;
    }
    waiting_.reset();
    return made;
  }

 private:
  const std::unique_ptr<Iterator> in_;
  const MapFn& fn_;
  std::optional<Element> waiting_;
};

struct MapNode : DatasetNode, std::enable_shared_from_this<MapNode> {
  NodePtr in;
  MapFn fn;
  std::int64_t num_parallel_calls = 0;
  MapOptions::Enter enter;
  const MapFn measured = [this](const Element& element) { return call(element); };

  std::unique_ptr<Iterator> iterate() const override;
  std::int64_t cardinality() const override { return in->cardinality(); }
  Holds holds(const Use& use) const override {
    const bool has_threads = num_threads() > 1;
    const Holds before = in->holds(use.taking_more(has_threads ? taken_ahead(num_threads()) : 0));
    const Making making{.element = largest_seen(), .shared = shared_bytes, .work = work_bytes};
    return use.depth == Depth::kFull && has_threads ? held_by_threads(before, making, num_threads())
                                                    : made_from(before, making);
  }
  BatchRows batch_rows() const override { return in->batch_rows(); }
  bool can_begin_again() const override { return in->can_begin_again(); }

  std::size_t num_threads() const {
    return num_parallel_calls == kAutotune ? std::thread::hardware_concurrency()
                                           : static_cast<std::size_t>(num_parallel_calls);
  }
  // The function; the first time, what it takes is measured.
  Element call(const Element& element) const {
    if (is_measured.load(std::memory_order_relaxed)) return fn(element);
    const memory::BudgetScope scope(memory::kNoLimit);
    Element made = fn(element);
    const std::uint64_t nbytes = bytes_of(made);
    work_bytes = scope.peak();
    shared_bytes = nbytes - std::min(nbytes, scope.in_use());
    is_measured = true;
    return made;
  }

 private:
  mutable std::atomic<bool> is_measured{false};
  mutable std::atomic<std::uint64_t> work_bytes{0}, shared_bytes{0};
};

std::unique_ptr<Iterator> MapNode::iterate() const {
  std::unique_ptr<Iterator> elements = in->rows() ? iterate_elements(in) : in->iterate();
  std::unique_ptr<Iterator> run;
  if (num_threads() > 1) {
    run = make_parallel_map(std::move(elements), measured, enter, num_threads());
  } else {
    run = std::make_unique<MapRun>(std::move(elements), measured);
  }
  return make_noted_run(shared_from_this(), std::move(run));
}

}  // namespace

NodePtr make_map(NodePtr in, std::function<Element(const Element&)> fn, const MapOptions& options) {
  auto node = std::make_shared<MapNode>();
  node->in = std::move(in);
  node->fn = std::move(fn);
  node->num_parallel_calls = options.num_parallel_calls;
  node->enter = options.enter;
  return node;
}

}  // namespace plimsoll::data
