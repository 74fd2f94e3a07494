// Layers that give the same numbers in another shape.
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct FlattenConfig {
  static constexpr const char* kClassName = "Flatten";
  std::string data_format = "channels_last";
  void visit(ConfigVisitor& v) { v("data_format", data_format); }
};
// memory: a view.
class FlattenLayer : public Configured<Layer, FlattenConfig> {
 public:
  explicit FlattenLayer(FlattenConfig config, LayerOptions options = {});
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

namespace layers {
using Flatten = LayerRef<FlattenLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
