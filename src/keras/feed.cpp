#include "keras/feed.h"

#include <algorithm>

#include "base/check.h"
#include "data/node.h"
#include "keras/backend.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {
namespace {

data::Element to_element(const Nested& values) {
  return values.map([](const Value& v) { return v.tensor(); });
}
Nested to_nested(const data::Element& element) {
  return element.map([](const Tensor& t) { return Value(t); });
}

// A weight for each row by its class: labels are numbers, or rows of which the largest counts.
Tensor weights_by_class(const Nested& y, const std::map<std::int64_t, double>& class_weight) {
  PLIMSOLL_CHECK(y.is_leaf(), InvalidArgumentError,
                 "`class_weight` is only supported for Models with a single output.");
  Tensor labels = y.leaf().tensor();
  if (labels.rank() > 1 && labels.shape()[labels.rank() - 1] > 1) {
    labels = argmax(labels, -1);
  } else if (labels.rank() > 1) {
    labels = squeeze(labels, {-1});
  }
  PLIMSOLL_CHECK(labels.rank() == 1, InvalidArgumentError,
                 "`class_weight` is not supported for labels of shape {}",
                 PartialShape(y.leaf().tensor().shape()).to_string());
  std::int64_t last = 0;
  for (const auto& [number, weight] : class_weight) {
    PLIMSOLL_CHECK(number >= 0, InvalidArgumentError, "`class_weight` has a class {}", number);
    last = std::max(last, number);
  }
  std::vector<float> by_class(static_cast<std::size_t>(last) + 1, 1.0F);
  for (const auto& [number, weight] : class_weight)
    by_class[static_cast<std::size_t>(number)] = static_cast<float>(weight);
  by_class.push_back(1.0F);  // for all classes beyond
  const Tensor at = minimum(cast(labels, int64), constant(last + 1));
  return gather(constant(std::span<const float>(by_class), {last + 2}), at);
}

Nested with_class_weight(const Nested& y, const Nested& sample_weight,
                         const std::map<std::int64_t, double>& class_weight) {
  if (class_weight.empty()) return sample_weight;
  PLIMSOLL_CHECK(sample_weight.is_none(), InvalidArgumentError,
                 "You cannot `class_weight` and `sample_weight` at the same time.");
  return weights_by_class(y, class_weight);
}

// As a batch of so many rows looks: data in double precision comes in single, as in Keras.
Nested form_of(const Nested& batch, std::int64_t num_rows) {
  return batch.map([&](const Value& v) {
    PartialShape shape = v.shape();
    shape[0] = num_rows;
    const DType dtype = v.dtype() == float64 ? float32 : v.dtype();
    return Value(KerasTensor(std::move(shape), dtype, "batch"));
  });
}

}  // namespace

std::int64_t count_rows(const Nested& x) {
  std::int64_t num = -1;
  x.for_each([&](const Value& v) {
    const Tensor& t = v.tensor();
    PLIMSOLL_CHECK(t.is_valid() && t.rank() > 0, InvalidArgumentError,
                   "data has to have rows, received a tensor of shape {}",
                   t.is_valid() ? t.shape().to_string() : "none");
    if (num < 0) num = t.shape()[0];
  });
  PLIMSOLL_CHECK(num >= 0, InvalidArgumentError, "data `x` has no tensors");
  return num;
}

Feed feed_of_arrays(const Nested& x, const Nested& y, const Nested& sample_weight,
                    const FeedOptions& options) {
  PLIMSOLL_CHECK(options.batch_size > 0, InvalidArgumentError,
                 "`batch_size` must be a positive integer. Received: batch_size={}",
                 options.batch_size);
  const std::int64_t all = count_rows(x);
  const auto check = [&](const Nested& values, const char* what) {
    values.for_each([&](const Value& v) {
      const Tensor& t = v.tensor();
      PLIMSOLL_CHECK(t.is_valid() && t.rank() > 0 && t.shape()[0] == all, InvalidArgumentError,
                     "Data cardinality is ambiguous. Make sure all arrays contain the same number "
                     "of samples. x has {}, '{}' has shape {}",
                     all, what, t.is_valid() ? t.shape().to_string() : "none");
    });
  };
  check(x, "x");
  check(y, "y");
  check(sample_weight, "sample_weight");
  const Nested weights = with_class_weight(y, sample_weight, options.class_weight);
  const Nested batch = Nested::List{x, y, weights};
  const std::int64_t num =
      options.num_rows < 0 ? std::max<std::int64_t>(0, all - options.first_row) : options.num_rows;
  data::Dataset rows = data::slices_as_floats(to_element(batch));
  if (options.first_row > 0) rows = rows.skip(options.first_row);
  if (num != all) rows = rows.take(num);
  if (options.shuffle && num > 1) rows = rows.shuffle(num, {.seed = make_default_seed()});
  Feed feed{.batches = rows.batch(options.batch_size),
            .num_batches = (num + options.batch_size - 1) / options.batch_size,
            .forms = {},
            .num_rows = num};
  const std::int64_t full = std::min(num, options.batch_size);
  if (full > 0) feed.forms.push_back(form_of(batch, full));
  const std::int64_t rest = num % options.batch_size;
  if (full == options.batch_size && rest > 0) feed.forms.push_back(form_of(batch, rest));
  return feed;
}

Feed feed_of_dataset(const data::Dataset& dataset,
                     const std::map<std::int64_t, double>& class_weight) {
  data::Dataset batches = dataset;
  if (!class_weight.empty()) {
    batches = dataset.map([class_weight](const data::Element& element) {
      const Nested batch = to_batch(element);
      return to_element(
          Nested::List{batch[0], batch[1], with_class_weight(batch[1], batch[2], class_weight)});
    });
  }
  Feed feed{.batches = batches, .num_batches = {}, .forms = {}};
  feed.scope = make_work_scope(memory::kNoLimit, "what fit leaves to the dataset");
  if (const std::int64_t num = dataset.cardinality(); num >= 0) feed.num_batches = num;
  return feed;
}

Nested with_rows(const Nested& form, std::int64_t num_rows) {
  return form.map([&](const Value& v) {
    PartialShape shape = v.shape();
    shape[0] = num_rows;
    return Value(KerasTensor(std::move(shape), v.dtype(), "batch"));
  });
}

void set_forms(Feed& feed, const Nested& first) {
  const Nested form =
      first.map([](const Value& v) { return Value(KerasTensor(v.shape(), v.dtype(), "batch")); });
  const data::BatchRows batches = feed.batches.node()->batch_rows();
  const std::vector<Value> leaves = form.flatten();
  // Functions behind a batch may have made something else of it.
  const bool are_known = !leaves.empty() && std::ranges::all_of(leaves, [&](const Value& v) {
    return v.shape().rank() > 0 && v.shape()[0] == leaves[0].shape()[0] &&
           std::ranges::count(batches.rows, v.shape()[0]) > 0;
  });
  if (!are_known) {
    feed.forms = {form};
    feed.forms_trust = feed.batches.cardinality() == 1 ? data::Trust::kExact : data::Trust::kAbout;
    return;
  }
  feed.forms.clear();
  for (const std::int64_t num_rows : batches.rows) feed.forms.push_back(with_rows(form, num_rows));
  // A run that is taken a part of may be begun anew in the middle of an epoch.
  const bool is_all = feed.num_taken == data::kAll;
  const data::BatchRows taken = is_all ? batches : batches.in_any_order();
  // What steps hold was seen with the first batch, and would be more with a larger one.
  const bool is_largest = std::ranges::max(batches.rows) == leaves[0].shape()[0];
  feed.forms_trust = is_largest ? taken.trust : data::Trust::kAbout;
  feed.are_forms_in_order = taken.are_in_order;
}

Nested to_batch(const data::Element& element) {
  Nested::List parts;
  if (element.is_list() && element.size() <= 3) {
    for (const data::Element& part : element.list()) parts.push_back(to_nested(part));
  } else {
    parts.push_back(to_nested(element));
  }
  parts.resize(3);
  return parts;
}

}  // namespace plimsoll::keras
