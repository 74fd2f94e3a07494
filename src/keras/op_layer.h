// Ops as nodes of functional models: keras.src.ops.numpy, as x + 1.0 makes them of KerasTensors.
//
// An op is called on its first tensor. Its other argument is named as in Keras, x2, or x1 where the
// number stands first: a tensor in CallArgs::named, a number in CallArgs::options. So 2.0 - x is
// Subtract called on x with options {"x1": 2.0}.
#pragma once

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct OpRow {
  const char* class_name;            // "TrueDivide"
  Tensor (*unary)(const Tensor& x);  // one of the two is null
  Tensor (*binary)(const Tensor& x, const Tensor& y);
  bool makes_floats = false;  // of integers, too
};

class OpLayer : public Layer {
 public:
  explicit OpLayer(const OpRow& row, std::string name = "");
  std::string class_name() const override { return row_->class_name; }
  std::string module() const override { return "keras.src.ops.numpy"; }
  std::string registered_name() const override { return row_->class_name; }
  std::vector<std::string> call_argument_names() const override;
  Json get_config() const override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  const OpRow* row_;
};

// Whether a configuration is that of an op: its module is below keras.ops, not keras.layers.
bool is_op(const Json& identifier) noexcept;
// throws: UnimplementedError for an op that is not here, with the names of those that are.
LayerPtr make_op_layer(const Json& identifier);

// What Keras brings two types to where they meet.
DType result_type(DType a, DType b) noexcept;

}  // namespace plimsoll::keras
