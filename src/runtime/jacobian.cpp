// Derivatives of every element: a gradient for each, in a loop over their numbers.
#include <algorithm>

#include "base/check.h"
#include "plimsoll/control_flow.h"
#include "plimsoll/gradient_tape.h"
#include "plimsoll/ops.h"
#include "plimsoll/variable.h"
#include "runtime/tape.h"

namespace plimsoll {
namespace {

using Dims = std::vector<std::int64_t>;

const Shape& shape_of(const GradientTape::Source& source) {
  return source.variable ? source.variable->shape() : source.tensor.shape();
}
DType type_of(const GradientTape::Source& source) {
  return source.variable ? source.variable->dtype() : source.tensor.dtype();
}

Dims joined(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  Dims dims(a.begin(), a.end());
  dims.insert(dims.end(), b.begin(), b.end());
  return dims;
}

}  // namespace

std::vector<Tensor> GradientTape::jacobian(const Tensor& target, std::span<const Source> sources,
                                           UnconnectedGradients unconnected) {
  PLIMSOLL_CHECK(target.is_valid(), InvalidArgumentError, "the target of jacobian() is empty");
  begin_use();
  const std::int64_t num = target.num_elements();
  const bool keeps = true;
  // Which sources the target depends on at all.
  const std::vector<Tensor> connected =
      compute(std::span(&target, 1), sources, {}, UnconnectedGradients::kNone, keeps);
  std::vector<Tensor> rows(sources.size());
  if (num > 0) {
    const auto row = [&](std::span<const Tensor> number) {
      const Tensor one =
          reshape(cast(one_hot(number[0], num), target.dtype()), target.shape().dims());
      return compute(std::span(&target, 1), sources, std::span(&one, 1),
                     UnconnectedGradients::kZero, keeps);
    };
    rows = map_fn(Function::Body(row), {range(0, num, 1, int64)});
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Dims dims = joined(target.shape().dims(), shape_of(sources[i]).dims());
    if (!connected[i].is_valid() && unconnected == UnconnectedGradients::kNone) {
      rows[i] = Tensor();
    } else {
      rows[i] = num > 0 ? reshape(rows[i], dims) : zeros(Shape(dims), type_of(sources[i]));
    }
  }
  if (!state_->options.persistent) state_->records.clear();
  return rows;
}

Tensor GradientTape::batch_jacobian(const Tensor& target, const Source& source,
                                    UnconnectedGradients unconnected) {
  PLIMSOLL_CHECK(target.is_valid(), InvalidArgumentError,
                 "the target of batch_jacobian() is empty");
  const Shape& from = shape_of(source);
  PLIMSOLL_CHECK(target.rank() > 0 && from.rank() > 0 && target.shape().dim(0) == from.dim(0),
                 InvalidArgumentError,
                 "Need first dimension of target shape ({}) and source shape ({}) to match.",
                 target.shape().to_string(), from.to_string());
  PLIMSOLL_CHECK(target.rank() > 1, InvalidArgumentError,
                 "batch_jacobian: the target has rows only, of shape {}",
                 target.shape().to_string());
  begin_use();
  const bool keeps = true;
  const std::span<const Source> sources(&source, 1);
  const Dims dims = joined(target.shape().dims(), from.dims().subspan(1));
  const bool is_connected =
      compute(std::span(&target, 1), sources, {}, UnconnectedGradients::kNone, keeps)[0].is_valid();
  const std::int64_t rows = from.dim(0),
                     num = target.num_elements() / std::max<std::int64_t>(1, rows);
  Tensor made;
  if (is_connected && target.num_elements() > 0) {
    const auto column = [&](std::span<const Tensor> number) {
      const Tensor one = cast(one_hot(number[0], num), target.dtype());
      const Tensor all = reshape(broadcast_to(one, {rows, num}), target.shape().dims());
      return compute(std::span(&target, 1), sources, std::span(&all, 1),
                     UnconnectedGradients::kZero, keeps);
    };
    const Tensor columns = map_fn(Function::Body(column), {range(0, num, 1, int64)})[0];
    Dims order(static_cast<std::size_t>(columns.rank()));  // the rows before the columns
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    std::swap(order[0], order[1]);
    made = reshape(transpose(columns, order), dims);
  } else if (is_connected || unconnected == UnconnectedGradients::kZero) {
    made = zeros(Shape(dims), type_of(source));
  }
  if (!state_->options.persistent) state_->records.clear();
  return made;
}

}  // namespace plimsoll
