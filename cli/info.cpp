#include <fmt/format.h>

#include "commands.h"
#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/keras/saving.h"

namespace plimsoll::cli {
namespace {

std::string dims_text(const Shape& shape) {
  return fmt::format("({})", fmt::join(shape.dims(), ", "));
}

std::string weights_table(const std::vector<keras::WeightInfo>& weights) {
  std::size_t width = 4, shapes = 5;
  for (const keras::WeightInfo& w : weights) {
    width = std::max(width, w.path.size());
    shapes = std::max(shapes, dims_text(w.shape).size());
  }
  std::string text;
  for (const keras::WeightInfo& w : weights)
    text += fmt::format("  {:<{}}  {:<{}}  {:<8}  {:>10}\n", w.path, width, dims_text(w.shape),
                        shapes, w.dtype, format_bytes(w.nbytes));
  return text;
}

// "adam", of a name or a configuration.
std::string name_of(const Json* given) {
  if (!given || given->is_null()) return "none";
  if (given->is_string()) return given->as_string();
  if (const Json* name = given->find("class_name")) return name->as_string();
  return given->dump();
}

std::string training_text(const keras::FileInfo& info) {
  if (info.training_config.is_null()) return "not compiled";
  const Json* optimizer = info.training_config.find("optimizer");
  if (!optimizer) optimizer = info.training_config.find("optimizer_config");
  return fmt::format("{}, loss {}", name_of(optimizer), name_of(info.training_config.find("loss")));
}

std::string head(const InfoArguments& a, const keras::FileInfo& info) {
  std::string text = fmt::format("File: {}\n", a.file);
  text += fmt::format(
      " Format: {}, {}{}{}\n", info.format,
      info.keras_version.empty() ? "version of Keras not said" : "Keras " + info.keras_version,
      info.backend.empty() ? "" : ", " + info.backend,
      info.saved_at.empty() ? "" : ", saved " + info.saved_at);
  text += fmt::format(" Weights: {} in {} arrays\n", format_bytes(info.weights_nbytes()),
                      info.weights.size());
  if (!info.config.is_null()) text += fmt::format(" Training: {}\n", training_text(info));
  if (!info.optimizer_weights.empty())
    text += fmt::format(" Optimizer's state: {} in {} arrays\n",
                        format_bytes(info.optimizer_nbytes()), info.optimizer_weights.size());
  return text;
}

Json weights_json(const std::vector<keras::WeightInfo>& weights) {
  Json list = Json::array();
  for (const keras::WeightInfo& w : weights) {
    Json shape = Json::array();
    for (const std::int64_t d : w.shape.dims()) shape.push_back(d);
    list.push_back(Json::object(
        {{"path", w.path}, {"dtype", w.dtype}, {"shape", shape}, {"nbytes", w.nbytes}}));
  }
  return list;
}

Json layers_json(const keras::Model& model) {
  Json list = Json::array();
  for (const keras::LayerPtr& layer : model.layers()) {
    std::int64_t nbytes = 0;
    for (const keras::VariablePtr& v : layer->weights()) nbytes += v->nbytes();
    Json row = Json::object({{"name", layer->name()}, {"class_name", layer->class_name()}});
    try {
      Json shapes = Json::array();
      layer->output().for_each(
          [&](const keras::Value& v) { shapes.push_back(keras::to_config(v.shape())); });
      row["output_shapes"] = std::move(shapes);
    } catch (const Error&) {  // called several times, or not at all
      row["output_shapes"] = Json();
    }
    row["params"] = layer->built() ? Json(layer->count_params()) : Json();
    row["nbytes"] = nbytes;
    list.push_back(std::move(row));
  }
  return list;
}

void print_json(const InfoArguments& a, const keras::FileInfo& info, const keras::Model* model,
                const std::string& why) {
  Json json = Json::object({{"file", a.file},
                            {"format", info.format},
                            {"keras_version", info.keras_version},
                            {"backend", info.backend},
                            {"saved_at", info.saved_at},
                            {"weights_nbytes", info.weights_nbytes()},
                            {"optimizer_nbytes", info.optimizer_nbytes()},
                            {"compiled", !info.training_config.is_null()},
                            {"weights", weights_json(info.weights)}});
  if (model) {
    json["name"] = model->name();
    json["class_name"] = model->class_name();
    json["params"] = model->count_params();
    json["layers"] = layers_json(*model);
  } else if (!why.empty()) {
    json["error"] = why;
  }
  fmt::print("{}\n", json.dump(1));
}

}  // namespace

int show_info(const InfoArguments& a) {
  const keras::FileInfo info = keras::inspect_model(a.file);
  keras::ModelPtr model;
  std::string why;
  if (!info.config.is_null()) {
    try {
      model = keras::load_model(a.file, {.compile = false, .without_weights = true});
    } catch (
        const Error& error) {  // such as a class of someone's own: the file says much by itself
      why = error.what();
    }
  }
  if (a.as_json) {
    print_json(a, info, model.get(), why);
    return kFits;
  }
  fmt::print("{}", head(a, info));
  if (model) {
    fmt::print("{}", model->summary({.batch_size = a.batch, .expand_nested = a.show_nested}));
  } else {
    if (!why.empty()) fmt::print(" The layers cannot be made here: {}\n", why);
    fmt::print("{}", weights_table(info.weights));
  }
  return kFits;
}

}  // namespace plimsoll::cli
