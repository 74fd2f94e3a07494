// A batch that elements are copied into as they come, so that there are never all of them and the
// batch.
#pragma once

#include "plimsoll/data/dataset.h"

namespace plimsoll::data {

class RowStack {
 public:
  // Whether elements like this one can be copied in: numbers, no strings.
  static bool can_hold(const Element& element);

  bool is_begun() const noexcept { return capacity_ > 0; }
  std::int64_t num_rows() const noexcept { return num_rows_; }

  // Room for so many elements like this one, which is none of them yet.
  // memory: the batch (tag dataset). throws: ResourceExhaustedError. pre: can_hold, not begun.
  void begin(const Element& like, std::int64_t capacity);
  // Its tensors, for elements that come to be in their rows. pre: begun.
  const std::vector<Tensor>& leaves() const noexcept { return leaves_; }
  // Another one; not copied if it stands there. False, and nothing has changed, if it is on another
  // device than the first or of another form. memory: none, unless there are more than was said.
  // throws: ResourceExhaustedError.
  bool add(const Element& element);
  // From now on in other memory, as much of it. throws: ResourceExhaustedError.
  void renew() { reserve(capacity_); }
  // The elements so far, where they stand.
  std::vector<Element> rows() const;
  // The batch, and begins anew. Of fewer elements than it has room for, a view of them.
  Element take();

 private:
  void reserve(std::int64_t capacity);

  Element batch_;               // tensors of capacity_ rows
  std::vector<Tensor> leaves_;  // of it
  std::int64_t capacity_ = 0, num_rows_ = 0;
};

}  // namespace plimsoll::data
