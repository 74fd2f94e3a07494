// The equation of an einsum, with the operands and what each label stands for.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll::einsum_detail {

// A letter for each dimension. Dimensions behind "..." have numbers from kEllipsis downwards: they
// are counted from the right.
using Labels = std::vector<int>;
constexpr int kEllipsis = -1;

inline bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

struct Operand {
  Tensor tensor;
  Labels labels;

  std::int64_t dim(int label) const {
    const auto at = std::find(labels.begin(), labels.end(), label) - labels.begin();
    return tensor.shape()[static_cast<int>(at)];
  }
};

// "ij,jk->ik". Dimensions of size 1 that broadcast are dropped from the operands.
struct Equation {
  // throws: InvalidArgumentError that repeats the equation.
  Equation(std::string_view equation, std::span<const Tensor> inputs);

  std::vector<Operand> operands;
  Labels out;
  std::map<int, std::int64_t> sizes;

 private:
  Labels parse(const std::string& part, int num_broadcast) const;
  void add_operand(const std::string& part, const Tensor& tensor, std::size_t index);
  void set_implicit_output();
  void drop_ones();

  std::string text_;
  int num_broadcast_ = 0;  // dimensions behind "..."
};

}  // namespace plimsoll::einsum_detail
