#include <algorithm>

#include "data/node.h"
#include "runtime/call_site.h"

namespace plimsoll::data {
namespace {

// Batches of rows, gathered straight out of their tensors. The memory of a batch serves the next
// one if nobody holds it any more.
class RowBatchRun : public Iterator {
 public:
  RowBatchRun(NodePtr in, std::int64_t size, bool drop)
      : in_(std::move(in)),
        run_(in_->iterate_rows()),
        size_(static_cast<std::size_t>(size)),
        drop_(drop) {}

  std::optional<Element> next() override {
    while (rows_.size() < size_) {
      const std::optional<std::int64_t> row = run_->next();
      if (!row) break;
      rows_.push_back(*row);
    }
    if (rows_.empty() || (drop_ && rows_.size() < size_)) {
      last_ = Element();
      return std::nullopt;
    }
    last_ = gather_rows(*in_->rows(), rows_, std::move(last_));
    rows_.clear();  // not before: without memory for them they wait for another try
    return last_;
  }

 private:
  const NodePtr in_;
  const std::unique_ptr<RowIterator> run_;
  const std::size_t size_;
  const bool drop_;
  std::vector<std::int64_t> rows_;
  Element last_;
};

class BatchRun : public Iterator {
 public:
  BatchRun(NodePtr node, std::unique_ptr<Iterator> in, std::int64_t size, bool drop)
      : node_(std::move(node)),
        in_(std::move(in)),
        size_(static_cast<std::size_t>(size)),
        drop_(drop) {}

  std::optional<Element> next() override {
    while (elements_.size() < size_) {
      auto element = in_->next();
      if (!element) break;
      elements_.push_back(std::move(*element));
    }
    if (elements_.empty() || (drop_ && elements_.size() < size_)) return std::nullopt;
    const TagScope tag(memory::Tag::kDataset);
    Element batch = stack_elements(elements_);
    elements_.clear();
    node_->note(batch);
    return batch;
  }

 private:
  const NodePtr node_;
  const std::unique_ptr<Iterator> in_;
  const std::size_t size_;
  const bool drop_;
  std::vector<Element> elements_;  // of a batch that there was no memory for, too
};

struct BatchNode : DatasetNode, std::enable_shared_from_this<BatchNode> {
  NodePtr in;
  std::int64_t size = 1;
  bool drop = false;

  std::unique_ptr<Iterator> iterate() const override {
    if (in->rows()) return std::make_unique<RowBatchRun>(in, size, drop);
    return std::make_unique<BatchRun>(shared_from_this(), in->iterate(), size, drop);
  }
  std::int64_t cardinality() const override {
    const std::int64_t n = in->cardinality();
    if (n < 0) return n;
    return drop ? n / size : (n + size - 1) / size;
  }
  Holds holds(Depth depth) const override {
    const std::int64_t n = in->cardinality();
    const std::int64_t num_rows = n >= 0 ? std::min(n, size) : size;
    const auto count = static_cast<std::uint64_t>(num_rows);
    const Holds before = in->holds(depth);
    if (!in->rows()) return collected(before, count, largest_seen());
    Holds holds = before;
    holds.element = holds.given = bytes_of_rows(*in->rows(), num_rows);
    holds.busy = holds.kept + holds.given;
    holds.keeps_last = true;
    return holds;
  }
  std::vector<std::int64_t> batch_rows() const override {
    const std::int64_t n = in->cardinality();
    if (n < 0) return {size};
    std::vector<std::int64_t> rows;
    if (n >= size) rows.push_back(size);
    if (n % size && !drop) rows.push_back(n % size);
    return rows;
  }
};

}  // namespace

NodePtr make_batch(NodePtr in, std::int64_t batch_size, const BatchOptions& options) {
  auto node = std::make_shared<BatchNode>();
  node->in = std::move(in);
  node->size = batch_size;
  node->drop = options.drop_remainder;
  return node;
}

}  // namespace plimsoll::data
