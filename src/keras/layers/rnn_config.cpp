// The members of configurations of recurrent layers, in Keras's order.
#include "keras/layers/rnn_util.h"

namespace plimsoll::keras {
namespace {

template <class C>
void visit_initializers(ConfigVisitor& v, C& c) {
  v("kernel_initializer", c.kernel_initializer);
  v("recurrent_initializer", c.recurrent_initializer);
  v("bias_initializer", c.bias_initializer);
}
template <class C>
void visit_regularizers(ConfigVisitor& v, C& c) {
  v("kernel_regularizer", c.kernel_regularizer);
  v("recurrent_regularizer", c.recurrent_regularizer);
  v("bias_regularizer", c.bias_regularizer);
}
template <class C>
void visit_constraints(ConfigVisitor& v, C& c) {
  v("kernel_constraint", c.kernel_constraint);
  v("recurrent_constraint", c.recurrent_constraint);
  v("bias_constraint", c.bias_constraint);
}
template <class C>
void visit_rates(ConfigVisitor& v, C& c) {
  v("dropout", c.dropout);
  v("recurrent_dropout", c.recurrent_dropout);
}

}  // namespace

void LSTMCellConfig::visit(ConfigVisitor& v) {
  v("units", units);
  v("activation", activation);
  v("recurrent_activation", recurrent_activation);
  v("use_bias", use_bias);
  v("unit_forget_bias", unit_forget_bias);
  visit_initializers(v, *this);
  visit_regularizers(v, *this);
  visit_constraints(v, *this);
  visit_rates(v, *this);
  v("seed", seed);
  v.ignore("implementation");
}

void LSTMConfig::visit(ConfigVisitor& v) {
  visit_flags(v, *this);
  v("units", units);
  v("activation", activation);
  v("recurrent_activation", recurrent_activation);
  v("use_bias", use_bias);
  visit_initializers(v, *this);
  v("unit_forget_bias", unit_forget_bias);
  visit_regularizers(v, *this);
  v.null_unless_there("activity_regularizer");
  visit_constraints(v, *this);
  visit_rates(v, *this);
  v("seed", seed);
  v.ignore("implementation");
  v.ignore("use_cudnn");
}

void GRUCellConfig::visit(ConfigVisitor& v) {
  v("units", units);
  v("activation", activation);
  v("recurrent_activation", recurrent_activation);
  v("use_bias", use_bias);
  visit_initializers(v, *this);
  visit_regularizers(v, *this);
  visit_constraints(v, *this);
  visit_rates(v, *this);
  v("reset_after", reset_after);
  v("seed", seed);
  v.ignore("implementation");
}

void GRUConfig::visit(ConfigVisitor& v) {
  visit_flags(v, *this);
  v("units", units);
  v("activation", activation);
  v("recurrent_activation", recurrent_activation);
  v("use_bias", use_bias);
  visit_initializers(v, *this);
  visit_regularizers(v, *this);
  v.null_unless_there("activity_regularizer");
  visit_constraints(v, *this);
  visit_rates(v, *this);
  v("reset_after", reset_after);
  v("seed", seed);
  v.ignore("implementation");
  v.ignore("use_cudnn");
}

void SimpleRNNCellConfig::visit(ConfigVisitor& v) {
  v("units", units);
  v("activation", activation);
  v("use_bias", use_bias);
  visit_initializers(v, *this);
  visit_regularizers(v, *this);
  visit_constraints(v, *this);
  visit_rates(v, *this);
  v("seed", seed);
}

void SimpleRNNConfig::visit(ConfigVisitor& v) {
  visit_flags(v, *this);
  v("units", units);
  v("activation", activation);
  v("use_bias", use_bias);
  visit_initializers(v, *this);
  visit_regularizers(v, *this);
  v.null_unless_there("activity_regularizer");
  visit_constraints(v, *this);
  visit_rates(v, *this);
  if (v.is_reading()) v("seed", seed);  // Keras takes it and does not write it
}

void RNNConfig::visit(ConfigVisitor& v) {
  visit_flags(v, *this);
  v("cell", cell);
}

void BidirectionalConfig::visit(ConfigVisitor& v) {
  v("merge_mode", merge_mode);
  v("layer", layer);
  v("backward_layer", backward_layer);
}

}  // namespace plimsoll::keras
