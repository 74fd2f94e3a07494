#include "backend/cpu/softmax_rows.h"

#include <atomic>

#include "backend/cpu/cpu.h"
#include "backend/cpu/parallel.h"
#include "backend/cpu/types.h"

namespace plimsoll::cpu {
namespace {

constexpr std::int64_t kWork = 16384;  // elements that are worth a thread

template <RowOp kOp>
Status run_rows(const RunArgs& args) noexcept {
  const TensorSpec& spec = args.call.in[0];
  const Shape& shape = spec.shape;
  if (shape.num_elements() == 0) return {};
  const int axis =
      normalize_axis(args.attrs()[attr::Softmax::axis].as_int(), shape.rank(), "Softmax");
  RowArgs all{kOp,
              args.in[0].as<void>(),
              args.in.size() > 1 ? args.in[1].as<void>() : nullptr,
              args.out[0].as<void>(),
              shape.dim(axis),
              1};
  for (int d = axis + 1; d < shape.rank(); ++d) all.inner *= shape.dim(d);
  const std::int64_t slice = all.n * all.inner;
  const std::int64_t num = shape.num_elements() / slice;
  const RowFn rows = row_kernels(spec.dtype).rows;
  const std::int64_t nbytes = slice * dtype_size(spec.dtype);
  // Work is split into columns of slices, so that few large slices are parallel too.
  parallel_for(num * all.inner, std::max<std::int64_t>(1, kWork / all.n),
               [&](std::int64_t begin, std::int64_t end) {
                 while (begin < end) {
                   const std::int64_t s = begin / all.inner, first = begin % all.inner;
                   const std::int64_t last = std::min(all.inner, first + (end - begin));
                   const auto moved = [&](auto* p) {
                     using Byte =
                         std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(p)>>,
                                            const char, char>;
                     return p ? static_cast<Byte*>(p) + s * nbytes : nullptr;
                   };
                   RowArgs one = all;
                   one.x = moved(all.x);
                   one.y = moved(all.y);
                   one.out = moved(all.out);
                   rows(one, first, last);
                   begin += last - first;
                 }
               });
  return {};
}

std::int64_t label_at(const void* labels, DType dtype, std::int64_t i) noexcept {
  return dtype == DType::kInt32 ? static_cast<const std::int32_t*>(labels)[i]
                                : static_cast<const std::int64_t*>(labels)[i];
}

// Losses and their gradients: logits and labels follow the gradient, if there is one.
template <bool kIsSparse, bool kIsGrad>
Status run_loss(const RunArgs& args) noexcept {
  constexpr std::size_t kLogits = kIsGrad ? 1 : 0, kLabels = kLogits + 1;
  const TensorSpec& spec = args.call.in[kLogits];
  const std::int64_t n = spec.shape.dim(spec.shape.rank() - 1);
  const std::int64_t rows = (kIsGrad ? args.call.in[0] : args.call.out[0]).shape.num_elements();
  const std::int64_t size = dtype_size(spec.dtype);
  const LossFn loss = row_kernels(spec.dtype).loss;
  const char* logits = args.in[kLogits].as<const char>();
  const char* labels = args.in[kLabels].as<const char>();
  std::atomic<std::int64_t> bad_row = -1;
  parallel_for(rows, std::max<std::int64_t>(1, kWork / std::max<std::int64_t>(n, 1)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t r = begin; r < end; ++r) {
                   LossArgs one{logits + r * n * size, nullptr, 0, nullptr, nullptr, n};
                   one.out = args.out[0].as<char>() + r * size * (kIsGrad ? n : 1);
                   if constexpr (kIsGrad) one.dloss = args.in[0].as<const char>() + r * size;
                   if constexpr (kIsSparse) {
                     one.label = label_at(labels, args.call.in[kLabels].dtype, r);
                     if (one.label < 0 || one.label >= n) {
                       bad_row = r;
                       return;
                     }
                   } else {
                     one.labels = labels + r * n * size;
                   }
                   loss(one);
                 }
               });
  if (bad_row < 0) return {};
  return {ErrorCode::kInvalidArgument,
          "Received a label value of {} which is outside the valid range of [0, {}).  It is the "
          "label of row {}",
          label_at(labels, args.call.in[kLabels].dtype, bad_row), n, bad_row};
}

const KernelDef kRows[] = {
    {.op = OpId::Softmax, .dtypes = kFloats, .run = run_rows<RowOp::kSoftmax>},
    {.op = OpId::LogSoftmax, .dtypes = kFloats, .run = run_rows<RowOp::kLogSoftmax>},
    {.op = OpId::SoftmaxGrad, .dtypes = kFloats, .run = run_rows<RowOp::kSoftmaxGrad>},
    {.op = OpId::LogSoftmaxGrad, .dtypes = kFloats, .run = run_rows<RowOp::kLogSoftmaxGrad>},
    {.op = OpId::SoftmaxCrossEntropy, .dtypes = kFloats, .run = run_loss<false, false>},
    {.op = OpId::SoftmaxCrossEntropyGrad, .dtypes = kFloats, .run = run_loss<false, true>},
    {.op = OpId::SparseSoftmaxCrossEntropy, .dtypes = kFloats, .run = run_loss<true, false>},
    {.op = OpId::SparseSoftmaxCrossEntropyGrad, .dtypes = kFloats, .run = run_loss<true, true>},
};

}  // namespace

std::span<const KernelDef> softmax_kernels() {
  return kRows;
}

}  // namespace plimsoll::cpu
