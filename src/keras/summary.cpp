// The table of a model's layers, as Keras draws it, with a column for memory.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "keras/functional.h"
#include "keras/node.h"
#include "plimsoll/bytes.h"
#include "plimsoll/keras/model.h"

namespace plimsoll::keras {
namespace {

struct Row {
  std::vector<std::string> cells;
};

// Letters on the screen: bytes that begin one.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}
std::string padded(const std::string& text, std::size_t width, bool to_right) {
  const std::string space(width - std::min(width, width_of(text)), ' ');
  return to_right ? space + text : text + space;
}
std::string repeated(const char* piece, std::size_t num) {
  std::string text;
  for (std::size_t i = 0; i < num; ++i) text += piece;
  return text;
}

std::string with_commas(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

// A border: left, cells of `line`, separators, right.
std::string border(const std::vector<std::size_t>& widths, const char* left, const char* line,
                   const char* between, const char* right) {
  std::string text = left;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (i) text += between;
    text += repeated(line, widths[i] + 2);
  }
  return text + right + "\n";
}

std::string draw(const std::vector<Row>& rows, const std::vector<bool>& to_right) {
  std::vector<std::size_t> widths(rows[0].cells.size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row.cells[i]));
  }
  const auto line = [&](const Row& row, const char* bar) {
    std::string text = bar;
    for (std::size_t i = 0; i < widths.size(); ++i)
      text += " " + padded(row.cells[i], widths[i], to_right[i]) + " " + bar;
    return text + "\n";
  };
  std::string text =
      border(widths, "┏", "━", "┳", "┓") + line(rows[0], "┃") + border(widths, "┡", "━", "╇", "┩");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (i > 1) text += border(widths, "├", "─", "┼", "┤");
    text += line(rows[i], "│");
  }
  return text + border(widths, "└", "─", "┴", "┘");
}

struct LayerFacts {
  std::string shape = "?";
  std::string connected;
  std::uint64_t output_bytes = 0;  // at the batch size that was asked for
};

LayerFacts facts_of(const Layer& layer, const FunctionalGraph* graph, std::int64_t batch_size) {
  LayerFacts facts;
  for (const auto& weak : layer.inbound_nodes()) {
    const auto node = weak.lock();
    if (!node) continue;
    const bool is_here =
        !graph || node->is_input() || std::ranges::find(graph->nodes, node) != graph->nodes.end();
    if (!is_here) continue;
    std::string shapes;
    node->outputs.for_each([&](const OutputSpec& spec) {
      shapes += (shapes.empty() ? "" : ", ") + spec.shape.to_string();
      facts.output_bytes += static_cast<std::uint64_t>(
          spec.shape.with_unknown(batch_size).num_elements() * dtype_size(spec.dtype));
    });
    facts.shape = node->outputs.is_leaf() ? shapes : "[" + shapes + "]";
    for (const KerasTensor& t : node->input_tensors()) {
      facts.connected += (facts.connected.empty() ? "" : ", ") +
                         fmt::format("{}[{}]", t.state()->node->layer->name(), t.state()->index);
    }
    if (facts.connected.empty()) facts.connected = "-";
  }
  return facts;
}

struct Sums {
  std::int64_t params = 0, trained = 0;
  std::uint64_t nbytes = 0, trained_bytes = 0, other_bytes = 0;
};
Sums sum_up(const std::vector<VariablePtr>& weights) {
  Sums sums;
  for (const VariablePtr& v : weights) {
    const std::int64_t num = v->shape().num_elements();
    const auto nbytes = static_cast<std::uint64_t>(v->nbytes());
    sums.params += num;
    sums.nbytes += nbytes;
    (v->trainable ? sums.trained_bytes : sums.other_bytes) += nbytes;
    if (v->trainable) sums.trained += num;
  }
  return sums;
}

class Table {
 public:
  Table(const SummaryOptions& options, bool is_linear) : options_(options), is_linear_(is_linear) {
    Row head{{"Layer (type)", "Output Shape", "Param #", "Weights",
              fmt::format("Output (batch {})", options.batch_size)}};
    if (!is_linear) head.cells.emplace_back("Connected to");
    if (options.show_trainable) head.cells.emplace_back("Trai…");
    rows_.push_back(std::move(head));
  }

  void add(const Layer& layer, const FunctionalGraph* graph, const std::string& indent) {
    const LayerFacts facts = facts_of(layer, graph, options_.batch_size);
    const Sums sums = sum_up(layer.weights());
    Row row{{fmt::format("{}{} ({})", indent, layer.name(), layer.class_name()), facts.shape,
             layer.built() ? with_commas(sums.params) : "0 (unbuilt)", format_bytes(sums.nbytes),
             format_bytes(facts.output_bytes)}};
    if (!is_linear_) row.cells.push_back(facts.connected);
    if (options_.show_trainable) row.cells.emplace_back(layer.trainable() ? "Y" : "N");
    rows_.push_back(std::move(row));
    outputs_ += facts.output_bytes;
    const auto* nested = dynamic_cast<const Model*>(&layer);
    if (!options_.expand_nested || !nested) return;
    for (const LayerPtr& inner : nested->layers()) add(*inner, nullptr, indent + "└ ");
  }

  std::string text() const {
    std::vector<bool> to_right{false, false, true, true, true, false, false};
    return draw(rows_, to_right);
  }
  std::uint64_t outputs() const { return outputs_; }

 private:
  const SummaryOptions& options_;
  const bool is_linear_;
  std::vector<Row> rows_;
  std::uint64_t outputs_ = 0;
};

}  // namespace

std::string Model::summary(const SummaryOptions& options) const {
  PLIMSOLL_CHECK(options.batch_size > 0, InvalidArgumentError,
                 "summary of model '{}' for a batch of {}", name(), options.batch_size);
  const auto* functional = dynamic_cast<const FunctionalModel*>(this);
  const auto* sequential = dynamic_cast<const SequentialModel*>(this);
  const FunctionalGraph* graph = functional ? &functional->graph() : nullptr;
  if (sequential && sequential->functional()) graph = &sequential->functional()->graph();
  Table table(options, functional == nullptr);
  for (const LayerPtr& layer : layers()) table.add(*layer, graph, "");
  const Sums sums = sum_up(weights());
  const auto sized = [](std::int64_t num, std::uint64_t nbytes) {
    return fmt::format("{} ({})", with_commas(num), format_bytes(nbytes));
  };
  std::string text = fmt::format("Model: \"{}\"\n{}", name(), table.text());
  text += fmt::format(" Total params: {}\n", sized(sums.params, sums.nbytes));
  text += fmt::format(" Trainable params: {}\n", sized(sums.trained, sums.trained_bytes));
  text += fmt::format(" Non-trainable params: {}\n",
                      sized(sums.params - sums.trained, sums.other_bytes));
  text += fmt::format(" Outputs of all layers at batch {}: {}\n", options.batch_size,
                      format_bytes(table.outputs()));
  return text;
}

LayerPtr Model::get_layer(std::string_view wanted) const {
  std::string names;
  for (const LayerPtr& layer : layers()) {
    if (layer->name() == wanted) return layer;
    names += (names.empty() ? "" : ", ") + layer->name();
  }
  throw InvalidArgumentError(
      fmt::format("No such layer: {}. Existing layers are: [{}].", wanted, names));
}
LayerPtr Model::get_layer(std::size_t index) const {
  const std::vector<LayerPtr> all = layers();
  PLIMSOLL_CHECK(index < all.size(), InvalidArgumentError,
                 "Was asked to retrieve layer at index {} but model only has {} layers.", index,
                 all.size());
  return all[index];
}

}  // namespace plimsoll::keras
