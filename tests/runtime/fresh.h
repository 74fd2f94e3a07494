// A runtime that has not started: ctest runs every test of this folder in a process of its own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "memory/process_memory.h"
#include "plimsoll/config.h"
#include "plimsoll/error.h"
#include "plimsoll/settings.h"
#include "runtime/context.h"

namespace plimsoll {

class FreshTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(Context::is_initialized())
        << "every test here configures the runtime before it starts: run them with ctest, or one "
           "at a time with --gtest_filter";
  }

  static config::PhysicalDevice cpu() { return config::list_physical_devices("CPU").at(0); }
  static config::PhysicalDevice gpu(std::size_t i = 0) {
    return config::list_physical_devices("GPU").at(i);
  }
  static void simulate(const char* profiles) { settings::set("sim_devices", profiles); }
};

// The message of the error of class E that `f` throws; "" if it throws none.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another error: " << e.what();
    return "";
  }
  ADD_FAILURE() << "no error";
  return "";
}

// Looks again and again for up to three seconds.
inline bool soon(const std::function<bool()>& is_so) {
  for (int i = 0; i < 300; ++i) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return is_so();
}

}  // namespace plimsoll
