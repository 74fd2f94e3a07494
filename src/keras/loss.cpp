#include "plimsoll/keras/loss.h"

#include "keras/backend.h"
#include "keras/losses_util.h"
#include "keras/names.h"
#include "plimsoll/function.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

Loss::Loss(LossOptions options) : options_(std::move(options)) {
  check_reduction(options_.reduction);
}

const std::string& Loss::name() const {
  if (options_.name.empty()) options_.name = to_snake_case(class_name());
  return options_.name;
}

void visit_loss_options(ConfigVisitor& v, LossOptions& options) {
  v("name", options.name);
  v("reduction", options.reduction);
  v.ignore("dtype");
  v.ignore("fn");
}

Json Loss::get_config() const {
  name();
  Json config = Json::object();
  ConfigVisitor visitor(config);
  visit_loss_options(visitor, options_);
  const_cast<Loss*>(this)->visit(visitor);  // a writing visitor changes nothing
  return config;
}

Tensor Loss::operator()(const Tensor& y_true, const Tensor& y_pred,
                        const Tensor& sample_weight) const {
  const name_scope scope(name());
  const Tensor mask = keras_mask(y_pred);
  Tensor predicted = y_pred;
  if (y_pred.dtype() != options_.dtype) {
    predicted = cast(y_pred, options_.dtype);
    if (const Tensor logits = keras_logits(y_pred); logits.is_valid())
      set_keras_logits(predicted, cast(logits, options_.dtype));
  }
  const Tensor losses = call(y_true, predicted);
  const Tensor own_mask = keras_mask(losses);  // as of losses that ignore a class
  Tensor both = mask;
  if (own_mask.is_valid()) both = mask.is_valid() ? logical_and(mask, own_mask) : own_mask;
  return reduce_weighted_values(losses, sample_weight, both, options_.reduction, options_.dtype);
}

}  // namespace plimsoll::keras
