// Tensors of strings that are made one string after another.
//
//   StringBuilder made(texts.size(), owner);
//   for (std::string_view text : texts) {
//     made.make_room(2 * text.size());          // booked before it exists
//     made.add(twice(text));
//   }
//   return made.finish(shape);
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/memory/budget.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

// The strings of a tensor where they stand, as long as it does. `op` names who asks.
// throws: InvalidArgumentError for another type, in TensorFlow's words.
std::span<const std::string> strings_of(const Tensor& tensor, std::string_view op);

class StringBuilder {
 public:
  // memory: the handles of `num` strings and `nbytes` of their bytes, as far as they are known,
  // under `owner`; then what make_room asks for. The tensor gets the claim, as large as it is.
  // throws: ResourceExhaustedError.
  StringBuilder(std::size_t num, memory::Owner owner, std::uint64_t nbytes = 0);

  // Room for a next string of up to `nbytes`. throws: ResourceExhaustedError.
  void make_room(std::size_t nbytes);
  // pre for both: fewer than `num` so far. Makes room, if there is none. throws:
  // ResourceExhaustedError.
  void add(std::string text);
  void add_copy(std::string_view text);

  // pre: as many strings as `shape` has elements.
  Tensor finish(const Shape& shape);

 private:
  std::vector<std::string> texts_;
  std::uint64_t nbytes_;  // of handles and of the strings so far
  memory::Owner owner_;
  memory::Reservation claim_;
};

}  // namespace plimsoll
