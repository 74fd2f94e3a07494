// Layers: what models are made of. A layer is called on tensors, and computes; or on KerasTensors,
// and becomes a node of a functional model.
//
//   auto dense = keras::layers::Dense({.units = 10, .activation = "relu"});
//   tf::Tensor y = dense(x);
//
// One's own layer has three members; weights are made in build, once the input's shape is known:
//
//   class Linear : public keras::Layer {
//    public:
//     std::string class_name() const override { return "Linear"; }
//     void build(const keras::Shapes& input) override {
//       w_ = add_weight({.name = "w", .shape = {input.leaf()[-1], 8}});
//     }
//     keras::Nested call(const keras::Nested& inputs, const keras::CallArgs&) override {
//       return tf::matmul(inputs, *w_);
//     }
//     keras::VariablePtr w_;
//   };
//   auto linear = std::make_shared<Linear>();
//   tf::Tensor y = (*linear)(x);
//
// A layer with layers inside says so: dense_ = track(keras::layers::Dense({.units = 8})).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plimsoll/keras/dtype_policy.h"
#include "plimsoll/keras/initializers.h"
#include "plimsoll/keras/keras_tensor.h"
#include "plimsoll/keras/object.h"
#include "plimsoll/keras/variable.h"

namespace plimsoll::keras {

class Metric;

// What a layer is called with beside its inputs.
struct CallArgs {
  std::optional<bool> training = {};  // none: that of the layer around it, else false
  Nested mask = {};                   // none: what the inputs carry
  // Further tensors by name, in the order in which they were given: {"initial_state", ...}.
  Nested named = {};
  Json options = {};  // and what is no tensor: {"return_attention_scores": true}

  const Nested* find(std::string_view name) const noexcept { return named.find(name); }
  bool is_training() const noexcept { return training.value_or(false); }
  // A member of `options`, or `otherwise`.
  bool option(std::string_view name, bool otherwise) const;
};

struct LayerOptions {
  std::string name = {};  // none: made of the class name
  bool trainable = true;
  DTypePolicy dtype = {};
  RegularizerArg activity_regularizer = {};
};

// What a layer asks of an input.
struct InputSpec {
  std::optional<DType> dtype = {};
  std::optional<PartialShape> shape = {};
  std::optional<int> ndim = {}, max_ndim = {}, min_ndim = {};
  std::map<int, std::int64_t> axes = {};  // the size of an axis
  std::string name = {};
};

struct WeightOptions {
  std::string name = {};
  Shape shape = {};
  InitializerArg initializer = {};  // none: glorot_uniform, zeros for what is not floating
  std::optional<DType> dtype = {};  // none: the layer's variable type
  bool trainable = true;
  bool autocast = true;
  RegularizerArg regularizer = {};
  ConstraintArg constraint = {};
};

using LayerPtr = std::shared_ptr<class Layer>;

// A layer inside another, and the name that weight files have for it.
struct NamedLayer {
  std::string name;  // "cell", "layers/dense_1"
  LayerPtr layer;
};
// What a layer keeps in files beside its weights: contents by file name, "vocabulary.txt".
using Assets = std::map<std::string, std::string>;

class Layer : public Object, public std::enable_shared_from_this<Layer> {
 public:
  explicit Layer(LayerOptions options = {});
  ~Layer() override;

  // Builds the layer at the first call, then computes, or adds a node to a functional model.
  // memory: weights at the first call (tag weights), results (tag activations).
  // throws: InvalidArgumentError for inputs that the layer does not take, in Keras's words.
  Nested operator()(const Nested& inputs, const CallArgs& args = {});

  // What a class of one's own may define.
  virtual void build(const Shapes& input_shapes);
  virtual Nested call(const Nested& inputs, const CallArgs& args) = 0;
  // The mask of what `call` gives, out of that of its inputs. By default it passes on where the
  // layer supports masking, and ends elsewhere.
  virtual Nested compute_mask(const Nested& inputs, const Nested& mask);
  // Names of the tensors that may be given after the first by position: {"value", "key"}.
  virtual std::vector<std::string> call_argument_names() const { return {}; }
  std::string module() const override { return "keras.layers"; }
  Json get_config() const override;
  // Shapes and types of what `call` gives: by default found by a call on tensors without memory.
  virtual Nested compute_output_spec(const Nested& inputs, const CallArgs& args);
  Shapes compute_output_shape(const Shapes& input_shapes);

  const std::string& name() const;  // made of the class name unless it was given
  void set_name(std::string name) { name_ = std::move(name); }
  bool built() const noexcept { return built_; }
  bool trainable() const noexcept { return trainable_; }
  // Of this layer and all inside.
  virtual void set_trainable(bool value);
  bool supports_masking() const noexcept { return supports_masking_; }
  const DTypePolicy& dtype_policy() const noexcept { return policy_; }
  DType compute_dtype() const noexcept { return policy_.compute_dtype(); }
  DType variable_dtype() const noexcept { return policy_.variable_dtype(); }
  const RegularizerArg& activity_regularizer() const noexcept { return activity_regularizer_; }

  // Of this layer and the layers inside, in Keras's order.
  std::vector<VariablePtr> variables() const;  // with metrics
  std::vector<VariablePtr> weights() const;
  std::vector<VariablePtr> trainable_weights() const;
  std::vector<VariablePtr> non_trainable_weights() const;
  std::int64_t count_params() const;
  std::vector<Tensor> get_weights() const;
  // throws: InvalidArgumentError for another number or other shapes; nothing has changed then.
  void set_weights(std::span<const Tensor> values);

  // Penalties: those added by add_loss in the last call, activity and weight regularisers.
  std::vector<Tensor> losses() const;
  void add_loss(const Tensor& loss);  // in call
  // The mean of a value over an epoch, shown by fit; in call.
  void add_metric(const Tensor& value, const std::string& name);
  std::vector<std::shared_ptr<Metric>> metrics() const;  // of this layer and those inside

  // Layers that this one consists of, in the order in which they were tracked.
  const std::vector<LayerPtr>& sublayers() const noexcept { return sublayers_; }
  std::vector<NamedLayer> named_sublayers() const;
  // All layers inside, depth first, without this one.
  std::vector<Layer*> flatten_layers() const;

  // Symbolic inputs and outputs of the only call. throws: FailedPreconditionError if there were
  // none or several.
  Nested input() const;
  Nested output() const;

  // What is saved with a model beside weights and configuration. throws, of load_assets:
  // InvalidArgumentError for what is not the layer's.
  virtual Assets save_assets() const { return {}; }
  virtual void load_assets(const Assets&) {}

  // By name ("dense"), by configuration, or none. throws: InvalidArgumentError.
  static LayerPtr get(const Json& identifier);

  // Makes it built, if it is not yet, for inputs of these shapes.
  void ensure_built(const Shapes& input_shapes, const Shapes& named = {});
  // The shapes that it was built for; none before.
  const Shapes& build_shapes() const noexcept { return build_shapes_; }
  // Gives everything inside a path that begins with it: "model/dense/kernel".
  void set_path(const std::string& prefix);
  const std::vector<VariablePtr>& own_variables() const noexcept { return variables_; }
  const std::vector<std::weak_ptr<Node>>& inbound_nodes() const noexcept { return nodes_; }

 protected:
  VariablePtr add_weight(WeightOptions options);
  // Makes a layer part of this one. Returns it. In weight files it has the name `attribute`; one
  // that ends in "/" is a list of layers, which are known by their classes and numbered.
  template <class L>
  L track(L layer, std::string attribute = "") {
    track_layer(layer, std::move(attribute));
    return layer;
  }
  void track_layer(LayerPtr layer, std::string attribute = "");
  // Makes a variable of a layer inside one of this layer's own, which come first.
  void track_variable(VariablePtr variable) { variables_.push_back(std::move(variable)); }
  void untrack_layers() {
    sublayers_.clear();
    attributes_.clear();
  }
  void add_node(const std::shared_ptr<Node>& node) { nodes_.push_back(node); }
  void track_metric(std::shared_ptr<Metric> metric) { metrics_.push_back(std::move(metric)); }
  void untrack_metrics() { metrics_.clear(); }
  // Of named tensors, in build.
  const Shapes& named_shapes() const noexcept { return named_shapes_; }
  void set_built(bool built) noexcept { built_ = built; }

  std::vector<InputSpec> input_spec;  // for each input; empty: anything
  bool supports_masking_ = false;
  bool autocast_ = true;  // floating inputs are brought to the compute type

 private:
  Nested call_symbolic(const Nested& inputs, const CallArgs& args);
  Nested call_eager(const Nested& inputs, const CallArgs& args);
  void check_inputs(const Nested& inputs) const;
  Nested convert(const Nested& values) const;
  void clear_losses() const;

  mutable std::string name_;  // empty until somebody asks
  bool built_ = false;
  bool trainable_ = true;
  DTypePolicy policy_;
  RegularizerArg activity_regularizer_;
  std::vector<VariablePtr> variables_;
  std::vector<LayerPtr> sublayers_;
  std::vector<std::string> attributes_;  // by sublayer
  std::vector<std::shared_ptr<Metric>> metrics_;
  mutable std::vector<Tensor> losses_;
  std::vector<std::weak_ptr<Node>> nodes_;
  Shapes build_shapes_, named_shapes_;
};

// A shared layer of class Impl, which can be called.
template <class Impl>
class LayerRef : public std::shared_ptr<Impl> {
 public:
  LayerRef() : LayerRef(typename Impl::Config{}) {}
  LayerRef(typename Impl::Config config, LayerOptions options = {})
      : std::shared_ptr<Impl>(std::make_shared<Impl>(std::move(config), std::move(options))) {
    this->get()->name();  // numbers follow the order in which layers are made
  }

  Nested operator()(const Nested& inputs, const CallArgs& args = {}) const {
    return (*this->get())(inputs, args);
  }
};

// Makes a layer of its configuration, as Layer::get_config gives it.
template <class Impl>
std::shared_ptr<Object> make_layer_of_config(const Json& config);

// Reads what all layers have in their configuration.
void visit_layer_options(ConfigVisitor& v, LayerOptions& options);

template <class Impl>
std::shared_ptr<Object> make_layer_of_config(const Json& config) {
  typename Impl::Config read;
  LayerOptions options;
  ConfigVisitor visitor(config, Impl::kClassName);
  visit_layer_options(visitor, options);
  read.visit(visitor);
  visitor.finish();
  return std::make_shared<Impl>(std::move(read), std::move(options));
}

using LayerArg = Arg<Layer>;

// Where a functional model begins: a tensor of this shape, without the batch.
struct InputOptions {
  std::string name = {};
  DType dtype = DType::kFloat32;
  std::optional<std::int64_t> batch_size = {};
};
KerasTensor Input(const PartialShape& shape, const InputOptions& options = {});

// On KerasTensors they are nodes of the model, as Keras's operators are; on tensors they compute.
// Types are brought together as Keras does: a number does not change that of a floating tensor.
Nested operator+(const Nested& x, const Nested& y);
Nested operator-(const Nested& x, const Nested& y);
Nested operator*(const Nested& x, const Nested& y);
Nested operator/(const Nested& x, const Nested& y);
Nested operator+(const Nested& x, double y);
Nested operator-(const Nested& x, double y);
Nested operator*(const Nested& x, double y);
Nested operator/(const Nested& x, double y);
Nested operator+(double x, const Nested& y);
Nested operator-(double x, const Nested& y);
Nested operator*(double x, const Nested& y);
Nested operator/(double x, const Nested& y);
Nested operator-(const Nested& x);

}  // namespace plimsoll::keras
