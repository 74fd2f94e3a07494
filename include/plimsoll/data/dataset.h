// Datasets: where batches come from.
//
//   auto dataset = tf::data::Dataset::from_tensor_slices({images, labels})
//                      .shuffle(1024, {.seed = 7})
//                      .batch(32)
//                      .prefetch(2);
//   for (const tf::data::Element& batch : dataset) train(batch[0], batch[1]);
//
// A dataset is a description; each iteration runs it anew. Tensors that are sliced are shared, not
// copied: what comes before the first map or batch passes on row numbers only, so that shuffling
// costs 8 bytes for each element of its buffer.
//
// memory: batches (tag dataset), one at a time and as many more as prefetch holds; row numbers of
// shuffles (tag dataset).
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plimsoll/nest.h"
#include "plimsoll/tensor.h"

namespace plimsoll::data {

// What a dataset gives: a tensor, or a list or dictionary of tensors.
using Element = Nest<Tensor>;

inline constexpr std::int64_t kInfinite = -1;  // a cardinality
inline constexpr std::int64_t kUnknown = -2;
inline constexpr std::int64_t kAutotune = -1;  // AUTOTUNE: a depth that is chosen here

struct GeneratorOptions {
  std::int64_t num_elements = kUnknown;  // of a run, if that is known
  bool is_one_shot = false;              // a second run goes on where the first one ended
};
struct ShuffleOptions {
  std::optional<std::int64_t> seed = {};
  bool reshuffle_each_iteration = true;
};
struct BatchOptions {
  bool drop_remainder = false;
};
// Of functions that keep their work space from one call to the next.
struct WorkOptions {
  std::function<bool()> keeps_work = {};  // whether this one does by now
  std::function<void()> trim = {};        // gives it back: called at the end of a run
  // Makes what the function will always need for such elements, before its first call.
  std::function<void(const Element&)> prepare = {};
};
struct MapOptions {
  // How many elements are computed at a time, by threads. 0: on the thread that asks.
  std::int64_t num_parallel_calls = 0;
  // Called before a thread computes some elements; what it gives goes after them: a lock that the
  // function takes for each of them. It may give null.
  using Enter = std::function<std::shared_ptr<void>()>;
  Enter enter = {};
  WorkOptions work = {};
};

struct InterleaveOptions {
  std::int64_t cycle_length = 1;  // datasets that are open at a time; kAutotune: chosen here
  std::int64_t block_length = 1;  // elements of one before the next one's turn
};
struct WindowOptions {
  std::int64_t size = 1;
  std::optional<std::int64_t> shift = {};  // between the first elements of windows; none: size
  std::int64_t stride = 1;                 // between the elements of a window
  bool drop_remainder = false;             // windows that are not full
};
struct PaddedBatchOptions {
  // Of each tensor of an element, in order; -1: the longest of the batch. Empty: all of them.
  std::vector<std::vector<std::int64_t>> padded_shapes = {};
  // One for all, or one for each; empty: 0 and false.
  std::vector<double> padding_values = {};
  // The same for tensors of strings; empty: "".
  std::vector<std::string> padding_texts = {};
  bool drop_remainder = false;
};
struct BucketOptions {
  std::vector<std::int64_t> bucket_boundaries;   // upper bounds of lengths, without themselves
  std::vector<std::int64_t> bucket_batch_sizes;  // one more
  PaddedBatchOptions padding = {};
  bool pad_to_bucket_boundary = false;
};
class Dataset;
struct GroupOptions {
  std::function<std::int64_t(const Element&)> key;
  std::function<Dataset(std::int64_t key, const Dataset& window)> reduce;
  std::function<std::int64_t(std::int64_t key)> window_size;
};

// One run through a dataset.
class Iterator {
 public:
  virtual ~Iterator() = default;
  // The next element, or none at the end, which comes once. After ResourceExhaustedError who asks
  // again gets the same element, after any other error the next one. throws: what functions of map
  // and generators throw.
  virtual std::optional<Element> next() = 0;
};

struct DatasetNode;  // internal

class Dataset {
 public:
  // Elements are rows of the tensors, which are shared. throws: InvalidArgumentError if they have
  // not as many rows, in TensorFlow's words.
  static Dataset from_tensor_slices(const Element& tensors);
  static Dataset from_tensors(const Element& tensors);  // one element
  static Dataset range(std::int64_t stop);
  static Dataset range(std::int64_t start, std::int64_t stop, std::int64_t step = 1);
  // Calls make for each iteration, and what it gives for each element, until that gives none.
  using Generator = std::function<std::optional<Element>()>;
  static Dataset from_generator(std::function<Generator()> make,
                                const GeneratorOptions& options = {});
  static Dataset from_elements(std::vector<Element> elements);

  // Elements of all, side by side, until the shortest ends.
  static Dataset zip(const Nest<Dataset>& datasets);
  // All of this, then all of the other. throws, when it is run: InvalidArgumentError for elements
  // of another structure.
  Dataset concatenate(const Dataset& other) const;
  Dataset filter(std::function<bool(const Element&)> predicate,
                 const WorkOptions& options = {}) const;
  Dataset take_while(std::function<bool(const Element&)> predicate,
                     const WorkOptions& options = {}) const;
  Dataset enumerate(std::int64_t start = 0) const;  // {number, element}
  // Every num_shards-th element, from number `index` on.
  Dataset shard(std::int64_t num_shards, std::int64_t index) const;
  Dataset unbatch() const;  // rows of elements, one by one
  // The elements of what fn gives for each element, one after another, or in turns.
  using DatasetFn = std::function<Dataset(const Element&)>;
  Dataset flat_map(DatasetFn fn) const;
  Dataset interleave(DatasetFn fn, const InterleaveOptions& options = {}) const;
  // What fn makes of datasets of neighbouring elements, one after another: w.batch(3).
  Dataset window(const WindowOptions& options, std::function<Dataset(const Dataset&)> fn) const;
  // Lists of neighbouring elements.
  Dataset window(const WindowOptions& options) const;
  // {next state, output} = fn(state, element).
  using ScanFn = std::function<std::pair<Element, Element>(const Element&, const Element&)>;
  Dataset scan(const Element& initial_state, ScanFn fn) const;
  // Kept (tag dataset) the first time that it is run to its end. throws: ResourceExhaustedError.
  Dataset cache() const;
  // Rows of different shapes, filled up and stacked. throws: InvalidArgumentError for rows that are
  // longer than padded_shapes say.
  Dataset padded_batch(std::int64_t batch_size, const PaddedBatchOptions& options = {}) const;
  // Batches of elements of about the same length.
  Dataset bucket_by_sequence_length(std::function<std::int64_t(const Element&)> length,
                                    const BucketOptions& options) const;
  // Elements of one key, so many at a time, are a dataset: the elements of what a function makes of
  // it come next. memory: what waits for its window.
  Dataset group_by_window(const GroupOptions& options) const;
  // Scalars, each the first time. memory: all of them.
  Dataset unique() const;
  // Without elements that fail for another reason than memory. may_go_on is asked, while it is
  // handled, about exceptions that are no Error; without it those are thrown.
  Dataset ignore_errors(std::function<bool()> may_go_on = {}) const;

  // Rows are drawn at random out of a buffer of so many, which is filled up again.
  Dataset shuffle(std::int64_t buffer_size, const ShuffleOptions& options = {}) const;
  // Rows of equal shapes, stacked.
  Dataset batch(std::int64_t batch_size, const BatchOptions& options = {}) const;
  Dataset map(std::function<Element(const Element&)> fn, const MapOptions& options = {}) const;
  // A thread of its own computes so many elements ahead.
  Dataset prefetch(std::int64_t buffer_size) const;
  Dataset repeat(std::int64_t count = kInfinite) const;
  Dataset take(std::int64_t count) const;
  Dataset skip(std::int64_t count) const;

  // The same, and what it needs lives as long as it does or runs.
  Dataset keeping(std::shared_ptr<void> needed) const;

  std::int64_t cardinality() const;  // elements, kInfinite or kUnknown
  std::unique_ptr<Iterator> make_iterator() const;

  // For range-based loops.
  class iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Element;
    explicit iterator(std::shared_ptr<Iterator> run);
    const Element& operator*() const { return *now_; }
    const Element* operator->() const { return &*now_; }
    iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !now_; }

   private:
    std::shared_ptr<Iterator> run_;
    std::optional<Element> now_;
  };
  iterator begin() const { return iterator(make_iterator()); }
  std::default_sentinel_t end() const { return {}; }

  const std::shared_ptr<const DatasetNode>& node() const noexcept { return node_; }  // internal
  explicit Dataset(std::shared_ptr<const DatasetNode> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<const DatasetNode> node_;
};

// Called every 50 ms by threads that wait for elements of others; it throws to end the wait. Null:
// nobody is asked.
using WaitCheck = void (*)();
void set_wait_check(WaitCheck check) noexcept;

}  // namespace plimsoll::data
