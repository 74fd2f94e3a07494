#include <limits>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/losses_util.h"
#include "plimsoll/keras/losses.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras::losses {
namespace {

Tensor at_least_zero(const Tensor& x) {
  return maximum(x, zeros({}, x.dtype()));
}

}  // namespace

Tensor dice(const Tensor& y_true, const Tensor& y_pred, const DiceLossConfig& options) {
  const Tensor labels = to_type(y_true, y_pred.dtype());
  const Axes& axes = options.axis.values();
  const Tensor common = reduce_sum(labels * y_pred, axes);
  return 1 - 2 * common / (reduce_sum(labels, axes) + reduce_sum(y_pred, axes) + kEpsilon);
}

Tensor tversky(const Tensor& y_true, const Tensor& y_pred, const TverskyLossConfig& options) {
  const Tensor labels = to_type(y_true, y_pred.dtype());
  const Axes& axes = options.axis.values();
  const Tensor common = reduce_sum(labels * y_pred, axes);
  const Tensor missed = reduce_sum((1 - y_pred) * labels, axes);
  const Tensor extra = reduce_sum(y_pred * (1 - labels), axes);
  return 1 - common / (common + missed * options.alpha + extra * options.beta + kEpsilon);
}

Tensor circle(const Tensor& y_true, const Tensor& y_pred, const CircleLossConfig& options) {
  const Tensor labels = reshape(to_type(y_true, int32), {-1, 1});
  const std::int64_t num = labels.num_elements();
  const Tensor distances = at_least_zero(1 - matmul(y_pred, y_pred, {.transpose_b = true}));
  Tensor positive = equal(labels, transpose(labels));
  const Tensor negative = logical_not(positive);
  if (options.remove_diagonal) positive = logical_and(positive, logical_not(cast(eye(num), bool_)));
  const DType dtype = distances.dtype();
  const double m = options.margin;
  const Tensor pos_weights = at_least_zero((m + distances) * cast(positive, dtype));
  const Tensor neg_weights = at_least_zero((1 + m - distances) * cast(negative, dtype));
  const Tensor pos = -options.gamma * pos_weights * (m - distances);
  const Tensor neg = options.gamma * neg_weights * (1 - m - distances);
  const Tensor none = fill({}, -std::numeric_limits<double>::infinity(), dtype);
  const Tensor loss = math::softplus(reduce_logsumexp(where(positive, pos, none), {1}) +
                                     reduce_logsumexp(where(negative, neg, none), {1}));
  set_keras_mask(loss, greater(loss, zeros({}, dtype)));
  return loss;
}

Tensor ctc(const Tensor&, const Tensor&) {
  throw UnimplementedError("losses::ctc is not there yet");
}

}  // namespace plimsoll::keras::losses
