// What a call says when it refuses.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "plimsoll/error.h"

namespace plimsoll::testing_ops {

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const InvalidArgumentError& e) {
    return e.what();
  } catch (const Error& e) {
    return std::string("not an InvalidArgumentError: ") + e.what();
  }
  return "no error";
}

}  // namespace plimsoll::testing_ops

// The call throws an InvalidArgumentError that begins with this text.
#define EXPECT_INVALID(call, text)                                             \
  do {                                                                         \
    const std::string said = ::plimsoll::testing_ops::error_of([&] { call; }); \
    EXPECT_EQ(said.substr(0, std::string(text).size()), text) << said;         \
  } while (false)
