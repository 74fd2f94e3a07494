// Odds and ends that Keras programs use.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "plimsoll/data/dataset.h"
#include "plimsoll/tensor.h"

namespace plimsoll::keras::utils {

// Rows of zeros with a one where the class is; none: as many classes as there are.
// throws: InvalidArgumentError for a class that is out of range.
Tensor to_categorical(const Tensor& x, std::optional<std::int64_t> num_classes = {});
// x / norm, along an axis.
Tensor normalize(const Tensor& x, std::int64_t axis = -1, std::int64_t order = 2);
// Begins all random sequences anew: weights, dropout, shuffles, tf::random.
void set_random_seed(std::int64_t seed);

// Where progress bars and the messages of callbacks go. Null: to the standard output.
using Printer = void (*)(const std::string& text);
void set_printer(Printer printer) noexcept;

struct SplitOptions {
  std::optional<double> left_size = {}, right_size = {};  // a part (below 1) or a number of rows
  bool shuffle = false;
  std::optional<std::int64_t> seed = {};
};
// Rows of tensors in two datasets. throws: InvalidArgumentError.
std::pair<data::Dataset, data::Dataset> split_dataset(const data::Element& tensors,
                                                      const SplitOptions& options = {});

}  // namespace plimsoll::keras::utils
