// Convolutions of 16-bit images at the shapes of deep networks: as float's of the same numbers, but
// for the rounding of the result.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/wave.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"

namespace plimsoll {
namespace {

struct Case {
  std::int64_t batch, size, in, out, kernel, stride;
};
constexpr Case kCases[] = {
    {8, 14, 64, 64, 3, 1},    {8, 14, 64, 128, 3, 2}, {4, 14, 64, 128, 1, 2},
    {2, 7, 512, 512, 1, 1},   {32, 7, 128, 64, 3, 1}, {4, 31, 3, 64, 7, 2},
    {4, 14, 256, 1024, 1, 1}, {32, 14, 16, 24, 1, 1},
};

// The relative distance, by the lengths of the vectors.
double distance(const Tensor& narrow, const Tensor& wide) {
  const auto a = cast(narrow, float32).to_vector<float>(), b = wide.to_vector<float>();
  double off = 0, all = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    off += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    all += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(off / all);
}

class Conv16BitTest : public testing::TestWithParam<DType> {};

TEST_P(Conv16BitTest, IsFloatsUpToTheRounding) {
  const DType dtype = GetParam();
  for (const Case& c : kCases) {
    const Tensor x = cast(wave({c.batch, c.size, c.size, c.in}, 0.7, 1), dtype);
    const Tensor w = cast(wave({c.kernel, c.kernel, c.in, c.out}, 0.3, 1), dtype);
    const std::int64_t n = (c.kernel - 1) / 2;
    const nn::PaddingArg padding{{0, 0}, {n, n}, {n, n}, {0, 0}};
    std::vector<Tensor> results[2];
    for (const bool is_wide : {false, true}) {
      const Tensor image = is_wide ? cast(x, float32) : x, filter = is_wide ? cast(w, float32) : w;
      GradientTape tape;
      tape.watch(image);
      tape.watch(filter);
      const Tensor y = nn::conv2d(image, filter, c.stride, padding);
      const Tensor seed = cast(cast(wave(y.shape(), 0.9, 1), dtype), y.dtype());
      const Tensor sources[] = {image, filter}, targets[] = {reduce_sum(y * seed)};
      const std::vector<Tensor> gradients = tape.gradient(targets, sources);
      results[is_wide] = {y, gradients[0], gradients[1]};
    }
    const double tolerance = dtype == bfloat16 ? 4e-3 : 5e-4;
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LT(distance(results[0][i], results[1][i]), tolerance)
          << "result " << i << " of " << c.size << " x " << c.in << " to " << c.out << ", kernel "
          << c.kernel << ", stride " << c.stride;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Conv16BitTest, testing::Values(bfloat16, float16),
                         [](const auto& c) { return std::string(dtype_name(c.param)); });

}  // namespace
}  // namespace plimsoll
