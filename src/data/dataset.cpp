#include "plimsoll/data/dataset.h"

#include "base/check.h"
#include "data/node.h"
#include "data/waiting.h"
#include "plimsoll/ops.h"
#include "runtime/device.h"

namespace plimsoll::data {
namespace {

class CountedRows : public RowIterator {
 public:
  CountedRows(std::int64_t first, std::int64_t last) : next_(first), end_(last) {}
  std::optional<std::int64_t> next() override {
    return next_ < end_ ? std::optional(next_++) : std::nullopt;
  }

 private:
  std::int64_t next_, end_;
};

struct SlicesNode : DatasetNode {
  RowSource source;

  std::unique_ptr<Iterator> iterate() const override { return nullptr; }  // by rows
  std::int64_t cardinality() const override { return source.num_rows; }
  Holds holds(const Use&) const override {
    const std::uint64_t row = bytes_of_rows(source, 1);
    return {.element = row, .given = row, .owned = row, .busy = row};
  }
  const RowSource* rows() const override { return &source; }
  std::unique_ptr<RowIterator> iterate_rows() const override {
    return std::make_unique<CountedRows>(0, source.num_rows);
  }
};

class NotedRun : public Iterator {
 public:
  NotedRun(NodePtr node, std::unique_ptr<Iterator> run)
      : node_(std::move(node)), run_(std::move(run)) {}
  std::optional<Element> next() override {
    auto element = run_->next();
    if (element) node_->note(*element);
    return element;
  }

 private:
  const NodePtr node_;
  const std::unique_ptr<Iterator> run_;
};

struct GeneratorNode : DatasetNode, std::enable_shared_from_this<GeneratorNode> {
  std::function<Dataset::Generator()> make;
  std::int64_t size = kUnknown;
  bool is_one_shot = false;
  bool is_shared = false;  // elements are there anyway

  std::unique_ptr<Iterator> iterate() const override {
    return make_noted_run(shared_from_this(), make_run(make()));
  }
  std::int64_t cardinality() const override { return size; }
  bool can_begin_again() const override { return !is_one_shot; }
  Holds holds(const Use&) const override {
    const std::uint64_t made = is_shared ? 0 : largest_seen();
    return {.element = largest_seen(), .given = made, .owned = made, .busy = made};
  }
};

// Elements `skipped` to `skipped + taken`, over and over if it repeats: take, skip and repeat.
template <class Base, class Item>
class PartRun : public Base {
 public:
  PartRun(std::function<std::unique_ptr<Base>()> again, std::int64_t skipped, std::int64_t taken,
          std::int64_t repeats)
      : again_(std::move(again)), skipped_(skipped), taken_(taken), repeats_(repeats) {}

  std::optional<Item> next() override {
    while (true) {
      if (!run_) {
        if (repeats_ == 0) return std::nullopt;
        if (!begun_) begin();
        skip();
        run_ = std::move(begun_);
        if (repeats_ > 0) --repeats_;
        num_given_ = 0;
      }
      if (taken_ < 0 || num_given_ < taken_) {
        if (auto item = run_->next()) {
          ++num_given_;
          return item;
        }
      }
      run_.reset();
      if (num_given_ == 0) return std::nullopt;  // nothing, however often it is repeated
    }
  }

 private:
  void begin() {
    begun_ = again_();
    num_left_ = skipped_;
  }
  // Without memory on the way it is begun again. What ends in another error is skipped too.
  void skip() {
    try {
      while (num_left_ > 0) {
        check_going();
        --num_left_;
        if (!begun_->next()) num_left_ = 0;
      }
    } catch (const ResourceExhaustedError&) {
      begun_.reset();
      throw;
    }
  }

  std::function<std::unique_ptr<Base>()> again_;
  const std::int64_t skipped_, taken_;  // taken_ < 0: all
  std::int64_t repeats_;                // < 0: without end
  std::unique_ptr<Base> begun_;         // a run that still skips
  std::int64_t num_left_ = 0;           // elements that it has to
  std::unique_ptr<Base> run_;
  std::int64_t num_given_ = 0;
};

struct PartNode : DatasetNode {
  NodePtr in;
  std::int64_t skipped = 0, taken = -1, repeats = 1;

  std::unique_ptr<Iterator> iterate() const override {
    return std::make_unique<PartRun<Iterator, Element>>(
        [in = in] { return in->rows() ? iterate_elements(in) : in->iterate(); }, skipped, taken,
        repeats);
  }
  Holds holds(const Use& use) const override {
    std::int64_t num = use.num_taken;
    if (taken >= 0) num = std::min(num, taken);
    if (repeats == 0) num = 0;
    Holds holds = in->holds(use.taking(num).taking_more(skipped));
    // What steps before keep goes with each round.
    if (holds.kept > 0) holds.trust = std::max(holds.trust, Trust::kMost);
    return holds;
  }
  bool can_begin_again() const override { return in->can_begin_again(); }
  BatchRows batch_rows() const override {
    const bool is_all = skipped == 0 && taken < 0;
    const BatchRows all = repeats == 1 ? in->batch_rows() : in->batch_rows().in_any_order();
    return is_all ? all : all.of_a_part();
  }
  const RowSource* rows() const override { return in->rows(); }
  std::unique_ptr<RowIterator> iterate_rows() const override {
    return std::make_unique<PartRun<RowIterator, std::int64_t>>(
        [in = in] { return in->iterate_rows(); }, skipped, taken, repeats);
  }
  std::int64_t cardinality() const override {
    const std::int64_t n = in->cardinality();
    if (repeats == 0 || taken == 0 || n == 0) return 0;
    if (repeats < 0) return kInfinite;
    if (n == kUnknown) return kUnknown;
    if (n == kInfinite && taken < 0) return kInfinite;
    std::int64_t once = n == kInfinite ? taken : std::max<std::int64_t>(0, n - skipped);
    if (taken >= 0) once = std::min(once, taken);
    return once * repeats;
  }
};

NodePtr make_part(NodePtr in, std::int64_t skipped, std::int64_t taken, std::int64_t repeats) {
  auto node = std::make_shared<PartNode>();
  node->in = std::move(in);
  node->skipped = skipped;
  node->taken = taken;
  node->repeats = repeats;
  return node;
}

RowSource make_row_source(const Element& tensors) {
  std::optional<std::int64_t> num_rows;
  tensors.for_each([&](const Tensor& t) {
    PLIMSOLL_CHECK(t.is_valid(), InvalidArgumentError, "from_tensor_slices got an empty Tensor");
    PLIMSOLL_CHECK(t.rank() > 0, InvalidArgumentError,
                   "Unbatching a tensor is only supported for rank >= 1");
    if (!num_rows) num_rows = t.shape()[0];
    PLIMSOLL_CHECK(*num_rows == t.shape()[0], InvalidArgumentError,
                   "Dimensions {} and {} are not compatible", *num_rows, t.shape()[0]);
  });
  PLIMSOLL_CHECK(num_rows, InvalidArgumentError, "from_tensor_slices got no tensors");
  return {.tensors = tensors, .num_rows = *num_rows};
}

}  // namespace

void DatasetNode::note(const Element& element) const {
  const std::uint64_t nbytes = bytes_of(element);
  std::uint64_t most = seen_.load(std::memory_order_relaxed);
  while (most < nbytes && !seen_.compare_exchange_weak(most, nbytes, std::memory_order_relaxed)) {
  }
}

std::unique_ptr<Iterator> make_noted_run(NodePtr node, std::unique_ptr<Iterator> run) {
  return std::make_unique<NotedRun>(std::move(node), std::move(run));
}

Dataset Dataset::from_tensor_slices(const Element& tensors) {
  auto node = std::make_shared<SlicesNode>();
  node->source = make_row_source(tensors);
  return Dataset(std::move(node));
}

Dataset slices_as_floats(const Element& tensors) {
  auto node = std::make_shared<SlicesNode>();
  node->source = make_row_source(tensors.map([](const Tensor& t) {
    const bool is_far = t.is_valid() && t.dtype() == float64 && !owner_of(t)->is_host();
    return is_far ? cast(t, float32) : t;
  }));
  node->source.doubles_as_floats = true;
  return Dataset(std::move(node));
}

Dataset Dataset::from_tensors(const Element& tensors) {
  auto node = std::make_shared<GeneratorNode>();
  node->size = 1;
  node->is_shared = true;
  node->make = [tensors] {
    return [tensors, is_given = false]() mutable -> std::optional<Element> {
      if (std::exchange(is_given, true)) return std::nullopt;
      return tensors;
    };
  };
  return Dataset(std::move(node));
}

Dataset Dataset::range(std::int64_t stop) {
  return range(0, stop);
}
Dataset Dataset::range(std::int64_t start, std::int64_t stop, std::int64_t step) {
  PLIMSOLL_CHECK(step != 0, InvalidArgumentError, "step must be a non-zero integer.");
  auto node = std::make_shared<GeneratorNode>();
  const std::int64_t span = step > 0 ? stop - start : start - stop;
  const std::int64_t size = step > 0 ? step : -step;
  node->size = span > 0 ? (span + size - 1) / size : 0;
  node->make = [start, step, num = node->size] {
    return [start, step, num, i = std::int64_t{0}]() mutable -> std::optional<Element> {
      if (i >= num) return std::nullopt;
      Element made(constant(start + step * i));
      ++i;  // not before: without memory for it it is made at another try
      return made;
    };
  };
  return Dataset(std::move(node));
}

Dataset Dataset::from_generator(std::function<Generator()> make, const GeneratorOptions& options) {
  PLIMSOLL_CHECK(make, InvalidArgumentError, "from_generator needs a function");
  auto node = std::make_shared<GeneratorNode>();
  node->make = std::move(make);
  node->size = options.num_elements;
  node->is_one_shot = options.is_one_shot;
  return Dataset(std::move(node));
}

Dataset Dataset::shuffle(std::int64_t buffer_size, const ShuffleOptions& options) const {
  PLIMSOLL_CHECK(buffer_size > 0, InvalidArgumentError,
                 "`buffer_size` must be greater than zero. Received: {}", buffer_size);
  return Dataset(make_shuffle(node_, buffer_size, options));
}
Dataset Dataset::batch(std::int64_t batch_size, const BatchOptions& options) const {
  PLIMSOLL_CHECK(batch_size > 0, InvalidArgumentError,
                 "`batch_size` must be greater than zero. Received: {}", batch_size);
  return Dataset(make_batch(node_, batch_size, options));
}
Dataset Dataset::map(std::function<Element(const Element&)> fn, const MapOptions& options) const {
  PLIMSOLL_CHECK(fn, InvalidArgumentError, "map needs a function");
  PLIMSOLL_CHECK(options.num_parallel_calls >= 0 || options.num_parallel_calls == kAutotune,
                 InvalidArgumentError, "num_parallel_calls must be greater than zero. Received: {}",
                 options.num_parallel_calls);
  return Dataset(make_map(node_, std::move(fn), options));
}
Dataset Dataset::prefetch(std::int64_t buffer_size) const {
  PLIMSOLL_CHECK(buffer_size >= 0 || buffer_size == kAutotune, InvalidArgumentError,
                 "`buffer_size` must be >= 0 or AUTOTUNE. Received: {}", buffer_size);
  return buffer_size == 0 ? *this : Dataset(make_prefetch(node_, buffer_size));
}
Dataset Dataset::repeat(std::int64_t count) const {
  return Dataset(make_part(node_, 0, -1, count));
}
Dataset Dataset::take(std::int64_t count) const {
  return Dataset(make_part(node_, 0, count, 1));
}
Dataset Dataset::skip(std::int64_t count) const {
  // A negative count skips everything, as in TensorFlow.
  return count < 0 ? take(0) : Dataset(make_part(node_, count, -1, 1));
}

std::int64_t Dataset::cardinality() const {
  return node_->cardinality();
}
std::unique_ptr<Iterator> Dataset::make_iterator() const {
  return node_->rows() ? iterate_elements(node_) : node_->iterate();
}

Dataset::iterator::iterator(std::shared_ptr<Iterator> run) : run_(std::move(run)) {
  now_ = run_->next();
}
Dataset::iterator& Dataset::iterator::operator++() {
  now_.reset();  // so that its memory can be used again
  now_ = run_->next();
  return *this;
}

}  // namespace plimsoll::data
