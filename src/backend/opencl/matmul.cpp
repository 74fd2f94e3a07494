// Products of matrices: CLBlast for large ones, where it is installed; a kernel of our own for the
// others.
#include "backend/opencl/cl.h"  // before CLBlast, which would choose a version of OpenCL

#include <clblast_c.h>
#include <dlfcn.h>

#include "backend/api/broadcast.h"
#include "backend/gpu/expressions.h"
#include "backend/opencl/kernel_state.h"
#include "backend/opencl/opencl.h"

namespace plimsoll::opencl {
namespace {

// What is used of CLBlast: products with scratch that the caller gives.
struct Blas {
  decltype(&CLBlastSgemmWithTempBuffer) sgemm = nullptr;
  decltype(&CLBlastDgemmWithTempBuffer) dgemm = nullptr;
  decltype(&CLBlastSGemmTempBufferSize) sgemm_scratch = nullptr;
  decltype(&CLBlastDGemmTempBufferSize) dgemm_scratch = nullptr;
};

const Blas* load_blas() noexcept {
  void* library = dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  static Blas made;
  bool is_whole = true;
  const auto find = [&]<class F>(F*& to, const char* name) {
    to = reinterpret_cast<F*>(dlsym(library, name));
    is_whole &= to != nullptr;
  };
  find(made.sgemm, "CLBlastSgemmWithTempBuffer");
  find(made.dgemm, "CLBlastDgemmWithTempBuffer");
  find(made.sgemm_scratch, "CLBlastSGemmTempBufferSize");
  find(made.dgemm_scratch, "CLBlastDGemmTempBufferSize");
  return is_whole ? &made : nullptr;
}
const Blas* find_blas() noexcept {
  static const Blas* const found = load_blas();
  return found;
}

struct Product {
  bool transpose_a = false, transpose_b = false;
  std::int64_t rows = 0, columns = 0, depth = 0;
  std::int64_t num = 1;  // of matrices
  gpu::WalkArg batch;    // strides 0 are the elements between the matrices of a, 1 of b

  // The element at which matrix i of an operand starts.
  std::int64_t start(int operand, std::int64_t i) const noexcept {
    std::int64_t at = 0;
    for (std::int64_t d = 0; d < batch.rank; ++d) {
      at += i % batch.dims[d] * batch.strides[operand][d];
      i /= batch.dims[d];
    }
    return at;
  }
};

Product product_of(const KernelCall& call) {
  Product p;
  p.transpose_a = call.attrs[attr::MatMul::transpose_a].as_bool();
  p.transpose_b = call.attrs[attr::MatMul::transpose_b].as_bool();
  const Shape &a = call.in[0].shape, &b = call.in[1].shape, &out = call.out[0].shape;
  p.rows = out.dim(out.rank() - 2);
  p.columns = out.dim(out.rank() - 1);
  p.depth = a.dim(a.rank() - (p.transpose_a ? 2 : 1));
  const auto lead = [](const Shape& s) {
    return Shape(s.dims().first(static_cast<std::size_t>(s.rank() - 2)));
  };
  const Shape of_a = lead(a), of_b = lead(b), of_out = lead(out);
  p.num = of_out.num_elements();
  const BroadcastPlan<2> plan = make_broadcast_plan<2>(of_out, {&of_a, &of_b});
  p.batch.rank = plan.rank;
  for (int d = 0; d < plan.rank; ++d) {
    const auto at = static_cast<std::size_t>(d);
    p.batch.dims[d] = plan.dims[at];
    p.batch.strides[0][d] = plan.strides[0][at] * p.rows * p.depth;
    p.batch.strides[1][d] = plan.strides[1][at] * p.depth * p.columns;
  }
  return p;
}

struct BlasState final : ClState {
  using ClState::ClState;
  Product product;
  std::uint64_t scratch = 0;  // bytes that CLBlast asks for
};

// Small ones are not worth its several kernels.
bool is_large(const Product& p) noexcept {
  return p.rows > 0 && p.columns > 0 && p.depth > 0 && p.num <= 16 &&
         p.rows * p.columns * p.depth >= 32 * 32 * 32;
}

template <class Size>
std::uint64_t scratch_of(Size* size, const Product& p, cl_command_queue queue) {
  const auto transposed = [](bool t) { return t ? CLBlastTransposeYes : CLBlastTransposeNo; };
  std::size_t most = 0;
  for (const std::size_t offset : {0, 16}) {  // what it asks for depends on whether there is one
    std::size_t asked = 0;
    const CLBlastStatusCode status =
        size(CLBlastLayoutRowMajor, transposed(p.transpose_a), transposed(p.transpose_b),
             static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.columns),
             static_cast<std::size_t>(p.depth), offset,
             static_cast<std::size_t>(p.transpose_a ? p.rows : p.depth), offset,
             static_cast<std::size_t>(p.transpose_b ? p.depth : p.columns), offset,
             static_cast<std::size_t>(p.columns), &queue, &asked);
    if (status != CLBlastSuccess)
      throw UnimplementedError(fmt::format("CLBlast refuses ({})", static_cast<int>(status)));
    most = std::max(most, asked);
  }
  return most;
}

KernelStatePtr prepare_blas(const KernelCall& call, ScratchBook& book) {
  const Blas* blas = find_blas();
  if (!blas) throw UnimplementedError("CLBlast is not installed");
  auto state = std::make_shared<BlasState>(call);
  state->product = product_of(call);
  if (!is_large(state->product)) throw UnimplementedError("CLBlast is for larger products");
  cl_command_queue queue = state->device.queue();
  state->scratch = call.in[0].dtype == DType::kFloat32
                       ? scratch_of(blas->sgemm_scratch, state->product, queue)
                       : scratch_of(blas->dgemm_scratch, state->product, queue);
  // A part of a buffer begins at multiples of the device's alignment only.
  if (state->scratch) book.book(state->scratch + state->device.sub_buffer_alignment());
  return state;
}

// A part of a buffer, for those who take no offset.
class SubBuffer {
 public:
  SubBuffer(const Place& place, std::uint64_t nbytes, std::uint64_t alignment) noexcept {
    const cl_buffer_region region{(place.offset + alignment - 1) / alignment * alignment, nbytes};
    made_ = cl().clCreateSubBuffer(place.buffer, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                   &region, &error_);
  }
  SubBuffer(const SubBuffer&) = delete;
  SubBuffer& operator=(const SubBuffer&) = delete;
  ~SubBuffer() {
    if (made_) cl().clReleaseMemObject(made_);
  }
  cl_mem get() const noexcept { return made_; }
  cl_int error() const noexcept { return error_; }

 private:
  cl_mem made_ = nullptr;
  cl_int error_ = CL_SUCCESS;
};

template <class T, class Gemm>
Status run_gemm(Gemm* gemm, const RunArgs& args, const BlasState& s, cl_mem scratch) noexcept {
  const Product& p = s.product;
  const auto transposed = [](bool t) { return t ? CLBlastTransposeYes : CLBlastTransposeNo; };
  const Place a = s.device.find(args.in[0]), b = s.device.find(args.in[1]);
  const Place c = s.device.find(args.out[0]);
  cl_command_queue queue = s.device.queue();
  for (std::int64_t i = 0; i < p.num; ++i) {
    const auto at = [&](const Place& place, std::int64_t start) {
      return place.offset / sizeof(T) + static_cast<std::size_t>(start);
    };
    const CLBlastStatusCode status =
        gemm(CLBlastLayoutRowMajor, transposed(p.transpose_a), transposed(p.transpose_b),
             static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.columns),
             static_cast<std::size_t>(p.depth), T{1}, a.buffer, at(a, p.start(0, i)),
             static_cast<std::size_t>(p.transpose_a ? p.rows : p.depth), b.buffer,
             at(b, p.start(1, i)), static_cast<std::size_t>(p.transpose_b ? p.depth : p.columns),
             T{0}, c.buffer, at(c, i * p.rows * p.columns), static_cast<std::size_t>(p.columns),
             &queue, nullptr, scratch);
    if (status != CLBlastSuccess)
      return {ErrorCode::kInternal, "CLBlast failed with {}", static_cast<int>(status)};
  }
  return {};
}

Status run_blas(const RunArgs& args) noexcept {
  const auto& s = static_cast<const BlasState&>(*args.state);
  const std::scoped_lock lock(s.device.mutex());
  const auto run = [&](cl_mem scratch) {
    return args.call.in[0].dtype == DType::kFloat32
               ? run_gemm<float>(find_blas()->sgemm, args, s, scratch)
               : run_gemm<double>(find_blas()->dgemm, args, s, scratch);
  };
  if (!s.scratch) return run(nullptr);
  const SubBuffer scratch(s.device.find(args.scratch[0]), s.scratch,
                          s.device.sub_buffer_alignment());
  if (!scratch.get()) return to_status(scratch.error(), "clCreateSubBuffer");
  return run(scratch.get());
}

struct TileState final : ClState {
  using ClState::ClState;
  Product product;
  ClKernel kernel;
};

KernelStatePtr prepare_tiles(const KernelCall& call, ScratchBook&) {
  auto state = std::make_shared<TileState>(call);
  state->product = product_of(call);
  state->kernel = state->device.kernel(
      gpu::matmul_source(call.in[0].dtype, state->product.transpose_a, state->product.transpose_b),
      "matmul");
  return state;
}

Status run_tiles(const RunArgs& args) noexcept {
  static_assert(gpu::kMatMulTile * gpu::kMatMulTile == ClDevice::kGroup);
  const auto& s = static_cast<const TileState&>(*args.state);
  const Product& p = s.product;
  const auto tiles = [](std::int64_t n) { return (n + gpu::kMatMulTile - 1) / gpu::kMatMulTile; };
  const auto groups = static_cast<std::uint64_t>(tiles(p.rows) * tiles(p.columns) * p.num);
  return s.device.launch(
      s.kernel, groups * ClDevice::kGroup,
      {p.rows, p.columns, p.depth, p.num, p.batch, args.out[0], args.in[0], args.in[1]});
}

const KernelDef kRows[] = {
    {.op = OpId::MatMul,
     .dtypes = {DType::kFloat32, DType::kFloat64},
     .prepare = prepare_blas,
     .run = run_blas},
    {.op = OpId::MatMul, .dtypes = gpu::kNumbers, .prepare = prepare_tiles, .run = run_tiles},
};

}  // namespace

std::span<const KernelDef> matmul_kernels() {
  return kRows;
}

}  // namespace plimsoll::opencl
