#include "data/row_places.h"

#include "runtime/device.h"
#include "runtime/output_place.h"

namespace plimsoll::data {
namespace {

// Of a row. Smaller ones are copied as fast; and results begin at such multiples.
constexpr std::int64_t kLeastBytes = 16 << 10, kAlignment = 64;

}  // namespace

void RowPlaces::begin(const std::vector<Tensor>& leaves, std::int64_t first,
                      std::int64_t num_rows) {
  std::scoped_lock lock(mutex_);
  is_spoiled_ = false;
  first_ = first;
  num_rows_ = num_rows;
  leaf_ = Tensor();
  std::int64_t most = kLeastBytes;
  for (std::size_t i = 0; i < leaves.size() && !is_closed_; ++i) {
    const std::int64_t nbytes = leaves[i].nbytes() / num_rows;
    if (nbytes < most || nbytes % kAlignment || !owner_of(leaves[i])->is_host()) continue;
    most = nbytes + 1;
    leaf_ = leaves[i];
    index_ = i;
  }
}

void RowPlaces::end() {
  std::scoped_lock lock(mutex_);
  leaf_ = Tensor();
  is_spoiled_ = false;
}

void RowPlaces::close() {
  std::scoped_lock lock(mutex_);
  leaf_ = Tensor();
  is_closed_ = true;
}

void RowPlaces::spoil() {
  std::scoped_lock lock(mutex_);
  leaf_ = Tensor();
  is_closed_ = is_spoiled_ = true;
}

bool RowPlaces::is_spoiled() const {
  std::scoped_lock lock(mutex_);
  return is_spoiled_;
}

std::optional<RowPlaces::Row> RowPlaces::find(std::int64_t n) const {
  std::scoped_lock lock(mutex_);
  const std::int64_t row = n - first_;
  if (!leaf_.is_valid() || row <= 0 || row >= num_rows_) return std::nullopt;
  const auto nbytes = static_cast<std::uint64_t>(leaf_.nbytes() / num_rows_);
  return Row{leaf_, index_, static_cast<std::uint64_t>(row) * nbytes, nbytes};
}

// Functions may keep what they make: then it stays what it is, and the batch is another one.
Element RowPlaces::make_in(const Row& row, const std::function<Element()>& make) {
  const OutputPlace place(row.leaf, row.offset, row.nbytes);
  try {
    Element made = make();
    if (!place.is_free()) {
      std::size_t i = 0;
      bool is_there = false;
      made.for_each([&](const Tensor& t) { is_there |= i++ == row.index && place.holds(t); });
      if (!is_there) spoil();
    }
    return made;
  } catch (...) {
    if (!place.is_free()) spoil();
    throw;
  }
}

}  // namespace plimsoll::data
