#include "plimsoll/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "plimsoll/bytes.h"

namespace plimsoll {
namespace {

using Place = PlannedBuffer::Place;

const char* place_name(Place place) noexcept {
  switch (place) {
    case Place::kArena:
      return "arena";
    case Place::kScratch:
      return "scratch";
    case Place::kInput:
      return "input";
    case Place::kConstant:
      return "constant";
    case Place::kVariable:
      return "variable";
    case Place::kOutput:
      return "output";
  }
  return "?";
}

bool is_in_arena(const PlannedBuffer& b) noexcept {
  return b.place == Place::kArena || b.place == Place::kScratch;
}
// What is held from outside is alive all the time.
bool is_alive(const PlannedBuffer& b, int step) noexcept {
  return !is_in_arena(b) || (b.first <= step && step <= b.last);
}

template <class Name>
std::vector<MemoryPlan::Row> rows_by(const MemoryPlan& plan, Name name) {
  std::map<std::string, std::uint64_t> sums;
  for (const PlannedBuffer& b : plan.buffers) {
    if (is_alive(b, plan.peak_step)) sums[name(b)] += b.nbytes;
  }
  std::vector<MemoryPlan::Row> rows;
  for (const auto& [key, nbytes] : sums) rows.push_back({key, nbytes});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.nbytes > b.nbytes; });
  return rows;
}

std::string table(const char* title, const std::vector<MemoryPlan::Row>& rows, std::size_t most) {
  std::string text = fmt::format("  at the peak, by {}\n", title);
  for (std::size_t i = 0; i < rows.size() && i < most; ++i)
    text += fmt::format("    {:>10}  {}\n", format_bytes(rows[i].nbytes), rows[i].name);
  if (rows.size() > most) text += fmt::format("    and {} more\n", rows.size() - most);
  return text;
}

// The bytes alive over the steps, as columns of blocks.
std::string picture(const MemoryPlan& plan) {
  constexpr std::size_t kWidth = 72;
  constexpr int kHeight = 8;
  static const char* const kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t num_steps = plan.live_bytes.size();
  if (num_steps == 0 || plan.arena_bytes == 0) return "";
  const std::size_t width = std::min(kWidth, num_steps);
  std::vector<double> columns(width, 0);
  for (std::size_t n = 0; n < num_steps; ++n) {
    double& column = columns[n * width / num_steps];
    column = std::max(column, static_cast<double>(plan.live_bytes[n]));
  }
  std::string text;
  for (int row = kHeight; row-- > 0;) {
    text += row == kHeight - 1 ? fmt::format("{:>10} |", format_bytes(plan.arena_bytes))
                               : fmt::format("{:>10} |", row == 0 ? "0" : "");
    for (const double column : columns) {
      const double level =
          column / static_cast<double>(plan.arena_bytes) * kHeight - static_cast<double>(row);
      text += kBlocks[static_cast<std::size_t>(std::clamp(level, 0.0, 1.0) * 8)];
    }
    text += "\n";
  }
  return text + fmt::format("{:>10} +{:-<{}}> {} steps\n", "", "", width, num_steps);
}

}  // namespace

std::vector<MemoryPlan::Row> MemoryPlan::by_tag() const {
  return rows_by(*this,
                 [](const PlannedBuffer& b) { return std::string(memory::tag_name(b.tag)); });
}
std::vector<MemoryPlan::Row> MemoryPlan::by_op() const {
  return rows_by(*this, [](const PlannedBuffer& b) {
    return b.place == Place::kScratch ? b.op + " scratch" : b.op;
  });
}
std::vector<MemoryPlan::Row> MemoryPlan::by_layer() const {
  return rows_by(*this,
                 [](const PlannedBuffer& b) { return b.layer.empty() ? "(no name)" : b.layer; });
}

std::vector<const PlannedBuffer*> MemoryPlan::largest(int num) const {
  std::vector<const PlannedBuffer*> found;
  for (const PlannedBuffer& b : buffers) {
    if (is_in_arena(b) && is_alive(b, peak_step)) found.push_back(&b);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto* a, const auto* b) { return a->nbytes > b->nbytes; });
  if (found.size() > static_cast<std::size_t>(num)) found.resize(static_cast<std::size_t>(num));
  return found;
}

std::string MemoryPlan::to_string() const {
  std::string text = fmt::format("memory plan of '{}' on {}\n", function, device);
  text += fmt::format(
      "  peak {} = variables {} + inputs {} + constants {} + results {} + arena {}\n",
      format_bytes(peak_bytes), format_bytes(variable_bytes), format_bytes(input_bytes),
      format_bytes(constant_bytes), format_bytes(output_bytes), format_bytes(arena_bytes));
  const double ratio =
      lower_bound_bytes ? static_cast<double>(arena_bytes) / static_cast<double>(lower_bound_bytes)
                        : 1.0;
  text += fmt::format("  arena / lower bound {:.3f}; peak at step {} of {}", ratio, peak_step,
                      num_steps);
  if (num_steps) text += fmt::format(": {}", step_names[static_cast<std::size_t>(peak_step)]);
  if (!host_ops.empty())
    text += fmt::format("\n  on the CPU, with {} there: {}", format_bytes(host_bytes),
                        fmt::join(host_ops, ", "));
  text += "\n" + picture(*this);
  text += table("tag", by_tag(), memory::kNumTags);
  text += table("op", by_op(), 8);
  text += table("layer", by_layer(), 8);
  if (!passes.empty()) text += "  passes (bytes alive at the peak, without scratch)\n";
  for (const PassReport& pass : passes) {
    text += fmt::format("    {:<16} {:>10} -> {:>10}  {:>5} nodes  {:.0f} ms\n", pass.name,
                        format_bytes(pass.peak_before), format_bytes(pass.peak_after),
                        pass.num_nodes, pass.seconds * 1e3);
  }
  return text;
}

std::string MemoryPlan::to_json() const {
  using nlohmann::ordered_json;
  ordered_json root;
  root["format"] = "plimsoll-memory-plan";
  root["version"] = 1;
  root["function"] = function;
  root["device"] = device;
  root["peak_bytes"] = peak_bytes;
  root["arena_bytes"] = arena_bytes;
  root["lower_bound_bytes"] = lower_bound_bytes;
  root["output_bytes"] = output_bytes;
  root["input_bytes"] = input_bytes;
  root["variable_bytes"] = variable_bytes;
  root["constant_bytes"] = constant_bytes;
  root["host_bytes"] = host_bytes;
  root["host_ops"] = host_ops;
  root["peak_step"] = peak_step;
  root["steps"] = step_names;
  root["live_bytes"] = live_bytes;
  ordered_json& list = root["buffers"] = ordered_json::array();
  for (const PlannedBuffer& b : buffers) {
    ordered_json row{{"op", b.op},
                     {"layer", b.layer},
                     {"tag", memory::tag_name(b.tag)},
                     {"place", place_name(b.place)},
                     {"nbytes", b.nbytes},
                     {"first", b.first},
                     {"last", b.last}};
    if (!b.site.empty()) row["site"] = b.site;
    if (is_in_arena(b)) row["offset"] = b.offset;
    if (b.place != Place::kScratch) {
      row["dtype"] = dtype_name(b.spec.dtype);
      row["shape"] = b.spec.shape.dims();
    }
    list.push_back(std::move(row));
  }
  ordered_json& made = root["passes"] = ordered_json::array();
  for (const PassReport& p : passes) {
    made.push_back({{"name", p.name},
                    {"num_nodes", p.num_nodes},
                    {"peak_before", p.peak_before},
                    {"peak_after", p.peak_after},
                    {"seconds", p.seconds}});
  }
  return root.dump(1);
}

void MemoryPlan::save(const std::string& path) const {
  std::ofstream file(path);
  file << to_json() << "\n";
  file.close();
  PLIMSOLL_CHECK(file.good(), NotFoundError, "cannot write the memory plan to '{}'", path);
}

}  // namespace plimsoll
