#include "backend/cpu/onednn.h"

#include <array>
#include <atomic>

namespace plimsoll::cpu {
namespace {

constexpr std::size_t kMaxOperands = 5;

// The handles of one primitive on one thread.
struct Handles {
  std::uint64_t id = 0;
  std::array<dnnl::memory, kMaxOperands> memory;
  std::array<dnnl_exec_arg_t, kMaxOperands> args{};
};

// A few of them; one that is needed again after another took its place is made again.
struct ThreadHandles {
  std::array<Handles, 128> slots;
  dnnl::stream stream{onednn_engine()};
};
ThreadHandles& thread_handles() {
  static thread_local const std::unique_ptr<ThreadHandles> made = std::make_unique<ThreadHandles>();
  return *made;
}

}  // namespace

const dnnl::engine& onednn_engine() {
  static const dnnl::engine& engine = *[] {
    dnnl::set_primitive_cache_capacity(0);
    return new dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

dnnl::primitive_attr onednn_attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

dnnl::memory::desc onednn_desc(const dnnl::memory::dims& dims, const dnnl::memory::dims& strides) {
  using dnnl::memory;
  if (strides.empty()) return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  return memory::desc(dims, memory::data_type::f32, strides);
}

OneDnnCall::OneDnnCall(dnnl::primitive primitive, std::vector<Operand> operands)
    : primitive_(std::move(primitive)), operands_(std::move(operands)) {
  static std::atomic<std::uint64_t> next{0};
  id_ = ++next;
}

Status OneDnnCall::run(std::initializer_list<void*> data) const noexcept {
  try {
    ThreadHandles& thread = thread_handles();
    Handles& handles = thread.slots[id_ % thread.slots.size()];
    if (handles.id != id_) {
      handles.id = 0;
      for (std::size_t i = 0; i < operands_.size(); ++i) {
        handles.memory[i] = dnnl::memory(operands_[i].desc, onednn_engine(), nullptr);
        handles.args[i] = {operands_[i].arg, handles.memory[i].get()};
      }
      handles.id = id_;
    }
    std::size_t i = 0;
    for (void* pointer : data) {
      if (dnnl_memory_set_data_handle(handles.args[i++].memory, pointer) != dnnl_success)
        return {ErrorCode::kInternal, "oneDNN did not take operand {}", static_cast<int>(i) - 1};
    }
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), thread.stream.get(),
                               static_cast<int>(operands_.size()), handles.args.data());
    if (status == dnnl_success) return {};
    if (status == dnnl_out_of_memory)
      return {ErrorCode::kResourceExhausted, "oneDNN could not allocate inside a kernel"};
    return {ErrorCode::kInternal, "oneDNN failed with status {}", static_cast<int>(status)};
  } catch (const std::exception&) {  // the first run of a thread allocates
    return {ErrorCode::kResourceExhausted, "oneDNN could not make the handles of a kernel"};
  }
}

}  // namespace plimsoll::cpu
