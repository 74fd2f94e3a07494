// What is dropped after an error. Without memory nothing is: the call can be repeated.
#pragma once

#include "plimsoll/error.h"

namespace plimsoll::data {

// f(). After any error but ResourceExhaustedError it calls drop(), which leaves what cannot come,
// so that what is behind it comes next.
template <class F, class Drop>
auto call_or_drop(F&& f, Drop&& drop) {
  try {
    return f();
  } catch (const ResourceExhaustedError&) {
    throw;
  } catch (...) {
    drop();
    throw;
  }
}

}  // namespace plimsoll::data
