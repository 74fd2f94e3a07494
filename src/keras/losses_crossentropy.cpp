#include "base/check.h"
#include "base/log.h"
#include "keras/backend.h"
#include "keras/losses_util.h"
#include "plimsoll/keras/losses.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras::losses {
namespace {

struct Predicted {
  Tensor values;
  bool are_logits;
};

// What a prediction was computed of, where it is known.
Predicted find_logits(const Tensor& y_pred, bool from_logits, const char* op,
                      const char* function) {
  const Tensor logits = keras_logits(y_pred);
  if (!logits.is_valid()) return {y_pred, from_logits};
  if (from_logits) {
    log_once(LogLevel::kWarning,
             fmt::format("\"`{}` received `from_logits=True`, but the `output` argument was "
                         "produced by a {} activation and thus does not represent logits. Was this "
                         "intended?",
                         function, op));
  }
  return {logits, true};
}

void check_same_shape(const Tensor& target, const Tensor& output) {
  PLIMSOLL_CHECK(target.rank() == output.rank(), InvalidArgumentError,
                 "Arguments `target` and `output` must have the same rank (ndim). Received: "
                 "target.shape={}, output.shape={}",
                 target.shape().to_string(), output.shape().to_string());
  PLIMSOLL_CHECK(target.shape() == output.shape(), InvalidArgumentError,
                 "Arguments `target` and `output` must have the same shape. Received: "
                 "target.shape={}, output.shape={}",
                 target.shape().to_string(), output.shape().to_string());
}

Tensor to_open_interval(const Tensor& probabilities) {
  return clip_by_value(probabilities, kEpsilon, 1 - kEpsilon);
}

// A loss per element.
Tensor binary(const Tensor& labels, const Tensor& y_pred, bool from_logits) {
  check_same_shape(labels, y_pred);
  const auto [values, are_logits] =
      find_logits(y_pred, from_logits, "Sigmoid", "binary_crossentropy");
  if (are_logits) return nn::sigmoid_cross_entropy_with_logits(labels, values);
  const Tensor p = to_open_interval(values);
  return -(labels * math::log(p) + (1 - labels) * math::log(1 - p));
}

Tensor smooth(const Tensor& labels, double smoothing, double num_classes) {
  return smoothing == 0 ? labels : labels * (1 - smoothing) + smoothing / num_classes;
}

// Distributions over classes, in the type of predictions, smoothed.
Tensor to_distributions(const Tensor& y_true, const Tensor& y_pred, double smoothing,
                        const char* function) {
  PLIMSOLL_CHECK(y_true.rank() >= 1 && y_pred.rank() >= 1, InvalidArgumentError,
                 "Arguments `target` and `output` must be at least rank 1. Received: "
                 "target.shape={}, output.shape={}",
                 y_true.shape().to_string(), y_pred.shape().to_string());
  if (y_pred.shape()[y_pred.rank() - 1] == 1) {
    log_once(LogLevel::kWarning,
             fmt::format("In loss {}, expected y_pred.shape to be (batch_size, num_classes) with "
                         "num_classes > 1. Received: y_pred.shape={}. Consider using "
                         "'binary_crossentropy' if you only have 2 classes.",
                         function, y_pred.shape().to_string()));
  }
  return smooth(to_type(y_true, y_pred.dtype()), smoothing,
                static_cast<double>(y_true.shape()[y_true.rank() - 1]));
}

}  // namespace

Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const BinaryCrossentropyLossConfig& options) {
  const Tensor labels = smooth(to_type(y_true, y_pred.dtype()), options.label_smoothing, 2);
  return reduce_mean(binary(labels, y_pred, options.from_logits), {options.axis});
}

Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                 const BinaryFocalCrossentropyLossConfig& options) {
  const Tensor labels = smooth(to_type(y_true, y_pred.dtype()), options.label_smoothing, 2);
  Tensor p = y_pred;
  if (options.from_logits) {
    p = sigmoid(y_pred);
    set_keras_logits(p, y_pred);
  }
  const Tensor p_right = labels * p + (1 - labels) * (1 - p);
  const Tensor gamma = fill({}, options.gamma, p.dtype());
  Tensor loss = pow(1 - p_right, gamma) * binary(labels, p, false);
  if (options.apply_class_balancing)
    loss = (labels * options.alpha + (1 - labels) * (1 - options.alpha)) * loss;
  return reduce_mean(loss, {options.axis});
}

Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CategoricalCrossentropyLossConfig& options) {
  const Tensor labels =
      to_distributions(y_true, y_pred, options.label_smoothing, "categorical_crossentropy");
  check_same_shape(labels, y_pred);
  const auto [values, are_logits] =
      find_logits(y_pred, options.from_logits, "Softmax", "categorical_crossentropy");
  if (are_logits) return nn::softmax_cross_entropy_with_logits(labels, values, options.axis);
  const Tensor p = to_open_interval(values / reduce_sum(values, {options.axis}, true));
  return -reduce_sum(labels * math::log(p), {options.axis});
}

Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      const CategoricalFocalCrossentropyLossConfig& options) {
  const Tensor labels =
      to_distributions(y_true, y_pred, options.label_smoothing, "categorical_focal_crossentropy");
  const Tensor given = options.from_logits ? nn::softmax(y_pred, options.axis) : y_pred;
  const Tensor p = to_open_interval(given / reduce_sum(given, {options.axis}, true));
  const Tensor weight = pow(1 - p, fill({}, options.gamma, p.dtype())) * options.alpha;
  return reduce_sum(weight * (-labels * math::log(p)), {options.axis});
}

Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const SparseCategoricalCrossentropyLossConfig& options) {
  PLIMSOLL_CHECK(y_pred.rank() >= 1, InvalidArgumentError,
                 "Argument `output` must be at least rank 1. Received: output.shape={}",
                 y_pred.shape().to_string());
  const int last = y_pred.rank() - 1;
  PLIMSOLL_CHECK(options.axis == -1 || options.axis == last, InvalidArgumentError,
                 "Only axis=-1 is currently supported. Received: axis={}", options.axis);
  Tensor labels = y_true;
  if (labels.rank() == y_pred.rank() && labels.shape()[last] == 1) labels = squeeze(labels, {-1});
  PLIMSOLL_CHECK(labels.rank() == last, InvalidArgumentError,
                 "Argument `output` must have rank (ndim) `target.ndim - 1`. Received: "
                 "target.shape={}, output.shape={}",
                 labels.shape().to_string(), y_pred.shape().to_string());
  PLIMSOLL_CHECK(
      labels.shape() == Shape(y_pred.shape().dims().first(static_cast<std::size_t>(last))),
      InvalidArgumentError,
      "Arguments `target` and `output` must have the same shape up until the last "
      "dimension: target.shape={}, output.shape={}",
      labels.shape().to_string(), y_pred.shape().to_string());
  if (labels.dtype() != int32) labels = to_type(labels, int64);
  auto [values, are_logits] =
      find_logits(y_pred, options.from_logits, "Softmax", "sparse_categorical_crossentropy");
  Tensor valid;
  if (options.ignore_class) {
    const double ignored = static_cast<double>(*options.ignore_class);
    valid = not_equal(labels, fill({}, ignored, labels.dtype()));
    labels = where(valid, labels, zeros({}, labels.dtype()));
  }
  if (!are_logits) values = math::log(to_open_interval(values));
  Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(labels, values);
  if (valid.is_valid()) {
    loss = where(valid, loss, zeros({}, loss.dtype()));
    set_keras_mask(loss, valid);
  }
  return loss;
}

Tensor categorical_generalized_cross_entropy(
    const Tensor& y_true, const Tensor& y_pred,
    const CategoricalGeneralizedCrossEntropyLossConfig& options) {
  PLIMSOLL_CHECK(options.q > 0 && options.q < 1, InvalidArgumentError,
                 "q must be in the interval (0, 1). Received: q={}", options.q);
  const Tensor classes = to_type(y_true, int64);
  const std::int64_t num_classes = y_pred.shape()[y_pred.rank() - 1];
  const Tensor one_hots = one_hot(classes, num_classes, 1, 0, -1, y_pred.dtype());
  const Tensor p = reduce_sum(y_pred * one_hots, {-1});
  return (1 - pow(p, fill({}, options.q, p.dtype()))) / options.q;
}

}  // namespace plimsoll::keras::losses
