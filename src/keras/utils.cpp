#include "plimsoll/keras/utils.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "keras/backend.h"
#include "keras/names.h"
#include "plimsoll/keras/model.h"
#include "plimsoll/memory_api.h"
#include "plimsoll/ops.h"

namespace plimsoll::keras {

ModelPtr clone_model(const Model& model) {
  auto made = std::dynamic_pointer_cast<Model>(Layer::get(serialize_keras_object(&model)));
  PLIMSOLL_CHECK(made, InvalidArgumentError, "'{}' is no model that can be cloned", model.name());
  return made;
}

void clear_session() {
  forget_names();
  memory::trim();
}

namespace utils {

Tensor to_categorical(const Tensor& x, std::optional<std::int64_t> num_classes) {
  Tensor labels = cast(x, int64);
  if (labels.rank() > 1 && labels.shape()[labels.rank() - 1] == 1) labels = squeeze(labels, {-1});
  const std::vector<std::int64_t> values = labels.to_vector<std::int64_t>();
  const auto [low, high] = std::ranges::minmax_element(values);
  const std::int64_t largest = values.empty() ? -1 : *high;
  const std::int64_t depth = num_classes.value_or(largest + 1);
  PLIMSOLL_CHECK(values.empty() || (*low >= 0 && largest < depth), InvalidArgumentError,
                 "to_categorical got class {}, which is not in [0, {})",
                 values.empty() ? 0 : (*low < 0 ? *low : largest), depth);
  return one_hot(labels, depth);
}

Tensor normalize(const Tensor& x, std::int64_t axis, std::int64_t order) {
  PLIMSOLL_CHECK(order >= 1, InvalidArgumentError,
                 "Argument `order` must be an int >= 1. Received: order={}", order);
  if (order == 2) return math::l2_normalize(x, {axis});
  const Tensor powers = pow(abs(x), fill(Shape(), static_cast<double>(order), x.dtype()));
  const Tensor norm = pow(reduce_sum(powers, {axis}, true),
                          fill(Shape(), 1.0 / static_cast<double>(order), x.dtype()));
  return x / maximum(norm, fill(Shape(), kEpsilon, x.dtype()));
}

void set_random_seed(std::int64_t seed) {
  seed_everything(seed);
}

std::pair<data::Dataset, data::Dataset> split_dataset(const data::Element& tensors,
                                                      const SplitOptions& options) {
  data::Dataset rows = data::Dataset::from_tensor_slices(tensors);
  const std::int64_t all = rows.cardinality();
  PLIMSOLL_CHECK(options.left_size || options.right_size, InvalidArgumentError,
                 "At least one of the `left_size` or `right_size` must be specified.");
  const auto count = [&](double size, const char* what) {
    const double rows_of = size < 1 ? std::round(size * static_cast<double>(all)) : size;
    PLIMSOLL_CHECK(size > 0 && rows_of <= static_cast<double>(all), InvalidArgumentError,
                   "`{}` has to be a part in (0, 1) or a number of at most {} rows. Received: {}",
                   what, all, size);
    return static_cast<std::int64_t>(rows_of);
  };
  const std::int64_t left = options.left_size ? count(*options.left_size, "left_size")
                                              : all - count(*options.right_size, "right_size");
  const std::int64_t right =
      options.right_size ? count(*options.right_size, "right_size") : all - left;
  PLIMSOLL_CHECK(left + right <= all, InvalidArgumentError,
                 "the sum of `left_size` and `right_size` is {} rows, and there are {}",
                 left + right, all);
  if (options.shuffle)
    rows = rows.shuffle(all, {.seed = options.seed ? *options.seed : make_default_seed(),
                              .reshuffle_each_iteration = false});
  return {rows.take(left), rows.skip(left).take(right)};
}

}  // namespace utils
}  // namespace plimsoll::keras
