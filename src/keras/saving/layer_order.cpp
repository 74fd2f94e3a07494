// .h5 files: a group for each layer, weights in the order that its attribute weight_names says.
#include <algorithm>
#include <map>
#include <unordered_set>

#include "base/check.h"
#include "base/log.h"
#include "keras/saving/formats.h"

namespace plimsoll::keras {
namespace {

constexpr std::size_t kMaxNamesBytes = 64512;  // of one attribute
constexpr const char* kTopLevel = "top_level_model_weights";

std::vector<std::string> strings_of(const h5::Attribute& attribute) {
  // An empty list has the type of numbers.
  if (attribute.is_null() || attribute.bytes().empty()) return {};
  return attribute.strings();
}

// The weights that a model has beside those of its layers.
std::vector<VariablePtr> own_weights(const Model& model) {
  return model.own_variables();
}

void bind_layer(const h5::Object& group, const std::vector<std::string>& names,
                const std::vector<VariablePtr>& weights, const std::string& layer,
                const LoadWeightsOptions& options, const std::string& file, WeightReader& reader) {
  if (names.size() != weights.size()) {
    const std::string why =
        fmt::format("'{}': layer '{}' of the model has {} weights, '{}' of the file has {}", file,
                    layer, weights.size(), group.path(), names.size());
    PLIMSOLL_CHECK(options.skip_mismatch, InvalidArgumentError, "{}", why);
    log_warning("{}; it was left as it is", why);
    return;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const h5::Object found = group.find(names[i]);
    if (options.skip_mismatch && shape_of(found.dataset()) != weights[i]->shape()) {
      log_warning("'{}': '{}' has another shape than '{}'; it was left as it is", file,
                  found.path(), weights[i]->path());
      continue;
    }
    reader.add(found, weights[i]);
  }
}

}  // namespace

std::vector<std::string> names_attribute(const h5::Object& object, const std::string& name) {
  if (object.has_attribute(name)) return strings_of(object.attribute(name));
  std::vector<std::string> names;
  for (int i = 0; object.has_attribute(name + std::to_string(i)); ++i) {
    const auto more = strings_of(object.attribute(name + std::to_string(i)));
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

void write_names(h5::Writer& writer, const std::string& path, const std::string& name,
                 const std::vector<std::string>& names) {
  if (names.empty()) {  // as NumPy has an empty list
    writer.attribute(path, name, h5::Type::floating(8), {0}, {});
    return;
  }
  std::size_t longest = 1;
  for (const std::string& n : names) longest = std::max(longest, n.size());
  PLIMSOLL_CHECK(longest <= kMaxNamesBytes, InvalidArgumentError,
                 "a name of {} bytes cannot be written: {}...", longest, names[0].substr(0, 40));
  const std::size_t per_piece = kMaxNamesBytes / longest;
  const auto type = h5::Type::fixed_string(static_cast<std::uint32_t>(longest));
  if (names.size() <= per_piece) {
    writer.attribute(path, name, names, {names.size()}, type);
    return;
  }
  for (std::size_t at = 0, piece = 0; at < names.size(); at += per_piece, ++piece) {
    const std::size_t count = std::min(per_piece, names.size() - at);
    const auto first = names.begin() + static_cast<std::ptrdiff_t>(at);
    writer.attribute(path, name + std::to_string(piece),
                     std::vector<std::string>(first, first + static_cast<std::ptrdiff_t>(count)),
                     {count}, type);
  }
}

bool is_layer_order(const h5::Object& root) {
  const auto has_names = [](const h5::Object& object) {
    return object.has_attribute("layer_names") || object.has_attribute("layer_names0");
  };
  return has_names(root) || (root.has("model_weights") && has_names(root.find("model_weights")));
}

h5::Object layer_order_group(const h5::Object& root) {
  return root.has("model_weights") ? root.find("model_weights") : root;
}

std::vector<VariablePtr> layer_order_weights(const Layer& layer) {
  std::vector<VariablePtr> weights = layer.trainable_weights();
  const auto others = layer.non_trainable_weights();
  weights.insert(weights.end(), others.begin(), others.end());
  return weights;
}

void bind_layer_order(const h5::Object& group, const Model& model,
                      const LoadWeightsOptions& options, const std::string& file,
                      WeightReader& reader) {
  struct Saved {
    std::string name;
    h5::Object group;
    std::vector<std::string> weights;
  };
  std::vector<Saved> saved;
  for (const std::string& name : names_attribute(group, "layer_names")) {
    h5::Object layer = group.find(name);
    auto names = names_attribute(layer, "weight_names");
    if (!names.empty()) saved.push_back({name, std::move(layer), std::move(names)});
  }
  std::vector<LayerPtr> layers;
  for (const LayerPtr& layer : model.layers()) {
    if (!layer->weights().empty()) layers.push_back(layer);
  }
  if (options.by_name) {
    for (const Saved& s : saved) {
      for (const LayerPtr& layer : layers) {
        if (layer->name() == s.name)
          bind_layer(s.group, s.weights, layer_order_weights(*layer), s.name, options, file,
                     reader);
      }
    }
  } else {
    PLIMSOLL_CHECK(saved.size() == layers.size(), InvalidArgumentError,
                   "'{}': Layer count mismatch when loading weights from file. Model expected {} "
                   "layers, found {} saved layers.",
                   file, layers.size(), saved.size());
    for (std::size_t i = 0; i < saved.size(); ++i)
      bind_layer(saved[i].group, saved[i].weights, layer_order_weights(*layers[i]),
                 layers[i]->name(), options, file, reader);
  }
  const auto own = own_weights(model);
  if (own.empty() || !group.has(kTopLevel)) return;
  const h5::Object top = group.find(kTopLevel);
  bind_layer(top, names_attribute(top, "weight_names"), own, model.name(), options, file, reader);
}

namespace {

// The names of weights in a group, each once.
std::vector<std::string> unique_paths(const std::vector<VariablePtr>& weights) {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  for (const VariablePtr& v : weights) {
    std::string name = v->path().empty() ? v->name() : v->path();
    for (int i = 1; !taken.insert(name).second; ++i)
      name = (v->path().empty() ? v->name() : v->path()) + "_" + std::to_string(i);
    names.push_back(std::move(name));
  }
  return names;
}

void write_weights(h5::Writer& writer, const std::string& group,
                   const std::vector<VariablePtr>& weights) {
  writer.group(group);
  const auto names = unique_paths(weights);
  write_names(writer, group, "weight_names", names);
  for (std::size_t i = 0; i < weights.size(); ++i)
    write_variable(writer, group + "/" + names[i], *weights[i]);
}

}  // namespace

void write_layer_order(h5::Writer& writer, const std::string& group, const Model& model) {
  writer.group(group);
  std::vector<std::string> names;
  for (const LayerPtr& layer : model.layers()) names.push_back(layer->name());
  write_names(writer, group, "layer_names", names);
  writer.attribute(group, "backend", "tensorflow");
  writer.attribute(group, "keras_version", kWrittenVersion);
  for (const LayerPtr& layer : model.layers())
    write_weights(writer, group + "/" + layer->name(), layer_order_weights(*layer));
  write_weights(writer, group + "/" + kTopLevel, own_weights(model));
}

void write_optimizer_weights(h5::Writer& writer, const Optimizer& optimizer) {
  write_weights(writer, "optimizer_weights", optimizer.variables());
}

}  // namespace plimsoll::keras
