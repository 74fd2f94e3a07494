// Numbers for tests: different everywhere, of both signs, the same in every run.
#pragma once

#include <cmath>
#include <vector>

#include "plimsoll/ops/create.h"
#include "plimsoll/tensor.h"

namespace plimsoll {

inline Tensor wave(const Shape& shape, double step = 0.7, double height = 0.3) {
  std::vector<float> values(static_cast<std::size_t>(shape.num_elements()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(height * std::sin(step * static_cast<double>(i)));
  return constant<float>(values, shape);
}

}  // namespace plimsoll
