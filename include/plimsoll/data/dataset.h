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

struct ShuffleOptions {
  std::optional<std::int64_t> seed = {};
  bool reshuffle_each_iteration = true;
};
struct BatchOptions {
  bool drop_remainder = false;
};
struct MapOptions {
  // How many elements are computed at a time, by threads. 0: on the thread that asks.
  std::int64_t num_parallel_calls = 0;
};

// One run through a dataset.
class Iterator {
 public:
  virtual ~Iterator() = default;
  // The next element, or none at the end. throws: what functions of map and generators throw.
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
  static Dataset from_generator(std::function<Generator()> make);

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

}  // namespace plimsoll::data
