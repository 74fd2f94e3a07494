#include <limits>

#include "backend/gpu/expressions.h"
#include "backend/opencl/kernel_state.h"
#include "backend/opencl/opencl.h"

namespace plimsoll::opencl {
namespace {

struct RowsState final : ClState {
  using ClState::ClState;
  ClKernel kernel;
  std::int64_t num_rows = 0, n = 1, inner = 1;
  bool checks_labels = false;
};

KernelStatePtr prepare_softmax(const KernelCall& call, ScratchBook&) {
  auto state = std::make_shared<RowsState>(call);
  const Shape& shape = call.in[0].shape;
  const std::int64_t given = call.attrs[attr::Softmax::axis].as_int();
  const int axis = static_cast<int>(given < 0 ? given + shape.rank() : given);
  state->n = shape.dim(axis);
  for (int d = axis + 1; d < shape.rank(); ++d) state->inner *= shape.dim(d);
  state->num_rows = state->n ? shape.num_elements() / state->n : 0;
  state->kernel = state->device.kernel(gpu::softmax_source(call.op, call.in[0].dtype), "rows");
  return state;
}

Status run_softmax(const RunArgs& args) noexcept {
  const auto& s = static_cast<const RowsState&>(*args.state);
  return s.device.launch(s.kernel, static_cast<std::uint64_t>(s.num_rows) * ClDevice::kGroup,
                         {s.num_rows, s.n, s.inner, args.out[0], args.in[0],
                          args.in.size() > 1 ? args.in[1] : args.in[0]});
}

// Logits and labels follow the gradient of the loss, if there is one.
std::size_t logits_at(const KernelCall& call) noexcept {
  return call.in.size() - 2;
}

KernelStatePtr prepare_loss(const KernelCall& call, ScratchBook& book) {
  auto state = std::make_shared<RowsState>(call);
  const TensorSpec& logits = call.in[logits_at(call)];
  const TensorSpec& labels = call.in[logits_at(call) + 1];
  state->n = logits.shape.dim(logits.shape.rank() - 1);
  state->num_rows = (logits_at(call) ? call.in[0] : call.out[0]).shape.num_elements();
  state->checks_labels = !is_floating(labels.dtype);
  if (state->checks_labels) book.book(sizeof(std::int32_t));
  state->kernel =
      state->device.kernel(gpu::loss_source(call.op, logits.dtype, labels.dtype), "rows");
  return state;
}

Status run_loss(const RunArgs& args) noexcept {
  const auto& s = static_cast<const RowsState&>(*args.state);
  const std::size_t at = logits_at(args.call);
  const DeviceSpan &logits = args.in[at], &labels = args.in[at + 1];
  constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
  const DeviceSpan bad = s.checks_labels ? args.scratch[0] : labels;
  Status status;
  if (s.checks_labels) status = s.device.fill(bad, &kNone, sizeof kNone);
  if (!status.ok()) return status;
  status = s.device.launch(s.kernel, static_cast<std::uint64_t>(s.num_rows) * ClDevice::kGroup,
                           {s.num_rows, s.n, args.out[0], args.in[0], logits, labels, bad});
  if (!status.ok() || !s.checks_labels) return status;
  std::int32_t row = kNone;
  status = s.device.read(&row, bad.buffer + bad.offset, sizeof row);
  if (!status.ok() || row == kNone) return status;
  const bool is_short = args.call.in[at + 1].dtype == DType::kInt32;
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  const std::uint64_t size = is_short ? 4 : 8;
  status =
      s.device.read(is_short ? static_cast<void*>(&narrow) : &wide,
                    labels.buffer + labels.offset + static_cast<std::uint64_t>(row) * size, size);
  if (!status.ok()) return status;
  return {ErrorCode::kInvalidArgument,
          "Received a label value of {} which is outside the valid range of [0, {}).  It is the "
          "label of row {}",
          is_short ? narrow : wide, s.n, row};
}

constexpr KernelDef row(OpId op, KernelStatePtr (*prepare)(const KernelCall&, ScratchBook&),
                        Status (*run)(const RunArgs&) noexcept) {
  return {.op = op, .dtypes = gpu::kFloats, .prepare = prepare, .run = run};
}

const KernelDef kRows[] = {
    row(OpId::Softmax, prepare_softmax, run_softmax),
    row(OpId::LogSoftmax, prepare_softmax, run_softmax),
    row(OpId::SoftmaxGrad, prepare_softmax, run_softmax),
    row(OpId::LogSoftmaxGrad, prepare_softmax, run_softmax),
    row(OpId::SoftmaxCrossEntropy, prepare_loss, run_loss),
    row(OpId::SoftmaxCrossEntropyGrad, prepare_loss, run_loss),
    row(OpId::SparseSoftmaxCrossEntropy, prepare_loss, run_loss),
    row(OpId::SparseSoftmaxCrossEntropyGrad, prepare_loss, run_loss),
};

}  // namespace

std::span<const KernelDef> softmax_kernels() {
  return kRows;
}

}  // namespace plimsoll::opencl
