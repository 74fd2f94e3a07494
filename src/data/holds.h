// How much memory a run through a dataset holds, said before it runs.
//
// Steps with functions and generators cannot know the size of what they give: they say it once an
// element has been seen. Two moments count for each step together with those before it: while
// somebody has an element of it (`kept`), and while it makes the next one (`busy`).
#pragma once

#include <algorithm>
#include <cstdint>

namespace plimsoll::data {

// Bytes on the host, as budgets count them.
struct Holds {
  std::uint64_t element = 0;  // the size of one that it gives
  std::uint64_t given = 0;    // of it, what was made for it; the rest is shared with somebody
  std::uint64_t kept = 0;     // while somebody has an element, without that element
  std::uint64_t busy = 0;     // the most while one is made, that one included
  bool keeps_last = false;    // the element that was given last stays, for its memory
  bool is_exact = true;       // false: at most so much; threads decide, or sizes may differ

  // While elements are used and made in turns, one at a time.
  std::uint64_t most() const noexcept { return std::max(kept + given, busy); }
};

// What is asked: all that steps hold ahead, or what they cannot do without.
enum class Depth { kFull, kLeast };

// 64 bytes are the least that a budget counts.
constexpr std::uint64_t rounded_up(std::uint64_t nbytes) noexcept {
  return (nbytes + 63) / 64 * 64;
}

// What a function does with an element.
struct Making {
  std::uint64_t element = 0;  // bytes of what it gives
  std::uint64_t shared = 0;   // of them, what it passes on of what it was given
  std::uint64_t work = 0;     // that it takes meanwhile, with what it makes
};
// A step that makes an element out of one, on the thread that asks.
inline Holds made_from(const Holds& in, const Making& making) {
  Holds holds = in;
  const std::uint64_t passed_on = std::min({making.shared, making.element, in.given});
  const std::uint64_t made = making.element - passed_on;
  holds.element = making.element;
  holds.given = in.keeps_last ? made : making.element;  // else nobody else has what it passes on
  holds.kept += in.keeps_last ? in.given : 0;
  holds.busy = std::max(in.busy, in.kept + in.given + std::max(making.work, made));
  holds.keeps_last = false;
  return holds;
}

// A step that collects so many elements and makes one of them.
inline Holds collected(const Holds& in, std::uint64_t count, std::uint64_t element) {
  Holds holds = in;
  holds.element = holds.given = element;
  holds.kept += in.keeps_last ? in.given : 0;
  holds.keeps_last = false;
  const std::uint64_t others = count > 0 ? (count - 1) * in.given : 0;
  holds.busy = std::max(others + in.busy, in.kept + count * in.given + element);
  return holds;
}

// A step that makes one of so many elements, and copies them into it as they come.
inline Holds placed(const Holds& in, std::uint64_t count, std::uint64_t element) {
  Holds holds = collected(in, 0, element);
  holds.busy = std::max(in.busy, in.kept + in.given + element);
  if (count > 1) holds.busy = std::max(holds.busy, element + in.busy);
  return holds;
}

// A step that keeps so many elements besides that which it gives.
inline Holds with_buffer(const Holds& in, std::uint64_t count) {
  Holds holds = in;
  holds.kept += count * in.given;
  holds.busy += count * in.given;
  holds.keeps_last = false;
  return holds;
}

}  // namespace plimsoll::data
