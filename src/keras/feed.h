// Where fit, evaluate and predict have their batches from: arrays, of which rows are taken, or a
// dataset.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "data/holds.h"
#include "plimsoll/data/dataset.h"
#include "plimsoll/keras/keras_tensor.h"
#include "plimsoll/tensor_spec.h"
#include "runtime/budget_scope.h"

namespace plimsoll::keras {

struct Feed {
  data::Dataset batches;
  std::optional<std::int64_t> num_batches;  // in an epoch, where it is known
  // Batches as they will come, as KerasTensors: the full ones, and the last one if it is smaller.
  // Empty for a dataset, whose first batch tells.
  std::vector<Nested> forms;
  data::Trust forms_trust = data::Trust::kExact;  // exact: all come; most: no others do
  bool are_forms_in_order = true;  // all batches of one form come before those of the next
  std::int64_t num_rows = -1;      // of arrays
  // Of a dataset: what it makes is booked here, so that it can be held to the room beside a step.
  BudgetScopePtr scope = {};
  bool goes_on = false;                 // an epoch begins where the last one ended
  std::int64_t num_taken = data::kAll;  // batches of a run; kAll: until its end has come
  data::FullCaches looked_at = {};      // what the look at the first batch has left behind
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
// Elements are x, {x, y} or {x, y, sample_weight}. memory: counts against the scope that the caller
// is in, also in threads.
Feed feed_of_dataset(const data::Dataset& dataset,
                     const std::map<std::int64_t, double>& class_weight = {});

// A form with so many rows.
Nested with_rows(const Nested& form, std::int64_t num_rows);

// {x, y, sample_weight} of a batch.
Nested to_batch(const data::Element& element);

// The forms of a feed's batches, after that of the first one: with as many rows as the number of
// elements says.
void set_forms(Feed& feed, const Nested& first);

// How many rows the arrays have.
std::int64_t count_rows(const Nested& x);

}  // namespace plimsoll::keras
