#include "plimsoll/keras/saving.h"

#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <map>

#include "base/check.h"
#include "base/files.h"
#include "keras/registry.h"
#include "keras/saving/dialect.h"
#include "keras/saving/formats.h"
#include "keras/saving/late_members.h"
#include "keras/saving/plain_names.h"
#include "keras/saving/state_tree.h"
#include "keras/saving/training_config.h"
#include "plimsoll/keras/layers/lookup.h"

namespace plimsoll::keras {
namespace {

constexpr const char* kMetadata = "metadata.json";
constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.weights.h5";

// Errors say which file they are about.
template <class F>
auto about(const std::string& path, const F& body) {
  const auto text = [&](const std::exception& e) {
    const std::string what = e.what();
    return what.find(path) != std::string::npos ? what : "'" + path + "': " + what;
  };
  try {
    return body();
  } catch (const DataLossError& e) {
    throw DataLossError(text(e));
  } catch (const NotFoundError& e) {  // a member of a configuration, or a group
    throw DataLossError(text(e));
  } catch (const InvalidArgumentError& e) {
    throw InvalidArgumentError(text(e));
  } catch (const UnimplementedError& e) {
    throw UnimplementedError(text(e));
  }
}

std::string text_attribute(const h5::Object& object, const char* name) {
  return object.has_attribute(name) ? object.attribute(name).string() : "";
}

Json parse_config(const std::string& text, const char* what) {
  try {
    return Json::parse(text);
  } catch (const InvalidArgumentError& e) {
    throw DataLossError(fmt::format("{} is not JSON: {}", what, e.what()));
  }
}

// A file that is open: its weights, and what it says of the model.
struct Opened {
  std::optional<Archive> archive;
  std::optional<h5::File> file;
  FileInfo info;

  h5::Object root() const { return file->root(); }
};

Opened open_archive(const std::string& path) {
  Opened opened;
  opened.archive.emplace(path);
  FileInfo& info = opened.info;
  info.format = ".keras";
  if (opened.archive->has(kMetadata)) {
    const Json metadata = parse_config(opened.archive->text(kMetadata), kMetadata);
    if (const Json* v = metadata.find("keras_version"); v && v->is_string())
      info.keras_version = v->as_string();
    if (const Json* v = metadata.find("date_saved"); v && v->is_string())
      info.saved_at = v->as_string();
  }
  info.config = parse_config(opened.archive->text(kConfig), kConfig);
  if (const Json* c = info.config.find("compile_config");
      c && c->is_object() && !c->as_object().empty())
    info.training_config = *c;
  PLIMSOLL_CHECK(opened.archive->has(kWeights) || !opened.archive->has("model.weights.npz"),
                 UnimplementedError, "weights in model.weights.npz are not read");
  opened.file.emplace(opened.archive->h5_file(kWeights));
  return opened;
}

Opened open_h5(const std::string& path) {
  Opened opened;
  opened.file.emplace(path);
  const h5::Object root = opened.root();
  FileInfo& info = opened.info;
  info.keras_version = text_attribute(root, "keras_version");
  info.backend = text_attribute(root, "backend");
  const std::string config = text_attribute(root, "model_config");
  info.format = config.empty() ? ".weights.h5" : ".h5";
  if (!config.empty()) info.config = parse_config(config, "model_config");
  const std::string training = text_attribute(root, "training_config");
  if (!training.empty()) info.training_config = parse_config(training, "training_config");
  return opened;
}

Opened open(const std::string& path) {
  return format_of(path) == FileFormat::kArchive ? open_archive(path) : open_h5(path);
}

void bind_weights(const h5::Object& root, const Model& model, const LoadWeightsOptions& options,
                  const std::string& path, WeightReader& reader) {
  if (is_layer_order(root)) {
    bind_layer_order(layer_order_group(root), model, options, path, reader);
  } else {
    bind_tree(root, model, options, path, reader);
  }
}

// Vocabularies: assets/layers/string_lookup/vocabulary.txt.
void load_assets(const Archive& archive, const Model& model) {
  for (const StateNode& node : state_tree(model)) {
    const std::string folder = "assets/" + (node.path.empty() ? "" : node.path + "/");
    Assets assets;
    for (const Archive::Member& member : archive.members()) {
      if (!member.name.starts_with(folder)) continue;
      const std::string name = member.name.substr(folder.size());
      if (name.empty() || name.find('/') != std::string::npos) continue;
      assets[name] = archive.text(member.name);
    }
    if (!assets.empty()) node.layer->load_assets(assets);
  }
}

// "build_config": what a class of one's own was built for. [null, 4], or a structure of such.
Json shapes_to_json(const Shapes& shapes) {
  if (shapes.is_leaf()) return to_config(shapes.leaf());
  if (shapes.is_list()) {
    Json items = Json::array();
    for (const Shapes& item : shapes.list()) items.push_back(shapes_to_json(item));
    return items;
  }
  Json members = Json::object({});
  if (shapes.is_dict()) {
    for (const auto& [key, item] : shapes.dict()) members[key] = shapes_to_json(item);
  }
  return members;
}
Shapes shapes_from_json(const Json& json) {
  if (json.is_object()) {
    Shapes::Dict members;
    for (const auto& [key, item] : json.as_object())
      members.emplace_back(key, shapes_from_json(item));
    return members;
  }
  const bool is_list = json.is_array() && !json.as_array().empty() &&
                       (json.as_array()[0].is_array() || json.as_array()[0].is_object());
  if (is_list) {
    Shapes::List items;
    for (const Json& item : json.as_array()) items.push_back(shapes_from_json(item));
    return items;
  }
  PartialShape shape;
  from_config(json, shape);
  return shape;
}

std::shared_ptr<Model> make_model(const Json& given) {
  const Json config = upgrade_model_config(given);
  auto model = std::dynamic_pointer_cast<Model>(Layer::get(config));
  PLIMSOLL_CHECK(model, InvalidArgumentError, "the configuration is that of a layer, {}",
                 config.at("class_name").dump());
  // A class of one's own is built for the shapes that it was built for. Layers inside are built
  // when they are called.
  const Json* build = config.find("build_config");
  const Json* shape = build && build->is_object() ? build->find("input_shape") : nullptr;
  if (!model->built() && shape && !shape->is_null())
    model->compute_output_shape(shapes_from_json(*shape));
  model->set_path("");
  return model;
}

std::shared_ptr<Model> load(const std::string& path, const LoadOptions& options) {
  const Opened opened = open(path);
  PLIMSOLL_CHECK(!opened.info.config.is_null(), InvalidArgumentError,
                 "'{}' has weights and no model: no attribute model_config. Make the model, and "
                 "call load_weights",
                 path);
  const CustomObjectScope custom(options.custom_objects);
  std::shared_ptr<Model> model;
  {
    const WithoutValuesScope shapes_first;
    model = make_model(opened.info.config);
  }
  if (opened.archive) load_assets(*opened.archive, *model);
  const bool has_training = options.compile && !opened.info.training_config.is_null();
  if (has_training) model->compile(read_training_config(opened.info.training_config));
  if (options.without_weights) return model;
  WeightReader reader(path);
  bind_weights(opened.root(), *model, {}, path, reader);
  if (has_training) bind_optimizer(optimizer_datasets(opened.root()), *model, path, reader);
  reader.read();
  for (const VariablePtr& v : model->variables()) v->initialize();
  if (has_training) {
    for (const VariablePtr& v : model->optimizer()->variables()) v->initialize();
  }
  return model;
}

void collect(const h5::Object& object, std::vector<WeightInfo>& weights) {
  h5::for_each_object(object, [&](const h5::Object& found) {
    if (found.is_dataset()) weights.push_back(weight_info(found));
  });
}

std::uint64_t sum_of(const std::vector<WeightInfo>& weights) {
  std::uint64_t total = 0;
  for (const WeightInfo& w : weights) total += w.nbytes;
  return total;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[32];
  const std::size_t count = std::strftime(text, sizeof text, "%Y-%m-%d@%H:%M:%S", &parts);
  return {text, count};
}

void check_may_write(const std::string& path, const SaveOptions& options) {
  struct stat status {};
  PLIMSOLL_CHECK(options.overwrite || ::stat(path.c_str(), &status) != 0, FailedPreconditionError,
                 "'{}' is there already, and overwrite=false", path);
}

Json model_config(const Model& model) {
  Json config = serialize_keras_object(&model);
  config["config"] = without_late_members(config.at("config"));
  const bool has_graph = dynamic_cast<const FunctionalModel*>(&model) != nullptr ||
                         dynamic_cast<const SequentialModel*>(&model) != nullptr;
  if (!has_graph && !model.build_shapes().is_none())
    config["build_config"] = Json::object({{"input_shape", shapes_to_json(model.build_shapes())}});
  return with_plain_names(config);
}

// .h5 files have no assets: what layers have learnt goes into their configurations.
void put_vocabularies(Json& json, const std::map<std::string, Json>& learnt) {
  if (json.is_array()) {
    for (Json& item : json.as_array()) put_vocabularies(item, learnt);
  } else if (json.is_object()) {
    if (const Json* name = json.find("name");
        name && name->is_string() && json.find("vocabulary")) {
      if (const auto found = learnt.find(name->as_string()); found != learnt.end())
        json["vocabulary"] = found->second;
    }
    for (auto& [key, value] : json.as_object()) put_vocabularies(value, learnt);
  }
}

std::map<std::string, Json> learnt_vocabularies(const Model& model) {
  std::map<std::string, Json> learnt;
  for (const Layer* layer : model.flatten_layers()) {
    if (layer->save_assets().empty()) continue;
    Json words = Json::array();
    const auto add = [&](const auto* lookup) {
      if (!lookup) return;
      for (const auto& word : lookup->get_vocabulary(false)) words.push_back(word);
      learnt[layer->name()] = words;
    };
    add(dynamic_cast<const TextVectorizationLayer*>(layer));
    add(dynamic_cast<const LookupLayer<StringLookupConfig>*>(layer));
    add(dynamic_cast<const LookupLayer<IntegerLookupConfig>*>(layer));
  }
  return learnt;
}

void save_archive(const Model& model, const std::string& path, const SaveOptions& options) {
  Json config = model_config(model);
  if (model.compiled() && options.include_optimizer)
    config["compile_config"] = without_late_members(training_config(model));
  const Json metadata =
      Json::object({{"keras_version", kWrittenVersion}, {"date_saved", date_now()}});
  // The weights first, into a file of their own beside.
  const std::string beside = temporary_name(path);
  struct Remove {
    const std::string& name;
    ~Remove() { ::unlink(name.c_str()); }
  } remove{beside};
  {
    h5::Writer writer(beside);
    write_tree(writer, model, options.include_optimizer);
    writer.finish();
  }
  ArchiveWriter archive(path);
  archive.add_text(kMetadata, metadata.dump());
  archive.add_text(kConfig, config.dump());
  archive.add_file(kWeights, beside);
  for (const StateNode& node : state_tree(model)) {
    for (auto& [name, text] : node.layer->save_assets())
      archive.add_text("assets/" + node.path + "/" + name, text);
  }
  archive.finish();
}

void save_h5(const Model& model, const std::string& path, const SaveOptions& options) {
  h5::Writer writer(path);
  writer.attribute("/", "keras_version", kWrittenVersion);
  writer.attribute("/", "backend", "tensorflow");
  Json config = model_config(model);
  put_vocabularies(config, learnt_vocabularies(model));
  writer.attribute("/", "model_config", config.dump());
  if (model.compiled() && options.include_optimizer) {
    Json training = without_late_members(training_config(model));
    training["optimizer_config"] = Json(training.at("optimizer"));
    training.erase("optimizer");
    for (const char* name : {"run_eagerly", "steps_per_execution", "jit_compile"})
      training.erase(name);
    writer.attribute("/", "training_config", training.dump());
  }
  write_layer_order(writer, "model_weights", model);
  if (model.compiled() && options.include_optimizer)
    write_optimizer_weights(writer, *model.optimizer());
  writer.finish();
}

}  // namespace

std::uint64_t FileInfo::weights_nbytes() const noexcept {
  return sum_of(weights);
}
std::uint64_t FileInfo::optimizer_nbytes() const noexcept {
  return sum_of(optimizer_weights);
}

FileInfo inspect_model(const std::string& path) {
  format_of(path);
  return about(path, [&] {
    Opened opened = open(path);
    FileInfo& info = opened.info;
    const h5::Object root = opened.root();
    for (const h5::Object& object : optimizer_datasets(root))
      info.optimizer_weights.push_back(weight_info(object));
    if (is_layer_order(root)) {
      collect(layer_order_group(root), info.weights);
    } else {
      for (const char* part : {"layers", "vars"}) {
        if (root.has(part)) collect(root.find(part), info.weights);
      }
    }
    return std::move(info);
  });
}

std::shared_ptr<Model> load_model(const std::string& path, const LoadOptions& options) {
  format_of(path);
  return about(path, [&] { return load(path, options); });
}

void load_weights(Model& model, const std::string& path, const LoadWeightsOptions& options) {
  format_of(path);
  PLIMSOLL_CHECK(
      model.built(), FailedPreconditionError,
      "You are loading weights into a model that has not yet been built. Call model '{}' "
      "on some data first, or give it an Input",
      model.name());
  about(path, [&] {
    const Opened opened = open(path);
    WeightReader reader(path);
    bind_weights(opened.root(), model, options, path, reader);
    if (model.compiled() && model.optimizer()->built() && !is_layer_order(opened.root()))
      bind_optimizer(optimizer_datasets(opened.root()), model, path, reader);
    reader.read();
    return 0;
  });
}

void save_model(const Model& model, const std::string& path, const SaveOptions& options) {
  check_may_write(path, options);
  const_cast<Model&>(model).set_path("");
  if (path.ends_with(".keras")) return save_archive(model, path, options);
  PLIMSOLL_CHECK(!path.ends_with(".weights.h5"), InvalidArgumentError,
                 "'{}' is the name of a file for weights alone: save_weights writes these", path);
  PLIMSOLL_CHECK(
      path.ends_with(".h5") || path.ends_with(".hdf5"), InvalidArgumentError,
      "Invalid filepath extension for saving. Please add either a `.keras` extension for "
      "the native Keras format (recommended) or a `.h5` extension. Received: "
      "filepath={}",
      path);
  save_h5(model, path, options);
}

void save_weights(const Model& model, const std::string& path, const SaveOptions& options) {
  PLIMSOLL_CHECK(path.ends_with(".weights.h5") || path.ends_with(".h5"), InvalidArgumentError,
                 "The filename must end in `.weights.h5`. Received: filepath={}", path);
  PLIMSOLL_CHECK(model.built(), FailedPreconditionError,
                 "You are saving a model that has not yet been built. Call model '{}' on some data "
                 "first, or give it an Input",
                 model.name());
  check_may_write(path, options);
  const_cast<Model&>(model).set_path("");
  h5::Writer writer(path);
  write_tree(writer, model, true);
  writer.finish();
}

void Model::save(const std::string& path, const SaveOptions& options) const {
  save_model(*this, path, options);
}
void Model::save_weights(const std::string& path, const SaveOptions& options) const {
  keras::save_weights(*this, path, options);
}
void Model::load_weights(const std::string& path, const LoadWeightsOptions& options) {
  keras::load_weights(*this, path, options);
}

}  // namespace plimsoll::keras
