// Where fit, evaluate and predict have their batches from: arrays, of which rows are taken, or a
// dataset.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "plimsoll/data/dataset.h"
#include "plimsoll/keras/keras_tensor.h"
#include "plimsoll/tensor_spec.h"

namespace plimsoll::keras {

struct Feed {
  data::Dataset batches;
  std::optional<std::int64_t> num_batches;  // in an epoch, where it is known
  // Batches as they will come, as KerasTensors: the full ones, and the last one if it is smaller.
  // Empty for a dataset, whose first batch tells.
  std::vector<Nested> forms;
  std::int64_t num_rows = -1;       // of arrays
  std::uint64_t shuffle_bytes = 0;  // row numbers, while it runs
};

struct FeedOptions {
  std::int64_t batch_size = 32;
  bool shuffle = false;
  std::map<std::int64_t, double> class_weight = {};
  std::int64_t first_row = 0, num_rows = -1;  // of arrays: a part of them; -1: to the end
};

// throws: InvalidArgumentError if the arrays have not as many rows, in Keras's words.
Feed feed_of_arrays(const Nested& x, const Nested& y, const Nested& sample_weight,
                    const FeedOptions& options);
// Elements are x, {x, y} or {x, y, sample_weight}.
Feed feed_of_dataset(const data::Dataset& dataset,
                     const std::map<std::int64_t, double>& class_weight = {});

// {x, y, sample_weight} of a batch.
Nested to_batch(const data::Element& element);

// How many rows the arrays have.
std::int64_t count_rows(const Nested& x);

}  // namespace plimsoll::keras
