// Recurrent layers. LSTM, GRU and SimpleRNN with Keras's default activations are one op over all
// steps (plimsoll/ops/rnn.h); with others, and RNN over any cell, they take step by step, in a
// function in one loop.
//
//   auto lstm = keras::layers::LSTM({.units = 64, .return_sequences = true});
//   tf::Tensor y = lstm(x);                                        // [batch, time, 64]
//   auto more = lstm(x, {.named = keras::Nested::dict({{"initial_state", {h, c}}})});
//
// A cell of one's own says how large its states are and takes a step:
//
//   class Minimal : public keras::RnnCell {
//    public:
//     std::string class_name() const override { return "Minimal"; }
//     std::vector<std::int64_t> state_sizes() const override { return {8}; }
//     void build(const keras::Shapes& input) override {
//       w_ = add_weight({.name = "w", .shape = {input.leaf()[-1], 8}});
//     }
//     keras::RnnStep step(const tf::Tensor& x, std::span<const tf::Tensor> states,
//                         const keras::CallArgs&) override {
//       const tf::Tensor y = tf::matmul(x, *w_) + states[0];
//       return {y, {y}};
//     }
//     keras::VariablePtr w_;
//   };
//   auto rnn = keras::layers::RNN({.cell = std::make_shared<Minimal>()});
#pragma once

#include <span>

#include "plimsoll/keras/layers/rnn_cells.h"

namespace plimsoll::keras {

// What all recurrent layers are told.
struct RnnFlags {
  bool return_sequences = false;  // the outputs of all steps, not that of the last
  bool return_state = false;      // the last states behind the output
  bool go_backwards = false;      // from the last step; outputs in the order of the steps
  bool stateful = false;          // a batch begins with the states that the one before ended with
  bool unroll = false;            // in a function: steps one by one, not a loop
  bool zero_output_for_mask = false;  // of masked steps; else they repeat the output before
};

class RnnLayer : public Layer {
 public:
  // x [batch, time, ...] -> output, states. Named tensors: "initial_state", one or a list.
  Nested call(const Nested& inputs, const CallArgs& args) override;
  void build(const Shapes& input_shapes) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
  Nested compute_output_spec(const Nested& inputs, const CallArgs& args) override;
  std::vector<std::string> call_argument_names() const override { return {"initial_state"}; }

  const RnnFlags& flags() const noexcept { return flags_; }
  const std::shared_ptr<RnnCell>& cell() const noexcept { return cell_; }
  virtual void set_zero_output_for_mask(bool value) { flags_.zero_output_for_mask = value; }
  // Of a stateful layer: zeros. reset_states is its older name.
  void reset_state();
  void reset_states() { reset_state(); }
  // Of a stateful layer, once it is built.
  std::vector<Tensor> states() const;

 protected:
  // What the steps gave: `outputs` [batch, time, ...] if sequences are returned, else `last`.
  struct Run {
    Tensor outputs, last;
    std::vector<Tensor> states;
  };
  RnnLayer(std::shared_ptr<RnnCell> cell, const RnnFlags& flags, LayerOptions options);

  // Whether run_fused does what the cell would do.
  virtual bool is_fused(bool /*training*/) const { return false; }
  // All steps in one op; no states: zeros. By default UnimplementedError.
  virtual Run run_fused(const Tensor& x, std::span<const Tensor> states, const Tensor& mask,
                        bool training);
  // Of outputs and states of a fused op.
  Run make_run(const Tensor& outputs, std::vector<Tensor> last_states, const Tensor& mask,
               bool had_states) const;

  RnnFlags flags_;
  std::shared_ptr<RnnCell> cell_;

 private:
  RnnStep masked_step(const Tensor& x, std::span<const Tensor> states, const Tensor& before,
                      const Tensor& mask, const CallArgs& args) const;
  Run run_steps(const Tensor& x, std::vector<Tensor> states, const Tensor& mask,
                const CallArgs& args);
  Run unroll_steps(const Tensor& x, std::vector<Tensor> states, const Tensor& mask,
                   const CallArgs& args);
  Run loop_steps(const Tensor& x, std::vector<Tensor> states, const Tensor& mask,
                 const CallArgs& args);
  std::vector<Tensor> first_states(const CallArgs& args) const;

  std::vector<VariablePtr> state_variables_;  // of a stateful layer
};

// A recurrent layer with configuration C, which has the flags among its fields.
template <class C>
class ConfiguredRnn : public Configured<RnnLayer, C> {
 public:
  using Configured<RnnLayer, C>::Configured;
  void set_zero_output_for_mask(bool value) override {
    RnnLayer::set_zero_output_for_mask(value);
    this->config_.zero_output_for_mask = value;
  }
};

struct RNNConfig {
  static constexpr const char* kClassName = "RNN";
  RnnCellArg cell = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false, zero_output_for_mask = false;
  void visit(ConfigVisitor& v);
};
class RNNLayer : public ConfiguredRnn<RNNConfig> {
 public:
  explicit RNNLayer(RNNConfig config, LayerOptions options = {});
};

struct LSTMConfig {
  static constexpr const char* kClassName = "LSTM";
  std::int64_t units = 0;
  Activation activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                 bias_initializer = "zeros";
  bool unit_forget_bias = true;
  RegularizerArg kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  ConfigSeed seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false, zero_output_for_mask = false;
  void visit(ConfigVisitor& v);
};
class LSTMLayer : public ConfiguredRnn<LSTMConfig> {
 public:
  explicit LSTMLayer(LSTMConfig config, LayerOptions options = {});

 protected:
  bool is_fused(bool training) const override;
  Run run_fused(const Tensor& x, std::span<const Tensor> states, const Tensor& mask,
                bool training) override;
};

struct GRUConfig {
  static constexpr const char* kClassName = "GRU";
  std::int64_t units = 0;
  Activation activation = "tanh", recurrent_activation = "sigmoid";
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                 bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  ConfigSeed seed = {};
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false, reset_after = true, zero_output_for_mask = false;
  void visit(ConfigVisitor& v);
};
class GRULayer : public ConfiguredRnn<GRUConfig> {
 public:
  explicit GRULayer(GRUConfig config, LayerOptions options = {});

 protected:
  bool is_fused(bool training) const override;
  Run run_fused(const Tensor& x, std::span<const Tensor> states, const Tensor& mask,
                bool training) override;
};

struct SimpleRNNConfig {
  static constexpr const char* kClassName = "SimpleRNN";
  std::int64_t units = 0;
  Activation activation = "tanh";
  bool use_bias = true;
  InitializerArg kernel_initializer = "glorot_uniform", recurrent_initializer = "orthogonal",
                 bias_initializer = "zeros";
  RegularizerArg kernel_regularizer = {}, recurrent_regularizer = {}, bias_regularizer = {};
  ConstraintArg kernel_constraint = {}, recurrent_constraint = {}, bias_constraint = {};
  double dropout = 0, recurrent_dropout = 0;
  bool return_sequences = false, return_state = false, go_backwards = false, stateful = false,
       unroll = false;
  ConfigSeed seed = {};
  bool zero_output_for_mask = false;
  void visit(ConfigVisitor& v);
};
class SimpleRNNLayer : public ConfiguredRnn<SimpleRNNConfig> {
 public:
  explicit SimpleRNNLayer(SimpleRNNConfig config, LayerOptions options = {});

 protected:
  bool is_fused(bool training) const override;
  Run run_fused(const Tensor& x, std::span<const Tensor> states, const Tensor& mask,
                bool training) override;
};

struct BidirectionalConfig {
  static constexpr const char* kClassName = "Bidirectional";
  LayerArg layer = {};  // a recurrent layer
  // sum, mul, ave, concat; none: both outputs, one after the other.
  std::optional<std::string> merge_mode = "concat";
  LayerArg backward_layer = {};  // none: one like `layer`, backwards
  void visit(ConfigVisitor& v);
};
// A layer forwards and one backwards over the same sequence, each made anew of `layer`.
class BidirectionalLayer : public Configured<Layer, BidirectionalConfig> {
 public:
  explicit BidirectionalLayer(BidirectionalConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  // Named tensors: "initial_state", those of the forward layer first.
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested& inputs, const Nested& mask) override;
  std::vector<std::string> call_argument_names() const override { return {"initial_state"}; }
  const std::shared_ptr<RnnLayer>& forward_layer() const noexcept { return forward_; }
  const std::shared_ptr<RnnLayer>& backward_layer() const noexcept { return backward_; }
  // Of stateful layers. throws: FailedPreconditionError for others.
  void reset_state();
  void reset_states() { reset_state(); }

 private:
  Nested merge(const Tensor& y, const Tensor& y_rev) const;

  std::shared_ptr<RnnLayer> forward_, backward_;
};

struct TimeDistributedConfig {
  static constexpr const char* kClassName = "TimeDistributed";
  LayerArg layer = {};
  void visit(ConfigVisitor& v) { v("layer", layer); }
};
// A layer on each time step by itself; in a function in one loop.
class TimeDistributedLayer : public Configured<Layer, TimeDistributedConfig> {
 public:
  explicit TimeDistributedLayer(TimeDistributedConfig config, LayerOptions options = {});
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
};

namespace layers {
using RNN = LayerRef<RNNLayer>;
using LSTM = LayerRef<LSTMLayer>;
using GRU = LayerRef<GRULayer>;
using SimpleRNN = LayerRef<SimpleRNNLayer>;
using Bidirectional = LayerRef<BidirectionalLayer>;
using TimeDistributed = LayerRef<TimeDistributedLayer>;
}  // namespace layers

}  // namespace plimsoll::keras
