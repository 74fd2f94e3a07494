// Arrays that are read where they stand.
//
// A tensor that borrows holds a view of its array, which keeps the array alive and as large as it
// is. The last tensor may go on any thread, with Python's lock or without. A thread without it must
// not wait for it, since it may be one that somebody with the lock waits for: it leaves the view in
// a list, and the next thread that comes back to Python empties that.
#include <pthread.h>

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "convert.h"
#include "gil.h"
#include "plimsoll/device.h"
#include "plimsoll/interop.h"
#include "py_tensor.h"
#include "variable.h"

namespace plimsoll::python {
namespace {

std::mutex ended_mutex;
std::vector<Py_buffer*> ended;
std::atomic<bool> has_ended{false};

void give_back(Py_buffer* view) noexcept {
  const nb::error_scope kept;
  PyBuffer_Release(view);
  delete view;
}

int end_loans_later(void*) {
  end_loans();
  return 0;
}

// On whatever thread the last tensor goes.
void end_loan(Py_buffer* view) noexcept {
  if (!Py_IsInitialized()) return;  // the array has gone with the interpreter
  if (PyGILState_Check()) return give_back(view);
  {
    const std::scoped_lock lock(ended_mutex);
    ended.push_back(view);
    has_ended.store(true, std::memory_order_release);
  }
  Py_AddPendingCall(&end_loans_later, nullptr);  // may fail: then the next call does it
}

bool is_aligned(const Py_buffer& view) {
  return reinterpret_cast<std::uintptr_t>(view.buf) % static_cast<std::size_t>(view.itemsize) == 0;
}

}  // namespace

bool has_ended_loans() noexcept {
  return has_ended.load(std::memory_order_acquire);
}

void end_loans() noexcept {
  std::vector<Py_buffer*> taken;
  {
    const std::scoped_lock lock(ended_mutex);
    taken.swap(ended);
    has_ended.store(false, std::memory_order_release);
  }
  for (Py_buffer* view : taken) give_back(view);
}

Tensor borrow(nb::handle value) {
  const DeviceScope on_host = device("CPU:0");
  if (is_tensor(value.ptr()) || as_variable(value) || !PyObject_CheckBuffer(value.ptr()))
    return to_tensor(value);
  auto view = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(value.ptr(), view.get(), PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return to_tensor(value);
  }
  const std::shared_ptr<Py_buffer> lender(view.release(), &end_loan);
  const Py_buffer& b = *lender;
  const std::optional<DType> dtype = dtype_of_format(b.format);
  if (!dtype || b.ndim == 0 || b.len == 0 || !PyBuffer_IsContiguous(&b, 'C') || !is_aligned(b))
    return to_tensor(value);
  const std::vector<std::int64_t> dims(b.shape, b.shape + b.ndim);
  return interop::borrow_from_host(*dtype, Shape(std::span<const std::int64_t>(dims)), b.buf,
                                   lender);
}

void bind_borrow(nb::module_& m) {
  // A child must not find the list locked by a thread that it does not have.
  pthread_atfork([] { ended_mutex.lock(); }, [] { ended_mutex.unlock(); },
                 [] { ended_mutex.unlock(); });
  m.def(
      "borrow", [](nb::handle array) { return to_python(borrow(array)); }, nb::arg("array"),
      "A tensor on the host that reads an array where it stands: for data, of which batches are "
      "made.");
}

}  // namespace plimsoll::python
