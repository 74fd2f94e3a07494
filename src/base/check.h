// Checks.
//   PLIMSOLL_CHECK(cond, ErrorType, "format {}", value)   always; throws ErrorType with the message
//   PLIMSOLL_ASSERT(cond)                                  debug builds; an invariant of our own
//   PLIMSOLL_ASSERT_SLOW(cond)                             walker builds; whole-structure validity
// Input never reaches an assert.
#pragma once

#include <fmt/core.h>

#include <cassert>

#include "plimsoll/error.h"

#define PLIMSOLL_CHECK(cond, ErrorType, ...)                   \
  do {                                                         \
    if (!(cond)) [[unlikely]]                                  \
      throw ::plimsoll::ErrorType(::fmt::format(__VA_ARGS__)); \
  } while (false)

#define PLIMSOLL_ASSERT(cond) assert(cond)

#ifdef PLIMSOLL_WALKERS
#define PLIMSOLL_ASSERT_SLOW(cond) assert(cond)
#else
#define PLIMSOLL_ASSERT_SLOW(cond) static_cast<void>(0)
#endif
