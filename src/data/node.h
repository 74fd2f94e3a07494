// A step of a dataset. Steps that only choose rows of tensors (slices, shuffles, takes, repeats)
// pass on row numbers, until somebody needs the rows themselves.
#pragma once

#include "plimsoll/data/dataset.h"

namespace plimsoll::data {

// Tensors of as many rows, of which elements are taken.
struct RowSource {
  Element tensors;
  std::int64_t num_rows = 0;
};

class RowIterator {
 public:
  virtual ~RowIterator() = default;
  virtual std::optional<std::int64_t> next() = 0;
};

struct DatasetNode {
  virtual ~DatasetNode() = default;
  virtual std::unique_ptr<Iterator> iterate() const = 0;
  virtual std::int64_t cardinality() const = 0;
  // Of steps that choose rows; null of all others.
  virtual const RowSource* rows() const { return nullptr; }
  virtual std::unique_ptr<RowIterator> iterate_rows() const { return nullptr; }
};
using NodePtr = std::shared_ptr<const DatasetNode>;

// Rows of a source, one by one, as elements. Keeps `node` alive.
std::unique_ptr<Iterator> iterate_elements(NodePtr node);

// These rows of each tensor, stacked (tag dataset). `reused` is overwritten where nobody else holds
// its tensors and they have the right shapes.
Element gather_rows(const RowSource& source, std::span<const std::int64_t> rows, Element reused);
// Elements of equal structure and shapes, stacked. throws: InvalidArgumentError.
Element stack_elements(std::span<const Element> elements);

// 8 bytes each, booked under the tag dataset.
class RowNumbers {
 public:
  explicit RowNumbers(std::size_t capacity);
  ~RowNumbers();
  RowNumbers(const RowNumbers&) = delete;
  RowNumbers& operator=(const RowNumbers&) = delete;
  std::vector<std::int64_t> values;

 private:
  struct Booked;
  std::unique_ptr<Booked> booked_;
};

NodePtr make_shuffle(NodePtr in, std::int64_t buffer_size, const ShuffleOptions& options);
NodePtr make_batch(NodePtr in, std::int64_t batch_size, const BatchOptions& options);
NodePtr make_map(NodePtr in, std::function<Element(const Element&)> fn, const MapOptions& options);
NodePtr make_prefetch(NodePtr in, std::int64_t buffer_size);

}  // namespace plimsoll::data
