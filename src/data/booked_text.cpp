#include "data/booked_text.h"

#include <algorithm>

namespace plimsoll::data {

void BookedText::resize(std::size_t nbytes) {
  if (!builder_) builder_.emplace(1, owner_, nbytes);
  builder_->make_room(text_.size() + nbytes);  // both, while one is copied into the other
  std::string other(nbytes, '\0');             // by this constructor it takes no more than that
  std::copy_n(text_.begin(), size_, other.begin());
  text_.swap(other);
}

std::span<std::byte> BookedText::extend(std::size_t nbytes) {
  const std::size_t needed = size_ + nbytes;
  if (needed > text_.size()) resize(size_ == 0 ? needed : std::max(needed, 2 * size_));
  return std::as_writable_bytes(std::span(text_)).subspan(size_, nbytes);
}

void BookedText::append(std::string_view more) {
  std::ranges::copy(std::as_bytes(std::span(more)), extend(more.size()).begin());
  commit(more.size());
}

Tensor BookedText::take() {
  if (text_.size() != size_ || !builder_) resize(size_);
  builder_->add(std::move(text_));
  StringBuilder whole = std::move(*builder_);
  clear();
  return whole.finish(Shape());
}

void BookedText::clear() noexcept {
  text_ = std::string();
  size_ = 0;
  builder_.reset();
}

}  // namespace plimsoll::data
