#include <algorithm>
#include <limits>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/losses_util.h"
#include "plimsoll/control_flow.h"
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

// The probability of all paths that spell the labels, by sums over time. A state is a place in the
// labels with blanks around each: [batch, states].
Tensor ctc(const Tensor& y_true, const Tensor& y_pred) {
  PLIMSOLL_CHECK(y_true.rank() == 2, InvalidArgumentError,
                 "Targets `y_true` are expected to be a tensor of shape `(batch_size, max_length)` "
                 "in integer format. Received: y_true.shape={}",
                 y_true.shape().to_string());
  PLIMSOLL_CHECK(y_pred.rank() == 3, InvalidArgumentError,
                 "Logits `y_pred` are expected to be a tensor of shape `(batch_size, max_length, "
                 "num_classes)`. Received: y_pred.shape={}",
                 y_pred.shape().to_string());
  const Tensor labels = to_type(y_true, int64);
  const std::int64_t batch = labels.shape()[0], length = labels.shape()[1];
  const std::int64_t num_states = 2 * length + 1, num_steps = y_pred.shape()[1];
  const DType dtype = y_pred.dtype() == float64 ? float64 : float32;
  const Tensor impossible = fill({}, -1e30, dtype), zero = zeros({}, int64);
  // 0, l1, 0, l2, ..., 0
  const Tensor pairs = stack({zeros_like(labels), labels}, 2);
  const Tensor classes = concat({reshape(pairs, {batch, 2 * length}), zeros({batch, 1}, int64)}, 1);
  const Tensor before_last = slice(pad(classes, {{0, 0}, {2, 0}}), {0, 0}, {-1, num_states});
  const Tensor may_skip =  // a blank between labels that differ
      logical_and(not_equal(classes, zero), not_equal(classes, before_last));
  const Tensor by_class = transpose(nn::log_softmax(to_type(y_pred, dtype)), {0, 2, 1});
  const Tensor emitted = transpose(gather(by_class, classes, 1, 1), {2, 0, 1});  // by time
  const auto shifted = [&](const Tensor& t, std::int64_t by) {
    const std::int64_t num = std::min(by, num_states);
    return concat(
        {broadcast_to(impossible, {batch, num}), slice(t, {0, 0}, {-1, num_states - num})}, 1);
  };
  const Tensor is_start = less(range(0, num_states), fill({}, 2, int32));
  Tensor state = where(is_start, getitem(emitted, {0}), impossible);
  if (num_steps > 1) {
    const auto step = [&](const Tensor& last, const Tensor& now) {
      const Tensor skipped = where(may_skip, shifted(last, 2), impossible);
      return now + reduce_logsumexp(stack({last, shifted(last, 1), skipped}), {0});
    };
    state = getitem(scan(step, getitem(emitted, {Index(1, {})}), state), {-1});
  }
  const Tensor lengths = reduce_sum(cast(not_equal(labels, zero), int32), {1}, true);
  const Tensor at = range(0, num_states), end = lengths * 2;
  const Tensor is_end = logical_or(equal(at, end), equal(at, end - 1));
  return -reduce_logsumexp(where(is_end, state, impossible), {1});
}

}  // namespace plimsoll::keras::losses
