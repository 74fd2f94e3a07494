#include <algorithm>
#include <atomic>

#include "data/node.h"
#include "data/retry.h"
#include "data/row_places.h"
#include "data/row_stack.h"
#include "data/waiting.h"
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

// Elements are copied into the batch as they come, where it is known how many those will be; else,
// and if they are strings or from several devices, they are collected first.
class BatchRun : public Iterator {
 public:
  struct Options {
    std::int64_t size;
    bool drop;
    std::int64_t num_elements;         // that are to come; below 0: see cardinality
    std::atomic<bool>* has_collected;  // told once; the node's
  };
  BatchRun(NodePtr node, const NodePtr& in, const Options& options)
      : node_(std::move(node)), in_(in->iterate_into(places_)), options_(options) {}

  std::optional<Element> next() override {
    while (num_rows() < options_.size) {
      if (!waiting_ && !receive()) break;
      const TagScope tag(memory::Tag::kDataset);
      if (!is_dropped()) add(*waiting_);
      waiting_.reset();  // not before: without memory for it it waits for another try
    }
    if (num_rows() == 0 || (options_.drop && num_rows() < options_.size)) return std::nullopt;
    const TagScope tag(memory::Tag::kDataset);
    const std::int64_t count = num_rows();
    const auto drop = [&] {
      elements_.clear();
      num_taken_ += count;
      places_->end();
    };
    Element batch = call_or_drop(
        [&] { return stack_.is_begun() ? stack_.take() : stack_elements(elements_); }, drop);
    drop();
    node_->note(batch);
    return batch;
  }

 private:
  bool receive() {
    check_going();
    waiting_ = call_or_drop([&] { return in_->next(); }, [&] { places_->close(); });
    if (waiting_) ++num_received_;
    return waiting_.has_value();
  }
  std::int64_t num_rows() const {
    return stack_.is_begun() ? stack_.num_rows() : static_cast<std::int64_t>(elements_.size());
  }
  // How many elements the next batch is going to have; 0: not known. Where one was full, the next
  // may well be.
  std::int64_t expected() const {
    const std::int64_t left = options_.num_elements - num_taken_;
    if (left > 0) return std::min(options_.size, left);
    const bool may_be_full = options_.num_elements == kInfinite || num_taken_ >= options_.size;
    return may_be_full ? options_.size : 0;
  }
  // What is left is known not to make a batch: it is read to its end, and not kept.
  bool is_dropped() const {
    return options_.drop && options_.num_elements >= 0 &&
           options_.num_elements - num_taken_ < options_.size;
  }
  void add(const Element& element) {
    if (num_rows() == 0 && !stack_.is_begun() && expected() > 0 && RowStack::can_hold(element)) {
      stack_.begin(element, expected());
      places_->begin(stack_.leaves(), num_received_ - 1, expected());
    }
    if (places_->is_spoiled() && stack_.is_begun()) {
      stack_.renew();
      places_->end();
    }
    if (stack_.is_begun() && stack_.add(element)) return;
    if (stack_.is_begun()) {  // another device, or no batch at all
      elements_ = stack_.rows();
      stack_.take();
      places_->end();
    }
    elements_.push_back(element);
    *options_.has_collected = true;
  }

  const NodePtr node_;
  const std::shared_ptr<RowPlaces> places_ = std::make_shared<RowPlaces>();
  const std::unique_ptr<Iterator> in_;
  const Options options_;
  std::int64_t num_taken_ = 0, num_received_ = 0;
  std::optional<Element> waiting_;  // for memory
  RowStack stack_;
  std::vector<Element> elements_;
};

struct BatchNode : DatasetNode, std::enable_shared_from_this<BatchNode> {
  NodePtr in;
  std::int64_t size = 1;
  bool drop = false;
  mutable std::atomic<bool> has_collected{false};  // by a run

  std::unique_ptr<Iterator> iterate() const override {
    if (in->rows()) return std::make_unique<RowBatchRun>(in, size, drop);
    return std::make_unique<BatchRun>(shared_from_this(), in,
                                      BatchRun::Options{.size = size,
                                                        .drop = drop,
                                                        .num_elements = in->cardinality(),
                                                        .has_collected = &has_collected});
  }
  std::int64_t cardinality() const override {
    const std::int64_t n = in->cardinality();
    if (n < 0) return n;
    return drop ? n / size : (n + size - 1) / size;
  }
  Holds holds(const Use& use) const override {
    const std::int64_t n = in->cardinality();
    const std::int64_t num_rows = n >= 0 ? std::min(n, size) : size;
    const auto count = static_cast<std::uint64_t>(num_rows);
    const Holds before = in->holds(use.taking_times(size));
    if (!in->rows()) return held(before, count);
    Holds holds = before;
    holds.element = holds.given = holds.owned = bytes_of_rows(*in->rows(), num_rows);
    holds.busy = holds.kept + holds.given;
    holds.keeps_last = true;
    return holds;
  }
  // Elements that may end at any time are collected, and strings, once they have been seen.
  Holds held(const Holds& before, std::uint64_t count) const {
    const std::int64_t n = in->cardinality();
    const bool is_placed = n != kUnknown && !has_collected;
    Holds made = is_placed ? placed(before, count, largest_seen())
                           : collected(before, count, largest_seen());
    if (drop && n == kUnknown) made = reading_on(made);
    if (drop && n >= 0 && n % size) made.ending = std::max(before.ending, before.busy);
    return made;
  }
  bool can_begin_again() const override { return in->can_begin_again(); }
  BatchRows batch_rows() const override {
    const std::int64_t n = in->cardinality();
    // Of a number that is not known something may be left.
    if (n < 0) return {{size}, n == kInfinite || drop ? Trust::kExact : Trust::kAbout};
    BatchRows batches{.trust = Trust::kExact};
    if (n >= size) batches.rows.push_back(size);
    if (n % size && !drop) batches.rows.push_back(n % size);
    return batches;
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
