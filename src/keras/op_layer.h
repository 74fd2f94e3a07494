// Ops as nodes of functional models: keras.src.ops.numpy, as x + 1.0 makes them of KerasTensors.
//
// An op is called on its first tensor, or a list of them. Its other argument is named as in Keras,
// x2, or x1 where the number stands first: a tensor in CallArgs::named, a number in
// CallArgs::options. So 2.0 - x is Subtract called on x with options {"x1": 2.0}.
#pragma once

#include <span>

#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

// What an op was called with: by position or name in the node, or when the op was made.
struct OpArgs {
  std::span<const Tensor> xs;  // the first argument, one or a list
  const CallArgs& call;
  const Json& config;

  const Tensor& x() const { return xs[0]; }
  const Json* find(std::string_view name) const noexcept;  // none, or null: no such option
  Tensor tensor(std::string_view name) const;              // empty: none; numbers take x's type
  std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  double number(std::string_view name, double otherwise) const;
  bool flag(std::string_view name, bool otherwise = false) const;
  std::vector<std::int64_t> integers(std::string_view name) const;  // one, or a list
};

struct OpRow {
  const char* class_name;            // "TrueDivide"
  Tensor (*unary)(const Tensor& x);  // one of the three is there
  Tensor (*binary)(const Tensor& x, const Tensor& y);
  bool makes_floats = false;  // of integers, too
  const char* module = "numpy";
  Tensor (*general)(const OpArgs& args) = nullptr;
  std::vector<std::string> arguments = {};  // of `general`, after the first, by position
};
// Ops that have arguments beside tensors.
std::span<const OpRow> general_ops();

class OpLayer : public Layer {
 public:
  explicit OpLayer(const OpRow& row, std::string name = "", Json config = Json::object());
  std::string class_name() const override { return row_->class_name; }
  std::string module() const override { return std::string("keras.src.ops.") + row_->module; }
  std::string registered_name() const override { return row_->class_name; }
  std::vector<std::string> call_argument_names() const override;
  Json get_config() const override;
  Nested call(const Nested& inputs, const CallArgs& args) override;

 private:
  const OpRow* row_;
  Json config_;  // what the op was made with, without its name
};

// Whether a configuration is that of an op: its module is below keras.ops, not keras.layers.
bool is_op(const Json& identifier) noexcept;
bool is_known_op(std::string_view class_name) noexcept;
// throws: UnimplementedError for an op that is not here, with the names of those that are.
LayerPtr make_op_layer(const Json& identifier);

// What Keras brings two types to where they meet.
DType result_type(DType a, DType b) noexcept;

}  // namespace plimsoll::keras
