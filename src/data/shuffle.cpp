#include <algorithm>
#include <atomic>
#include <random>
#include <utility>

#include "base/log.h"
#include "data/node.h"
#include "data/waiting.h"
#include "runtime/random_seeds.h"

namespace plimsoll::data {
namespace {

// A buffer out of which elements are drawn at random, filled up from behind.
template <class Base, class Item, class Buffer>
class ShuffleRun : public Base {
 public:
  ShuffleRun(std::unique_ptr<Base> in, std::size_t capacity, std::uint64_t seed)
      : in_(std::move(in)), capacity_(capacity), buffer_(capacity), random_(seed) {}

  std::optional<Item> next() override {
    while (in_ && buffer_.values.size() < capacity_) {
      std::optional<Item> item;
      check_going();
      try {
        item = in_->next();
      } catch (const ResourceExhaustedError&) {
        if (buffer_.values.empty()) throw;
        shrink();
        break;
      }
      if (!item) {
        in_.reset();
      } else if (!buffer_.add(std::move(*item))) {
        shrink();
      }
    }
    if (buffer_.values.empty()) return std::nullopt;
    const std::size_t at = random_() % buffer_.values.size();
    std::swap(buffer_.values[at], buffer_.values.back());
    Item item = std::move(buffer_.values.back());
    buffer_.values.pop_back();
    return item;
  }

 private:
  void shrink() {
    if (!std::exchange(is_said_, true))
      log_once(LogLevel::kWarning,
               fmt::format("dataset: shuffle draws from {} elements instead of {}: memory is short",
                           buffer_.values.size(), capacity_));
    capacity_ = buffer_.values.size();
  }

  std::unique_ptr<Base> in_;
  bool is_said_ = false;  // that memory is short
  std::size_t capacity_;
  Buffer buffer_;
  std::mt19937_64 random_;
};

// Elements that were made for the buffer. It leaves room for those that use them: a quarter of what
// it holds.
struct ElementBuffer {
  explicit ElementBuffer(std::size_t) {}
  // False: there should be no more than that.
  bool add(Element element) {
    num_bytes += bytes_of(element);
    values.push_back(std::move(element));
    const std::uint64_t mean = num_bytes / ++num_added;
    return free_bytes() >= values.size() * mean / 4;
  }
  std::vector<Element> values;
  std::uint64_t num_bytes = 0, num_added = 0;  // of all that came
};

struct ShuffleNode : DatasetNode {
  NodePtr in;
  std::int64_t buffer_size = 1;
  bool reshuffles = true;
  std::uint64_t seed = 0;
  mutable std::atomic<std::uint64_t> num_runs{0};

  std::uint64_t next_seed() const {
    return seed + (reshuffles ? num_runs.fetch_add(1) * 0x9e3779b97f4a7c15ULL : 0);
  }
  std::size_t capacity() const {
    const std::int64_t n = in->cardinality();
    return static_cast<std::size_t>(n >= 0 ? std::min(n, buffer_size) : buffer_size);
  }
  std::unique_ptr<Iterator> iterate() const override {
    return std::make_unique<ShuffleRun<Iterator, Element, ElementBuffer>>(in->iterate(), capacity(),
                                                                          next_seed());
  }
  Holds holds(const Use& use) const override {
    const std::size_t ahead = capacity() == 0 ? 0 : capacity() - 1;
    Holds holds = in->holds(use.taking_more(static_cast<std::int64_t>(ahead)));
    if (in->rows()) {
      // What steps before keep goes when they have come to their end.
      if (holds.kept > 0) holds.trust = std::max(holds.trust, Trust::kMost);
      holds.kept += rounded_up(capacity() * sizeof(std::int64_t));
      holds.busy += rounded_up(capacity() * sizeof(std::int64_t));
      return holds;
    }
    holds.trust = std::max(holds.trust, Trust::kMost);  // towards the end there are fewer
    return with_buffer(holds, use.depth == Depth::kLeast ? 0 : ahead);
  }
  BatchRows batch_rows() const override { return in->batch_rows().in_any_order(); }
  bool can_begin_again() const override { return in->can_begin_again(); }
  const RowSource* rows() const override { return in->rows(); }
  std::unique_ptr<RowIterator> iterate_rows() const override {
    return std::make_unique<ShuffleRun<RowIterator, std::int64_t, RowNumbers>>(
        in->iterate_rows(), capacity(), next_seed());
  }
  std::int64_t cardinality() const override { return in->cardinality(); }
};

}  // namespace

NodePtr make_shuffle(NodePtr in, std::int64_t buffer_size, const ShuffleOptions& options) {
  auto node = std::make_shared<ShuffleNode>();
  node->in = std::move(in);
  node->buffer_size = buffer_size;
  node->reshuffles = options.reshuffle_each_iteration;
  node->seed = make_seed(options.seed);
  return node;
}

}  // namespace plimsoll::data
