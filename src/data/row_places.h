// Rows of a batch that is being filled, for the threads that make its elements: what they make is
// written there, and need not be copied.
//
// A place is a guess: the element that is number n of a run should become row n - first of the
// batch. If an error comes before it, it becomes another one, and is copied as if there were no
// places. Places are for batches that were begun, so they take no memory of their own.
#pragma once

#include <mutex>
#include <optional>

#include "plimsoll/data/dataset.h"

namespace plimsoll::data {

class RowPlaces {
 public:
  // For who fills batches. `leaves` have a row for each of `num_rows` elements, of which the first
  // is number `first`, and is there already.
  void begin(const std::vector<Tensor>& leaves, std::int64_t first, std::int64_t num_rows);
  void end();
  // There are no more places, for elements have other numbers now.
  void close();
  // Whether something else stands in a row that was given out: the batch must not be written to.
  bool is_spoiled() const;

  // make(), for who makes elements, with a place for number `n` if there is one. On any thread.
  template <class Make>
  Element make_in_place(std::int64_t n, const Make& make) {
    const std::optional<Row> row = find(n);
    return row ? make_in(*row, make) : make();
  }

 private:
  struct Row {
    Tensor leaf;           // of the batch
    std::size_t index;     // of the leaf
    std::uint64_t offset;  // bytes
    std::uint64_t nbytes;
  };
  std::optional<Row> find(std::int64_t n) const;
  Element make_in(const Row& row, const std::function<Element()>& make);
  void spoil();

  mutable std::mutex mutex_;  // guards what follows
  Tensor leaf_;               // not valid: there are no places
  std::size_t index_ = 0;
  std::int64_t first_ = 0, num_rows_ = 0;
  bool is_closed_ = false, is_spoiled_ = false;
};

}  // namespace plimsoll::data
