// oneDNN as the kernels use it: primitives are built once in `prepare`, with scratchpads that the
// ScratchBook grants; its own cache of primitives is off. The handles by which a run passes its
// operands are kept per thread.
#pragma once

#include <dnnl.hpp>

#include <initializer_list>
#include <memory>
#include <type_traits>
#include <vector>

#include "backend/api/kernel.h"
#include "plimsoll/dtype.h"

namespace plimsoll::cpu {

// The CPU's engine. The first call turns oneDNN's own cache off.
const dnnl::engine& onednn_engine();

// Attributes for all primitives: the scratchpad is the caller's.
dnnl::primitive_attr onednn_attr();

// float or BFloat16, which oneDNN multiplies as they are and adds up in float.
template <class T>
inline constexpr dnnl::memory::data_type kOneDnnType =
    std::is_same_v<T, BFloat16> ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;

// With these strides in elements; empty strides: the layout that the primitive likes.
dnnl::memory::desc onednn_desc(const dnnl::memory::dims& dims,
                               const dnnl::memory::dims& strides = {},
                               dnnl::memory::data_type type = dnnl::memory::data_type::f32);

// Calls `make`, and turns oneDNN's refusals into UnimplementedError: another kernel is then asked.
template <class F>
auto onednn_try(F&& make) {
  try {
    return make();
  } catch (const dnnl::error& e) {
    throw UnimplementedError(std::string("oneDNN: ") + e.what());
  }
}

// Goes on to the next implementation while it is one that allocates inside or is a reference;
// throws UnimplementedError if no other is left.
template <class Desc>
void skip_unfit(Desc& desc) {
  const auto is_unfit = [&] {
    const std::string name = desc.impl_info_str();
    return name.rfind("gemm", 0) == 0 || name.rfind("ref", 0) == 0 || name.rfind("simple", 0) == 0;
  };
  while (is_unfit()) {
    if (!desc.next_impl()) throw UnimplementedError("oneDNN has no kernel for these shapes");
  }
}

// A primitive and the operands that it takes, in an order that `run` repeats.
class OneDnnCall {
 public:
  struct Operand {
    int arg;  // DNNL_ARG_*
    dnnl::memory::desc desc;
  };
  OneDnnCall(dnnl::primitive primitive, std::vector<Operand> operands);

  // Allocates only the first time that a thread runs it.
  Status run(std::initializer_list<void*> data) const noexcept;

 private:
  Status make_handles() const noexcept;  // of this thread

  dnnl::primitive primitive_;
  std::vector<Operand> operands_;
  std::shared_ptr<const std::size_t> slot_;  // among the handles of each thread; used again later
  std::uint64_t id_;                         // of this object, never used again
};

// Between a layout of ours and one that oneDNN likes; books scratch for the latter, then for the
// call itself. Run with {from, to, scratch of the call}.
OneDnnCall onednn_reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to,
                          ScratchBook& book);

// Bytes that a primitive is counted with in the kernel cache: its code and descriptors, which
// oneDNN does not tell.
inline constexpr std::uint64_t kPrimitiveBytes = 64 << 10;

}  // namespace plimsoll::cpu
