// What training makes small.
#pragma once

#include <string>

#include "plimsoll/keras/object.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

struct LossOptions {
  // Or "sum", "mean", "mean_with_sample_weight", "none".
  std::string reduction = "sum_over_batch_size";
  std::string name = {};  // none: made of the class name
  DType dtype = DType::kFloat32;
};

class Loss : public Object {
 public:
  // throws: InvalidArgumentError for an unknown reduction.
  explicit Loss(LossOptions options = {});

  // The losses of the samples, weighted, without those that the mask of y_pred leaves out, and
  // reduced to one number.
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;
  // One number for each sample. pre: y_pred is of the loss's type.
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) const = 0;

  const std::string& name() const;
  const std::string& reduction() const noexcept { return options_.reduction; }
  DType dtype() const noexcept { return options_.dtype; }
  std::string module() const override { return "keras.losses"; }
  Json get_config() const override;

  // By name ("mse", "mean_squared_error", "MeanSquaredError") or configuration.
  // throws: InvalidArgumentError.
  static std::shared_ptr<Loss> get(const Json& identifier);

 private:
  mutable LossOptions options_;
};
using LossPtr = std::shared_ptr<Loss>;
using LossArg = Arg<Loss>;

// A shared loss of class Impl.
template <class Impl>
class LossRef : public std::shared_ptr<Impl> {
 public:
  LossRef() : LossRef(typename Impl::Config{}) {}
  LossRef(typename Impl::Config config, LossOptions options = {})
      : std::shared_ptr<Impl>(std::make_shared<Impl>(std::move(config), std::move(options))) {}

  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const {
    return (*this->get())(y_true, y_pred, sample_weight);
  }
};

// Reads what all losses have in their configuration.
void visit_loss_options(ConfigVisitor& v, LossOptions& options);
template <class Impl>
std::shared_ptr<Object> make_loss_of_config(const Json& config) {
  typename Impl::Config read;
  LossOptions options;
  ConfigVisitor visitor(config, Impl::kClassName);
  visit_loss_options(visitor, options);
  read.visit(visitor);
  visitor.finish();
  return std::make_shared<Impl>(std::move(read), std::move(options));
}

}  // namespace plimsoll::keras
