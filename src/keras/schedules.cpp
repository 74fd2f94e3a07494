#include "plimsoll/keras/schedules.h"

#include "keras/registry.h"

namespace plimsoll::keras {

std::shared_ptr<LearningRateSchedule> LearningRateSchedule::get(const Json& identifier) {
  return make_object_of<LearningRateSchedule>(identifier, {}, "learning rate schedule");
}

}  // namespace plimsoll::keras
