// A kernel's run allocates nothing of ours, however many kernels are alive. oneDNN allocates inside
// an execution; that is the same for each run of a primitive, and so can be told apart.
#include <gtest/gtest.h>
#include <malloc.h>

#include <vector>

#include "base/count_news.h"
#include "runtime/kernel_cache.h"
#include "runtime/placement.h"
#include "tensor/tensor_impl.h"

namespace plimsoll {
namespace {

// A product of [rows, 64] and [64, 96] by oneDNN, with its memory.
class Product {
 public:
  explicit Product(std::int64_t rows)
      : in_{{DType::kFloat32, Shape{rows, 64}}, {DType::kFloat32, Shape{64, 96}}},
        out_{DType::kFloat32, Shape{rows, 96}},
        kernel_(find_kernel(Context::get().find_device(parse_device_spec("/CPU:0"))->kernels(),
                            call())) {
    for (const std::int64_t size : {rows * 64, std::int64_t{64 * 96}, rows * 96}) add_memory(size);
    add_memory(static_cast<std::int64_t>(kernel_.scratch_bytes() / sizeof(float)) + 16);
  }

  void run() {
    DeviceSpan slots[ScratchBook::kMaxSlots];
    const auto scratch = kernel_.grant(spans_[3].buffer, slots);
    const std::span<const DeviceSpan> spans(spans_);
    const KernelCall made = call();
    ASSERT_TRUE(
        kernel_.run({made, spans.first(2), spans.subspan(2, 1), scratch, kernel_.state()}).ok());
  }

 private:
  KernelCall call() const { return {OpId::MatMul, attrs_, in_, {&out_, 1}}; }
  void add_memory(std::int64_t size) {
    memory_.emplace_back(static_cast<std::size_t>(size) + 16, 0.5F);
    const auto start = (reinterpret_cast<memory::Address>(memory_.back().data()) + 63) / 64 * 64;
    spans_.push_back({start, 0, static_cast<std::uint64_t>(size) * sizeof(float)});
  }

  Attrs attrs_{false, false};
  TensorSpec in_[2], out_;
  PreparedKernel kernel_;
  std::vector<std::vector<float>> memory_;
  std::vector<DeviceSpan> spans_;
};

TEST(RunAllocationTest, ManyKernelsKeepTheirHandles) {
  constexpr int kNum = 150;
  std::vector<std::unique_ptr<Product>> products;
  for (int i = 0; i < kNum; ++i) products.push_back(std::make_unique<Product>(64 + i));
  const auto run_all = [&] {
    const std::int64_t before = num_news;
    for (const auto& product : products) product->run();
    return num_news - before;
  };
  run_all();
  products[0]->run();
  const std::int64_t before = num_news;
  products[0]->run();
  products[0]->run();
  const std::int64_t of_two = num_news - before;
  EXPECT_EQ(run_all() * 2, of_two * kNum);
}

// Bytes that are in use by malloc, ours or a library's.
std::size_t malloced() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// LAPACK works in the scratch that was booked, in every run but the first.
TEST(RunAllocationTest, MatricesTakeNothingButTheirScratch) {
  struct Call {
    OpId op;
    Attrs attrs;
    std::vector<TensorSpec> in;
  };
  const TensorSpec square{DType::kFloat64, Shape{4, 90, 90}}, tall{DType::kFloat32, Shape{120, 70}};
  const Call calls[] = {
      {OpId::Cholesky, {}, {square}},
      {OpId::MatrixTriangularSolve, {true, false}, {square, square}},
      {OpId::MatrixSolve, {false}, {square, square}},
      {OpId::MatrixInverse, {false}, {square}},
      {OpId::LogMatrixDeterminant, {}, {square}},
      {OpId::Qr, {false}, {tall}},
      {OpId::Svd, {true, true}, {tall}},
      {OpId::SelfAdjointEig, {true}, {square}},
  };
  for (const Call& c : calls) {
    OutSpecs out_specs;
    InferCtx ctx{c.op, c.attrs, c.in, out_specs};
    op_def(c.op).infer(ctx);
    const KernelCall call{c.op, c.attrs, c.in, out_specs.all()};
    const PreparedKernel kernel =
        find_kernel(Context::get().find_device(parse_device_spec("/CPU:0"))->kernels(), call);
    std::vector<std::vector<double>> memory;
    const auto allocate = [&](std::uint64_t nbytes) {
      memory.emplace_back(nbytes / sizeof(double) + 9);
      const auto at = reinterpret_cast<memory::Address>(memory.back().data());
      return DeviceSpan{(at + 63) / 64 * 64, 0, nbytes};
    };
    std::vector<DeviceSpan> in, out;
    for (const TensorSpec& spec : c.in) {  // unit matrices, which every call takes
      in.push_back(allocate(tensor_bytes(spec.dtype, spec.shape)));
      const std::int64_t n = spec.shape.dim(spec.shape.rank() - 1);
      for (std::int64_t i = 0; i < spec.shape.num_elements() / n; ++i) {
        const std::int64_t place = i * n + i % spec.shape.dim(spec.shape.rank() - 2) % n;
        spec.dtype == DType::kFloat64 ? in.back().as<double>()[place] = 1
                                      : in.back().as<float>()[place] = 1;
      }
    }
    for (const TensorSpec& spec : out_specs.all())
      out.push_back(allocate(tensor_bytes(spec.dtype, spec.shape)));
    DeviceSpan slots[ScratchBook::kMaxSlots];
    const auto scratch = kernel.grant(allocate(kernel.scratch_bytes() + 64).buffer, slots);
    const auto run = [&] {
      kernel.run({call, in, out, scratch, kernel.state()}).throw_if_error(op_name(c.op));
    };
    run();
    // A run that allocates does so every time; other threads of the process only now and then.
    bool is_free_of_it = false;
    for (int attempt = 0; attempt < 5 && !is_free_of_it; ++attempt) {
      const std::int64_t news = num_news;
      const std::size_t before = malloced();
      for (int i = 0; i < 3; ++i) run();
      is_free_of_it = malloced() == before && num_news == news;
    }
    EXPECT_TRUE(is_free_of_it) << op_name(c.op);
  }
}

}  // namespace
}  // namespace plimsoll
