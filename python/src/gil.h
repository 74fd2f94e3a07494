// Python's lock: calls that compute give it back, callbacks take it again.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>

namespace plimsoll::python {

// Elements that a call touches from which it is worth giving the lock back, which takes about as
// long as a small op.
inline constexpr std::int64_t kWorkForRelease = 4096;

// Gives arrays back that were borrowed and are needed no more. pre: the lock.
void end_loans() noexcept;
// Whether there are such arrays.
bool has_ended_loans() noexcept;
struct EndLoans {
  ~EndLoans() {
    if (has_ended_loans()) end_loans();
  }
};

// A Python object that C++ holds, to be given back on any thread, and by what outlives Python.
inline std::shared_ptr<PyObject> share(nanobind::object object) {
  return {object.release().ptr(), [](PyObject* held) {
            if (!Py_IsInitialized()) return;
            const nanobind::gil_scoped_acquire lock;
            Py_DECREF(held);
          }};
}

// f(), without the lock if there is much to do.
template <class F>
decltype(auto) without_gil(std::int64_t work, F&& f) {
  if (work < kWorkForRelease) return f();
  const EndLoans after;
  const nanobind::gil_scoped_release release;
  return f();
}
template <class F>
decltype(auto) without_gil(F&& f) {
  const EndLoans after;
  const nanobind::gil_scoped_release release;
  return f();
}

}  // namespace plimsoll::python
