#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/op_case.h"
#include "ops/resize_method.h"

namespace plimsoll::testing_ops {
namespace {

using enum ResizeMethod;
using Matrix = std::vector<std::vector<double>>;  // [out][in]

double cubic(double x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : (1.5 * x - 2.5) * x * x + 1;
}
double mitchell(double x) {
  if (x >= 2) return 0;
  return x >= 1 ? ((-7 * x / 18 + 2) * x - 10.0 / 3) * x + 16.0 / 9
                : (7 * x / 6 - 2) * x * x + 8.0 / 9;
}
double lanczos(double x, double radius) {
  if (x > radius) return 0;
  const double y = std::numbers::pi * x;
  return x < 1e-3 ? 1 : radius * std::sin(y) * std::sin(y / radius) / (y * y);
}

// How a pixel counts that is x pixels from the place.
double weight_at(ResizeMethod method, double x) {
  switch (method) {
    case kBicubic:
      return cubic(x);
    case kLanczos3:
      return lanczos(x, 3);
    case kLanczos5:
      return lanczos(x, 5);
    case kGaussian:
      return x >= 1.5 ? 0 : std::exp(-2 * x * x);
    case kMitchellCubic:
      return mitchell(x);
    default:
      return std::max(0.0, 1 - x);
  }
}

// One axis: pixels have their centres at a half, and those outside do not count.
Matrix weights(ResizeMethod method, bool antialias, std::int64_t in, std::int64_t out) {
  Matrix made(static_cast<std::size_t>(out), std::vector<double>(static_cast<std::size_t>(in)));
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  for (std::int64_t o = 0; o < out; ++o) {
    auto& row = made[static_cast<std::size_t>(o)];
    const double place = (static_cast<double>(o) + 0.5) * scale;
    if (method == kNearest) {
      row[static_cast<std::size_t>(place)] = 1;
      continue;
    }
    double sum = 0;
    for (std::int64_t i = 0; i < in; ++i) {
      const auto left = static_cast<double>(i);
      double& w = row[static_cast<std::size_t>(i)];
      if (method == kArea) {
        w = std::max(0.0,
                     std::min(left + 1, place + scale / 2) - std::max(left, place - scale / 2));
      } else {
        const double distance = std::abs(left + 0.5 - place);
        w = weight_at(method, antialias ? distance / std::max(1.0, scale) : distance);
      }
      sum += w;
    }
    for (double& w : row) w /= sum;
  }
  return made;
}

// y = rows x columns^T for each channel; of the gradient, with both transposed.
auto resized(bool is_gradient) {
  return [is_gradient](const RefCall& c) {
    const Shape& in = c.in[0].shape;
    const auto size = c.attrs[attr::Resize::size].as_ints();
    const auto method = static_cast<ResizeMethod>(c.attrs[attr::Resize::method].as_int());
    const bool antialias = c.attrs[attr::Resize::antialias].as_bool();
    const auto matrix = [&](int axis) {
      const std::int64_t from = in.dim(axis), to = size[static_cast<std::size_t>(axis - 1)];
      return is_gradient ? weights(method, antialias, to, from)
                         : weights(method, antialias, from, to);
    };
    const Matrix rows = matrix(1), columns = matrix(2);
    const auto at = [&](const Matrix& m, std::int64_t o, std::int64_t i) {
      return is_gradient ? m[static_cast<std::size_t>(i)][static_cast<std::size_t>(o)]
                         : m[static_cast<std::size_t>(o)][static_cast<std::size_t>(i)];
    };
    HostTensor made{{in.dim(0), size[0], size[1], in.dim(3)}, {}};
    for (std::int64_t p = 0; p < made.shape.num_elements(); ++p) {
      const std::int64_t channel = p % in.dim(3), x = p / in.dim(3) % size[1];
      const std::int64_t y = p / in.dim(3) / size[1] % size[0];
      const std::int64_t image = p / in.dim(3) / size[1] / size[0];
      double sum = 0;
      for (std::int64_t i = 0; i < in.dim(1); ++i) {
        for (std::int64_t j = 0; j < in.dim(2); ++j)
          sum += at(rows, y, i) * at(columns, x, j) *
                 c.in[0].values[static_cast<std::size_t>(
                     ((image * in.dim(1) + i) * in.dim(2) + j) * in.dim(3) + channel)];
      }
      made.values.push_back(sum);
    }
    return std::vector{made};
  };
}

OpCase resize(const std::string& name, const Shape& in, std::vector<std::int64_t> size,
              ResizeMethod method, bool antialias, std::vector<DType> dtypes) {
  return {.name = name,
          .op = OpId::Resize,
          .in = {{in}},
          .attrs = {AttrValue(std::span<const std::int64_t>(size)),
                    static_cast<std::int64_t>(method), antialias},
          .ref = resized(false),
          .dtypes = std::move(dtypes)};
}

OpCase gradient(const std::string& name, const Shape& in, std::vector<std::int64_t> size,
                ResizeMethod method, DType dtype) {
  OpCase made = resize(name, in, size, method, false, {dtype});
  made.op = OpId::ResizeGrad;
  made.attrs = {made.attrs[0], made.attrs[1], made.attrs[2], dtype};
  made.ref = resized(true);
  made.has_grad = dtype == DType::kFloat64;  // it is checked in the type of the result
  return made;
}

}  // namespace

std::vector<OpCase> resize_cases() {
  const std::vector<DType> wide = {DType::kFloat32, DType::kFloat64};
  const std::vector<DType> only = {DType::kFloat32};  // weights are in float32 in other types too
  const std::vector<DType> pixels = {DType::kUInt8, DType::kUInt16, DType::kFloat32};
  return {
      resize("bilinear", {2, 3, 4, 3}, {6, 8}, kBilinear, false, kNumberTypes),
      resize("bilinear_down", {1, 8, 6, 2}, {2, 3}, kBilinear, false, wide),
      resize("bilinear_any", {1, 5, 7, 2}, {8, 3}, kBilinear, false, only),
      resize("bilinear_one_pixel", {1, 1, 1, 2}, {3, 2}, kBilinear, false, wide),
      resize("bilinear_antialias", {1, 9, 7, 2}, {4, 10}, kBilinear, true, only),
      resize("bilinear_no_images", {0, 3, 4, 3}, {6, 8}, kBilinear, false, wide),
      resize("bilinear_large", {2, 60, 50, 3}, {120, 100}, kBilinear, false, only),
      // Those by pairs: bytes and floats of 1, 3 and 4 channels, rows that fill no vector.
      resize("bilinear_grey", {2, 19, 33, 1}, {38, 66}, kBilinear, false, pixels),
      resize("bilinear_colours", {2, 19, 33, 3}, {38, 66}, kBilinear, false, pixels),
      resize("bilinear_alpha", {2, 22, 33, 4}, {11, 66}, kBilinear, false, pixels),
      resize("bilinear_same_size", {1, 7, 9, 3}, {7, 9}, kBilinear, false, pixels),
      resize("bilinear_one_colour", {1, 1, 1, 3}, {3, 2}, kBilinear, false, pixels),
      resize("bilinear_any_colours", {1, 5, 7, 3}, {8, 3}, kBilinear, false, only),
      resize("nearest", {2, 3, 4, 3}, {5, 7}, kNearest, false, kNumberTypes),
      resize("nearest_down", {1, 8, 7, 2}, {3, 3}, kNearest, false, wide),
      resize("nearest_large", {2, 60, 50, 3}, {120, 100}, kNearest, false, only),
      // TensorFlow's bicubic weights are in steps, which these ratios do not need.
      resize("bicubic", {2, 4, 3, 2}, {8, 6}, kBicubic, false, only),
      resize("bicubic_down", {1, 16, 12, 1}, {4, 6}, kBicubic, false, only),
      resize("bicubic_antialias", {1, 11, 6, 1}, {4, 9}, kBicubic, true, only),
      resize("area", {2, 6, 5, 2}, {3, 3}, kArea, false, only),
      resize("area_up", {1, 3, 4, 2}, {5, 9}, kArea, false, only),
      resize("lanczos3", {1, 9, 7, 2}, {4, 10}, kLanczos3, false, only),
      resize("lanczos3_antialias", {1, 14, 7, 2}, {4, 10}, kLanczos3, true, only),
      resize("lanczos5_antialias", {1, 14, 7, 2}, {4, 10}, kLanczos5, true, only),
      resize("gaussian_antialias", {1, 9, 7, 2}, {4, 10}, kGaussian, true, only),
      resize("mitchellcubic", {1, 9, 7, 2}, {4, 10}, kMitchellCubic, false, only),
      resize("mitchellcubic_antialias", {1, 9, 7, 2}, {4, 10}, kMitchellCubic, true, only),
      gradient("bilinear_float32", {2, 6, 8, 3}, {3, 4}, kBilinear, DType::kFloat32),
      gradient("bilinear_float64", {2, 6, 8, 3}, {3, 4}, kBilinear, DType::kFloat64),
      gradient("nearest_float16", {1, 6, 7, 3}, {3, 4}, kNearest, DType::kFloat16),
      gradient("nearest_bfloat16", {1, 6, 7, 3}, {3, 4}, kNearest, DType::kBFloat16),
      gradient("nearest_down", {1, 3, 3, 3}, {8, 7}, kNearest, DType::kFloat64),
      gradient("area", {1, 3, 3, 2}, {6, 5}, kArea, DType::kFloat32),
  };
}

}  // namespace plimsoll::testing_ops
