// What the fronts in other languages need of tensors: their memory, whether they have a value, and
// a way to say which line of the user's program a call belongs to.
//
//   if (!interop::is_symbolic(t)) {
//     const void* elements = interop::host_data(t);            // no copy; null on a GPU
//     if (!elements) interop::copy_to_host(t, buffer);
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "plimsoll/tensor.h"

namespace plimsoll {

namespace interop {

// Whether this thread traces a function: calls are recorded, not executed.
bool is_tracing() noexcept;
// Whether some tape of this thread records now.
bool is_recording() noexcept;
// Whether a function that is called now runs op by op, since several tapes record, or one that does
// not follow variables. Under one tape a function is one step, and runs by plan.
bool needs_each_op() noexcept;
// Whether a tensor stands for a value of a function that is traced, and has none itself.
bool is_symbolic(const Tensor& tensor) noexcept;
// "MatMul_1:0" of a symbolic tensor: the op that makes it, numbered from the second on.
std::string symbolic_name(const Tensor& tensor);
// Gives a symbolic tensor of this thread's trace another name: that of an argument.
void set_symbolic_name(const Tensor& tensor, const std::string& name);

// Different for any two tensors of the process.
std::uint64_t tensor_id(const Tensor& tensor) noexcept;

// The elements, in row-major order, of a tensor that stands on the CPU; null elsewhere, and for
// strings. They stay as long as some handle of the tensor does, and must not be written to.
const void* host_data(const Tensor& tensor) noexcept;
// The only string of a tensor, without a copy; it stays as long as some handle of the tensor does.
// throws: InvalidArgumentError if there are more or fewer, or no strings; FailedPreconditionError
// for a symbolic tensor.
std::string_view string_data(const Tensor& tensor);
// Copies the elements out, from whatever device. pre: room for nbytes().
// throws: FailedPreconditionError for a symbolic tensor; ResourceExhaustedError for staging.
void copy_to_host(const Tensor& tensor, void* to);
// The tensor itself if it stands on the CPU, else a copy of it there; host_data of the result is
// not null, unless there is no element. throws: as copy_to_host.
Tensor on_host(const Tensor& tensor);
// A tensor with a copy of `values`, where constant() would put it. pre: no string.
// throws: ResourceExhaustedError.
Tensor copy_from_host(DType dtype, const Shape& shape, const void* values);

// A tensor on the CPU whose elements are the caller's: nothing is copied or counted, and reports
// show it as external. `lender` goes when no tensor needs them any more, on whatever thread that
// is. Who writes to them changes the tensor: for data that is read, not for values to compute with.
// pre: `values` is aligned for its type and stays as long as `lender`; no string.
Tensor borrow_from_host(DType dtype, const Shape& shape, const void* values,
                        std::shared_ptr<const void> lender);

// While it lives, this thread executes although it traces a function: for variables and other
// things that are made once. Tapes see nothing of it.
struct InitScopeState;  // internal
class InitScope {
 public:
  InitScope();
  ~InitScope();
  InitScope(const InitScope&) = delete;
  InitScope& operator=(const InitScope&) = delete;

 private:
  std::unique_ptr<InitScopeState> state_;
};

// Says where the program is, as "train.py:12"; empty if it does not know. Asked for when a tensor
// of 1 MiB or more is made, and for each op of a trace, on the thread that calls; reports of memory
// name the line behind the op. It must not throw. Null: nobody is asked.
using CallSite = std::string (*)();
void set_call_site(CallSite ask) noexcept;

}  // namespace interop
}  // namespace plimsoll
