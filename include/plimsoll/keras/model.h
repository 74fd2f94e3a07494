// Models: layers that are trained together.
//
//   auto model = keras::Sequential({
//       keras::Input({28, 28, 1}),
//       layers::Conv2D({.filters = 32, .kernel_size = 3, .activation = "relu"}),
//       layers::Flatten(),
//       layers::Dense({.units = 10, .activation = "softmax"}),
//   });
//   model->compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy",
//                   .metrics = {"accuracy"}, .memory_budget = "256MiB"});
//   auto history = model->fit(x, y, {.batch_size = 64, .epochs = 5, .validation_split = 0.1});
//
// or of tensors without values:
//
//   auto in = keras::Input({784});
//   auto x = layers::Dense({.units = 64, .activation = "relu"})(in);
//   auto model = keras::Functional(in, layers::Dense({.units = 10})(x));
//
// or a class of one's own that derives from keras::Model, with layers that it tracks.
//
// memory: a step of training is one tf::function. Its peak is known and printed before the first
// step; batches of another size, evaluation and prediction share its arena.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/data/dataset.h"
#include "plimsoll/keras/callback.h"
#include "plimsoll/keras/layer.h"
#include "plimsoll/keras/loss.h"
#include "plimsoll/keras/metrics.h"
#include "plimsoll/keras/optimizer.h"
#include "plimsoll/keras/saving.h"
#include "plimsoll/memory_plan.h"

namespace plimsoll::keras {

using LossSpec = Nest<LossArg>;

// A metric by name or as an object; "accuracy" becomes the one that fits the shapes.
class MetricSpecItem {
 public:
  MetricSpecItem(const char* name) : name_(name) {}
  MetricSpecItem(std::string name) : name_(std::move(name)) {}
  template <class M>
  requires std::derived_from<M, Metric> MetricSpecItem(std::shared_ptr<M> metric)
      : metric_(std::move(metric)) {}
  const std::string& name() const noexcept { return name_; }  // empty: an object
  const MetricPtr& metric() const noexcept { return metric_; }

 private:
  std::string name_;
  MetricPtr metric_;
};
using MetricSpec = Nest<MetricSpecItem>;

struct CompileOptions {
  OptimizerArg optimizer = "rmsprop";
  LossSpec loss = {};       // one, or a list or dictionary with one for each output
  MetricSpec metrics = {};  // a list, or lists by output
  MetricSpec weighted_metrics = {};
  Nest<double> loss_weights = {};
  // What the device may hold while the model is trained: "512MiB". fit refuses before the first
  // step if its plan needs more, and says which batch size would fit. None: the device's limits.
  std::string memory_budget = {};
  bool run_eagerly = false;
  bool auto_scale_loss = true;  // by a LossScaleOptimizer under mixed_float16
};

enum class Verbose { kAuto = -1, kSilent = 0, kBar = 1, kLine = 2 };

struct ValidationData {
  Nested x, y, sample_weight;
};

struct FitOptions {
  std::int64_t batch_size = 32;
  std::int64_t epochs = 1;
  Verbose verbose = Verbose::kAuto;
  std::vector<CallbackPtr> callbacks = {};
  double validation_split = 0;
  std::optional<ValidationData> validation_data = {};
  std::optional<data::Dataset> validation_dataset = {};
  bool shuffle = true;
  std::map<std::int64_t, double> class_weight = {};
  Nested sample_weight = {};
  std::int64_t initial_epoch = 0;
  std::optional<std::int64_t> steps_per_epoch = {};
  std::optional<std::int64_t> validation_steps = {};
  std::optional<std::int64_t> validation_batch_size = {};
  std::int64_t validation_freq = 1;
};

struct EvaluateOptions {
  std::int64_t batch_size = 32;
  Verbose verbose = Verbose::kAuto;
  Nested sample_weight = {};
  std::optional<std::int64_t> steps = {};
  std::vector<CallbackPtr> callbacks = {};
};
struct PredictOptions {
  std::int64_t batch_size = 32;
  Verbose verbose = Verbose::kAuto;
  std::optional<std::int64_t> steps = {};
  std::vector<CallbackPtr> callbacks = {};
};

struct PlanOptions {
  std::int64_t batch_size = 32;
  // Of each input, without the batch, where the model leaves dimensions open.
  std::vector<PartialShape> input_shapes = {};
};

struct SummaryOptions {
  std::int64_t batch_size = 1;  // of the activations that are shown
  int line_length = 0;          // 0: as wide as needed
  bool expand_nested = false;
  bool show_trainable = false;
};

// What a fit will take, or a batch, known before its first step.
struct FitPlan {
  std::uint64_t peak_bytes = 0;   // the most that the device will hold, everything counted
  std::uint64_t limit_bytes = 0;  // the smallest limit that holds for it; kNoLimit: none
  std::string limit_origin;       // who set it
  std::uint64_t weights_bytes = 0, optimizer_bytes = 0, arena_bytes = 0, batch_bytes = 0;
  // What the dataset holds besides the batch in use: batches ahead, buffers, row numbers.
  std::uint64_t pipeline_bytes = 0;
  std::uint64_t other_bytes = 0;  // kernels, results, data that is on the device
  // What the dataset may hold, batch in use and all, beside a step of training, or of validation.
  std::uint64_t training_room_bytes = 0, validation_room_bytes = 0;
  // Of pipeline_bytes, what caches of datasets will keep that do not keep it yet.
  std::uint64_t cached_bytes = 0;
  bool has_open_cache = false;  // and one of which it is not known how many elements it will keep
  // False: at most so much, since threads of the dataset decide how far ahead they come.
  bool is_exact = true;
  // False: it may be more, since the dataset has elements of unknown size or number.
  bool is_bounded = true;
  // The dataset would hold more than there is room for beside the steps: it holds fewer elements.
  bool is_pipeline_cut = false;
  MemoryPlan step;                // of the largest step
  std::string to_string() const;  // one line
};

struct TrainerState;  // internal
class Model;
TrainerState& predictor_of(Model& model);  // internal

class Model : public Layer {
 public:
  explicit Model(LayerOptions options = {});
  ~Model() override;

  virtual std::vector<LayerPtr> layers() const { return sublayers(); }
  // throws: InvalidArgumentError if there is none.
  LayerPtr get_layer(std::string_view name) const;
  LayerPtr get_layer(std::size_t index) const;
  // As Keras's, with a column for memory: weights, and what the layer gives at a batch size.
  std::string summary(const SummaryOptions& options = {}) const;
  std::string class_name() const override { return "Model"; }
  std::string module() const override { return "keras"; }
  // Names of outputs, for losses and logs.
  virtual std::vector<std::string> output_names() const { return {}; }

  // throws: InvalidArgumentError for what does not go together.
  void compile(CompileOptions options);
  bool compiled() const noexcept;
  // memory: optimizer slots and metrics (before the first step), then what the printed plan says.
  // throws: FailedPreconditionError before compile; ResourceExhaustedError before the first step,
  // with the largest batch that fits; InvalidArgumentError.
  std::shared_ptr<History> fit(const Nested& x, const Nested& y, FitOptions options = {});
  std::shared_ptr<History> fit(const data::Dataset& dataset, FitOptions options = {});
  Logs evaluate(const Nested& x, const Nested& y, const EvaluateOptions& options = {});
  Logs evaluate(const data::Dataset& dataset, const EvaluateOptions& options = {});
  // The outputs for all samples, joined. memory: the result; one step's arena.
  Nested predict(const Nested& x, const PredictOptions& options = {});
  Nested predict(const data::Dataset& dataset, const PredictOptions& options = {});
  // Of this batch alone: metrics begin anew.
  Logs train_on_batch(const Nested& x, const Nested& y, const Nested& sample_weight = {},
                      const std::map<std::int64_t, double>& class_weight = {});
  Logs test_on_batch(const Nested& x, const Nested& y, const Nested& sample_weight = {});
  Nested predict_on_batch(const Nested& x);

  // What fit with such data would take; runs nothing.
  FitPlan plan_fit(const Nested& x, const Nested& y, const FitOptions& options = {});
  // The first batch is made, and looked at.
  FitPlan plan_fit(const data::Dataset& dataset, const FitOptions& options = {});
  // What one batch would take, from shapes alone: train_on_batch, with labels as the loss has them,
  // and predict_on_batch. For models without values, too: weights and slots are counted as if they
  // were there. memory: kernels and constants of the step, as long as the model is planned with.
  // throws: FailedPreconditionError before compile (plan_train) and for a model whose inputs are
  // not known; InvalidArgumentError for open dimensions that are not said.
  FitPlan plan_train(const PlanOptions& options = {});
  FitPlan plan_predict(const PlanOptions& options = {});

  const std::shared_ptr<Optimizer>& optimizer() const;
  const CompileOptions& compile_options() const;  // throws: FailedPreconditionError before compile
  std::vector<MetricPtr> model_metrics() const;   // loss first
  void reset_metrics();
  bool stop_training = false;    // set by callbacks
  std::int64_t first_epoch = 0;  // where fit begins, if a callback found an interrupted run

  // See plimsoll/keras/saving.h.
  void save(const std::string& path, const SaveOptions& options = {}) const;
  void save_weights(const std::string& path, const SaveOptions& options = {}) const;
  void load_weights(const std::string& path, const LoadWeightsOptions& options = {});

  // What a class of one's own may define: a step on {x, y, sample_weight}, of which the last two
  // may be none. It is traced once for each shape. Gives named scalars.
  virtual StepLogs train_step(const Nested& data);
  virtual StepLogs test_step(const Nested& data);
  virtual Nested predict_step(const Nested& data);
  // The loss of compile, with those of layers, unless a class of one's own has another.
  virtual Tensor compute_loss(const Nested& x, const Nested& y, const Nested& y_pred,
                              const Nested& sample_weight);
  // Updates the metrics of compile and gives the results of all.
  virtual StepLogs compute_metrics(const Nested& x, const Nested& y, const Nested& y_pred,
                                   const Nested& sample_weight);

  TrainerState& trainer() const;  // internal; throws: FailedPreconditionError before compile

 private:
  friend TrainerState& predictor_of(Model& model);
  std::unique_ptr<TrainerState> trainer_;
};
using ModelPtr = std::shared_ptr<Model>;

// A model of KerasTensors.
class FunctionalModel : public Model {
 public:
  // throws: InvalidArgumentError if the outputs do not follow from the inputs, or two layers have
  // one name.
  FunctionalModel(const Nested& inputs, const Nested& outputs, LayerOptions options = {});
  ~FunctionalModel() override;

  std::string class_name() const override { return "Functional"; }
  std::string module() const override { return "keras.src.models.functional"; }
  std::string registered_name() const override { return "Functional"; }
  Json get_config() const override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested&, const Nested&) override { return {}; }
  std::vector<std::string> output_names() const override;
  const Nested& inputs() const noexcept;
  const Nested& outputs() const noexcept;
  const struct FunctionalGraph& graph() const noexcept { return *graph_; }  // internal

 private:
  std::unique_ptr<FunctionalGraph> graph_;
};

// A layer, or the tensor that keras::Input gives.
class SequentialItem {
 public:
  SequentialItem(const KerasTensor& input);
  template <class L>
  requires std::derived_from<L, Layer> SequentialItem(std::shared_ptr<L> layer)
      : layer_(std::move(layer)) {}
  template <class L>
  SequentialItem(const LayerRef<L>& layer) : layer_(layer) {}
  const LayerPtr& layer() const noexcept { return layer_; }

 private:
  LayerPtr layer_;
};

// Layers one after the other.
class SequentialModel : public Model {
 public:
  explicit SequentialModel(std::vector<SequentialItem> layers = {}, LayerOptions options = {});

  std::string class_name() const override { return "Sequential"; }
  Json get_config() const override;
  // throws: InvalidArgumentError for a second input, or a name that is there already.
  void add(const SequentialItem& layer);
  LayerPtr pop();
  std::vector<LayerPtr> layers() const override;  // without the input
  void build(const Shapes& input_shapes) override;
  Nested call(const Nested& inputs, const CallArgs& args) override;
  Nested compute_mask(const Nested&, const Nested&) override { return {}; }
  std::vector<std::string> output_names() const override;
  // The model of KerasTensors that it is once the input's shape is known, else null.
  const FunctionalModel* functional() const noexcept { return functional_.get(); }

 private:
  void append(const SequentialItem& item);
  void rebuild();

  std::vector<LayerPtr> stack_;  // with the input, if there is one
  std::shared_ptr<FunctionalModel> functional_;
};

// Shared models that can be called.
class Functional : public std::shared_ptr<FunctionalModel> {
 public:
  Functional(const Nested& inputs, const Nested& outputs, LayerOptions options = {});
  Nested operator()(const Nested& inputs, const CallArgs& args = {}) const {
    return (*get())(inputs, args);
  }
};
class Sequential : public std::shared_ptr<SequentialModel> {
 public:
  Sequential(std::vector<SequentialItem> layers = {}, LayerOptions options = {});
  Nested operator()(const Nested& inputs, const CallArgs& args = {}) const {
    return (*get())(inputs, args);
  }
};

// A model of the same layers, with new weights. throws: InvalidArgumentError for a class of one's
// own that is not registered.
ModelPtr clone_model(const Model& model);

// Forgets the numbers in names, and gives back idle arenas and caches.
void clear_session();

}  // namespace plimsoll::keras
