#include <optional>

#include "backend/cpu/bias_activation.h"
#include "backend/cpu/matmul.h"
#include "backend/cpu/onednn.h"

namespace plimsoll::cpu {
namespace {

struct OneDnnMatMul final : KernelState {
  std::uint64_t nbytes() const noexcept override { return (repack ? 2 : 1) * kPrimitiveBytes; }
  std::optional<OneDnnCall> product, repack;
};

// Whether B is brought into the layout that the kernel likes before the product. Without it each
// thread copies B piece by piece for itself: the same time while B fits the caches, up to twice as
// long when it does not. The copy is worth its time from some hundred rows of A on.
bool wants_packed_b(const Matrices& s, int rank) noexcept {
  constexpr std::int64_t kManyRows = 512, kLargeB = 2 << 20;
  return rank == 2 && s.m >= kManyRows && s.k * s.n >= kLargeB;
}

// A matrix or a batch of them as oneDNN takes it: all operands of one rank, ones where broadcast.
dnnl::memory::desc desc_of(const Shape& shape, int rank, std::int64_t rows, std::int64_t columns,
                           std::int64_t row_stride, std::int64_t column_stride,
                           dnnl::memory::data_type type) {
  dnnl::memory::dims dims(static_cast<std::size_t>(rank), 1), strides(dims);
  std::int64_t stride = rows * columns;
  for (int d = rank - 3, own = shape.rank() - 3; d >= 0; --d, --own) {
    dims[static_cast<std::size_t>(d)] = own >= 0 ? shape.dim(own) : 1;
    strides[static_cast<std::size_t>(d)] = stride;
    stride *= dims[static_cast<std::size_t>(d)];
  }
  const auto r = static_cast<std::size_t>(rank);
  dims[r - 2] = rows;
  dims[r - 1] = columns;
  strides[r - 2] = row_stride;
  strides[r - 1] = column_stride;
  return onednn_desc(dims, strides, type);
}

}  // namespace

bool onednn_matmul_accepts(const KernelCall& call) noexcept {
  const Matrices s = matrices_of(call);
  return call.out[0].shape.num_elements() > 0 && s.k > 0;
}

KernelStatePtr onednn_matmul_prepare(const KernelCall& call, ScratchBook& book) {
  return onednn_try([&] {
    const Matrices s = matrices_of(call);
    const int rank = call.out[0].shape.rank();
    const auto type =
        call.in[0].dtype == DType::kBFloat16 ? kOneDnnType<BFloat16> : kOneDnnType<float>;
    const auto a = desc_of(call.in[0].shape, rank, s.m, s.k, s.a_row, s.a_col, type);
    const auto b = desc_of(call.in[1].shape, rank, s.k, s.n, s.b_row, s.b_col, type);
    const auto c = desc_of(call.out[0].shape, rank, s.m, s.n, s.n, 1, type);
    const auto any_b = wants_packed_b(s, rank) ? onednn_desc({s.k, s.n}, {}, type) : b;
    const bool has_bias = call.op == OpId::MatMulBias;
    const auto attr = onednn_attr();
    dnnl::memory::dims ones(static_cast<std::size_t>(rank), 1);
    ones.back() = s.n;
    const auto bias = onednn_desc(ones, dnnl::memory::dims(ones.size(), 1));
    dnnl::matmul::primitive_desc desc =
        has_bias ? dnnl::matmul::primitive_desc(onednn_engine(), a, any_b, bias, c, attr)
                 : dnnl::matmul::primitive_desc(onednn_engine(), a, any_b, c, attr);
    skip_unfit(desc);
    const auto packed_b = desc.weights_desc();
    auto state = std::make_shared<OneDnnMatMul>();
    book.book(desc.scratchpad_desc().get_size());
    std::vector<OneDnnCall::Operand> operands{{DNNL_ARG_SRC, a},
                                              {DNNL_ARG_WEIGHTS, packed_b},
                                              {DNNL_ARG_DST, c},
                                              {DNNL_ARG_SCRATCHPAD, desc.scratchpad_desc()}};
    if (has_bias) operands.push_back({DNNL_ARG_BIAS, bias});
    state->product.emplace(dnnl::matmul(desc), std::move(operands));
    if (packed_b != b) state->repack = onednn_reorder(b, packed_b, book);
    return state;
  });
}

Status onednn_matmul_run(const RunArgs& args) noexcept {
  const auto& state = *static_cast<const OneDnnMatMul*>(args.state);
  void* b = args.in[1].as<void>();
  if (state.repack) {
    void* packed = args.scratch[1].as<void>();
    const Status status = state.repack->run({b, packed, args.scratch[2].as<void>()});
    if (!status.ok()) return status;
    b = packed;
  }
  void* a = args.in[0].as<void>();
  void* c = args.out[0].as<void>();
  void* pad = args.scratch[0].as<void>();
  if (args.call.op != OpId::MatMulBias) return state.product->run({a, b, c, pad});
  const Status status = state.product->run({a, b, c, pad, args.in[2].as<void>()});
  if (status.ok()) {
    activate(args.call.out[0].dtype, c, args.call.out[0].shape.num_elements(),
             matmul_activation(args.attrs()));
  }
  return status;
}

}  // namespace plimsoll::cpu
