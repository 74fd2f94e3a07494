// Activations by Keras's names: functions of a tensor, or layers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plimsoll/json.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras {

class Layer;

class Activation {
 public:
  using Fn = Tensor (*)(const Tensor&);

  Activation() noexcept = default;  // none: linear
  Activation(std::nullptr_t) noexcept {}
  // throws: InvalidArgumentError that lists the names, for one that is not there.
  Activation(const char* name) : Activation(std::string(name)) {}
  Activation(const std::string& name);
  Activation(std::shared_ptr<Layer> layer);
  // One's own; its name is what get_config says.
  Activation(std::string name, std::function<Tensor(const Tensor&)> fn);

  Tensor operator()(const Tensor& x) const;
  bool is_linear() const noexcept { return name_ == "linear"; }
  const std::string& name() const noexcept { return name_; }

  friend Json to_config(const Activation& activation);
  friend void from_config(const Json& json, Activation& activation);

 private:
  std::string name_ = "linear";
  std::function<Tensor(const Tensor&)> fn_;  // none: linear
  std::shared_ptr<Layer> layer_;
};

namespace activations {
// The name under which models from files of Keras 2 have their hard_sigmoid, which is steeper: 0.2
// x
// + 0.5 between 0 and 1. It is not among names().
inline constexpr const char* kKeras2HardSigmoid = "hard_sigmoid_of_keras_2";

std::vector<std::string> names();
Tensor relu(const Tensor& x, double negative_slope = 0, double max_value = -1,
            double threshold = 0);  // max_value below 0: none
Tensor leaky_relu(const Tensor& x, double negative_slope = 0.2);
Tensor relu6(const Tensor& x);
Tensor softmax(const Tensor& x, std::int64_t axis = -1);
Tensor elu(const Tensor& x, double alpha = 1);
Tensor selu(const Tensor& x);
Tensor softplus(const Tensor& x);
Tensor softsign(const Tensor& x);
Tensor soft_shrink(const Tensor& x, double threshold = 0.5);
Tensor sparse_plus(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor squareplus(const Tensor& x, double b = 4);
Tensor gelu(const Tensor& x, bool approximate = false);
Tensor celu(const Tensor& x, double alpha = 1);
Tensor glu(const Tensor& x, std::int64_t axis = -1);
Tensor tanh(const Tensor& x);
Tensor tanh_shrink(const Tensor& x);
Tensor hard_tanh(const Tensor& x);
Tensor hard_shrink(const Tensor& x, double threshold = 0.5);
Tensor threshold(const Tensor& x, double threshold, double default_value);
Tensor sigmoid(const Tensor& x);
Tensor sparse_sigmoid(const Tensor& x);
Tensor exponential(const Tensor& x);
Tensor hard_sigmoid(const Tensor& x);
Tensor hard_silu(const Tensor& x);
Tensor log_sigmoid(const Tensor& x);
Tensor linear(const Tensor& x);
Tensor mish(const Tensor& x);
Tensor log_softmax(const Tensor& x, std::int64_t axis = -1);
Tensor sparsemax(const Tensor& x, std::int64_t axis = -1);
}  // namespace activations

}  // namespace plimsoll::keras
