// Rows, and a model that is trained on them, for the tests of fit on datasets.
#pragma once

#include <string>

#include "plimsoll/data/dataset.h"
#include "plimsoll/keras.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

constexpr std::int64_t kWidth = 512;  // floats of a row

inline data::Dataset rows(std::int64_t num) {
  return data::Dataset::from_tensor_slices(
      {random::stateless_normal({num, kWidth}, {1, 2}), zeros({num, 1})});
}

inline Sequential make_model(const std::string& memory_budget = "") {
  Sequential model({Input({kWidth}), layers::Dense({.units = 32, .activation = "relu"}),
                    layers::Dense({.units = 1})});
  model->compile({.optimizer = "sgd", .loss = "mse", .memory_budget = memory_budget});
  return model;
}

inline FitOptions silent(std::int64_t epochs = 2) {
  return {.epochs = epochs, .verbose = Verbose::kSilent};
}

}  // namespace plimsoll::keras
