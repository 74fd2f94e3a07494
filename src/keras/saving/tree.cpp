// .keras and .weights.h5 files: a group for each layer, by class and number, and below it the
// groups of the layers inside it; weights are called 0, 1, 2, ...
#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/log.h"
#include "keras/saving/formats.h"
#include "keras/saving/state_tree.h"

namespace plimsoll::keras {
namespace {

// The group of a node. Some attributes were private once: "_query_dense", "query_dense".
std::optional<h5::Object> find_group(const h5::Object& root, const std::string& path) {
  h5::Object at = root;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string part = path.substr(begin, end - begin);
    const std::string other = part[0] == '_' ? part.substr(1) : "_" + part;
    if (!at.is_group()) return std::nullopt;
    if (at.has(part)) {
      at = at.find(part);
    } else if (at.has(other)) {
      at = at.find(other);
    } else {
      return std::nullopt;
    }
    begin = end + 1;
  }
  return at;
}

std::optional<std::size_t> number_of(const std::string& name) {
  std::size_t number = 0;
  const char* end = name.data() + name.size();
  const auto read = std::from_chars(name.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// The datasets of a group "vars", in order.
std::vector<h5::Object> numbered(const h5::Object& vars) {
  std::vector<std::pair<std::size_t, h5::Object>> found;
  for (const h5::Link& link : vars.links()) {
    if (const auto number = number_of(link.name)) found.emplace_back(*number, vars.follow(link));
  }
  std::ranges::sort(found, {}, [](const auto& row) { return row.first; });
  std::vector<h5::Object> objects;
  for (auto& row : found) objects.push_back(std::move(row.second));
  return objects;
}

std::vector<h5::Object> datasets_of(const h5::Object& root, const std::string& path) {
  const auto group = find_group(root, path);
  if (!group || !group->is_group() || !group->has("vars")) return {};
  const h5::Object vars = group->find("vars");
  return vars.is_group() ? numbered(vars) : std::vector<h5::Object>();
}

}  // namespace

void bind_tree(const h5::Object& root, const Model& model, const LoadWeightsOptions& options,
               const std::string& file, WeightReader& reader) {
  PLIMSOLL_CHECK(!options.by_name, InvalidArgumentError,
                 "'{}' has its weights by place, not by the names of layers: by_name=true is for "
                 ".h5 files",
                 file);
  for (const StateNode& node : state_tree(model)) {
    if (node.variables.empty()) continue;
    const std::vector<h5::Object> found = datasets_of(root, node.path);
    if (found.size() != node.variables.size()) {
      const std::string why =
          fmt::format("'{}': layer '{}' of the model has {} weights, the file has {} in '{}/vars'",
                      file, node.name, node.variables.size(), found.size(), node.path);
      PLIMSOLL_CHECK(options.skip_mismatch, InvalidArgumentError, "{}", why);
      log_warning("{}; it was left as it is", why);
      continue;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (options.skip_mismatch && shape_of(found[i].dataset()) != node.variables[i]->shape()) {
        log_warning("'{}': '{}' has another shape than '{}'; it was left as it is", file,
                    found[i].path(), node.variables[i]->path());
        continue;
      }
      reader.add(found[i], node.variables[i]);
    }
  }
}

std::vector<h5::Object> optimizer_datasets(const h5::Object& root) {
  if (!root.has("optimizer_weights")) return datasets_of(root, "optimizer");
  const h5::Object group = root.find("optimizer_weights");
  std::vector<h5::Object> objects;
  for (const std::string& name : names_attribute(group, "weight_names"))
    objects.push_back(group.find(name));
  return objects;
}

namespace {

bool same_shapes(const std::vector<h5::Object>& datasets,
                 const std::vector<VariablePtr>& variables) {
  if (datasets.size() != variables.size()) return false;
  for (std::size_t i = 0; i < datasets.size(); ++i) {
    if (shape_of(datasets[i].dataset()) != variables[i]->shape()) return false;
  }
  return true;
}

// Older optimizers have all slots of one kind, then all of the next; here they go by weight.
std::vector<h5::Object> by_weight(const std::vector<h5::Object>& datasets, std::size_t num_first,
                                  std::size_t num_weights) {
  const std::size_t num_slots = datasets.size() - num_first;
  if (num_weights == 0 || num_slots % num_weights != 0) return datasets;
  std::vector<h5::Object> ordered(datasets.begin(),
                                  datasets.begin() + static_cast<std::ptrdiff_t>(num_first));
  for (std::size_t w = 0; w < num_weights; ++w) {
    for (std::size_t kind = 0; kind < num_slots / num_weights; ++kind)
      ordered.push_back(datasets[num_first + kind * num_weights + w]);
  }
  return ordered;
}

}  // namespace

bool bind_optimizer(const std::vector<h5::Object>& datasets, Model& model, const std::string& file,
                    WeightReader& reader) {
  if (datasets.empty() || !model.compiled()) return true;
  Optimizer& optimizer = *model.optimizer();
  if (datasets.size() > optimizer.variables().size()) {
    model.set_path("");
    optimizer.build(model.trainable_weights());
  }
  std::vector<VariablePtr> variables = optimizer.variables();
  // Keras 2 has no variable for the rate, which stands in the configuration.
  if (datasets.size() + 1 == variables.size())
    std::erase_if(variables, [](const VariablePtr& v) { return v->name() == "learning_rate"; });
  std::vector<h5::Object> ordered = datasets;
  if (!same_shapes(ordered, variables))
    ordered = by_weight(datasets, 1, optimizer.trainable_variables().size());
  if (!same_shapes(ordered, variables)) {
    log_warning(
        "'{}' has the state of another optimizer than the model: it begins "
        "with a new state",
        file);
    return false;
  }
  for (std::size_t i = 0; i < ordered.size(); ++i) reader.add(ordered[i], variables[i]);
  return true;
}

namespace {

void write_node(h5::Writer& writer, const StateNode& node) {
  const std::string vars = (node.path.empty() ? "" : node.path + "/") + "vars";
  writer.group(vars);
  writer.attribute(vars, "name", node.name);
  for (std::size_t i = 0; i < node.variables.size(); ++i)
    write_variable(writer, vars + "/" + std::to_string(i), *node.variables[i]);
}

}  // namespace

void write_tree(h5::Writer& writer, const Model& model, bool with_optimizer) {
  for (const StateNode& node : state_tree(model)) write_node(writer, node);
  if (with_optimizer && model.compiled()) write_node(writer, optimizer_node(*model.optimizer()));
}

}  // namespace plimsoll::keras
