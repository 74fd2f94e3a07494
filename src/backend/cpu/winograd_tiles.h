// The transforms of Winograd's F(2x2, 3x3): tiles of 2x2 outputs of a 3x3 convolution by 16
// products instead of 36. With tiles d of 4x4 inputs, filters g, and outputs y:
//   y = A^T [(G g G^T) * (B^T d B)] A
// Each works on n channels at a time; `plane` is the distance between the 16 results.
#pragma once

#include <cstdint>

namespace plimsoll::cpu {

struct WinogradTiles {
  // 16 pixels of an image, row by row: v = B^T d B.
  void (*take_image)(const float* const* d, std::int64_t n, float* v, std::int64_t plane);
  // y = A^T m A, to 4 pixels.
  void (*give_image)(const float* m, std::int64_t plane, std::int64_t n, float* const* y);
  // The adjoint of give_image: 4 pixels of a gradient, m = A dy A^T.
  void (*take_gradient)(const float* const* dy, std::int64_t n, float* m, std::int64_t plane);
  // 9 taps of a filter: u = G g G^T, and its adjoint.
  void (*take_filter)(const float* const* g, std::int64_t n, float* u, std::int64_t plane);
  void (*give_filter)(const float* u, std::int64_t plane, std::int64_t n, float* const* g);
};
const WinogradTiles& winograd_tiles() noexcept;

}  // namespace plimsoll::cpu
