// What a fit will take, before its first step.
#pragma once

#include "keras/feed.h"
#include "keras/trainer.h"

namespace plimsoll::keras {

// The epochs that are trained, and which of them end with a validation.
struct Course {
  std::int64_t first_epoch = 0, end_epoch = 1;
  std::int64_t validation_freq = 1;

  bool validates_after(std::int64_t epoch) const { return (epoch + 1) % validation_freq == 0; }
};

// Prepares the steps for every form of batch that is known, so that kernels and constants are
// there, and adds up what is held now and what the steps will take more. `kind` is what is done
// with `training`.
FitPlan plan_steps(Model& model, TrainerState& state, const Feed& training, const Feed* validation,
                   const Course& course, StepKind kind = StepKind::kTrain);

// The dataset of a feed gets so much room from now on. False: it holds more already.
bool hold_to_room(const Model& model, const Feed& feed, std::uint64_t room_bytes);

// What the host could still give under all limits, and whose limit that is.
struct HostRoom {
  std::uint64_t nbytes = 0;
  std::string limit;  // "in use 3.0 MiB of 4.0 MiB (memory_budget of compile)"
};
HostRoom room_on_host(const Model& model, const TrainerState& state);

// throws: ResourceExhaustedError that names the largest batch that fits, if the plan passes the
// budget of compile or a limit of the device.
void check_fits(Model& model, TrainerState& state, const FitPlan& plan, const Feed& training,
                const Feed* validation, const Course& course);

}  // namespace plimsoll::keras
