#include "plimsoll/keras/constraints.h"

#include "keras/backend.h"
#include "keras/registry.h"
#include "keras/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kConstraints[] = {
    {"MaxNorm", make_of_config<MaxNormConstraint>, "maxnorm"},
    {"NonNeg", make_of_config<NonNegConstraint>, "nonneg"},
    {"UnitNorm", make_of_config<UnitNormConstraint>, "unitnorm"},
    {"MinMaxNorm", make_of_config<MinMaxNormConstraint>, "minmaxnorm"},
};

Tensor norms_of(const Tensor& w, const NormAxes& axes) {
  return sqrt(reduce_sum(square(w), axes.values(), true));
}

}  // namespace

std::span<const ClassRow> constraint_rows() {
  return kConstraints;
}

std::shared_ptr<Constraint> Constraint::get(const Json& identifier) {
  return make_object_of<Constraint>(identifier, kConstraints, "constraint");
}

Tensor MaxNormConstraint::operator()(const Tensor& w) const {
  const Tensor norms = norms_of(w, config_.axis);
  return w * (clip_by_value(norms, 0, config_.max_value) / (norms + kEpsilon));
}
Tensor NonNegConstraint::operator()(const Tensor& w) const {
  return maximum(w, fill(Shape(), 0, w.dtype()));
}
Tensor UnitNormConstraint::operator()(const Tensor& w) const {
  return w / (norms_of(w, config_.axis) + kEpsilon);
}
Tensor MinMaxNormConstraint::operator()(const Tensor& w) const {
  const Tensor norms = norms_of(w, config_.axis);
  const Tensor desired = clip_by_value(norms, config_.min_value, config_.max_value) * config_.rate +
                         norms * (1 - config_.rate);
  return w * (desired / (norms + kEpsilon));
}

}  // namespace plimsoll::keras
