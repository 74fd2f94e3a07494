#include "backend/cpu/onednn.h"

#include <array>
#include <atomic>
#include <mutex>

namespace plimsoll::cpu {
namespace {

constexpr std::size_t kMaxOperands = 5;

// The handles of one primitive on one thread.
struct Handles {
  std::uint64_t id = 0;
  std::array<dnnl::memory, kMaxOperands> memory;
  std::array<dnnl_exec_arg_t, kMaxOperands> args{};
};

// The handles that a thread has made, by slot.
struct ThreadHandles {
  std::vector<Handles> slots;
  dnnl::stream stream{onednn_engine()};
};
ThreadHandles& thread_handles() {
  static thread_local const std::unique_ptr<ThreadHandles> made = std::make_unique<ThreadHandles>();
  return *made;
}

// The smallest slot that no living call has; it is free again when the last copy of the call goes.
std::shared_ptr<const std::size_t> take_slot() {
  struct Slots {
    std::mutex mutex;
    std::size_t size = 0;
    std::vector<std::size_t> free;
  };
  static Slots& slots = *new Slots;
  const std::lock_guard lock(slots.mutex);
  if (slots.free.empty()) {
    slots.free.reserve(slots.size + 1);  // giving back must not fail
    slots.free.push_back(slots.size++);
  }
  auto slot = std::make_unique<std::size_t>(slots.free.back());
  slots.free.pop_back();
  return {slot.release(), [](const std::size_t* given) {
            const std::lock_guard lock_again(slots.mutex);
            slots.free.push_back(*given);
            delete given;
          }};
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

dnnl::memory::desc onednn_desc(const dnnl::memory::dims& dims, const dnnl::memory::dims& strides,
                               dnnl::memory::data_type type) {
  using dnnl::memory;
  if (strides.empty()) return memory::desc(dims, type, memory::format_tag::any);
  return memory::desc(dims, type, strides);
}

OneDnnCall::OneDnnCall(dnnl::primitive primitive, std::vector<Operand> operands)
    : primitive_(std::move(primitive)), operands_(std::move(operands)), slot_(take_slot()) {
  static std::atomic<std::uint64_t> next{0};
  id_ = ++next;
}

Status OneDnnCall::make_handles() const noexcept {
  try {
    std::vector<Handles>& slots = thread_handles().slots;
    if (slots.size() <= *slot_) slots.resize(*slot_ + 1);
    Handles& handles = slots[*slot_];
    if (handles.id == id_) return {};
    handles.id = 0;
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      handles.memory[i] = dnnl::memory(operands_[i].desc, onednn_engine(), nullptr);
      handles.args[i] = {operands_[i].arg, handles.memory[i].get()};
    }
    handles.id = id_;
    return {};
  } catch (const std::exception&) {
    return {ErrorCode::kResourceExhausted, "oneDNN could not make the handles of a kernel"};
  }
}

Status OneDnnCall::run(std::initializer_list<void*> data) const noexcept {
  if (const Status status = make_handles(); !status.ok()) return status;
  ThreadHandles& thread = thread_handles();
  const auto& args = thread.slots[*slot_].args;
  std::size_t i = 0;
  for (void* pointer : data) {
    if (dnnl_memory_set_data_handle(args[i++].memory, pointer) != dnnl_success)
      return {ErrorCode::kInternal, "oneDNN did not take operand {}", static_cast<int>(i) - 1};
  }
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), thread.stream.get(), static_cast<int>(operands_.size()), args.data());
  if (status == dnnl_success) return {};
  if (status == dnnl_out_of_memory)
    return {ErrorCode::kResourceExhausted, "oneDNN could not allocate inside a kernel"};
  return {ErrorCode::kInternal, "oneDNN failed with status {}", static_cast<int>(status)};
}

OneDnnCall onednn_reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to,
                          ScratchBook& book) {
  const dnnl::reorder::primitive_desc desc(onednn_engine(), from, onednn_engine(), to,
                                           onednn_attr());
  book.book(std::max(from.get_size(), to.get_size()));
  book.book(desc.scratchpad_desc().get_size());
  return {
      dnnl::reorder(desc),
      {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}}};
}

}  // namespace plimsoll::cpu
