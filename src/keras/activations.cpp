#include "plimsoll/keras/activations.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.h"
#include "base/nearest.h"
#include "keras/backend.h"
#include "keras/registry.h"
#include "plimsoll/keras/layer.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace activations {
namespace {

Tensor number(const Tensor& like, double value) {
  return fill(Shape(), value, like.dtype());
}

struct Row {
  const char* name;
  Activation::Fn fn;
};
constexpr Row kActivations[] = {
    {"relu", [](const Tensor& x) { return nn::relu(x); }},
    {"leaky_relu", [](const Tensor& x) { return leaky_relu(x); }},
    {"relu6", relu6},
    {"softmax", [](const Tensor& x) { return softmax(x); }},
    {"celu", [](const Tensor& x) { return celu(x); }},
    {"elu", [](const Tensor& x) { return elu(x); }},
    {"selu", selu},
    {"softplus", softplus},
    {"softsign", softsign},
    {"squareplus", [](const Tensor& x) { return squareplus(x); }},
    {"soft_shrink", [](const Tensor& x) { return soft_shrink(x); }},
    {"sparse_plus", sparse_plus},
    {"silu", silu},
    {"swish", silu},
    {"gelu", [](const Tensor& x) { return gelu(x); }},
    {"glu", [](const Tensor& x) { return glu(x); }},
    {"tanh", tanh},
    {"tanh_shrink", tanh_shrink},
    {"sigmoid", sigmoid},
    {"sparse_sigmoid", sparse_sigmoid},
    {"exponential", exponential},
    {"hard_sigmoid", hard_sigmoid},
    {"hard_silu", hard_silu},
    {"hard_swish", hard_silu},
    {"hard_tanh", hard_tanh},
    {"hard_shrink", [](const Tensor& x) { return hard_shrink(x); }},
    {"linear", linear},
    {"mish", mish},
    {"log_softmax", [](const Tensor& x) { return log_softmax(x); }},
    {"log_sigmoid", log_sigmoid},
    {"sparsemax", [](const Tensor& x) { return sparsemax(x); }},
    {kKeras2HardSigmoid, [](const Tensor& x) { return clip_by_value(x * 0.2 + 0.5, 0, 1); }},
};

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Row& row : kActivations) {
    if (row.name != std::string_view(kKeras2HardSigmoid)) all.emplace_back(row.name);
  }
  return all;
}

Tensor relu(const Tensor& x, double negative_slope, double max_value, double threshold) {
  if (negative_slope == 0 && threshold == 0) {
    if (max_value < 0) return nn::relu(x);
    if (max_value == 6) return nn::relu6(x);
    return clip_by_value(x, 0, max_value);
  }
  Tensor y = threshold == 0
                 ? nn::leaky_relu(x, negative_slope)
                 : where(greater(x, number(x, threshold)), x, (x - threshold) * negative_slope);
  return max_value < 0 ? y : minimum(y, number(x, max_value));
}
Tensor leaky_relu(const Tensor& x, double negative_slope) {
  return nn::leaky_relu(x, negative_slope);
}
Tensor relu6(const Tensor& x) {
  return nn::relu6(x);
}
Tensor softmax(const Tensor& x, std::int64_t axis) {
  Tensor y = nn::softmax(x, axis);
  if (axis == -1 || axis == x.rank() - 1) set_keras_logits(y, x);
  return y;
}
Tensor elu(const Tensor& x, double alpha) {
  if (alpha == 1) return nn::elu(x);
  return where(greater(x, number(x, 0)), x, nn::elu(x) * alpha);
}
Tensor selu(const Tensor& x) {
  return nn::selu(x);
}
Tensor softplus(const Tensor& x) {
  return nn::softplus(x);
}
Tensor softsign(const Tensor& x) {
  return nn::softsign(x);
}
Tensor soft_shrink(const Tensor& x, double threshold) {
  return where(greater(x, number(x, threshold)), x - threshold,
               where(less(x, number(x, -threshold)), x + threshold, zeros_like(x)));
}
Tensor sparse_plus(const Tensor& x) {
  return where(less_equal(x, number(x, -1)), zeros_like(x),
               where(less(x, number(x, 1)), square(x + 1) * 0.25, x));
}
Tensor silu(const Tensor& x) {
  return nn::silu(x);
}
Tensor squareplus(const Tensor& x, double b) {
  return (x + sqrt(square(x) + b)) / 2;
}
Tensor gelu(const Tensor& x, bool approximate) {
  return nn::gelu(x, approximate);
}
Tensor celu(const Tensor& x, double alpha) {
  return nn::celu(x, alpha);
}
Tensor glu(const Tensor& x, std::int64_t axis) {
  return nn::glu(x, axis);
}
Tensor tanh(const Tensor& x) {
  return plimsoll::tanh(x);
}
Tensor tanh_shrink(const Tensor& x) {
  return x - plimsoll::tanh(x);
}
Tensor hard_tanh(const Tensor& x) {
  return clip_by_value(x, -1, 1);
}
Tensor hard_shrink(const Tensor& x, double threshold) {
  return where(greater(abs(x), number(x, threshold)), x, zeros_like(x));
}
Tensor threshold(const Tensor& x, double threshold, double default_value) {
  return where(greater(x, number(x, threshold)), x, number(x, default_value));
}
Tensor sigmoid(const Tensor& x) {
  Tensor y = plimsoll::sigmoid(x);
  set_keras_logits(y, x);
  return y;
}
Tensor sparse_sigmoid(const Tensor& x) {
  return where(less_equal(x, number(x, -1)), zeros_like(x),
               where(greater_equal(x, number(x, 1)), ones_like(x), (x + 1) * 0.5));
}
Tensor exponential(const Tensor& x) {
  return exp(x);
}
Tensor hard_sigmoid(const Tensor& x) {
  return nn::hard_sigmoid(x);
}
Tensor hard_silu(const Tensor& x) {
  return nn::hard_silu(x);
}
Tensor log_sigmoid(const Tensor& x) {
  return math::log_sigmoid(x);
}
Tensor linear(const Tensor& x) {
  return x;
}
Tensor mish(const Tensor& x) {
  return nn::mish(x);
}
Tensor log_softmax(const Tensor& x, std::int64_t axis) {
  return nn::log_softmax(x, axis);
}
Tensor sparsemax(const Tensor& x, std::int64_t axis) {
  const int at = normalize_axis(axis, x.rank(), "sparsemax");
  const Tensor sorted = sort(x, at, "DESCENDING");
  const Tensor sums = cumsum(sorted, at);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(x.rank()), 1);
  dims[static_cast<std::size_t>(at)] = x.shape()[at];
  const Tensor r =
      reshape(range(1.0, static_cast<double>(x.shape()[at]) + 1, 1.0, x.dtype()), dims);
  const Tensor support = greater(sorted - (sums - 1) / r, number(x, 0));
  const Tensor k = reduce_sum(cast(support, x.dtype()), {at}, true);
  const Tensor safe = where(support, sums, zeros_like(sums));
  // The running sum at the last element of the support is that of all of it.
  const Tensor tau = (reduce_sum(safe, {at}, true) - 1) / k;
  return maximum(x - tau, number(x, 0));
}

}  // namespace activations

Activation::Activation(const std::string& name) : name_(name) {
  for (const activations::Row& row : activations::kActivations) {
    if (name != row.name) continue;
    name_ = row.fn == activations::silu        ? "silu"
            : row.fn == activations::hard_silu ? "hard_silu"
                                               : name;
    if (name != "linear") fn_ = row.fn;
    return;
  }
  const std::vector<std::string> all = activations::names();
  const std::vector<std::string_view> known(all.begin(), all.end());
  const std::string_view near = nearest(name, known);
  throw InvalidArgumentError(fmt::format(
      "Could not interpret activation function identifier: '{}'.{} There are: {}", name,
      near.empty() ? "" : fmt::format(" Did you mean '{}'?", near), fmt::join(all, ", ")));
}

Activation::Activation(std::shared_ptr<Layer> layer)
    : name_(layer->name()),
      fn_([raw = layer.get()](const Tensor& x) { return Tensor((*raw)(x)); }),
      layer_(std::move(layer)) {}

Activation::Activation(std::string name, std::function<Tensor(const Tensor&)> fn)
    : name_(std::move(name)), fn_(std::move(fn)) {}

Tensor Activation::operator()(const Tensor& x) const {
  return fn_ ? fn_(x) : x;
}

namespace {

// Keras's own, or what users have registered: a layer.
Activation activation_by_name(const std::string& name) {
  const auto& rows = activations::kActivations;
  const bool is_own = std::ranges::any_of(rows, [&](const auto& row) { return name == row.name; });
  if (!is_own && is_registered(name)) return Activation(Layer::get(Json(name)));
  return Activation(name);
}

}  // namespace

Json to_config(const Activation& activation) {
  return activation.layer_ ? serialize_keras_object(activation.layer_.get())
                           : Json(activation.name_);
}
void from_config(const Json& json, Activation& activation) {
  if (json.is_null()) {
    activation = Activation();
  } else if (json.is_string()) {
    activation = activation_by_name(json.as_string());
  } else if (const Json* name = json.find("config"); name && name->is_string()) {
    // {"class_name": "function", "config": "relu"}
    activation = activation_by_name(name->as_string());
  } else {
    activation = Activation(Layer::get(json));
  }
}

}  // namespace plimsoll::keras
