#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "commands.h"
#include "npy.h"
#include "plimsoll/bytes.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/keras/saving.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::cli {
namespace {

using keras::KerasTensor;
using keras::Nested;
using keras::Value;

// The inputs of a model whose graph is known, else none.
Nested inputs_of(const keras::Model& model) {
  if (const auto* functional = dynamic_cast<const keras::FunctionalModel*>(&model))
    return functional->inputs();
  const auto* sequential = dynamic_cast<const keras::SequentialModel*>(&model);
  return sequential && sequential->functional() ? sequential->functional()->inputs() : Nested();
}

struct Given {
  std::string name, path;  // no name: by position
};
Given split(const std::string& text) {
  const std::size_t at = text.find('=');
  return at == std::string::npos ? Given{"", text} : Given{text.substr(0, at), text.substr(at + 1)};
}

// An array as the model takes it: in its type, and with a batch of one around a single sample.
Tensor fit_to(const KerasTensor& input, Tensor x, const std::string& path) {
  if (x.rank() + 1 == input.shape().rank()) x = expand_dims(x, 0);
  if (x.rank() != input.shape().rank())
    throw InvalidArgumentError(fmt::format("input '{}' has shape {}, '{}' holds {}", input.name(),
                                           input.shape().to_string(), path, x.shape().to_string()));
  return x.dtype() == input.dtype() ? x : cast(x, input.dtype());
}

Nested read_inputs(const keras::Model& model, const std::vector<std::string>& given) {
  const Nested wanted = inputs_of(model);
  if (wanted.is_none()) {  // it is built by what comes
    Nested::List list;
    for (const std::string& text : given) list.emplace_back(npy::read(split(text).path));
    return list.size() == 1 ? list[0] : Nested(list);
  }
  const std::vector<Value> leaves = wanted.flatten();
  std::vector<Tensor> read(leaves.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Given file = split(given[i]);
    std::size_t at = i;
    if (!file.name.empty()) {
      at = static_cast<std::size_t>(
          std::ranges::find_if(leaves,
                               [&](const Value& v) { return v.symbolic().name() == file.name; }) -
          leaves.begin());
    }
    std::string names;
    for (const Value& v : leaves) names += (names.empty() ? "" : ", ") + v.symbolic().name();
    if (at >= leaves.size())
      throw InvalidArgumentError(
          fmt::format("the model has no input for '{}'; it has: {}", given[i], names));
    read[at] = fit_to(leaves[at].symbolic(), npy::read(file.path), file.path);
  }
  std::size_t next = 0;
  return wanted.map([&](const Value& v) {
    if (!read[next].is_valid())
      throw InvalidArgumentError(fmt::format("input '{}' is missing: --input {}=FILE",
                                             v.symbolic().name(), v.symbolic().name()));
    return Value(read[next++]);
  });
}

// The largest values of a row with their positions.
std::string top_text(const std::vector<double>& row, int num) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto shown = std::min(order.size(), static_cast<std::size_t>(num));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("{}[{}] {:.6g}", i ? "  " : "", order[i], row[order[i]]);
  return text;
}

void print_output(const Tensor& y, const std::string& name, int top) {
  constexpr std::int64_t kMaxRows = 8;
  fmt::print("{}: {} {}\n", name, dtype_name(y.dtype()), y.shape().to_string());
  if (y.rank() == 0 || y.num_elements() == 0 || y.dtype() == DType::kString) {
    fmt::print("  {}\n", y.to_string());
    return;
  }
  const std::vector<double> values = cast(y, float64).to_vector<double>();
  const std::int64_t num_rows = y.shape()[0];
  const auto size = values.size() / static_cast<std::size_t>(num_rows);
  for (std::int64_t r = 0; r < std::min(num_rows, kMaxRows); ++r) {
    const auto begin =
        values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(r) * size);
    fmt::print("  {:>4}: {}\n", r,
               top_text({begin, begin + static_cast<std::ptrdiff_t>(size)}, top));
  }
  if (num_rows > kMaxRows) fmt::print("  and {} rows more\n", num_rows - kMaxRows);
}

std::string numbered(const std::string& path, std::size_t i) {
  const std::size_t at = path.ends_with(".npy") ? path.size() - 4 : path.size();
  return fmt::format("{}_{}{}", path.substr(0, at), i, path.substr(at));
}

}  // namespace

int run_model(const RunArguments& a) {
  if (!a.budget.empty()) memory::set_budget(a.budget);
  const keras::ModelPtr model = keras::load_model(a.file, {.compile = false});
  const Nested x = read_inputs(*model, a.inputs);
  const std::vector<Value> outputs =
      model->predict(x, {.batch_size = a.batch, .verbose = keras::Verbose::kSilent}).flatten();
  const std::vector<std::string> names = model->output_names();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : fmt::format("output {}", i);
    if (a.output.empty()) {
      print_output(outputs[i].tensor(), name, a.top);
      continue;
    }
    const std::string path = outputs.size() == 1 ? a.output : numbered(a.output, i);
    npy::write(path, outputs[i].tensor());
    fmt::print("{}: {} {} -> {}\n", name, dtype_name(outputs[i].tensor().dtype()),
               outputs[i].tensor().shape().to_string(), path);
  }
  fmt::print("peak {}\n", format_bytes(memory::stats().peak));
  return kFits;
}

}  // namespace plimsoll::cli
