#include "keras/backend.h"
#include "keras/layers/rnn_util.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

std::shared_ptr<RnnLayer> as_recurrent(LayerPtr layer, const char* what) {
  auto recurrent = std::dynamic_pointer_cast<RnnLayer>(layer);
  PLIMSOLL_CHECK(recurrent, InvalidArgumentError,
                 "Please initialize `Bidirectional` layer with a recurrent layer. Received: {}={}",
                 what, layer ? layer->name() : "None");
  return recurrent;
}

std::string prefixed(const std::string& prefix, const std::string& name) {
  return name.starts_with(prefix) ? name : prefix + name;
}

void check_same(bool forward, bool backward, const char* what) {
  PLIMSOLL_CHECK(forward == backward, InvalidArgumentError,
                 "Forward layer and backward layer are expected to have the same value for "
                 "attribute \"{}\", got \"{}\" for forward layer and \"{}\" for backward layer",
                 what, forward, backward);
}

}  // namespace

BidirectionalLayer::BidirectionalLayer(BidirectionalConfig config, LayerOptions options)
    : Configured(std::move(config), std::move(options)) {
  const auto given = as_recurrent(config_.layer.ptr(), "layer");
  const std::string mode = config_.merge_mode.value_or("None");
  PLIMSOLL_CHECK(
      mode == "sum" || mode == "mul" || mode == "ave" || mode == "concat" || !config_.merge_mode,
      InvalidArgumentError,
      "Invalid merge mode. Received: {}. Merge mode should be one of {{\"sum\", "
      "\"mul\", \"ave\", \"concat\", None}}",
      mode);
  Json made = serialize_keras_object(given.get());
  made["config"]["name"] = prefixed("forward_", given->name());
  forward_ = as_recurrent(Layer::get(made), "layer");
  if (config_.backward_layer) {
    backward_ = as_recurrent(config_.backward_layer.ptr(), "backward_layer");
  } else {
    made["config"]["name"] = prefixed("backward_", given->name());
    made["config"]["go_backwards"] = true;
    backward_ = as_recurrent(Layer::get(made), "layer");
  }
  const RnnFlags &f = forward_->flags(), &b = backward_->flags();
  PLIMSOLL_CHECK(f.go_backwards != b.go_backwards, InvalidArgumentError,
                 "Forward layer and backward layer should have different `go_backwards` value. "
                 "Received: forward_layer.go_backwards {}, backward_layer.go_backwards={}",
                 f.go_backwards, b.go_backwards);
  check_same(f.stateful, b.stateful, "stateful");
  check_same(f.return_sequences, b.return_sequences, "return_sequences");
  check_same(f.return_state, b.return_state, "return_state");
  // What a masked step repeats would be of the wrong end of the other sequence.
  forward_->set_zero_output_for_mask(f.return_sequences);
  backward_->set_zero_output_for_mask(b.return_sequences);
  config_.layer = LayerPtr(forward_);
  config_.backward_layer = LayerPtr(backward_);
  track(LayerPtr(forward_), "forward_layer");
  track(LayerPtr(backward_), "backward_layer");
  supports_masking_ = true;
}

void BidirectionalLayer::build(const Shapes& input_shapes) {
  forward_->ensure_built(input_shapes);
  backward_->ensure_built(input_shapes);
}

void BidirectionalLayer::reset_state() {
  PLIMSOLL_CHECK(forward_->flags().stateful, FailedPreconditionError, "Layer must be stateful.");
  forward_->reset_state();
  backward_->reset_state();
}

Nested BidirectionalLayer::merge(const Tensor& y, const Tensor& y_rev) const {
  if (!config_.merge_mode) return {y, y_rev};
  if (*config_.merge_mode == "concat") return concat({y, y_rev}, -1);
  if (*config_.merge_mode == "sum") return y + y_rev;
  if (*config_.merge_mode == "ave") return (y + y_rev) / 2;
  return y * y_rev;
}

Nested BidirectionalLayer::call(const Nested& inputs, const CallArgs& args) {
  CallArgs forward{.training = args.training, .mask = args.mask};
  CallArgs backward = forward;
  if (const Nested* given = args.find("initial_state"); given && !given->is_none()) {
    const std::size_t half = given->size() / 2;
    Nested::List first, second;
    for (std::size_t i = 0; i < given->size(); ++i)
      (i < half ? first : second).push_back((*given)[i]);
    forward.named["initial_state"] = Nested(std::move(first));
    backward.named["initial_state"] = Nested(std::move(second));
  }
  const Nested a = (*forward_)(inputs, forward), b = (*backward_)(inputs, backward);
  const bool has_states = forward_->flags().return_state;
  const Tensor y = has_states ? a[0] : a;
  Tensor y_rev = has_states ? b[0] : b;
  if (forward_->flags().return_sequences) y_rev = reverse(y_rev, {1});
  const Nested merged = merge(y, y_rev);
  if (!has_states) return merged;
  Nested::List results = merged.is_list() ? merged.list() : Nested::List{merged};
  for (const Nested* made : {&a, &b}) {
    for (std::size_t i = 1; i < made->size(); ++i) results.push_back((*made)[i]);
  }
  return results;
}

Nested BidirectionalLayer::compute_mask(const Nested&, const Nested& mask) {
  const std::vector<Value> flat = mask.flatten();
  if (flat.empty() || !forward_->flags().return_sequences) return {};
  if (!config_.merge_mode) return {flat[0], flat[0]};
  return flat[0];
}

}  // namespace plimsoll::keras
