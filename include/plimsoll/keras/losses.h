// Keras's losses: functions of y_true and y_pred that give a number for each sample, and classes
// that reduce them to one.
//
//   auto loss = keras::losses::SparseCategoricalCrossentropy({.from_logits = true});
//   tf::Tensor value = loss(labels, logits);
//
// Predictions that come from a softmax or sigmoid carry what it was computed of: crossentropies
// take that, so that nothing is lost to rounding and no probabilities are kept.
#pragma once

#include <type_traits>

#include "plimsoll/keras/loss.h"

namespace plimsoll::keras {

struct CosineSimilarityLossConfig {
  static constexpr const char* kClassName = "CosineSimilarity";
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    if (v.is_reading()) v("axis", axis);  // Keras does not write it
  }
};
struct HuberLossConfig {
  static constexpr const char* kClassName = "Huber";
  static constexpr const char* kName = "huber_loss";
  double delta = 1;
  void visit(ConfigVisitor& v) {
    if (v.is_reading()) v("delta", delta);  // Keras does not write it
  }
};
struct BinaryCrossentropyLossConfig {
  static constexpr const char* kClassName = "BinaryCrossentropy";
  bool from_logits = false;
  double label_smoothing = 0;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("from_logits", from_logits);
    v("label_smoothing", label_smoothing);
    v("axis", axis);
  }
};
struct BinaryFocalCrossentropyLossConfig {
  static constexpr const char* kClassName = "BinaryFocalCrossentropy";
  bool apply_class_balancing = false;
  double alpha = 0.25, gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("from_logits", from_logits);
    v("label_smoothing", label_smoothing);
    v("axis", axis);
    v("apply_class_balancing", apply_class_balancing);
    v("alpha", alpha);
    v("gamma", gamma);
  }
};
struct CategoricalCrossentropyLossConfig {
  static constexpr const char* kClassName = "CategoricalCrossentropy";
  bool from_logits = false;
  double label_smoothing = 0;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("from_logits", from_logits);
    v("label_smoothing", label_smoothing);
    v("axis", axis);
  }
};
struct CategoricalFocalCrossentropyLossConfig {
  static constexpr const char* kClassName = "CategoricalFocalCrossentropy";
  double alpha = 0.25, gamma = 2;
  bool from_logits = false;
  double label_smoothing = 0;
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("from_logits", from_logits);
    v("label_smoothing", label_smoothing);
    v("axis", axis);
    v("alpha", alpha);
    v("gamma", gamma);
  }
};
struct SparseCategoricalCrossentropyLossConfig {
  static constexpr const char* kClassName = "SparseCategoricalCrossentropy";
  bool from_logits = false;
  std::optional<std::int64_t> ignore_class = {};
  std::int64_t axis = -1;
  void visit(ConfigVisitor& v) {
    v("from_logits", from_logits);
    v("ignore_class", ignore_class);
    if (v.is_reading()) v("axis", axis);  // Keras does not write it
  }
};
struct DiceLossConfig {
  static constexpr const char* kClassName = "Dice";
  Sizes axis = {};  // over which is summed; none: all
  void visit(ConfigVisitor& v) { v("axis", axis); }
};
struct TverskyLossConfig {
  static constexpr const char* kClassName = "Tversky";
  double alpha = 0.5, beta = 0.5;
  Sizes axis = {};
  void visit(ConfigVisitor& v) {
    v("alpha", alpha);
    v("beta", beta);
    v("axis", axis);
  }
};
struct CircleLossConfig {
  static constexpr const char* kClassName = "Circle";
  double gamma = 80, margin = 0.4;
  bool remove_diagonal = true;
  void visit(ConfigVisitor& v) {
    v("gamma", gamma);
    v("margin", margin);
    v("remove_diagonal", remove_diagonal);
  }
};
struct CategoricalGeneralizedCrossEntropyLossConfig {
  static constexpr const char* kClassName = "CategoricalGeneralizedCrossEntropy";
  double q = 0.5;  // in (0, 1)
  void visit(ConfigVisitor& v) { v("q", q); }
};

// A number for each sample, from shapes [batch, d0, ..., dn] that agree or differ by a last
// dimension of 1. throws: InvalidArgumentError.
namespace losses {
Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);
Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred);
Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred);
Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred,
                         const CosineSimilarityLossConfig& options = {});
Tensor huber(const Tensor& y_true, const Tensor& y_pred, const HuberLossConfig& options = {});
Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred);
Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);
Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);
Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);
Tensor poisson(const Tensor& y_true, const Tensor& y_pred);
Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                           const BinaryCrossentropyLossConfig& options = {});
Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                 const BinaryFocalCrossentropyLossConfig& options = {});
Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                const CategoricalCrossentropyLossConfig& options = {});
Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                      const CategoricalFocalCrossentropyLossConfig& options = {});
// y_true are classes. throws: InvalidArgumentError for one that y_pred does not have.
Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                       const SparseCategoricalCrossentropyLossConfig& options = {});
Tensor dice(const Tensor& y_true, const Tensor& y_pred, const DiceLossConfig& options = {});
Tensor tversky(const Tensor& y_true, const Tensor& y_pred, const TverskyLossConfig& options = {});
// y_true are classes, y_pred embeddings of length 1.
Tensor circle(const Tensor& y_true, const Tensor& y_pred, const CircleLossConfig& options = {});
// y_true are classes.
Tensor categorical_generalized_cross_entropy(
    const Tensor& y_true, const Tensor& y_pred,
    const CategoricalGeneralizedCrossEntropyLossConfig& options = {});
// y_true: labels [batch, length], 0 behind their end; y_pred: logits [batch, steps, classes], where
// class 0 is the blank.
Tensor ctc(const Tensor& y_true, const Tensor& y_pred);
}  // namespace losses

// y_true and y_pred where one has a last dimension of 1 that the other lacks.
std::pair<Tensor, Tensor> to_same_rank(const Tensor& y_true, const Tensor& y_pred);

// The class of a function of these.
template <class C, auto kFunction>
class FunctionLoss : public Configured<Loss, C> {
 public:
  explicit FunctionLoss(C config, LossOptions options = {})
      : Configured<Loss, C>(std::move(config), with_name(std::move(options))) {}

  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [labels, predicted] = to_same_rank(y_true, y_pred);
    if constexpr (std::is_invocable_v<decltype(kFunction), const Tensor&, const Tensor&,
                                      const C&>) {
      return kFunction(labels, predicted, this->config_);
    } else {
      return kFunction(labels, predicted);
    }
  }

 private:
  static LossOptions with_name(LossOptions options) {
    if constexpr (requires { C::kName; }) {
      if (options.name.empty()) options.name = C::kName;
    }
    return options;
  }
};

// Losses without options of their own.
#define PLIMSOLL_PLAIN_LOSS(Name, function)                            \
  struct Name##LossConfig {                                            \
    static constexpr const char* kClassName = #Name;                   \
    void visit(ConfigVisitor&) {}                                      \
  };                                                                   \
  using Name##Loss = FunctionLoss<Name##LossConfig, losses::function>; \
  namespace losses {                                                   \
  using Name = LossRef<Name##Loss>;                                    \
  }
PLIMSOLL_PLAIN_LOSS(MeanSquaredError, mean_squared_error)
PLIMSOLL_PLAIN_LOSS(MeanAbsoluteError, mean_absolute_error)
PLIMSOLL_PLAIN_LOSS(MeanAbsolutePercentageError, mean_absolute_percentage_error)
PLIMSOLL_PLAIN_LOSS(MeanSquaredLogarithmicError, mean_squared_logarithmic_error)
PLIMSOLL_PLAIN_LOSS(LogCosh, log_cosh)
PLIMSOLL_PLAIN_LOSS(Hinge, hinge)
PLIMSOLL_PLAIN_LOSS(SquaredHinge, squared_hinge)
PLIMSOLL_PLAIN_LOSS(CategoricalHinge, categorical_hinge)
PLIMSOLL_PLAIN_LOSS(KLDivergence, kl_divergence)
PLIMSOLL_PLAIN_LOSS(Poisson, poisson)
PLIMSOLL_PLAIN_LOSS(CTC, ctc)
#undef PLIMSOLL_PLAIN_LOSS

#define PLIMSOLL_LOSS(Name, function)                                  \
  using Name##Loss = FunctionLoss<Name##LossConfig, losses::function>; \
  namespace losses {                                                   \
  using Name = LossRef<Name##Loss>;                                    \
  }
PLIMSOLL_LOSS(CosineSimilarity, cosine_similarity)
PLIMSOLL_LOSS(Huber, huber)
PLIMSOLL_LOSS(BinaryCrossentropy, binary_crossentropy)
PLIMSOLL_LOSS(BinaryFocalCrossentropy, binary_focal_crossentropy)
PLIMSOLL_LOSS(CategoricalCrossentropy, categorical_crossentropy)
PLIMSOLL_LOSS(CategoricalFocalCrossentropy, categorical_focal_crossentropy)
PLIMSOLL_LOSS(SparseCategoricalCrossentropy, sparse_categorical_crossentropy)
PLIMSOLL_LOSS(Dice, dice)
PLIMSOLL_LOSS(Tversky, tversky)
PLIMSOLL_LOSS(Circle, circle)
PLIMSOLL_LOSS(CategoricalGeneralizedCrossEntropy, categorical_generalized_cross_entropy)
#undef PLIMSOLL_LOSS

}  // namespace plimsoll::keras
