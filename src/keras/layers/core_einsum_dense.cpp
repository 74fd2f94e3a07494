// A dense layer whose product is an einsum: the shapes of its weights follow from the equation.
#include <algorithm>

#include "base/check.h"
#include "plimsoll/keras/layers/core.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

bool is_letters(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}
bool has(std::string_view text, char c) {
  return text.find(c) != std::string_view::npos;
}

// [X],[Y]->[Z], ...[X],[Y]->...[Z] or [X]...,[Y]->[Z]...; without the dots.
struct Equation {
  std::string in, weight, out;
  bool is_left_elided = false;
};
Equation parse(const std::string& equation) {
  std::string_view rest = equation;
  const std::size_t comma = rest.find(','), arrow = rest.find("->");
  Equation e;
  bool is_right = comma != std::string_view::npos && arrow != std::string_view::npos;
  if (is_right && comma < arrow) {
    std::string_view in = rest.substr(0, comma), out = rest.substr(arrow + 2);
    e.weight = rest.substr(comma + 1, arrow - comma - 1);
    if (in.starts_with("...") && out.starts_with("...")) {
      e.is_left_elided = true;
      in.remove_prefix(3);
      out.remove_prefix(3);
    } else if (in.ends_with("...") && out.ends_with("...") && in.size() >= 5) {
      in.remove_suffix(3);
      out.remove_suffix(3);
    }
    e.in = in;
    e.out = out;
    is_right = is_letters(e.in) && is_letters(e.weight) && is_letters(e.out);
  }
  PLIMSOLL_CHECK(is_right, InvalidArgumentError,
                 "Invalid einsum equation '{}'. Equations must be in the form [X],[Y]->[Z], "
                 "...[X],[Y]->...[Z], or [X]...,[Y]->[Z]....",
                 equation);
  return e;
}

struct Weights {
  std::vector<std::int64_t> kernel, bias;
  std::vector<std::int64_t> input_axes, output_axes;  // of the kernel
};

// The dimensions of the output, as far as they are known.
std::vector<std::int64_t> output_dims(const Equation& e, const EinsumDenseConfig& config,
                                      const PartialShape& input, int num_elided) {
  std::vector<std::int64_t> dims{input[0]};
  if (e.is_left_elided) {
    for (int i = 1; i < num_elided; ++i) dims.push_back(input[i]);
  }
  for (const auto& d : config.output_shape) dims.push_back(d.value_or(kNone));
  if (!e.is_left_elided) {
    for (int i = input.rank() - num_elided; i < input.rank(); ++i) dims.push_back(input[i]);
  }
  const std::size_t wanted = e.out.size() + static_cast<std::size_t>(num_elided);
  PLIMSOLL_CHECK(dims.size() >= wanted, InvalidArgumentError,
                 "the output of equation '{}' has {} dimensions, output_shape gives {} of them",
                 config.equation, wanted, dims.size());
  return dims;
}

std::vector<std::int64_t> bias_dims(const Equation& e, const std::string& bias_axes,
                                    const std::vector<std::int64_t>& output, int num_elided) {
  std::size_t first = e.out.size();
  for (const char c : bias_axes) {
    PLIMSOLL_CHECK(has(e.out, c), InvalidArgumentError,
                   "Bias dimension '{}' was requested, but is not part of the output spec '{}'", c,
                   e.out);
    first = std::min(first, e.out.find(c));
  }
  const std::size_t before = e.is_left_elided ? static_cast<std::size_t>(num_elided) : 0;
  std::vector<std::int64_t> dims;
  for (std::size_t i = first; i < e.out.size(); ++i)
    dims.push_back(has(bias_axes, e.out[i]) ? output[i + before] : 1);
  if (!e.is_left_elided) dims.resize(dims.size() + static_cast<std::size_t>(num_elided), 1);
  return dims;
}

Weights shapes_of_weights(const EinsumDenseConfig& config, const PartialShape& input) {
  const Equation e = parse(config.equation);
  const int num_elided = input.rank() - static_cast<int>(e.in.size());
  PLIMSOLL_CHECK(num_elided >= 0, InvalidArgumentError,
                 "equation '{}' needs an input of {} dimensions. Received: input_shape={}",
                 config.equation, e.in.size(), input.to_string());
  const std::vector<std::int64_t> output = output_dims(e, config, input, num_elided);
  const int before = e.is_left_elided ? num_elided : 0;
  const auto input_dim = [&](char c) { return input[before + static_cast<int>(e.in.find(c))]; };
  const auto output_dim = [&](char c) {
    return output[static_cast<std::size_t>(before) + e.out.find(c)];
  };
  for (const char c : e.in) {
    if (!has(e.out, c)) continue;
    const std::int64_t in = input_dim(c), out = output_dim(c);
    PLIMSOLL_CHECK(out == kNone || in == kNone || out == in, InvalidArgumentError,
                   "Input shape and output shape do not match at shared dimension '{}'. Input "
                   "shape is {}, and output shape is {}.",
                   c, in, out);
  }
  for (const char c : e.out) {
    PLIMSOLL_CHECK(has(e.in, c) || has(e.weight, c), InvalidArgumentError,
                   "Dimension '{}' was specified in the output '{}' but has no corresponding dim "
                   "in the input spec '{}' or weight spec '{}'",
                   c, e.out, e.in, e.weight);
  }
  Weights found;
  for (std::size_t i = 0; i < e.weight.size(); ++i) {
    const char c = e.weight[i];
    PLIMSOLL_CHECK(has(e.out, c) || has(e.in, c), InvalidArgumentError,
                   "Weight dimension '{}' did not have a match in either the input spec '{}' or "
                   "the output spec '{}'. For this layer, the weight must be fully specified.",
                   c, e.in, e.out);
    std::int64_t dim = has(e.out, c) ? output_dim(c) : input_dim(c);
    if (dim == kNone && has(e.in, c)) dim = input_dim(c);
    PLIMSOLL_CHECK(dim != kNone, InvalidArgumentError,
                   "dimension '{}' of the weight of equation '{}' is not known. Received: "
                   "input_shape={}",
                   c, config.equation, input.to_string());
    found.kernel.push_back(dim);
    (has(e.out, c) ? found.output_axes : found.input_axes).push_back(static_cast<std::int64_t>(i));
  }
  if (config.bias_axes) found.bias = bias_dims(e, *config.bias_axes, output, num_elided);
  return found;
}

// Initializers that scale by the number of inputs are told which axes these are.
InitializerArg with_axes(const InitializerArg& given, const Weights& weights) {
  Json config = to_config(given);
  const Json* own = config.find("config");
  const Json* axes = own ? own->find("input_axes") : nullptr;
  if (!axes || !axes->is_null()) return given;
  config["config"]["input_axes"] = Json(weights.input_axes);
  config["config"]["output_axes"] = Json(weights.output_axes);
  return InitializerArg(config);
}

}  // namespace

void EinsumDenseConfig::visit(ConfigVisitor& v) {
  v("output_shape", output_shape);
  v("equation", equation);
  v("activation", activation);
  v("bias_axes", bias_axes);
  v("kernel_initializer", kernel_initializer);
  v("bias_initializer", bias_initializer);
  v("kernel_regularizer", kernel_regularizer);
  v("bias_regularizer", bias_regularizer);
  v.null_unless_there("activity_regularizer");
  v("kernel_constraint", kernel_constraint);
  v("bias_constraint", bias_constraint);
  v.constant("quantization_config", nullptr);
}

EinsumDenseLayer::EinsumDenseLayer(EinsumDenseConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  parse(config_.equation);
}

void EinsumDenseLayer::build(const Shapes& input_shapes) {
  const PartialShape& input = input_shapes.leaf();
  const Weights shapes = shapes_of_weights(config_, input);
  kernel_ = add_weight({.name = "kernel",
                        .shape = Shape(std::span(shapes.kernel)),
                        .initializer = with_axes(config_.kernel_initializer, shapes),
                        .regularizer = config_.kernel_regularizer,
                        .constraint = config_.kernel_constraint});
  if (config_.bias_axes) {
    for (const std::int64_t dim : shapes.bias) {
      PLIMSOLL_CHECK(dim != kNone, InvalidArgumentError,
                     "a dimension of the bias of layer '{}' is not known. Received: input_shape={}",
                     name(), input.to_string());
    }
    bias_ = add_weight({.name = "bias",
                        .shape = Shape(std::span(shapes.bias)),
                        .initializer = config_.bias_initializer,
                        .regularizer = config_.bias_regularizer,
                        .constraint = config_.bias_constraint});
  }
  input_spec = {{.ndim = input.rank()}};
}

Nested EinsumDenseLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor y = einsum(config_.equation, {inputs.leaf().tensor(), kernel_->value()});
  if (bias_) y = y + bias_->value();
  return config_.activation(y);
}

}  // namespace plimsoll::keras
