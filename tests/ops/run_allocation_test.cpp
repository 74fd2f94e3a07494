// A kernel's run allocates nothing of ours, however many kernels are alive. oneDNN allocates inside
// an execution; that is the same for each run of a primitive, and so can be told apart.
#include <gtest/gtest.h>

#include <vector>

#include "base/count_news.h"
#include "runtime/kernel_cache.h"
#include "runtime/placement.h"

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
    DeviceSpan slots[8];
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

}  // namespace
}  // namespace plimsoll
