// A string that is read piece by piece: booked before it grows, and then a tensor without a copy.
//
//   BookedText line(owner);
//   line.append(some);           // as often as there is something
//   Tensor made = line.take();   // a scalar; the next one begins
//
// Where memory is short, nothing is lost: what was appended stays, and the call can be repeated.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/string_builder.h"

namespace plimsoll::data {

class BookedText {
 public:
  explicit BookedText(const memory::Owner& owner) : owner_(owner) {}

  std::string_view text() const noexcept { return std::string_view(text_).substr(0, size_); }
  // memory, both: what is there and, while it grows beyond what it took so far, twice as much
  // beside it. throws: ResourceExhaustedError.
  void append(std::string_view more);
  // Room for `nbytes` behind the text, to be written; `commit` says how many of them were.
  std::span<std::byte> extend(std::size_t nbytes);
  void commit(std::size_t nbytes) noexcept { size_ += nbytes; }
  void shorten(std::size_t nbytes) noexcept { size_ -= nbytes; }

  // throws: ResourceExhaustedError.
  Tensor take();
  void clear() noexcept;

 private:
  void resize(std::size_t nbytes);  // to exactly so many bytes, which hold the text

  const memory::Owner owner_;
  std::string text_;  // as long as there is room
  std::size_t size_ = 0;
  std::optional<StringBuilder> builder_;  // has the claim
};

}  // namespace plimsoll::data
