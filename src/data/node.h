// A step of a dataset. Steps that only choose rows of tensors (slices, shuffles, takes, repeats)
// pass on row numbers, until somebody needs the rows themselves.
#pragma once

#include <atomic>

#include "data/holds.h"
#include "plimsoll/data/dataset.h"
#include "plimsoll/memory/owner.h"

namespace plimsoll::data {

// Tensors of as many rows, of which elements are taken.
struct RowSource {
  Element tensors;
  std::int64_t num_rows = 0;
  bool doubles_as_floats = false;  // float64 on the host comes out as float32

  // The type that rows of a tensor come in.
  DType dtype_of(const Tensor& t) const noexcept {
    return doubles_as_floats && t.dtype() == DType::kFloat64 ? DType::kFloat32 : t.dtype();
  }
};

class RowIterator {
 public:
  virtual ~RowIterator() = default;
  virtual std::optional<std::int64_t> next() = 0;
};

struct BatchRows {
  std::vector<std::int64_t> rows = {};  // the most frequent first
  Trust trust = Trust::kAbout;          // exact: all of them come; most: no others do

  bool are_in_order = true;  // those of one number all come before those of the next

  // Where elements are left out, batches of all sizes may be among them.
  BatchRows of_a_part() const {
    return {rows, rows.size() > 1 ? std::max(trust, Trust::kMost) : trust, are_in_order};
  }
  BatchRows in_any_order() const {
    return {rows, of_a_part().trust, are_in_order && rows.size() < 2};
  }
};

class RowPlaces;

struct DatasetNode {
  virtual ~DatasetNode() = default;
  virtual std::unique_ptr<Iterator> iterate() const = 0;
  // The same for a batch, whose rows may be places for what is made.
  virtual std::unique_ptr<Iterator> iterate_into(std::shared_ptr<RowPlaces>) const {
    return iterate();
  }
  virtual std::int64_t cardinality() const = 0;
  // What a run holds, as far as sizes are known or have been seen.
  virtual Holds holds(const Use& use) const = 0;
  // The numbers of rows that batches come in, as far as that is known.
  virtual BatchRows batch_rows() const { return {}; }
  // Whether another run gives the same elements; false of iterators that go on where they stand.
  virtual bool can_begin_again() const { return true; }
  // Of steps that choose rows; null of all others.
  virtual const RowSource* rows() const { return nullptr; }
  virtual std::unique_ptr<RowIterator> iterate_rows() const { return nullptr; }

  // Of steps that cannot know what they give: the largest element that was seen, 0 for none.
  std::uint64_t largest_seen() const noexcept { return seen_.load(std::memory_order_relaxed); }
  void note(const Element& element) const;

 private:
  mutable std::atomic<std::uint64_t> seen_{0};
};
using NodePtr = std::shared_ptr<const DatasetNode>;

// A run whose node notes what it gives. Keeps `node`, and with it its functions, alive.
std::unique_ptr<Iterator> make_noted_run(NodePtr node, std::unique_ptr<Iterator> run);

// Rows of a source, one by one, as elements. Keeps `node` alive.
std::unique_ptr<Iterator> iterate_elements(NodePtr node);

// from_tensor_slices for data in double precision that is wanted in single: rows are converted when
// they are taken, so that there is never a second array. memory: none, but one copy of what stands
// on a GPU.
Dataset slices_as_floats(const Element& tensors);

// These rows of each tensor, stacked (tag dataset). `reused` is overwritten where nobody else holds
// its tensors and they have the right shapes.
Element gather_rows(const RowSource& source, std::span<const std::int64_t> rows, Element reused);
// Tensors of one shape and type, stacked (tag dataset).
Tensor stack_rows(std::span<const Tensor> rows);
// Elements of equal structure and shapes, stacked. throws: InvalidArgumentError.
Element stack_elements(std::span<const Element> elements);

// The bytes of an element's tensors, as budgets count them.
std::uint64_t bytes_of(const Element& element);
// The bytes of so many rows.
std::uint64_t bytes_of_rows(const RowSource& source, std::int64_t num_rows);

// Who batches belong to.
const memory::Owner& batch_owner();

// What a dataset could still take on the host.
std::uint64_t free_bytes();

// 8 bytes each, booked under the tag dataset.
class RowNumbers {
 public:
  explicit RowNumbers(std::size_t capacity);
  ~RowNumbers();
  RowNumbers(const RowNumbers&) = delete;
  RowNumbers& operator=(const RowNumbers&) = delete;
  bool add(std::int64_t row) {
    values.push_back(row);
    return true;
  }
  std::vector<std::int64_t> values;

 private:
  struct Booked;
  std::unique_ptr<Booked> booked_;
};

// A step that is described by how it is run.
struct Step {
  std::function<std::unique_ptr<Iterator>()> run;
  std::function<std::int64_t()> count = [] { return kUnknown; };
  std::vector<Dataset> from = {};  // what its elements are taken of
  bool keeps_rows = false;         // batches have as many rows as those that they are taken of
  bool leaves_out = false;         // some elements
  // What it holds, if elements of so many bytes are the largest that were seen. Without it the step
  // is a source.
  std::function<Holds(const Use& use, std::uint64_t seen)> holds = {};
};
Dataset make_step(Step step);
// For steps that give elements of another one as they are. Where those are not all, `use_in` says
// how that one is used.
std::function<Holds(const Use&, std::uint64_t)> passing_on(
    const Dataset& in, std::function<Use(const Use&)> use_in = {});
// A run that a function gives elements for.
std::unique_ptr<Iterator> make_run(std::function<std::optional<Element>()> next);

// Elements of one structure whose shapes may differ, filled up and stacked.
// throws: InvalidArgumentError.
Element pad_elements(std::span<const Element> elements, const PaddedBatchOptions& options);

NodePtr make_shuffle(NodePtr in, std::int64_t buffer_size, const ShuffleOptions& options);
NodePtr make_batch(NodePtr in, std::int64_t batch_size, const BatchOptions& options);
NodePtr make_map(NodePtr in, std::function<Element(const Element&)> fn, const MapOptions& options);
// places: for what is made, or null. pre: fn and enter outlive it.
std::unique_ptr<Iterator> make_parallel_map(std::unique_ptr<Iterator> in,
                                            const std::function<Element(const Element&)>& fn,
                                            const MapOptions::Enter& enter, std::size_t num_threads,
                                            std::shared_ptr<RowPlaces> places);
// What so many threads hold; see made_from. sizes_differ: smaller elements come among others.
Holds held_by_threads(const Holds& in, const Making& making, std::size_t num_threads,
                      bool sizes_differ);
// The most elements that so many threads take before they are wanted.
std::int64_t taken_ahead(std::size_t num_threads);
NodePtr make_prefetch(NodePtr in, std::int64_t buffer_size);

}  // namespace plimsoll::data
