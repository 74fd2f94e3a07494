#include "plimsoll/keras/layers/reshaping.h"

#include "base/check.h"
#include "keras/layers/tables.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

constexpr ClassRow kLayers[] = {
    {"Flatten", make_layer_of_config<FlattenLayer>},
};

}  // namespace

std::span<const ClassRow> reshaping_layers() {
  return kLayers;
}

FlattenLayer::FlattenLayer(FlattenConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  input_spec = {{.min_ndim = 1}};
}

Nested FlattenLayer::call(const Nested& inputs, const CallArgs&) {
  Tensor x = inputs;
  if (config_.data_format == "channels_first" && x.rank() > 1) {
    std::vector<std::int64_t> order{0};
    for (int i = 2; i < x.rank(); ++i) order.push_back(i);
    order.push_back(1);
    x = transpose(x, order);
  }
  const std::int64_t batch = x.shape()[0];
  return reshape(x, {batch, batch ? x.num_elements() / batch : 0});
}

}  // namespace plimsoll::keras
