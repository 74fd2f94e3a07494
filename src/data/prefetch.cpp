// Elements computed ahead, by threads: prefetch and parallel map.
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "data/node.h"

namespace plimsoll::data {
namespace {

std::unique_ptr<Iterator> iterate(const NodePtr& node) {
  return node->rows() ? iterate_elements(node) : node->iterate();
}

// A queue of at most `capacity` elements that one thread fills and another empties.
class PrefetchRun : public Iterator {
 public:
  PrefetchRun(std::unique_ptr<Iterator> in, std::size_t capacity)
      : in_(std::move(in)), capacity_(capacity), thread_([this] { fill(); }) {}
  ~PrefetchRun() override {
    {
      std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::optional<Element> next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !queue_.empty() || is_done_; });
    if (queue_.empty()) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return std::nullopt;
    }
    Element element = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return element;
  }

 private:
  void fill() noexcept {
    try {
      while (true) {
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [&] { return queue_.size() < capacity_ || is_over_; });
          if (is_over_) break;
        }
        auto element = in_->next();
        if (!element) break;
        std::scoped_lock lock(mutex_);
        queue_.push_back(std::move(*element));
        changed_.notify_all();
      }
    } catch (...) {
      std::scoped_lock lock(mutex_);
      error_ = std::current_exception();
    }
    std::scoped_lock lock(mutex_);
    is_done_ = true;
    changed_.notify_all();
  }

  const std::unique_ptr<Iterator> in_;
  const std::size_t capacity_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Element> queue_;
  std::exception_ptr error_;
  bool is_done_ = false;  // nothing comes any more
  bool is_over_ = false;  // nobody wants any more
  std::thread thread_;
};

struct PrefetchNode : DatasetNode {
  NodePtr in;
  std::size_t capacity = 1;

  std::unique_ptr<Iterator> iterate() const override {
    return std::make_unique<PrefetchRun>(data::iterate(in), capacity);
  }
  std::int64_t cardinality() const override { return in->cardinality(); }
};

class MapRun : public Iterator {
 public:
  MapRun(std::unique_ptr<Iterator> in, const std::function<Element(const Element&)>& fn)
      : in_(std::move(in)), fn_(fn) {}
  std::optional<Element> next() override {
    const auto element = in_->next();
    if (!element) return std::nullopt;
    return fn_(*element);
  }

 private:
  const std::unique_ptr<Iterator> in_;
  const std::function<Element(const Element&)>& fn_;
};

// Several threads, results in the order of the elements.
class ParallelMapRun : public Iterator {
 public:
  ParallelMapRun(std::unique_ptr<Iterator> in, const std::function<Element(const Element&)>& fn,
                 std::size_t num_threads)
      : in_(std::move(in)), fn_(fn), num_ahead_(2 * num_threads) {
    for (std::size_t i = 0; i < num_threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ParallelMapRun() override {
    {
      std::scoped_lock lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::optional<Element> next() override {
    std::unique_lock lock(mutex_);
    const auto is_ready = [&] {
      return num_given_ < num_taken_ ? slots_.front().is_ready : is_done_;
    };
    changed_.wait(lock, is_ready);
    if (num_given_ == num_taken_) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return std::nullopt;
    }
    Slot slot = std::move(slots_.front());
    slots_.pop_front();
    ++num_given_;
    lock.unlock();
    changed_.notify_all();
    if (slot.error) std::rethrow_exception(slot.error);
    return std::move(slot.element);
  }

 private:
  struct Slot {
    bool is_ready = false;
    Element element;
    std::exception_ptr error;
  };

  void work() noexcept {
    while (true) {
      std::optional<Element> element;
      std::size_t number = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return slots_.size() < num_ahead_ || is_over_ || is_done_; });
        if (is_over_ || is_done_) return;
        try {
          element = in_->next();
        } catch (...) {
          error_ = std::current_exception();
        }
        if (!element) {
          is_done_ = true;
          changed_.notify_all();
          return;
        }
        number = num_taken_++;
        slots_.emplace_back();
      }
      Slot made;
      try {
        made.element = fn_(*element);
      } catch (...) {
        made.error = std::current_exception();
      }
      made.is_ready = true;
      std::scoped_lock lock(mutex_);
      slots_[number - num_given_] = std::move(made);
      changed_.notify_all();
    }
  }

  const std::unique_ptr<Iterator> in_;
  const std::function<Element(const Element&)>& fn_;
  const std::size_t num_ahead_;
  std::mutex mutex_;  // guards what follows, and in_
  std::condition_variable changed_;
  std::deque<Slot> slots_;  // of elements num_given_ to num_taken_
  std::size_t num_taken_ = 0, num_given_ = 0;
  std::exception_ptr error_;
  bool is_done_ = false, is_over_ = false;
  std::vector<std::thread> threads_;
};

// Keeps the node, and with it the function, alive while it runs.
struct MapNode : DatasetNode, std::enable_shared_from_this<MapNode> {
  NodePtr in;
  std::function<Element(const Element&)> fn;
  std::int64_t num_parallel_calls = 0;

  std::unique_ptr<Iterator> iterate() const override;
  std::int64_t cardinality() const override { return in->cardinality(); }
};

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
  std::unique_ptr<Iterator> run;
  const std::int64_t num = num_parallel_calls == kAutotune
                               ? static_cast<std::int64_t>(std::thread::hardware_concurrency())
                               : num_parallel_calls;
  if (num > 1) {
    run = std::make_unique<ParallelMapRun>(data::iterate(in), fn, static_cast<std::size_t>(num));
  } else {
    run = std::make_unique<MapRun>(data::iterate(in), fn);
  }
  return std::make_unique<Keeping>(shared_from_this(), std::move(run));
}

}  // namespace

NodePtr make_prefetch(NodePtr in, std::int64_t buffer_size) {
  constexpr std::size_t kChosenDepth = 2;
  auto node = std::make_shared<PrefetchNode>();
  node->in = std::move(in);
  node->capacity = buffer_size == kAutotune ? kChosenDepth : static_cast<std::size_t>(buffer_size);
  return node;
}

NodePtr make_map(NodePtr in, std::function<Element(const Element&)> fn, const MapOptions& options) {
  auto node = std::make_shared<MapNode>();
  node->in = std::move(in);
  node->fn = std::move(fn);
  node->num_parallel_calls = options.num_parallel_calls;
  return node;
}

}  // namespace plimsoll::data
