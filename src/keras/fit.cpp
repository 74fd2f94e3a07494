// fit, evaluate and predict.
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/log.h"
#include "data/node.h"
#include "keras/callback_list.h"
#include "keras/feed.h"
#include "keras/fit_plan.h"
#include "keras/pipeline_plan.h"
#include "keras/progress.h"
#include "keras/trainer.h"
#include "plimsoll/ops.h"
#include "runtime/context.h"
#include "runtime/placement.h"
#include "runtime/variable_state.h"

namespace plimsoll::keras {
namespace {

const memory::Budget& budget_of(const Model& model) {
  const auto weights = model.weights();
  return weights.empty() ? place_value(DType::kFloat32, 0).budget()
                         : weights[0]->raw().state()->home().budget();
}

// Batches of one epoch after the other. With a number of steps, an epoch goes on where the last one
// ended, and ends with the data.
class Batches {
 public:
  Batches(const Feed& feed, std::optional<std::int64_t> steps) : feed_(feed), steps_(steps) {}

  void begin_epoch() {
    num_given_ = 0;
    if (first_) return;  // begun by peek
    const AdoptedScope scope(feed_.scope.get());
    if (!steps_) run_.reset();
    if (!run_) run_ = feed_.batches.make_iterator();
  }
  // The first batch, which comes again from next(). pre: nothing was taken. Without memory for it
  // it can be tried again.
  const std::optional<Nested>& peek() {
    if (!run_) begin_epoch();
    first_ = next();
    num_given_ = 0;
    return first_;
  }
  // All over again.
  void restart() {
    first_.reset();
    run_.reset();
  }
  std::optional<Nested> next() {
    if (steps_ && num_given_ >= *steps_) return std::nullopt;
    if (first_) {
      ++num_given_;
      return std::exchange(first_, std::nullopt);
    }
    const AdoptedScope scope(feed_.scope.get());
    auto element = take();
    if (!element && steps_ && num_given_ == 0) {  // the last epoch has come to the end
      run_ = feed_.batches.make_iterator();
      element = take();
    }
    if (!element) {
      if (steps_ && num_given_ > 0)
        log_warning(
            "the data ran out after {} of {} steps, and the epoch ends here; repeat() goes on "
            "without end",
            num_given_, *steps_);
      run_.reset();
      return std::nullopt;
    }
    ++num_given_;
    return to_batch(*element);
  }
  // Gives back what the iteration holds, unless it goes on.
  void end_epoch() {
    if (!steps_) run_.reset();
  }

 private:
  // Whoever finds no memory: that a cache grows is the reason.
  std::optional<data::Element> take() {
    try {
      return run_->next();
    } catch (const ResourceExhaustedError& error) {
      const std::string text = error.what();
      if (!has_open_cache(feed_) || text.find("cache(filename)") != std::string::npos) throw;
      throw ResourceExhaustedError(
          text + "\n  cache() keeps all elements that came; cache(filename) keeps them in a file");
    }
  }

  const Feed& feed_;
  const std::optional<std::int64_t> steps_;
  std::unique_ptr<data::Iterator> run_;
  std::optional<Nested> first_;
  std::int64_t num_given_ = 0;
};

Json params_of(std::int64_t epochs, std::optional<std::int64_t> steps, Verbose verbose) {
  return Json::object({{"verbose", static_cast<int>(verbose)},
                       {"epochs", epochs},
                       {"steps", steps ? Json(*steps) : Json()}});
}

// One pass of evaluation, with the metrics begun anew.
Logs evaluate_once(Model& model, const Feed& feed, std::optional<std::int64_t> steps,
                   CallbackList& callbacks, Progress* progress) {
  TrainerState& state = model.trainer();
  model.reset_metrics();
  callbacks.on_test_begin({});
  Batches batches(feed, steps);
  batches.begin_epoch();
  Logs logs;
  std::int64_t step = 0;
  while (auto batch = batches.next()) {
    callbacks.on_test_batch_begin(step, {});
    if (step == 0) state.step_for(model, StepKind::kTest, *batch);
    logs = state.run(model, StepKind::kTest, *batch);
    batch.reset();
    callbacks.on_test_batch_end(step, logs);
    ++step;
    if (progress) progress->update(step, logs, 0);
  }
  PLIMSOLL_CHECK(step > 0, InvalidArgumentError, "evaluation of model '{}' got no batches",
                 model.name());
  callbacks.on_test_end(logs);
  if (progress) progress->end(logs, 0);
  return logs;
}

Course course_of(const FitOptions& options) {
  PLIMSOLL_CHECK(options.validation_freq > 0, InvalidArgumentError,
                 "`validation_freq` has to be positive. Received: validation_freq={}",
                 options.validation_freq);
  return {.first_epoch = options.initial_epoch,
          .end_epoch = options.epochs,
          .validation_freq = options.validation_freq};
}
// Whether any epoch ends with a validation.
bool validates(const FitOptions& options) {
  const Course course = course_of(options);
  return course.end_epoch / course.validation_freq > course.first_epoch / course.validation_freq;
}

class FitRun {
 public:
  FitRun(Model& model, TrainerState& state, const FitOptions& options, Feed training,
         std::optional<Feed> validation)
      : model_(model),
        state_(state),
        options_(options),
        training_(std::move(training)),
        validation_(std::move(validation)) {
    if (options.steps_per_epoch) {
      const std::int64_t num_epochs = options.epochs - options.initial_epoch;
      training_.goes_on = true;
      training_.num_taken = data::Use{.num_taken = *options.steps_per_epoch}
                                .taking_times(std::max<std::int64_t>(1, num_epochs))
                                .num_taken;
    }
    if (!validation_) return;
    if (options.validation_steps) validation_->num_taken = *options.validation_steps;
    // They share the room that the steps leave: caches of one stay while the other is run.
    if (training_.scope && validation_->scope) validation_->scope = training_.scope;
  }

  std::shared_ptr<History> run();
  FitPlan plan();  // makes the first batches, and no steps

 private:
  Feed* validation() { return validation_ && validates(options_) ? &*validation_ : nullptr; }
  void look_ahead(Feed& feed, Batches& batches, const char* what);
  FitPlan make_plan(Batches& batches);
  void hold_to(const FitPlan& plan, const Progress& progress, Batches& batches);
  Logs train_epoch(CallbackList& callbacks, Batches& batches, Progress& progress);

  Model& model_;
  TrainerState& state_;
  const FitOptions& options_;
  Feed training_;
  std::optional<Feed> validation_;
  std::optional<FitPlan> plan_;  // what was printed
  std::shared_ptr<History> history_ = std::make_shared<History>();
  const memory::Budget* budget_ = nullptr;
};

// The first batch of a dataset, and no more than that: a step is to have its memory first. Until it
// is known how much that is, buffers that are filled before there is a batch get half of the room.
void FitRun::look_ahead(Feed& feed, Batches& batches, const char* what) {
  memory::BudgetScopeState& scope = *feed.scope;
  const HostRoom room = room_on_host(model_, state_);
  const data::FullCaches before = kept_by(feed);
  hold_back(scope, true);
  for (const std::uint64_t limit : {room.nbytes / 2, room.nbytes}) {
    set_host_limit(scope, limit);
    try {
      const std::optional<Nested>& first = batches.peek();
      if (first) set_forms(feed, *first);
      feed.looked_at = kept_by(feed).without(before);
      return;
    } catch (const ResourceExhaustedError& error) {
      if (limit < room.nbytes) continue;
      throw ResourceExhaustedError(
          fmt::format("fit of model '{}' has no memory for the first batch of its {}: {}\n{}",
                      model_.name(), what, room.limit, error.what()));
    }
  }
}

// Makes everything that a step needs, and adds up what it will take. An empty dataset: no plan.
FitPlan FitRun::make_plan(Batches& batches) {
  Feed* const tested = validation();
  const bool trains = options_.epochs > options_.initial_epoch;
  // That which is validated with is begun anew when its turn comes, and what it holds goes first.
  if (tested && tested->scope && trains && tested->batches.node()->can_begin_again()) {
    Batches looked_at(*tested, options_.validation_steps);
    look_ahead(*tested, looked_at, "validation dataset");
  }
  if (training_.scope && trains) look_ahead(training_, batches, "dataset");
  if (training_.forms.empty()) return {};
  // Of what cannot be looked at, batches are taken for like the training's.
  if (tested && tested->forms.empty()) {
    tested->forms = {training_.forms[0]};
    tested->forms_trust = data::Trust::kAbout;
  }
  return plan_steps(model_, state_, training_, tested, course_of(options_));
}

FitPlan FitRun::plan() {
  PLIMSOLL_CHECK(!training_.scope || training_.batches.node()->can_begin_again(),
                 InvalidArgumentError,
                 "plan_fit looks at the first batch, which would be lost: it was given an iterator "
                 "that cannot be begun again");
  Batches batches(training_, options_.steps_per_epoch);
  return make_plan(batches);
}

// Says what a fit will take, and refuses if that is too much.
void FitRun::hold_to(const FitPlan& plan, const Progress& progress, Batches& batches) {
  Feed* const tested = validation();
  if (!training_.forms.empty()) {
    check_fits(model_, state_, plan, training_, tested, course_of(options_));
    plan_ = plan;
    if (!hold_to_room(model_, training_, plan.training_room_bytes)) batches.restart();
    history_->planned_peak_bytes = plan.peak_bytes;
    progress.line(plan.to_string());
  }
  for (const Feed* feed : std::initializer_list<const Feed*>{&training_, tested}) {
    if (feed && feed->scope) hold_back(*feed->scope, false);
  }
}

Logs FitRun::train_epoch(CallbackList& callbacks, Batches& batches, Progress& progress) {
  Logs logs;
  std::int64_t step = 0;
  batches.begin_epoch();
  while (auto batch = batches.next()) {
    callbacks.on_train_batch_begin(step, {});
    if (step == 0) state_.step_for(model_, StepKind::kTrain, *batch);
    logs = state_.run(model_, StepKind::kTrain, *batch);
    batch.reset();
    callbacks.on_train_batch_end(step, logs);
    ++step;
    progress.update(step, logs, budget_->peak());
    if (model_.stop_training) break;
  }
  batches.end_epoch();
  PLIMSOLL_CHECK(step > 0, InvalidArgumentError, "fit of model '{}' got no batches", model_.name());
  return logs;
}

std::shared_ptr<History> FitRun::run() {
  const Feed* const tested = validation();
  const auto steps = options_.steps_per_epoch ? options_.steps_per_epoch : training_.num_batches;
  Progress progress(options_.verbose, steps);
  Batches batches(training_, options_.steps_per_epoch);
  if (!state_.options.run_eagerly) hold_to(make_plan(batches), progress, batches);
  budget_ = &budget_of(model_);
  const_cast<memory::Budget*>(budget_)->reset_peak();
  CallbackList callbacks(options_.callbacks, history_, model_,
                         params_of(options_.epochs, steps, resolve(options_.verbose)));
  model_.stop_training = false;
  model_.first_epoch = options_.initial_epoch;
  callbacks.on_train_begin({});
  Logs logs;
  for (std::int64_t epoch = model_.first_epoch; epoch < options_.epochs; ++epoch) {
    model_.reset_metrics();
    callbacks.on_epoch_begin(epoch, {});
    progress.begin_epoch(epoch, options_.epochs);
    if (plan_) hold_to_room(model_, training_, plan_->training_room_bytes);
    logs = train_epoch(callbacks, batches, progress);
    if (tested && course_of(options_).validates_after(epoch)) {
      if (plan_) hold_to_room(model_, *tested, plan_->validation_room_bytes);
      for (const auto& [name, value] :
           evaluate_once(model_, *tested, options_.validation_steps, callbacks, nullptr))
        logs.set("val_" + name, value);
    }
    history_->measured_peak_bytes = budget_->peak();
    Logs shown = logs;
    callbacks.on_epoch_end(epoch, logs);
    progress.end(shown, budget_->peak());
    if (model_.stop_training) break;
  }
  if (state_.optimizer && options_.epochs > 0) state_.optimizer->finalize_variable_values();
  history_->measured_peak_bytes = budget_->peak();
  callbacks.on_train_end(logs);
  return history_;
}

struct Split {
  Feed training;
  std::optional<Feed> validation;
};

Split split_arrays(const Nested& x, const Nested& y, const FitOptions& options) {
  PLIMSOLL_CHECK(options.validation_split >= 0 && options.validation_split < 1,
                 InvalidArgumentError,
                 "`validation_split` has to be in [0, 1). Received: validation_split={}",
                 options.validation_split);
  FeedOptions training{.batch_size = options.batch_size,
                       .shuffle = options.shuffle,
                       .class_weight = options.class_weight};
  const std::int64_t batch = options.validation_batch_size.value_or(options.batch_size);
  Split split{feed_of_arrays(x, y, options.sample_weight, training), std::nullopt};
  if (options.validation_data) {
    split.validation =
        feed_of_arrays(options.validation_data->x, options.validation_data->y,
                       options.validation_data->sample_weight, {.batch_size = batch});
  } else if (options.validation_dataset) {
    split.validation = feed_of_dataset(*options.validation_dataset);
  } else if (options.validation_split > 0) {
    const std::int64_t all = count_rows(x);
    const auto at =
        static_cast<std::int64_t>(static_cast<double>(all) * (1 - options.validation_split));
    PLIMSOLL_CHECK(at > 0 && at < all, InvalidArgumentError,
                   "Training data contains {} samples, which is not sufficient to split it into a "
                   "validation and training set as specified by `validation_split={}`.",
                   all, options.validation_split);
    training.num_rows = at;
    split.training = feed_of_arrays(x, y, options.sample_weight, training);
    split.validation =
        feed_of_arrays(x, y, options.sample_weight, {.batch_size = batch, .first_row = at});
  }
  return split;
}

}  // namespace

std::shared_ptr<History> Model::fit(const Nested& x, const Nested& y, FitOptions options) {
  TrainerState& state = trainer();
  const Split split = split_arrays(x, y, options);
  return FitRun{*this, state, options, split.training, split.validation}.run();
}

namespace {

Split split_dataset(const data::Dataset& dataset, const FitOptions& options) {
  PLIMSOLL_CHECK(options.sample_weight.is_none() && options.validation_split == 0,
                 InvalidArgumentError,
                 "`sample_weight` and `validation_split` are not supported for datasets: give "
                 "weights as the third member of an element, and take validation data apart");
  Split split{feed_of_dataset(dataset, options.class_weight), std::nullopt};
  if (options.validation_dataset) split.validation = feed_of_dataset(*options.validation_dataset);
  if (options.validation_data)
    split.validation = feed_of_arrays(options.validation_data->x, options.validation_data->y,
                                      options.validation_data->sample_weight,
                                      {.batch_size = options.validation_batch_size.value_or(32)});
  return split;
}

}  // namespace

std::shared_ptr<History> Model::fit(const data::Dataset& dataset, FitOptions options) {
  TrainerState& state = trainer();
  const Split split = split_dataset(dataset, options);
  return FitRun{*this, state, options, split.training, split.validation}.run();
}

FitPlan Model::plan_fit(const Nested& x, const Nested& y, const FitOptions& options) {
  TrainerState& state = trainer();
  const Split split = split_arrays(x, y, options);
  return FitRun{*this, state, options, split.training, split.validation}.plan();
}
FitPlan Model::plan_fit(const data::Dataset& dataset, const FitOptions& options) {
  TrainerState& state = trainer();
  const Split split = split_dataset(dataset, options);
  return FitRun{*this, state, options, split.training, split.validation}.plan();
}

namespace {

Logs run_evaluate(Model& model, const Feed& feed, const EvaluateOptions& options) {
  model.trainer();
  const auto steps = options.steps ? options.steps : feed.num_batches;
  CallbackList callbacks(options.callbacks, nullptr, model,
                         params_of(1, steps, resolve(options.verbose)));
  Progress progress(options.verbose, steps);
  return evaluate_once(model, feed, options.steps, callbacks, &progress);
}

}  // namespace

Logs Model::evaluate(const Nested& x, const Nested& y, const EvaluateOptions& options) {
  trainer();
  return run_evaluate(
      *this, feed_of_arrays(x, y, options.sample_weight, {.batch_size = options.batch_size}),
      options);
}
Logs Model::evaluate(const data::Dataset& dataset, const EvaluateOptions& options) {
  return run_evaluate(*this, feed_of_dataset(dataset), options);
}

Logs Model::train_on_batch(const Nested& x, const Nested& y, const Nested& sample_weight,
                           const std::map<std::int64_t, double>& class_weight) {
  TrainerState& state = trainer();
  const Feed feed = feed_of_arrays(x, y, sample_weight,
                                   {.batch_size = count_rows(x), .class_weight = class_weight});
  const auto element = feed.batches.make_iterator()->next();
  PLIMSOLL_CHECK(element, InvalidArgumentError, "train_on_batch got no rows");
  const Nested batch = to_batch(*element);
  state.step_for(*this, StepKind::kTrain, batch);
  reset_metrics();
  return state.run(*this, StepKind::kTrain, batch);
}

Logs Model::test_on_batch(const Nested& x, const Nested& y, const Nested& sample_weight) {
  TrainerState& state = trainer();
  const Nested batch = Nested::List{x, y, sample_weight};
  state.step_for(*this, StepKind::kTest, batch);
  reset_metrics();
  return state.run(*this, StepKind::kTest, batch);
}

Nested Model::predict_on_batch(const Nested& x) {
  TrainerState& state = predictor_of(*this);
  const Nested batch = Nested::List{x, Nested(), Nested()};
  state.step_for(*this, StepKind::kPredict, batch);
  return state.run_predict(*this, batch);
}

}  // namespace plimsoll::keras
