#include "runtime/dispatch.h"

#include <array>

#include "base/check.h"
#include "runtime/context.h"
#include "runtime/kernel_cache.h"
#include "runtime/tape.h"
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

// A list that is on the stack while it is short.
template <class T>
class FewOrMore {
 public:
  explicit FewOrMore(std::size_t size) : size_(size) {
    if (size > kFewTensors) more_.resize(size);
  }
  T& operator[](std::size_t i) noexcept { return data()[i]; }
  T* data() noexcept { return size_ > kFewTensors ? more_.data() : few_.data(); }
  operator std::span<T>() noexcept { return {data(), size_}; }
  operator std::span<const T>() noexcept { return {data(), size_}; }

 private:
  std::size_t size_;
  std::array<T, kFewTensors> few_{};
  std::vector<T> more_;
};

[[noreturn]] void throw_oom(const TensorSpec& spec, const Device& device,
                            const memory::Refusal& why) {
  std::string dims;
  for (const std::int64_t dim : spec.shape.dims())
    dims += (dims.empty() ? "" : ",") + std::to_string(dim);
  throw ResourceExhaustedError(fmt::format(
      "OOM when allocating tensor with shape[{}] and type {} on {} by allocator plimsoll\n{}", dims,
      dtype_word(spec.dtype), device.full_name(), memory::describe(why)));
}

void check_inputs(OpId op, std::span<const Tensor> in) {
  const OpInfo& info = op_info(op);
  const bool fits =
      info.num_in == kVariadic ? !in.empty() : static_cast<int>(in.size()) == info.num_in;
  PLIMSOLL_CHECK(fits, InvalidArgumentError, "{} takes {} inputs, got {}", info.name, info.num_in,
                 in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    PLIMSOLL_CHECK(in[i].is_valid() && in[i].impl()->buffer, InvalidArgumentError,
                   "input {} of {} is an empty Tensor", i, info.name);
  }
}

// Takes memory for all outputs and the scratch in one step; the scratch is the last block.
void allocate_outputs(OpId op, Device& device, std::span<const TensorSpec> specs,
                      std::uint64_t scratch_bytes, std::span<memory::Block> blocks) {
  const OpOwners& owners = owners_of(op);
  memory::Refusal why;
  if (specs.size() == 1 && scratch_bytes == 0) {
    const std::uint64_t nbytes = checked_tensor_bytes(specs[0].dtype, specs[0].shape);
    if (!device.heap().try_allocate(nbytes, owners.output, &blocks[0], &why))
      throw_oom(specs[0], device, why);
    return;
  }
  FewOrMore<memory::Claim> claims(specs.size() + 1);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    claims[i] = {checked_tensor_bytes(specs[i].dtype, specs[i].shape), owners.output};
  }
  claims[specs.size()] = {scratch_bytes, owners.scratch};
  if (!device.heap().try_allocate_all(claims, blocks, &why)) throw_oom(specs[0], device, why);
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

// Executes a call whose inputs were checked; `out` is as long as `specs`.
void execute(OpId op, const Attrs& attrs, std::span<const Tensor> in,
             std::span<const TensorSpec> in_specs, std::span<const TensorSpec> specs,
             Device& device, std::span<Tensor> out) {
  if (op_def(op).is_view) {
    out[0] =
        make_tensor(specs[0].dtype, specs[0].shape, in[0].impl()->buffer, in[0].impl()->offset);
    return;
  }
  const KernelCall call{op, attrs, in_specs, specs};
  const PreparedKernel kernel = find_kernel(device.kernels(), call);
  FewOrMore<memory::Block> blocks(specs.size() + 1);
  allocate_outputs(op, device, specs, kernel.scratch_bytes(), blocks);

  FewOrMore<DeviceSpan> in_spans(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in_spans[i] = span_of(in[i]);
  FewOrMore<DeviceSpan> out_spans(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    out_spans[i] = {blocks[i].address(), 0, tensor_bytes(specs[i].dtype, specs[i].shape)};
  }
  DeviceSpan slots[8];
  const auto scratch = kernel.grant(blocks[specs.size()].address(), slots);
  kernel.run({call, in_spans, out_spans, scratch, kernel.state()}).throw_if_error(op_name(op));
  for (std::size_t i = 0; i < specs.size(); ++i)
    out[i] = wrap(std::move(blocks[i]), device, specs[i]);
}

template <class TakeOutputs>
void infer_and_execute(OpId op, std::span<const Tensor> in, const Attrs& attrs, TakeOutputs take) {
  check_inputs(op, in);
  FewOrMore<TensorSpec> in_specs(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in_specs[i] = {in[i].dtype(), in[i].shape()};
  OutSpecs specs;
  InferCtx ctx{op, attrs, in_specs, specs};
  op_def(op).infer(ctx);

  const std::span<Tensor> out = take(static_cast<std::size_t>(specs.size()));
  execute(op, attrs, in, in_specs, specs.all(), Context::get().default_device(), out);
  if (is_recording()) record_call(op, attrs, in, out);
}

}  // namespace

Tensor allocate_tensor(Device& device, DType dtype, const Shape& shape, Owner owner) {
  memory::Block block;
  memory::Refusal why;
  if (!device.heap().try_allocate(checked_tensor_bytes(dtype, shape), owner, &block, &why)) {
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
