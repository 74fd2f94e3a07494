#include "plimsoll/keras/losses.h"

#include <cmath>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/losses_util.h"
#include "keras/registry.h"
#include "keras/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLosses[] = {
    {"MeanSquaredError", make_loss_of_config<MeanSquaredErrorLoss>, "mse"},
    {"MeanAbsoluteError", make_loss_of_config<MeanAbsoluteErrorLoss>, "mae"},
    {"MeanAbsolutePercentageError", make_loss_of_config<MeanAbsolutePercentageErrorLoss>, "mape"},
    {"MeanSquaredLogarithmicError", make_loss_of_config<MeanSquaredLogarithmicErrorLoss>, "msle"},
    {"CosineSimilarity", make_loss_of_config<CosineSimilarityLoss>},
    {"Huber", make_loss_of_config<HuberLoss>},
    {"LogCosh", make_loss_of_config<LogCoshLoss>, "logcosh"},
    {"Hinge", make_loss_of_config<HingeLoss>},
    {"SquaredHinge", make_loss_of_config<SquaredHingeLoss>},
    {"CategoricalHinge", make_loss_of_config<CategoricalHingeLoss>},
    {"KLDivergence", make_loss_of_config<KLDivergenceLoss>, "kld"},
    {"Poisson", make_loss_of_config<PoissonLoss>},
    {"BinaryCrossentropy", make_loss_of_config<BinaryCrossentropyLoss>, "bce"},
    {"BinaryFocalCrossentropy", make_loss_of_config<BinaryFocalCrossentropyLoss>},
    {"CategoricalCrossentropy", make_loss_of_config<CategoricalCrossentropyLoss>},
    {"CategoricalFocalCrossentropy", make_loss_of_config<CategoricalFocalCrossentropyLoss>},
    {"SparseCategoricalCrossentropy", make_loss_of_config<SparseCategoricalCrossentropyLoss>},
    {"Dice", make_loss_of_config<DiceLoss>},
    {"Tversky", make_loss_of_config<TverskyLoss>},
    {"Circle", make_loss_of_config<CircleLoss>},
    {"CTC", make_loss_of_config<CTCLoss>},
    {"CategoricalGeneralizedCrossEntropy",
     make_loss_of_config<CategoricalGeneralizedCrossEntropyLoss>},
};

// Labels in the type and rank of predictions.
std::pair<Tensor, Tensor> alike(const Tensor& y_true, const Tensor& y_pred) {
  return to_same_rank(to_type(y_true, y_pred.dtype()), y_pred);
}

Tensor at_least(const Tensor& x, double low) {
  return maximum(x, fill({}, low, x.dtype()));
}

// Vectors of length 1; those of almost none stay short.
Tensor unit(const Tensor& x, std::int64_t axis) {
  const Tensor inverse = math::rsqrt(reduce_sum(square(x), {axis}, true));
  return x * minimum(inverse, fill({}, 1 / kEpsilon, x.dtype()));
}

// Labels of 0 and 1 become -1 and 1, if there are no others.
Tensor to_signs(const Tensor& y_true) {
  const Tensor zero = zeros({}, y_true.dtype()), one = ones({}, y_true.dtype());
  const Tensor is_binary = reduce_all(logical_or(equal(y_true, zero), equal(y_true, one)));
  return where(is_binary, 2 * y_true - 1, y_true);
}

}  // namespace

std::span<const ClassRow> loss_rows() {
  return kLosses;
}

std::shared_ptr<Loss> Loss::get(const Json& identifier) {
  if (identifier.is_string()) {  // MSE is mse, BCE is bce
    for (const ClassRow& row : kLosses) {
      std::string upper = row.alias ? row.alias : "";
      for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      if (!upper.empty() && upper == identifier.as_string()) return get(Json(row.alias));
    }
  }
  return make_object_of<Loss>(identifier, kLosses, "loss");
}

std::pair<Tensor, Tensor> to_same_rank(const Tensor& y_true, const Tensor& y_pred) {
  const auto [labels, predicted] = squeeze_or_expand_to_same_rank(y_true, y_pred);
  const Tensor logits = keras_logits(y_pred);
  if (predicted.rank() != y_pred.rank() && logits.is_valid())
    set_keras_logits(predicted, reshape(logits, predicted.shape().dims()));
  return {labels, predicted};
}

namespace losses {

Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [labels, predicted] = alike(y_true, y_pred);
  return reduce_mean(square(labels - predicted), {-1});
}

Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [labels, predicted] = alike(y_true, y_pred);
  return reduce_mean(abs(labels - predicted), {-1});
}

Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [labels, predicted] = alike(y_true, y_pred);
  const Tensor difference = abs((labels - predicted) / at_least(abs(labels), kEpsilon));
  return 100 * reduce_mean(difference, {-1});
}

Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred) {
  const auto [labels, predicted] = alike(y_true, y_pred);
  const Tensor first = math::log(at_least(predicted, kEpsilon) + 1);
  const Tensor second = math::log(at_least(labels, kEpsilon) + 1);
  return reduce_mean(square(first - second), {-1});
}

Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                         const CosineSimilarityLossConfig& options) {
  const auto [labels, predicted] = alike(y_true, y_pred);
  return -reduce_sum(unit(labels, options.axis) * unit(predicted, options.axis), {options.axis});
}

Tensor huber(const Tensor& y_true, const Tensor& y_pred, const HuberLossConfig& options) {
  const auto [labels, predicted] = alike(y_true, y_pred);
  const Tensor error = predicted - labels, size = abs(error);
  const double delta = options.delta;
  const Tensor is_small = less_equal(size, fill({}, delta, size.dtype()));
  return reduce_mean(where(is_small, 0.5 * square(error), delta * size - 0.5 * delta * delta),
                     {-1});
}

Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred) {
  const auto [labels, predicted] = alike(y_true, y_pred);
  const Tensor x = predicted - labels;
  return reduce_mean(x + math::softplus(x * -2) - std::log(2.0), {-1});
}

Tensor hinge(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor signs = to_signs(to_type(y_true, y_pred.dtype()));
  return reduce_mean(at_least(1 - signs * y_pred, 0), {-1});
}

Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor signs = to_signs(to_type(y_true, y_pred.dtype()));
  return reduce_mean(square(at_least(1 - signs * y_pred, 0)), {-1});
}

Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor labels = to_type(y_true, y_pred.dtype());
  const Tensor right = reduce_sum(labels * y_pred, {-1});
  const Tensor wrong = reduce_max((1 - labels) * y_pred, {-1});
  return at_least(wrong - right + 1, 0);
}

Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor labels = clip_by_value(to_type(y_true, y_pred.dtype()), kEpsilon, 1);
  return reduce_sum(labels * math::log(labels / clip_by_value(y_pred, kEpsilon, 1)), {-1});
}

Tensor poisson(const Tensor& y_true, const Tensor& y_pred) {
  const Tensor labels = to_type(y_true, y_pred.dtype());
  return reduce_mean(y_pred - labels * math::log(y_pred + kEpsilon), {-1});
}

}  // namespace losses
}  // namespace plimsoll::keras
