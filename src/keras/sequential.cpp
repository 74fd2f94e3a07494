#include <algorithm>

#include "base/check.h"
#include "keras/model_config.h"
#include "keras/node.h"
#include "plimsoll/keras/layers/core.h"
#include "plimsoll/keras/model.h"

namespace plimsoll::keras {
namespace {

InputLayer* input_of(const std::vector<LayerPtr>& stack) {
  return stack.empty() ? nullptr : dynamic_cast<InputLayer*>(stack[0].get());
}

// Whether layers have to say if they can take it: only its sizes are not those of the input, which
// may be those of the first batch.
bool has_other_sizes(const Nested& given, const FunctionalModel& model) {
  if (!given.is_leaf() || given.leaf().is_symbolic() || !model.inputs().is_leaf()) return false;
  const Tensor& x = given.leaf().tensor();
  const KerasTensor& wanted = model.inputs().leaf().symbolic();
  if (x.rank() != wanted.shape().rank()) return false;
  for (int i = 0; i < x.rank(); ++i) {
    if (wanted.shape()[i] != kNone && wanted.shape()[i] != x.shape()[i]) return true;
  }
  return false;
}

}  // namespace

SequentialItem::SequentialItem(const KerasTensor& input) {
  const auto& node = input.state()->node;
  PLIMSOLL_CHECK(node && node->is_input(), InvalidArgumentError,
                 "Only layers, and what keras::Input gives, can be added to a Sequential model. "
                 "Received: a KerasTensor of shape {}",
                 input.shape().to_string());
  layer_ = node->layer;
}

SequentialModel::SequentialModel(std::vector<SequentialItem> layers, LayerOptions options)
    : Model(std::move(options)) {
  autocast_ = false;
  for (const SequentialItem& item : layers) append(item);
  rebuild();
}

void SequentialModel::add(const SequentialItem& item) {
  append(item);
  rebuild();
}

void SequentialModel::append(const SequentialItem& item) {
  const LayerPtr& layer = item.layer();
  PLIMSOLL_CHECK(layer, InvalidArgumentError, "an empty layer was added to a Sequential model");
  PLIMSOLL_CHECK(
      std::ranges::none_of(stack_, [&](const LayerPtr& l) { return l->name() == layer->name(); }),
      InvalidArgumentError,
      "All layers added to a Sequential model should have unique names. Name '{}' is already the "
      "name of a layer in this model. Update the `name` argument to pass a unique name.",
      layer->name());
  if (dynamic_cast<const InputLayer*>(layer.get())) {
    PLIMSOLL_CHECK(!input_of(stack_), InvalidArgumentError,
                   "Sequential model has already been configured to use input shape {}. You cannot "
                   "add a different Input layer to it.",
                   input_of(stack_)->config().batch_shape.to_string());
    PLIMSOLL_CHECK(stack_.empty(), InvalidArgumentError,
                   "An Input has to be the first layer of a Sequential model, this would be number "
                   "{}",
                   stack_.size() + 1);
  } else {
    track_layer(layer, "layers/");
  }
  stack_.push_back(layer);
}

LayerPtr SequentialModel::pop() {
  PLIMSOLL_CHECK(!stack_.empty(), FailedPreconditionError,
                 "a Sequential model has no layer to pop");
  LayerPtr last = stack_.back();
  stack_.pop_back();
  untrack_layers();
  for (const LayerPtr& layer : layers()) track_layer(layer, "layers/");
  rebuild();
  return last;
}

std::vector<LayerPtr> SequentialModel::layers() const {
  return {stack_.begin() + (input_of(stack_) ? 1 : 0), stack_.end()};
}

// The functional model behind it, as soon as the input is known.
void SequentialModel::rebuild() {
  functional_.reset();
  set_built(false);
  if (stack_.size() > 1) {  // a first layer that is a model may know what the input is
    const auto* sequential = dynamic_cast<const SequentialModel*>(stack_[0].get());
    const auto* model = sequential ? sequential->functional_.get()
                                   : dynamic_cast<const FunctionalModel*>(stack_[0].get());
    if (model && model->inputs().is_leaf()) {
      const KerasTensor& known = model->inputs().leaf().symbolic();
      const InputLayerConfig config{known.shape(), known.dtype()};
      stack_.insert(stack_.begin(), std::make_shared<InputLayer>(config));
    }
  }
  InputLayer* input = input_of(stack_);
  if (!input || stack_.size() < 2) return;
  const KerasTensor first = input->tensor();
  Nested x = first;
  for (std::size_t i = 1; i < stack_.size(); ++i) x = (*stack_[i])(x);
  functional_ = std::make_shared<FunctionalModel>(first, x, LayerOptions{.name = "functional"});
  set_built(true);
}

Json SequentialModel::get_config() const {
  return sequential_config(*this, stack_);
}

void SequentialModel::build(const Shapes& input_shapes) {
  PLIMSOLL_CHECK(!stack_.empty(), FailedPreconditionError,
                 "Sequential model {} cannot be built because it has no layers. Call "
                 "`model->add(layer)`.",
                 name());
  if (input_of(stack_) || !input_shapes.is_leaf()) return;
  PartialShape shape = input_shapes.leaf();
  if (shape.rank() > 0) shape[0] = kNone;  // the batch
  const auto input =
      std::make_shared<InputLayer>(InputLayerConfig{std::move(shape), stack_[0]->compute_dtype()});
  stack_.insert(stack_.begin(), input);
  rebuild();
}

Nested SequentialModel::call(const Nested& inputs, const CallArgs& args) {
  if (functional_ && !has_other_sizes(inputs, *functional_)) return functional_->call(inputs, args);
  Nested x = inputs;
  for (const LayerPtr& layer : layers()) x = (*layer)(x, {.training = args.training});
  return x;
}

std::vector<std::string> SequentialModel::output_names() const {
  return stack_.empty() ? std::vector<std::string>() : std::vector{stack_.back()->name()};
}

Sequential::Sequential(std::vector<SequentialItem> layers, LayerOptions options)
    : std::shared_ptr<SequentialModel>(
          std::make_shared<SequentialModel>(std::move(layers), std::move(options))) {
  get()->name();
}

}  // namespace plimsoll::keras
