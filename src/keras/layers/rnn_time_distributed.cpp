#include "keras/layers/rnn_util.h"
#include "plimsoll/control_flow.h"
#include "plimsoll/ops.h"
#include "runtime/trace.h"

namespace plimsoll::keras {
namespace {

void check_mask(const Tensor& mask, const Tensor& x) {
  PLIMSOLL_CHECK(mask.rank() >= 2, InvalidArgumentError,
                 "The `mask` passed to the `TimeDistributed` layer must be at least 2D (e.g., "
                 "`(batch_size, timesteps)`), but it has {} dimension(s) with shape {}.",
                 mask.rank(), PartialShape(mask.shape()).to_string());
  PLIMSOLL_CHECK(mask.shape()[0] == x.shape()[0] && mask.shape()[1] == x.shape()[1],
                 InvalidArgumentError,
                 "The `mask` passed to the `TimeDistributed` layer has a shape {} that is "
                 "incompatible with the input shape {}. The first two dimensions of the mask "
                 "(batch size and timesteps) must match the input's first two dimensions. Expected "
                 "mask shape prefix: ({}, {}).",
                 PartialShape(mask.shape()).to_string(), PartialShape(x.shape()).to_string(),
                 x.shape()[0], x.shape()[1]);
}

Tensor swap_batch_and_time(const Tensor& x) {
  std::vector<std::int64_t> order{1, 0};
  for (int i = 2; i < x.rank(); ++i) order.push_back(i);
  return transpose(x, order);
}

}  // namespace

TimeDistributedLayer::TimeDistributedLayer(TimeDistributedConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  PLIMSOLL_CHECK(config_.layer, InvalidArgumentError,
                 "Please initialize `TimeDistributed` layer with a `keras.layers.Layer` instance. "
                 "Received: None");
  track(config_.layer.ptr(), "layer");
  supports_masking_ = true;
}

void TimeDistributedLayer::build(const Shapes& input_shapes) {
  const PartialShape& input = input_shapes.leaf();
  PLIMSOLL_CHECK(input.rank() >= 3, InvalidArgumentError,
                 "`TimeDistributed` Layer should be passed an `input_shape` with at least 3 "
                 "dimensions, received: {}",
                 input.to_string());
  std::vector<std::int64_t> step{input[0]};
  for (int i = 2; i < input.rank(); ++i) step.push_back(input[i]);
  config_.layer->ensure_built(PartialShape(std::move(step)));
}

// A batch of all steps at once would not do: the layer may look at its batch.
Nested TimeDistributedLayer::call(const Nested& inputs, const CallArgs& args) {
  const Tensor& x = inputs.leaf().tensor();
  const Tensor mask = args.mask.is_none() ? Tensor() : args.mask.leaf().tensor();
  if (mask.is_valid()) check_mask(mask, x);
  const auto step = [&](const Tensor& in, const Tensor& step_mask) -> Tensor {
    CallArgs inner{.training = args.training};
    if (step_mask.is_valid()) inner.mask = step_mask;
    return config_.layer->call(in, inner);
  };
  if (current_trace) {
    std::vector<Tensor> elements{swap_batch_and_time(x)};
    if (mask.is_valid()) elements.push_back(swap_batch_and_time(mask));
    const std::vector<Tensor> made = map_fn(
        [&](std::span<const Tensor> in) -> std::vector<Tensor> {
          return {step(in[0], in.size() > 1 ? in[1] : Tensor())};
        },
        elements);
    return swap_batch_and_time(made[0]);
  }
  std::vector<Tensor> outputs;
  for (std::int64_t i = 0; i < x.shape()[1]; ++i)
    outputs.push_back(step(getitem(x, {Index(), Index(i)}),
                           mask.is_valid() ? getitem(mask, {Index(), Index(i)}) : Tensor()));
  return stack(outputs, 1);
}

}  // namespace plimsoll::keras
