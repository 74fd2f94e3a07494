#include "models/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

#include "models/models.h"
#include "peer_process.h"
#include "plimsoll/error.h"
#include "rows.h"

namespace plimsoll::bench {
namespace {

constexpr int kNumLosses = 3;      // that are compared
constexpr double kLossBar = 1e-3;  // relative
constexpr double kMiB = 1 << 20;
constexpr double kRoundSeconds = 2;  // a round's length where --steps does not say

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Case {
  const ModelInfo* model;
  int batch;
  bool dropout;

  std::string name() const { return fmt::format("{}, batch {}", model->what, batch); }
  bool is_image_model() const { return model->name == "resnet50" || model->name == "mobilenet_v2"; }
  bool has_images() const { return is_image_model() || model->name == "cnn"; }
  // Of a step, against the fastest peer.
  double step_bar() const { return is_image_model() ? 0.75 : (model->name == "lstm" ? 0.7 : 1.0); }
};

// One framework with the model at hand, and what was measured of it.
struct Side {
  std::string name;
  std::unique_ptr<PeerProcess> process;
  std::vector<double> losses = {};                     // by step
  std::vector<double> seconds = {}, cpu_seconds = {};  // per step, by round
  double import_seconds = 0, import_bytes = 0, first_seconds = 0, peak_bytes = 0;

  bool has_all() const { return losses.size() == kNumLosses && !seconds.empty(); }
  double grown_bytes() const { return peak_bytes - import_bytes; }
};

std::vector<Side> start_all(const Case& c, const MeasureArguments& a, int threads) {
  std::vector<Side> sides;
  const auto add = [&](const std::string& name, const std::vector<std::string>& command) {
    Side side{.name = name, .process = std::make_unique<PeerProcess>(command)};
    if (side.process->is_running()) {
      sides.push_back(std::move(side));
    } else {
      progress(fmt::format("no {}: {}", name, side.process->why()));
    }
  };
  const std::string model(c.model->name), batch = std::to_string(c.batch);
  const std::string num_threads = std::to_string(threads);
  const auto ours = [&](const std::string& dtype) {
    std::vector<std::string> command{a.program,   "--serve",   "--model",     model,
                                     "--batch",   batch,       "--optimizer", a.optimizer,
                                     "--threads", num_threads, "--dtype",     dtype};
    if (!c.dropout) command.push_back("--no-dropout");
    return command;
  };
  add("Plimsoll", ours(a.dtype));
  if (a.is_mixed()) add("float32", ours("float32"));
  if (a.python.empty() || a.is_mixed()) return sides;
  const std::string dropout = c.dropout && c.model->has_dropout ? "0.5" : "0";
  const auto peer = [&](const char* framework) -> std::vector<std::string> {
    return {a.python,  PLIMSOLL_BENCH_FOLDER "/models/peer.py",
            framework, model,
            batch,     a.optimizer,
            dropout,   num_threads};
  };
  add("TensorFlow", peer("tensorflow"));
  add("PyTorch", peer("torch"));
  if (c.has_images()) add("PyTorch, channels_last", peer("torch_channels_last"));
  return sides;
}

// Makes the model and takes the first steps. False if the process died.
bool begin(Side& side) {
  const auto imported = side.process->run("import", 0);
  const auto made = imported ? side.process->run("model", 0) : std::nullopt;
  if (!made) return false;
  side.import_seconds = imported->seconds;
  side.import_bytes = imported->checksum;
  for (int i = 0; i < kNumLosses; ++i) {
    const auto step = side.process->run("step", 1);
    if (!step) return false;
    if (i == 0) side.first_seconds = step->seconds;
    side.losses.push_back(step->checksum);
  }
  return true;
}

std::vector<Side> start_and_begin(const Case& c, const MeasureArguments& a, int threads) {
  std::vector<Side> sides = start_all(c, a, threads);
  for (Side& side : sides) {
    if (!begin(side)) progress(fmt::format("{} failed at {}", side.name, c.name()));
  }
  std::erase_if(sides, [](const Side& side) { return side.losses.size() != kNumLosses; });
  if (sides.empty() || sides.front().name != "Plimsoll")
    throw InternalError(fmt::format("bench_models --serve failed at {}", c.name()));
  return sides;
}

void run_rounds(std::vector<Side>& sides, const MeasureArguments& a) {
  const auto warm = sides.front().process->run("step", 1);
  const double step_seconds = std::max(1e-4, warm ? warm->seconds : 1);
  const int steps =
      a.steps > 0 ? a.steps : std::clamp(static_cast<int>(kRoundSeconds / step_seconds), 1, 1000);
  for (Side& side : sides) side.process->run("step", std::max(1, steps / 2));  // warm
  for (int round = 0; round < a.rounds; ++round) {
    for (Side& side : sides) {
      const auto before = side.process->run("cpu", 0);
      const auto took = side.process->run("step", steps);
      const auto after = side.process->run("cpu", 0);
      if (!before || !took || !after) continue;
      side.seconds.push_back(took->seconds / steps);
      side.cpu_seconds.push_back((after->seconds - before->seconds) / steps);
    }
  }
  for (Side& side : sides) {
    if (const auto memory = side.process->run("memory", 0)) side.peak_bytes = memory->seconds;
  }
  std::erase_if(sides, [](const Side& side) { return !side.has_all(); });
}

void print_losses(const Case& c, const std::vector<Side>& sides) {
  const Side& ours = sides.front();
  for (const Side& peer : sides) {
    if (&peer == &ours) continue;
    double worst = 0;
    for (std::size_t i = 0; i < kNumLosses; ++i)
      worst = std::max(worst, std::abs(ours.losses[i] / peer.losses[i] - 1));
    print({.what = c.name() + ": loss, " + peer.name,
           .ours = ours.losses.back(),
           .peer = peer.losses.back(),
           .ratio = worst,
           .bar = "off by <= 0.001",
           .holds = worst <= kLossBar,
           .note = "of step 3; ratio: the largest relative difference in steps 1 to 3"});
  }
}

// A row for each peer, and one with the bar against the best of them.
template <class Value>
void print_against(const std::string& what, const std::vector<Side>& sides, double scale,
                   const char* unit, std::optional<double> bar, Value value) {
  const double ours = value(sides.front()) * scale;
  const Side* best = nullptr;
  for (std::size_t i = 1; i < sides.size(); ++i) {
    if (!best || value(sides[i]) < value(*best)) best = &sides[i];
    if (bar && sides.size() > 2) {
      print({.what = what + " against " + sides[i].name,
             .ours = ours,
             .peer = value(sides[i]) * scale,
             .unit = unit});
    }
  }
  Row row{.what = what, .ours = ours, .unit = unit};
  if (best) {
    row.peer = value(*best) * scale;
    row.note = "peer: " + best->name;
  } else {
    row.note = "no peer to compare with";
  }
  if (bar) {
    row.bar = fmt::format("<= {:.2f}", *bar);
    if (best) row.holds = ours / *row.peer <= *bar;
  }
  print(row);
}

struct Planned {
  MemoryPlan plan;
  double seconds = 0;  // from the start of the trace until it could run
};

Planned plan_of(const Case& c, const MeasureArguments& a, const std::string& dtype) {
  const Model model = make_model(c.model->name, c.batch,
                                 {.optimizer = a.optimizer, .dropout = c.dropout, .dtype = dtype});
  Planned planned;
  std::vector<double> seconds;
  for (int i = 0; i < 3; ++i) {
    const double start = now_seconds();
    planned.plan = model.step.plan(model.input_specs);
    seconds.push_back(now_seconds() - start);
  }
  planned.seconds = median(seconds);
  return planned;
}

void print_plan(const Case& c, const Planned& planned, const Side& ours) {
  const MemoryPlan& plan = planned.plan;
  const bool is_resnet = c.model->name == "resnet50";
  const bool is_chain = c.model->name == "mlp" || c.model->name == "cnn";
  const double height = static_cast<double>(plan.arena_bytes) / kMiB;
  const double bound = static_cast<double>(plan.lower_bound_bytes) / kMiB;
  print({.what = c.name() + ": arena, planned",
         .ours = height,
         .peer = bound,
         .unit = "MiB",
         .bar = is_chain ? "1.00" : "<= 1.01",
         .holds = height <= bound * (is_chain ? 1 : 1.01),
         .note = "peer: the lower bound of these lifetimes"});
  Row ready{.what = c.name() + ": trace to ready", .ours = planned.seconds, .unit = "s"};
  if (is_resnet) {
    ready.bar = "<= 1.5 s";
    ready.holds = planned.seconds <= 1.5;
  }
  print(ready);
  const double peak = static_cast<double>(plan.peak_bytes) / kMiB;
  const double grown = ours.grown_bytes() / kMiB;
  Row row{.what = c.name() + ": growth against plan",
          .ours = grown,
          .peer = peak,
          .unit = "MiB",
          .note = "growth: peak RSS less RSS after import; peer: plan.peak_bytes"};
  if (is_resnet) {
    row.bar = "<= peak + 48 MiB";
    row.holds = grown <= peak + 48;
  }
  print(row);
}

void measure(const Case& c, const MeasureArguments& a, int threads) {
  progress(c.name());
  const Planned planned = plan_of(c, a, a.dtype);
  if (c.model->has_dropout) {
    Case same = c;
    same.dropout = false;
    print_losses(c, start_and_begin(same, a, threads));
  }
  std::vector<Side> sides = start_and_begin(c, a, threads);
  run_rounds(sides, a);
  if (!c.model->has_dropout) print_losses(c, sides);

  print_against(c.name() + ": step", sides, 1e3, "ms", c.step_bar(),
                [](const Side& s) { return median(s.seconds); });
  print_against(c.name() + ": step, CPU time", sides, 1e3, "ms", {},
                [](const Side& s) { return median(s.cpu_seconds); });
  const bool has_memory_bar = c.model->name == "resnet50" && c.batch == 32;
  print_against(c.name() + ": peak RSS less that after import", sides, 1 / kMiB, "MiB",
                has_memory_bar ? std::optional(0.60) : std::nullopt,
                [](const Side& s) { return s.grown_bytes(); });
  print_against(c.name() + ": peak RSS", sides, 1 / kMiB, "MiB", {},
                [](const Side& s) { return s.peak_bytes; });
  print_against(c.name() + ": import", sides, 1, "s", {},
                [](const Side& s) { return s.import_seconds; });
  print_against(c.name() + ": first step", sides, 1, "s", {},
                [](const Side& s) { return s.first_seconds; });
  print_plan(c, planned, sides.front());
}

// A policy of mixed precision against float32.
void measure_mixed(const Case& c, const MeasureArguments& a, int threads) {
  progress(c.name() + ", " + a.dtype);
  const bool has_bar = c.model->name == "resnet50" && c.batch == 32;
  const auto peak_of = [&](const std::string& dtype) {
    return static_cast<double>(plan_of(c, a, dtype).plan.peak_bytes) / kMiB;
  };
  Row peak{.what = c.name() + ": peak against float32",
           .ours = peak_of(a.dtype),
           .peer = peak_of("float32"),
           .unit = "MiB",
           .note = a.dtype + ": plan.peak_bytes"};
  if (has_bar) {
    peak.bar = "<= 0.70";
    peak.holds = peak.ours <= 0.70 * *peak.peer;
  }
  print(peak);
  std::vector<Side> sides = start_and_begin(c, a, threads);
  run_rounds(sides, a);
  print_against(c.name() + ": step against float32", sides, 1e3, "ms",
                has_bar ? std::optional(1.5) : std::nullopt,
                [](const Side& s) { return median(s.seconds); });
  print_against(c.name() + ": step against float32, CPU time", sides, 1e3, "ms", {},
                [](const Side& s) { return median(s.cpu_seconds); });
  print_against(c.name() + ": loss of step 3", sides, 1, "", {},
                [](const Side& s) { return s.losses.back(); });
  print_against(c.name() + ": peak RSS less that after import", sides, 1 / kMiB, "MiB", {},
                [](const Side& s) { return s.grown_bytes(); });
}

std::vector<Case> cases_of(const std::string& names) {
  std::vector<Case> cases;
  std::string rest = names;
  const auto add = [&](std::string_view name) {
    bool is_known = false;
    for (const ModelInfo& info : all_models()) {
      if (!name.empty() && info.name != name) continue;
      is_known = true;
      for (const int batch : info.batches) {
        if (batch) cases.push_back({&info, batch, true});
      }
    }
    if (!is_known) make_model(name, 1);  // says which there are
  };
  for (std::size_t comma = 0; comma != std::string::npos; rest.erase(0, comma + 1)) {
    comma = rest.find(',');
    add(rest.substr(0, comma));
    if (comma == std::string::npos) break;
  }
  return cases;
}

}  // namespace

void measure_models(const MeasureArguments& arguments) {
  int threads = arguments.threads;
  if (threads <= 0) threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  double load = 0;
  if (getloadavg(&load, 1) == 1 && load > 0.5) {
    progress(fmt::format("the machine is busy (load {:.1f}): step times will say little", load));
  }
  for (const Case& c : cases_of(arguments.models)) {
    (arguments.is_mixed() ? measure_mixed : measure)(c, arguments, threads);
  }
}

}  // namespace plimsoll::bench
