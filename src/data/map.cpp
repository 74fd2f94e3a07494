// Functions of elements, on the thread that asks.
#include <algorithm>
#include <thread>

#include "data/measured.h"
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

// At its end the function's work space goes.
class TrimmedRun : public Iterator {
 public:
  TrimmedRun(std::unique_ptr<Iterator> run, const Measured& fn) : run_(std::move(run)), fn_(fn) {}
  ~TrimmedRun() override {
    run_.reset();
    fn_.trim();
  }
  std::optional<Element> next() override { return run_->next(); }

 private:
  std::unique_ptr<Iterator> run_;
  const Measured& fn_;
};

struct MapNode : DatasetNode, std::enable_shared_from_this<MapNode> {
  NodePtr in;
  MapFn fn;
  std::int64_t num_parallel_calls = 0;
  MapOptions::Enter enter;
  const Measured work;
  const MapFn measured = [this](const Element& element) {
    return work.call(
        element, [&] { return fn(element); }, bytes_of);
  };

  explicit MapNode(const WorkOptions& options) : work(options) {}
  std::unique_ptr<Iterator> iterate() const override { return iterate_into(nullptr); }
  std::unique_ptr<Iterator> iterate_into(std::shared_ptr<RowPlaces> places) const override;
  std::int64_t cardinality() const override { return in->cardinality(); }
  Holds holds(const Use& use) const override {
    const bool has_threads = num_threads() > 1;
    const Holds before = in->holds(use.taking_more(has_threads ? taken_ahead(num_threads()) : 0));
    const BatchRows batches = in->batch_rows();
    const Making making = work.making(largest_seen(), use, batches);
    return use.depth == Depth::kFull && has_threads
               ? held_by_threads(before, making, num_threads(), batches.rows.size() > 1)
               : made_from(before, making);
  }
  BatchRows batch_rows() const override { return in->batch_rows(); }
  bool can_begin_again() const override { return in->can_begin_again(); }

  std::size_t num_threads() const {
    constexpr std::int64_t kMost = 1024;  // more only wait for each other
    return num_parallel_calls == kAutotune
               ? std::thread::hardware_concurrency()
               : static_cast<std::size_t>(std::min(num_parallel_calls, kMost));
  }
};

std::unique_ptr<Iterator> MapNode::iterate_into(std::shared_ptr<RowPlaces> places) const {
  std::unique_ptr<Iterator> elements = in->rows() ? iterate_elements(in) : in->iterate();
  std::unique_ptr<Iterator> run;
  if (num_threads() > 1) {
    run = make_parallel_map(std::move(elements), measured, enter, num_threads(), std::move(places));
  } else {
    run = std::make_unique<MapRun>(std::move(elements), measured);
  }
  run = std::make_unique<TrimmedRun>(std::move(run), work);
  return make_noted_run(shared_from_this(), std::move(run));
}

}  // namespace

NodePtr make_map(NodePtr in, std::function<Element(const Element&)> fn, const MapOptions& options) {
  auto node = std::make_shared<MapNode>(options.work);
  node->in = std::move(in);
  node->fn = std::move(fn);
  node->num_parallel_calls = options.num_parallel_calls;
  node->enter = options.enter;
  return node;
}

}  // namespace plimsoll::data
