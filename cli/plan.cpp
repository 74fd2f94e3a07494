#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "commands.h"
#include "plimsoll/bytes.h"
#include "plimsoll/config.h"
#include "plimsoll/device.h"
#include "plimsoll/error.h"
#include "plimsoll/keras.h"
#include "plimsoll/keras/saving.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/settings.h"

namespace plimsoll::cli {
namespace {

constexpr std::int64_t kMaxBatch = 1 << 16;  // the search for the largest ends there

keras::PartialShape parse_shape(const std::string& text) {
  std::vector<std::int64_t> dims;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at < end) {
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value <= 0 || (next != end && *next != ','))
      throw InvalidArgumentError(
          fmt::format("'{}' is no shape; one is written 224,224,3, without the batch", text));
    dims.push_back(value);
    at = next == end ? end : next + 1;
  }
  return keras::PartialShape(std::move(dims));
}

// Classes where the model ends in a softmax, else numbers.
std::string fitting_loss(const keras::Model& model) {
  const keras::LayerPtr last = model.layers().back();
  const Json config = last->get_config();
  const Json* activation = config.find("activation");
  const bool is_softmax =
      last->class_name() == "Softmax" ||
      (activation && activation->is_string() && activation->as_string() == "softmax");
  return is_softmax && model.output_names().size() <= 1 ? "sparse_categorical_crossentropy" : "mse";
}

void compile(keras::Model& model, const PlanArguments& a) {
  keras::CompileOptions options;
  if (model.compiled()) options = model.compile_options();  // as the file has it
  options.optimizer = keras::OptimizerArg(a.optimizer);
  if (!a.loss.empty()) options.loss = keras::LossArg(a.loss);
  if (options.loss.is_none()) options.loss = keras::LossSpec(fitting_loss(model));
  model.compile(std::move(options));
}

struct Limit {
  std::uint64_t nbytes = memory::kNoLimit;
  std::string origin;
};
// The smallest of what was asked for, the device's own, and, unless another device is looked at,
// what this machine has.
Limit limit_of(const PlanArguments& a, const keras::FitPlan& plan) {
  Limit limit{plan.limit_bytes, plan.limit_origin};
  if (!a.device.empty()) {
    const std::string name = plan.step.device.substr(plan.step.device.rfind("device:") + 7);
    const memory::BudgetStats stats = memory::stats(name);
    limit = {stats.limit, stats.origin.empty() ? "capacity of " + a.device : stats.origin};
  }
  if (!a.budget.empty() && parse_bytes(a.budget) < limit.nbytes)
    limit = {parse_bytes(a.budget), "--budget"};
  return limit;
}

struct Fit {
  std::int64_t batch = 0;  // 0: none fits
  std::uint64_t peak_bytes = 0;
};

// The largest batch within the limit. Peaks grow almost in line with the batch: the next one to try
// lies on the line through two known ones.
template <class PeakOf>
Fit find_largest(std::int64_t batch, std::uint64_t peak, std::uint64_t limit,
                 const PeakOf& peak_of) {
  Fit best;
  std::int64_t too_large = kMaxBatch + 1;
  std::int64_t other = batch == 1 ? 2 : 1;
  std::uint64_t other_peak = peak_of(other);
  const auto note = [&](std::int64_t b, std::uint64_t p) {
    if (p <= limit && b > best.batch) best = {b, p};
    if (p > limit) too_large = std::min(too_large, b);
  };
  note(batch, peak);
  note(other, other_peak);
  for (int i = 0; too_large - best.batch > 1; ++i) {
    const double slope = (static_cast<double>(peak) - static_cast<double>(other_peak)) /
                         static_cast<double>(batch - other);
    const double room = static_cast<double>(limit) - static_cast<double>(peak);
    double guess = slope > 0 ? static_cast<double>(batch) + room / slope : 2.0 * kMaxBatch;
    if (i > 5) guess = static_cast<double>(best.batch + too_large) / 2;  // no line, then
    guess =
        std::clamp(guess, static_cast<double>(best.batch + 1), static_cast<double>(too_large - 1));
    const auto tried = static_cast<std::int64_t>(guess);
    const std::uint64_t tried_peak = peak_of(tried);
    note(tried, tried_peak);
    other = batch;
    other_peak = peak;
    batch = tried;
    peak = tried_peak;
  }
  return best;
}

std::string verdict(const Limit& limit, std::uint64_t peak) {
  if (limit.nbytes >= memory::kNoLimit)
    return fmt::format("fits: peak {}, no limit", format_bytes(peak));
  return peak <= limit.nbytes ? fmt::format("fits: peak {} of {} ({})", format_bytes(peak),
                                            format_bytes(limit.nbytes), limit.origin)
                              : fmt::format("does not fit: peak {}, {} more than {} ({})",
                                            format_bytes(peak), format_bytes(peak - limit.nbytes),
                                            format_bytes(limit.nbytes), limit.origin);
}

Json to_json(const PlanArguments& a, const keras::FitPlan& plan, const Limit& limit,
             const Fit& largest) {
  return Json::object(
      {{"file", a.file},
       {"batch", a.batch},
       {"optimizer", a.optimizer.empty() ? Json() : Json(a.optimizer)},
       {"peak_bytes", plan.peak_bytes},
       {"weights_bytes", plan.weights_bytes},
       {"optimizer_bytes", plan.optimizer_bytes},
       {"arena_bytes", plan.arena_bytes},
       {"batch_bytes", plan.batch_bytes},
       {"other_bytes", plan.other_bytes},
       {"limit_bytes", limit.nbytes >= memory::kNoLimit ? Json() : Json(limit.nbytes)},
       {"limit_origin", limit.origin},
       {"fits", plan.peak_bytes <= limit.nbytes},
       {"largest_batch", largest.batch},
       {"largest_batch_peak_bytes", largest.peak_bytes},
       {"step", Json::parse(plan.step.to_json())}});
}

void print(const PlanArguments& a, const keras::FitPlan& plan, const Limit& limit,
           const Fit& largest) {
  fmt::print("{}: {}, batch {}\n", a.file,
             a.optimizer.empty() ? "inference" : "training with " + a.optimizer, a.batch);
  fmt::print("  peak {} = weights {} + optimizer {} + arena {} + batch {} + other {}\n",
             format_bytes(plan.peak_bytes), format_bytes(plan.weights_bytes),
             format_bytes(plan.optimizer_bytes), format_bytes(plan.arena_bytes),
             format_bytes(plan.batch_bytes), format_bytes(plan.other_bytes));
  fmt::print("{}", plan.step.to_string());
  fmt::print("{}\n", verdict(limit, plan.peak_bytes));
  if (largest.batch == 0) {
    fmt::print("no batch fits\n");
  } else {
    fmt::print("largest batch that fits: {}{} (peak {})\n", largest.batch,
               largest.batch == kMaxBatch ? " or more" : "", format_bytes(largest.peak_bytes));
  }
}

}  // namespace

int show_plan(const PlanArguments& a) {
  if (!a.budget.empty()) parse_bytes(a.budget);
  const bool is_logical = a.device.find(':') != std::string::npos;
  if (!a.device.empty() && !is_logical) settings::set("sim_devices", a.device);
  const DeviceScope there =
      device(is_logical ? std::optional<std::string_view>(a.device) : std::nullopt);
  const keras::ModelPtr model =
      keras::load_model(a.file, {.compile = !a.optimizer.empty(), .without_weights = true});
  if (!a.optimizer.empty()) compile(*model, a);
  keras::PlanOptions options{.batch_size = a.batch};
  for (const std::string& text : a.input_shape) options.input_shapes.push_back(parse_shape(text));
  const auto plan_of = [&](std::int64_t batch) {
    options.batch_size = batch;
    return a.optimizer.empty() ? model->plan_predict(options) : model->plan_train(options);
  };
  const keras::FitPlan plan = plan_of(a.batch);
  const Limit limit = limit_of(a, plan);
  const auto peak_of = [&](std::int64_t batch) {
    try {
      return plan_of(batch).peak_bytes;
    } catch (const ResourceExhaustedError&) {  // not even its kernels have room
      return memory::kNoLimit;
    }
  };
  const Fit largest = find_largest(a.batch, plan.peak_bytes, limit.nbytes, peak_of);
  if (a.as_json) {
    fmt::print("{}\n", to_json(a, plan, limit, largest).dump(1));
  } else {
    print(a, plan, limit, largest);
  }
  return plan.peak_bytes <= limit.nbytes ? kFits : kDoesNotFit;
}

}  // namespace plimsoll::cli
