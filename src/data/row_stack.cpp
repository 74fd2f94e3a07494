#include "data/row_stack.h"

#include <algorithm>

#include "data/node.h"
#include "runtime/dispatch.h"
#include "runtime/placement.h"
#include "tensor/tensor_impl.h"

namespace plimsoll::data {
namespace {

Shape with_rows(std::int64_t num, std::span<const std::int64_t> row) {
  std::vector<std::int64_t> dims{num};
  dims.insert(dims.end(), row.begin(), row.end());
  return Shape(dims);
}
std::span<const std::int64_t> row_dims(const Tensor& batch) {
  return batch.shape().dims().subspan(1);
}
std::uint64_t row_bytes(const Tensor& batch) {
  return static_cast<std::uint64_t>(batch.nbytes() / batch.shape()[0]);
}

bool is_alike(const Tensor& batch, const Tensor& row) {
  return batch.dtype() == row.dtype() && std::ranges::equal(row_dims(batch), row.shape().dims());
}

}  // namespace

bool RowStack::can_hold(const Element& element) {
  bool can = true;
  element.for_each([&](const Tensor& t) { can = can && t.dtype() != DType::kString; });
  return can;
}

void RowStack::begin(const Element& like, std::int64_t capacity) {
  batch_ = like.map([&](const Tensor& t) {
    return allocate_tensor(*owner_of(t), t.dtype(), with_rows(capacity, t.shape().dims()),
                           batch_owner());
  });
  leaves_ = batch_.flatten();
  capacity_ = capacity;
  num_rows_ = 0;
}

bool RowStack::add(const Element& element) {
  std::size_t i = 0;
  bool fits = true;
  element.for_each([&](const Tensor& t) {
    const std::size_t at = i++;
    fits = fits && at < leaves_.size() && is_alike(leaves_[at], t) &&
           owner_of(leaves_[at]) == owner_of(t);
  });
  if (!fits || i != leaves_.size()) return false;
  if (num_rows_ == capacity_) reserve(2 * capacity_);
  i = 0;
  element.for_each([&](const Tensor& t) {
    const Tensor& to = leaves_[i++];
    const std::uint64_t width = row_bytes(to);
    const memory::Address place = address_of(to) + static_cast<std::uint64_t>(num_rows_) * width;
    if (width > 0 && place != address_of(t)) owner_of(to)->move(place, address_of(t), width);
  });
  ++num_rows_;
  return true;
}

void RowStack::reserve(std::int64_t capacity) {
  const Element old = batch_;
  batch_ = old.map([&](const Tensor& t) {
    const Tensor made =
        allocate_tensor(*owner_of(t), t.dtype(), with_rows(capacity, row_dims(t)), batch_owner());
    const std::uint64_t nbytes = static_cast<std::uint64_t>(num_rows_) * row_bytes(t);
    if (nbytes > 0) owner_of(t)->move(address_of(made), address_of(t), nbytes);
    return made;
  });
  leaves_ = batch_.flatten();
  capacity_ = capacity;
}

std::vector<Element> RowStack::rows() const {
  std::vector<Element> rows;
  for (std::int64_t row = 0; row < num_rows_; ++row) {
    rows.push_back(batch_.map([&](const Tensor& t) {
      return make_tensor(t.dtype(), Shape(row_dims(t)), t.impl()->buffer,
                         static_cast<std::uint64_t>(row) * row_bytes(t));
    }));
  }
  return rows;
}

Element RowStack::take() {
  leaves_.clear();
  Element made = std::exchange(batch_, Element());
  if (num_rows_ < capacity_) {
    made = made.map([&](const Tensor& t) {
      return make_tensor(t.dtype(), with_rows(num_rows_, row_dims(t)), t.impl()->buffer);
    });
  }
  capacity_ = num_rows_ = 0;
  return made;
}

}  // namespace plimsoll::data
