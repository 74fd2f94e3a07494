// Functions of elements, on the thread that asks.
#include <thread>

#include "data/node.h"
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

  std::unique_ptr<Iterator> iterate() const override;
  std::int64_t cardinality() const override { return in->cardinality(); }
};

// Keeps the node, and with it the function, alive while it runs.
class Keeping : public Iterator {
 public:
  Keeping(NodePtr node, std::unique_ptr<Iterator> run)
      : node_(std::move(node)), run_(std::move(run)) {}
  std::optional<Element> next() override { return run_->next(); }

 private:
  const NodePtr node_;
  const std::unique_ptr<Iterator> run_;
};

std::unique_ptr<Iterator> MapNode::iterate() const {
  std::unique_ptr<Iterator> elements = in->rows() ? iterate_elements(in) : in->iterate();
  const std::int64_t num = num_parallel_calls == kAutotune
                               ? static_cast<std::int64_t>(std::thread::hardware_concurrency())
                               : num_parallel_calls;
  std::unique_ptr<Iterator> run;
  if (num > 1) {
    run = make_parallel_map(std::move(elements), fn, enter, static_cast<std::size_t>(num));
  } else {
    run = std::make_unique<MapRun>(std::move(elements), fn);
  }
  return std::make_unique<Keeping>(shared_from_this(), std::move(run));
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
