// Cells: one step of a recurrent layer.
#pragma once

#include <span>

#include "plimsoll/keras/activations.h"
#include "plimsoll/keras/layer.h"

namespace plimsoll::keras {

struct RnnStep {
  Tensor output;
  std::vector<Tensor> states;  // as many as came in, of the same shapes
};

class RnnCell : public Layer {
 public:
  using Layer::Layer;

  virtual std::vector<std::int64_t> state_sizes() const = 0;  // of each state tensor
  virtual std::int64_t output_size() const { return state_sizes().at(0); }
  // inputs [batch, features], states [batch, size] each.
  virtual RnnStep step(const Tensor& inputs, std::span<const Tensor> states,
                       const CallArgs& args) = 0;

  // Zeros, unless a class says otherwise.
  virtual std::vector<Tensor> get_initial_state(std::int64_t batch_size) const;
  virtual Shape output_shape(std::int64_t batch_size) const { return {batch_size, output_size()}; }
  // Around the steps of one sequence, for what is drawn once for all of them.
  virtual void begin_sequence(const Shape& input, std::span<const Tensor> states, bool training);
  virtual void end_sequence() noexcept {}
  // As a layer returns them: a list.
  virtual Nested nest_states(std::span<const Tensor> states) const;

  // cell(inputs, {.named = {"states", ...}}) gives {output, states}.
  Nested call(const Nested& inputs, const CallArgs& args) override;
  std::vector<std::string> call_argument_names() const override { return {"states"}; }

  // As Layer::get. throws: InvalidArgumentError for a layer that is no cell.
  static std::shared_ptr<RnnCell> get(const Json& identifier);
};
using RnnCellArg = Arg<RnnCell>;

// What LSTMCell, GRUCell and SimpleRNNCell share: weights, and masks of dropout that stay the same
// over a sequence. Outside of an RNN, and not in a function, they stay until they are reset.
class DropoutRnnCell : public RnnCell {
 public:
  void begin_sequence(const Shape& input, std::span<const Tensor> states, bool training) override;
  void end_sequence() noexcept override;
  void reset_dropout_mask() noexcept { input_masks_.clear(); }
  void reset_recurrent_dropout_mask() noexcept { state_masks_.clear(); }

  const VariablePtr& kernel() const noexcept { return kernel_; }
  const VariablePtr& recurrent_kernel() const noexcept { return recurrent_kernel_; }
  const VariablePtr& bias() const noexcept { return bias_; }  // may be none

 protected:
  struct Rates {
    double dropout = 0, recurrent_dropout = 0;
    ConfigSeed seed = {};
    int num_gates = 1;
  };
  DropoutRnnCell(const Rates& rates, LayerOptions options);

  // The masks of a step, by gate or one for all; none where nothing is dropped.
  std::vector<Tensor> input_masks(const Shape& input, bool training);
  std::vector<Tensor> state_masks(const Shape& state, bool training);
  Rates rates_;
  VariablePtr kernel_, recurrent_kernel_, bias_;

 private:
  std::vector<Tensor> draw(const Shape& shape, double rate) const;

  std::vector<Tensor> input_masks_, state_masks_;
};

struct LSTMCellConfig {
  static constexpr const char* kClassName = "LSTMCell";
  std::int64_t units = 0;
  Activation activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                 bias_initializer = "zeros";
  bool unit_forget_bias = true;  // the bias of the forget gate begins with 1
  RegularizerArg kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v);
};
// Gates in the order i, f, c, o; states h, c.
class LSTMCellLayer : public Configured<DropoutRnnCell, LSTMCellConfig> {
 public:
  explicit LSTMCellLayer(LSTMCellConfig config, LayerOptions options = {});
  std::vector<std::int64_t> state_sizes() const override { return {config_.units, config_.units}; }
  void build(const Shapes& input_shapes) override;
  RnnStep step(const Tensor& inputs, std::span<const Tensor> states, const CallArgs& args) override;
};

struct GRUCellConfig {
  static constexpr const char* kClassName = "GRUCell";
  std::int64_t units = 0;
  Activation activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                 bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool reset_after = true;  // the reset gate works on the product, not on the state
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v);
};
// Gates in the order z, r, h.
class GRUCellLayer : public Configured<DropoutRnnCell, GRUCellConfig> {
 public:
  explicit GRUCellLayer(GRUCellConfig config, LayerOptions options = {});
  std::vector<std::int64_t> state_sizes() const override { return {config_.units}; }
  void build(const Shapes& input_shapes) override;
  RnnStep step(const Tensor& inputs, std::span<const Tensor> states, const CallArgs& args) override;
};

struct SimpleRNNCellConfig {
  static constexpr const char* kClassName = "SimpleRNNCell";
  std::int64_t units = 0;
  Activation activation = "tanh";
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                 bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  ConfigSeed seed = {};
  void visit(ConfigVisitor& v);
};
class SimpleRNNCellLayer : public Configured<DropoutRnnCell, SimpleRNNCellConfig> {
 public:
  explicit SimpleRNNCellLayer(SimpleRNNCellConfig config, LayerOptions options = {});
  std::vector<std::int64_t> state_sizes() const override { return {config_.units}; }
  void build(const Shapes& input_shapes) override;
  RnnStep step(const Tensor& inputs, std::span<const Tensor> states, const CallArgs& args) override;
};

struct StackedRNNCellsConfig {
  static constexpr const char* kClassName = "StackedRNNCells";
  std::vector<RnnCellArg> cells = {};
  void visit(ConfigVisitor& v) { v("cells", cells); }
};
// Cells one behind the other, as one.
class StackedRNNCellsLayer : public Configured<RnnCell, StackedRNNCellsConfig> {
 public:
  explicit StackedRNNCellsLayer(StackedRNNCellsConfig config, LayerOptions options = {});
  std::vector<std::int64_t> state_sizes() const override;
  std::int64_t output_size() const override { return config_.cells.back()->output_size(); }
  std::vector<Tensor> get_initial_state(std::int64_t batch_size) const override;
  void begin_sequence(const Shape& input, std::span<const Tensor> states, bool training) override;
  void end_sequence() noexcept override;
  Nested nest_states(std::span<const Tensor> states) const override;
  void build(const Shapes& input_shapes) override;
  RnnStep step(const Tensor& inputs, std::span<const Tensor> states, const CallArgs& args) override;
};

namespace layers {
using LSTMCell = LayerRef<LSTMCellLayer>;
using GRUCell = LayerRef<GRUCellLayer>;
using SimpleRNNCell = LayerRef<SimpleRNNCellLayer>;
using StackedRNNCells = LayerRef<StackedRNNCellsLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
