#include "runtime/dispatch.h"

#include <memory>
#include <new>

#include "base/check.h"
#include "plimsoll/bytes.h"
#include "runtime/budget_scope.h"
#include "runtime/call_site.h"
#include "runtime/copies.h"
#include "runtime/kernel_cache.h"
#include "runtime/output_place.h"
#include "runtime/placement.h"
#include "runtime/string_ops.h"
#include "runtime/tape.h"
#include "runtime/trace.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

using memory::Owner;
using memory::Tag;

constexpr std::size_t kFewTensors = 8;  // calls with more use the heap for their lists

// The owners of what an op allocates, made once.
struct OpOwners {
  Owner output, scratch;
};
const OpOwners& owners_of(OpId op) {
  static const std::vector<OpOwners>& table = *[] {
    auto* made = new std::vector<OpOwners>;
    for (int i = 0; i < kNumOps; ++i) {
      const auto name = op_name(static_cast<OpId>(i));
      made->push_back({Owner(Tag::kActivations, name), Owner(Tag::kWorkspace, name)});
    }
    return made;
  }();
  return table[static_cast<std::size_t>(op)];
}

// A list that is on the stack while it is short. Only the elements that it has are made.
template <class T>
class FewOrMore {
 public:
  explicit FewOrMore(std::size_t size) : size_(size) {
    data_ = size > kFewTensors ? static_cast<T*>(::operator new(size * sizeof(T)))
                               : reinterpret_cast<T*>(few_);
    std::uninitialized_value_construct_n(data_, size);
  }
  ~FewOrMore() {
    std::destroy_n(data_, size_);
    if (size_ > kFewTensors) ::operator delete(data_);
  }
  FewOrMore(const FewOrMore&) = delete;
  FewOrMore& operator=(const FewOrMore&) = delete;

  T& operator[](std::size_t i) noexcept { return data_[i]; }
  operator std::span<T>() noexcept { return {data_, size_}; }
  operator std::span<const T>() noexcept { return {data_, size_}; }

 private:
  std::size_t size_;
  T* data_;
  alignas(T) std::byte few_[kFewTensors * sizeof(T)];
};

// The largest holders of a device's memory, a line of their own; nothing if nobody has a name.
std::string largest_holders(const Device& device) {
  constexpr int kShown = 3;
  std::string text;
  int num = 0;
  for (const memory::LedgerRow& row : device.budget().ledger()) {
    if (row.owner.name().empty()) continue;
    text += fmt::format("{}{} {}{}", text.empty() ? "\n  largest: " : ", ",
                        format_bytes(row.nbytes), row.owner.to_string(),
                        row.count > 1 ? fmt::format(" ({} of them)", row.count) : "");
    if (++num == kShown) break;
  }
  return text;
}

[[noreturn]] void throw_oom(const TensorSpec& spec, const Device& device,
                            const memory::Refusal& why) {
  std::string dims;
  for (const std::int64_t dim : spec.shape.dims())
    dims += (dims.empty() ? "" : ",") + std::to_string(dim);
  throw ResourceExhaustedError(fmt::format(
      "OOM when allocating tensor with shape[{}] and type {} on {} by allocator plimsoll\n{}{}",
      dims, dtype_word(spec.dtype), device.full_name(), memory::describe(why),
      largest_holders(device)));
}

void check_inputs(OpId op, std::span<const Tensor> in) {
  const OpInfo& info = op_info(op);
  const bool fits =
      info.num_in == kVariadic ? !in.empty() : static_cast<int>(in.size()) == info.num_in;
  PLIMSOLL_CHECK(fits, InvalidArgumentError, "{} takes {} inputs, got {}", info.name, info.num_in,
                 in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    PLIMSOLL_CHECK(in[i].is_valid(), InvalidArgumentError, "input {} of {} is an empty Tensor", i,
                   info.name);
    PLIMSOLL_CHECK(in[i].impl()->buffer || current_trace, InvalidArgumentError,
                   "input {} of {} is a symbolic tensor of a function: it has no value outside of "
                   "it. Return it from the function",
                   i, info.name);
  }
}

// Takes memory for all outputs, the scratch and copies of inputs (behind the outputs, in that
// order) in one step.
void allocate_all(OpId op, Device& device, std::span<const TensorSpec> specs,
                  std::span<const std::uint64_t> more, std::span<memory::Block> blocks) {
  const OpOwners& owners = owners_of(op);
  memory::Refusal why;
  if (specs.size() == 1 && more.size() == 1 && more[0] == 0) {
    const std::uint64_t nbytes = checked_tensor_bytes(specs[0].dtype, specs[0].shape);
    if (!device.heap().try_allocate(nbytes, owner_here(owners.output, nbytes), &blocks[0], &why, 64,
                                    scope_budget(device)))
      throw_oom(specs[0], device, why);
    return;
  }
  FewOrMore<memory::Claim> claims(specs.size() + more.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::uint64_t nbytes = checked_tensor_bytes(specs[i].dtype, specs[i].shape);
    claims[i] = {nbytes, owner_here(owners.output, nbytes)};
  }
  for (std::size_t i = 0; i < more.size(); ++i)
    claims[specs.size() + i] = {more[i], owners.scratch};
  if (device.heap().try_allocate_all(claims, blocks, &why, scope_budget(device))) return;
  if (!specs.empty()) throw_oom(specs[0], device, why);
  throw ResourceExhaustedError(fmt::format("OOM when copying the inputs of {} to {}\n{}",
                                           op_name(op), device.full_name(), memory::describe(why)));
}

Tensor wrap(memory::Block block, const Device& device, const TensorSpec& spec) {
  auto* buffer = new Buffer;
  buffer->block = std::move(block);
  buffer->device = &device;
  return make_tensor(spec.dtype, spec.shape, BufferRef(buffer));
}

DeviceSpan span_of(const Tensor& tensor) noexcept {
  const TensorImpl* impl = tensor.impl();
  return {impl->buffer->block.address(), impl->offset, tensor_bytes(impl->dtype, impl->shape)};
}

// Runs a kernel whose one output has a place already. False: there is none.
bool try_run_in_place(const PreparedKernel& kernel, const KernelCall& call,
                      std::span<const DeviceSpan> in, Device& device, Tensor& out) {
  Tensor made = OutputPlace::try_take(device, call.out[0]);
  if (!made.is_valid()) return false;
  memory::Block block;
  memory::Refusal why;
  if (!device.heap().try_allocate(kernel.scratch_bytes(), owners_of(call.op).scratch, &block, &why,
                                  64, scope_budget(device)))
    throw_oom(call.out[0], device, why);
  const DeviceSpan span = span_of(made);
  DeviceSpan slots[ScratchBook::kMaxSlots];
  const auto granted = kernel.grant(block.address(), slots);
  kernel.run({call, in, {&span, 1}, granted, kernel.state()}).throw_if_error(op_name(call.op));
  out = std::move(made);
  return true;
}

// Runs a kernel whose memory is there: `blocks` are the outputs, then the scratch.
void run_kernel(const PreparedKernel& kernel, const KernelCall& call,
                std::span<const DeviceSpan> in, Device& device, std::span<memory::Block> blocks,
                std::span<Tensor> out) {
  const std::size_t num_out = call.out.size();
  FewOrMore<DeviceSpan> out_spans(num_out);
  for (std::size_t i = 0; i < num_out; ++i)
    out_spans[i] = {blocks[i].address(), 0, tensor_bytes(call.out[i].dtype, call.out[i].shape)};
  DeviceSpan slots[ScratchBook::kMaxSlots];
  const auto scratch = kernel.grant(blocks[num_out].address(), slots);
  kernel.run({call, in, out_spans, scratch, kernel.state()}).throw_if_error(op_name(call.op));
  for (std::size_t i = 0; i < num_out; ++i)
    out[i] = wrap(std::move(blocks[i]), device, call.out[i]);
}

// Executes a call whose inputs were checked and are all on `device`.
void execute(const KernelCall& call, std::span<const Tensor> in, Device& device,
             std::span<Tensor> out) {
  if (op_def(call.op).is_view) {
    out[0] = make_tensor(call.out[0].dtype, call.out[0].shape, in[0].impl()->buffer,
                         in[0].impl()->offset);
    return;
  }
  const PreparedKernel kernel = find_kernel(device.kernels(), call);
  FewOrMore<DeviceSpan> in_spans(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in_spans[i] = span_of(in[i]);
  if (OutputPlace::is_any() && call.out.size() == 1 &&
      try_run_in_place(kernel, call, in_spans, device, out[0])) [[unlikely]]
    return;
  FewOrMore<memory::Block> blocks(call.out.size() + 1);
  const std::uint64_t scratch = kernel.scratch_bytes();
  allocate_all(call.op, device, call.out, {&scratch, 1}, blocks);
  run_kernel(kernel, call, in_spans, device, blocks, out);
}

// The same where some inputs are on other devices: they are copied to `device` for the call. The
// staging, the copies, outputs and scratch are all there before the first byte moves.
void execute_with_copies(const KernelCall& call, std::span<const Tensor> in, Device& device,
                         std::span<Tensor> out) {
  if (op_def(call.op).is_view) {
    const Tensor near = copy_to(device, in[0], owners_of(call.op).output);
    out[0] = make_tensor(call.out[0].dtype, call.out[0].shape, near.impl()->buffer);
    return;
  }
  const PreparedKernel kernel = find_kernel(device.kernels(), call);
  FewOrMore<std::uint64_t> more(in.size() + 1);  // scratch, then a copy of each input or nothing
  more[0] = kernel.scratch_bytes();
  StagingLease lease;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (owner_of(in[i]) == &device) continue;
    more[i + 1] = static_cast<std::uint64_t>(in[i].nbytes());
    if (!(owner_of(in[i])->is_host() && device.is_host())) largest = std::max(largest, more[i + 1]);
  }
  if (largest) lease = StagingLease(Context::get().staging(), largest);
  FewOrMore<memory::Block> blocks(call.out.size() + 1 + in.size());
  allocate_all(call.op, device, call.out, more, blocks);
  FewOrMore<DeviceSpan> in_spans(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    in_spans[i] = span_of(in[i]);
    if (owner_of(in[i]) == &device) continue;
    const memory::Address to = blocks[call.out.size() + 1 + i].address();
    copy_between(*owner_of(in[i]), address_of(in[i]), device, to, more[i + 1], lease);
    in_spans[i] = {to, 0, more[i + 1]};
  }
  lease = StagingLease();
  run_kernel(kernel, call, in_spans, device, blocks, out);
}

// `device`, or the CPU if the kernels there refuse the call and placement is soft.
Device& settle(Device& device, const KernelCall& call) {
  if (!device.kernels().device() || op_def(call.op).is_view || !is_soft_placement()) return device;
  try {
    find_kernel(device.kernels(), call);  // which is kept for the call itself
    return device;
  } catch (const UnimplementedError&) {
    return Context::get().cpu();
  }
}

bool is_elsewhere(const Device& device, std::span<const Tensor> in) noexcept {
  for (const Tensor& t : in) {
    if (t.impl()->buffer->device != &device && t.dtype() != DType::kString) [[unlikely]]
      return true;
  }
  return false;
}

template <class TakeOutputs>
void infer_and_execute(OpId op, std::span<const Tensor> in, const Attrs& attrs, TakeOutputs take) {
  check_inputs(op, in);
  FewOrMore<TensorSpec> in_specs(in.size());
  bool has_strings = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    in_specs[i] = {in[i].dtype(), in[i].shape()};
    has_strings |= in[i].dtype() == DType::kString;
  }
  OutSpecs specs;
  InferCtx ctx{op, attrs, in_specs, specs};
  op_def(op).infer(ctx);
  const std::span<Tensor> out = take(static_cast<std::size_t>(specs.size()));
  if (has_strings && !op_def(op).is_view) [[unlikely]] {
    PLIMSOLL_CHECK(is_op_of_strings(op) && !current_trace, UnimplementedError,
                   "cpu has no kernel for {} of type string{}", op_name(op),
                   current_trace ? " in a function that is traced" : "");
    return call_on_strings(op, in, attrs, specs.all(), out);
  }
  if (current_trace) [[unlikely]] {
    current_trace->record(op, attrs, in, specs.all(), out);
    if (is_recording()) record_call(op, attrs, in, out);
    return;
  }
  const KernelCall call{op, attrs, in_specs, specs.all()};
  Device& device = settle(place(op, in), call);
  if (is_logging_placement.load(std::memory_order_relaxed)) [[unlikely]]
    log_placement(op_name(op), device);
  if (is_elsewhere(device, in)) [[unlikely]] {
    execute_with_copies(call, in, device, out);
  } else {
    execute(call, in, device, out);
  }
  if (is_recording()) record_call(op, attrs, in, out);
}

}  // namespace

Tensor allocate_tensor(Device& device, DType dtype, const Shape& shape, Owner owner) {
  memory::Block block;
  memory::Refusal why;
  const std::uint64_t nbytes = checked_tensor_bytes(dtype, shape);
  if (!device.heap().try_allocate(nbytes, owner_here(owner, nbytes), &block, &why, 64,
                                  scope_budget(device))) {
    throw_oom({dtype, shape}, device, why);
  }
  return wrap(std::move(block), device, {dtype, shape});
}

std::vector<Tensor> call_all(OpId op, std::span<const Tensor> in, const Attrs& attrs) {
  std::vector<Tensor> out;
  infer_and_execute(op, in, attrs, [&](std::size_t n) {
    out.resize(n);
    return std::span(out);
  });
  return out;
}

Tensor call(OpId op, std::span<const Tensor> in, const Attrs& attrs) {
  Tensor out;
  infer_and_execute(op, in, attrs, [&](std::size_t n) {
    PLIMSOLL_CHECK(n == 1, InternalError, "{} has {} outputs", op_name(op), n);
    return std::span(&out, 1);
  });
  return out;
}

}  // namespace plimsoll
