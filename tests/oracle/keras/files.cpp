// {"do": "file"}: a model file, loaded, called, trained and saved again.
// {"do": "inspect"}: what a file says of itself.
#include <cstdio>
#include <memory>

#include "keras/backend.h"
#include "oracle/keras/server.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/keras/saving.h"
#include "plimsoll/ops.h"

namespace plimsoll::oracle {
namespace {

using keras::Nested;
using keras::Value;

const Json* member(const Json& request, std::string_view name) {
  const Json* found = request.find(name);
  return found && !found->is_null() ? found : nullptr;
}
bool flag(const Json& request, std::string_view name, bool otherwise = false) {
  const Json* found = member(request, name);
  return found ? found->as_bool() : otherwise;
}

// Tensors of hundreds of megabytes go into a file, and the answer says where they stand in it.
class Dump {
 public:
  explicit Dump(const Json* path)
      : file_(path ? std::fopen(path->as_string().c_str(), "wb") : nullptr) {
    if (path && !file_) throw NotFoundError("cannot write '" + path->as_string() + "'");
  }
  ~Dump() {
    if (file_) std::fclose(file_);
  }
  Dump(const Dump&) = delete;
  Dump& operator=(const Dump&) = delete;

  Json add(const Tensor& t) {
    if (!file_ || t.dtype() != DType::kFloat32) return from_tensor(t);
    const std::vector<float> values = t.to_vector<float>();
    if (std::fwrite(values.data(), sizeof(float), values.size(), file_) != values.size())
      throw NotFoundError("the file of tensors could not be written to");
    Json shape = Json::array();
    for (const std::int64_t d : t.shape().dims()) shape.push_back(d);
    const std::int64_t at = offset_;
    offset_ += t.nbytes();
    return Json::object({{"dtype", "float32"}, {"shape", shape}, {"offset", at}});
  }
  Json add(const std::vector<Tensor>& tensors) {
    Json list = Json::array();
    for (const Tensor& t : tensors) list.push_back(add(t));
    return list;
  }

 private:
  std::FILE* file_;
  std::int64_t offset_ = 0;
};

// The class of one's own in these files: inputs * factor * gamma.
struct ScaleConfig {
  static constexpr const char* kClassName = "Scale";
  double factor = 1;
  void visit(keras::ConfigVisitor& v) { v("factor", factor); }
};
class ScaleLayer : public keras::Configured<keras::Layer, ScaleConfig> {
 public:
  explicit ScaleLayer(ScaleConfig config, keras::LayerOptions options = {})
      : Configured(config, std::move(options)) {}
  std::string module() const override { return "oracle"; }
  std::string registered_name() const override { return "oracle>Scale"; }
  void build(const keras::Shapes& input) override {
    gamma_ = add_weight({.name = "gamma", .shape = {input.leaf()[-1]}, .initializer = "ones"});
  }
  Nested call(const Nested& inputs, const keras::CallArgs&) override {
    return static_cast<Tensor>(inputs) * gamma_->value() * static_cast<float>(config_.factor);
  }

 private:
  keras::VariablePtr gamma_;
};

keras::ModelPtr load(const Json& request) {
  keras::LoadOptions options{.compile = flag(request, "compile", true),
                             .without_weights = flag(request, "without_weights")};
  if (flag(request, "custom"))
    options.custom_objects["Scale"] = keras::make_layer_of_config<ScaleLayer>;
  keras::ModelPtr model = keras::load_model(request.at("path").as_string(), options);
  if (const Json* given = member(request, "load_weights"))
    keras::load_weights(
        *model, given->at("path").as_string(),
        {.by_name = flag(*given, "by_name"), .skip_mismatch = flag(*given, "skip_mismatch")});
  return model;
}

std::vector<Tensor> tensors_of(const Nested& values) {
  std::vector<Tensor> tensors;
  values.for_each([&](const Value& v) { tensors.push_back(v.tensor()); });
  return tensors;
}

// Layer by layer, as Keras numbers them.
std::vector<Tensor> weights_of(const keras::Model& model) {
  std::vector<Tensor> values;
  for (const keras::LayerPtr& layer : model.layers()) {
    for (const keras::VariablePtr& v : layer->weights()) values.push_back(v->raw().value());
  }
  return values;
}

// What the named layers give for x.
std::vector<Tensor> layer_outputs(const keras::Model& model, const Json& names, const Nested& x) {
  const auto* functional = dynamic_cast<const keras::FunctionalModel*>(&model);
  if (!functional) throw InvalidArgumentError("the model is not functional");
  Nested::List outputs;
  for (const Json& name : names.as_array())
    outputs.push_back(model.get_layer(name.as_string())->output());
  return tensors_of(keras::Functional(functional->inputs(), outputs)(x));
}

void add_training_state(Json& reply, const keras::Model& model) {
  reply["compiled"] = model.compiled();
  if (!model.compiled() || !model.optimizer()) return;
  reply["optimizer"] = keras::serialize_keras_object(model.optimizer().get());
  std::vector<Tensor> values;
  for (const keras::VariablePtr& v : model.optimizer()->variables())
    values.push_back(v->raw().value());
  reply["optimizer_variables"] = from_tensors(values);
}

// "batches": lists {x, y}; "compile": as the server takes it, unless the file says it.
void train(Json& reply, keras::Model& model, const Json& given) {
  if (const Json* config = member(given, "compile")) compile(model, *config);
  Json logs = Json::array();
  for (const Json& batch : given.at("batches").as_array()) {
    const Nested data = to_nested(batch);
    logs.push_back(from_logs(model.train_on_batch(data[0], data[1])));
    model.reset_metrics();
  }
  reply["logs"] = std::move(logs);
}

// "path", "compile", "custom", "without_weights", "load_weights": how it is loaded; then, in this
// order, what is wanted: "x": its predictions, with "logits" what their softmax was given;
// "layers": names, for their outputs; "train"; "save" and "save_weights": paths. "dump": a file for
// large tensors.
Json run_file(const Json& request) {
  const keras::ModelPtr model = load(request);
  Dump dump(member(request, "dump"));
  Json reply = Json::object({{"class_name", model->class_name()}, {"config", model->get_config()}});
  Json paths = Json::array();
  for (const keras::LayerPtr& layer : model->layers()) {
    for (const keras::VariablePtr& v : layer->weights()) paths.push_back(v->path());
  }
  reply["weight_paths"] = paths;
  add_training_state(reply, *model);
  if (flag(request, "without_weights")) return reply;
  reply["weights"] = dump.add(weights_of(*model));
  if (const Json* given = member(request, "x")) {
    const Nested x = to_nested(*given);
    const keras::PredictOptions options{.verbose = keras::Verbose::kSilent};
    reply["outputs"] = dump.add(tensors_of(model->predict(x, options)));
    if (flag(request, "logits"))
      reply["logits"] = from_tensor(keras::keras_logits(tensors_of((*model)(x)).at(0)));
    if (const Json* names = member(request, "layers"))
      reply["layers"] = dump.add(layer_outputs(*model, *names, x));
  }
  if (const Json* given = member(request, "train")) {
    train(reply, *model, *given);
    reply["trained"] = dump.add(weights_of(*model));
    add_training_state(reply, *model);
  }
  if (const Json* saved = member(request, "save")) {
    for (const Json& path : saved->as_array())
      keras::save_model(*model, path.as_string(),
                        {.include_optimizer = flag(request, "include_optimizer", true)});
  }
  if (const Json* saved = member(request, "save_weights")) {
    for (const Json& path : saved->as_array()) keras::save_weights(*model, path.as_string());
  }
  return reply;
}

Json from_weights(const std::vector<keras::WeightInfo>& weights) {
  Json list = Json::array();
  for (const keras::WeightInfo& w : weights) {
    Json shape = Json::array();
    for (const std::int64_t d : w.shape.dims()) shape.push_back(d);
    list.push_back(Json::object(
        {{"path", w.path}, {"dtype", w.dtype}, {"shape", shape}, {"nbytes", w.nbytes}}));
  }
  return list;
}

Json run_inspect(const Json& request) {
  const keras::FileInfo info = keras::inspect_model(request.at("path").as_string());
  return Json::object({{"format", info.format},
                       {"keras_version", info.keras_version},
                       {"backend", info.backend},
                       {"config", info.config},
                       {"training_config", info.training_config},
                       {"weights", from_weights(info.weights)},
                       {"optimizer_weights", from_weights(info.optimizer_weights)},
                       {"weights_nbytes", info.weights_nbytes()}});
}

constexpr HandlerRow kHandlers[] = {{"file", run_file}, {"inspect", run_inspect}};

}  // namespace

std::span<const HandlerRow> file_handlers() {
  return kHandlers;
}

}  // namespace plimsoll::oracle
