#include "plimsoll/keras/optimizers.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

Tensor rms(const Tensor& x) {
  return sqrt(reduce_mean(square(x)));
}

Shape without(const Shape& shape, int axis) {
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.erase(dims.begin() + axis);
  return Shape(std::span<const std::int64_t>(dims));
}

}  // namespace

// Rows, columns, and what is made of them; of vectors only the last is used.
std::vector<SlotSpec> AdafactorOptimizer::slots(const Variable& variable) const {
  const Shape& shape = variable.shape();
  const bool is_matrix = shape.rank() >= 2;
  const Shape rows = is_matrix ? without(shape, shape.rank() - 1) : Shape();
  const Shape columns = is_matrix ? without(shape, shape.rank() - 2) : Shape();
  return {
      {.name = "row", .shape = rows}, {.name = "column", .shape = columns}, {.name = "velocity"}};
}

void AdafactorOptimizer::update(const Tensor& gradient, Variable& variable, Slots slots,
                                const Tensor& learning_rate) {
  Variable& r = *slots[0];
  Variable& c = *slots[1];
  Variable& v = *slots[2];
  const DType dtype = variable.dtype();
  const Tensor t = step(dtype), one = ones({}, dtype);
  const Tensor limit = 1 / sqrt(t);
  const Tensor rate =
      !has_schedule() && config_.relative_step ? minimum(learning_rate, limit) : learning_rate;
  const Tensor alpha =
      maximum(fill({}, config_.epsilon_2, dtype), rms(variable)) * minimum(rate, limit);
  const Tensor squares = square(gradient) + config_.epsilon_1;
  const Tensor beta = 1 - pow(t, fill({}, config_.beta_2_decay, dtype));
  if (variable.shape().rank() >= 2) {
    r.assign(beta * r + (1 - beta) * reduce_mean(squares, {-1}));
    c.assign(beta * c + (1 - beta) * reduce_mean(squares, {-2}));
    const Tensor rows = r.value() / reduce_mean(r, {-1}, true);
    v.assign(expand_dims(rows, -1) * expand_dims(c, -2));
  } else {
    v.assign(beta * v + (1 - beta) * squares);
  }
  const Tensor u = gradient / sqrt(v);
  variable.assign_sub(alpha * (u / maximum(one, rms(u) / config_.clip_threshold)));
}

}  // namespace plimsoll::keras
