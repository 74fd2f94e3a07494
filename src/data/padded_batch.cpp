// Batches of elements whose shapes differ.
#include <algorithm>
#include <deque>
#include <numeric>

#include "base/check.h"
#include "data/node.h"
#include "data/retry.h"
#include "plimsoll/ops.h"
#include "runtime/string_builder.h"

namespace plimsoll::data {
namespace {

// The shape that all have room in. throws: InvalidArgumentError; DataLossError if it is too small.
std::vector<std::int64_t> common_shape(std::span<const Tensor> tensors,
                                       const std::vector<std::int64_t>* wanted, std::size_t leaf) {
  const int rank = tensors[0].rank();
  PLIMSOLL_CHECK(
      !wanted || static_cast<int>(wanted->size()) == rank, InvalidArgumentError,
      "All elements in a batch must have the same rank as the padded shape for component "
      "{}: expected rank {} but got element with rank {}",
      leaf, wanted->size(), rank);
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), 0);
  for (const Tensor& t : tensors) {
    PLIMSOLL_CHECK(t.rank() == rank && t.dtype() == tensors[0].dtype(), InvalidArgumentError,
                   "All elements in a batch must have the same rank as the padded shape for "
                   "component {}: expected rank {} but got element with rank {}",
                   leaf, rank, t.rank());
    for (int i = 0; i < rank; ++i) {
      auto& dim = dims[static_cast<std::size_t>(i)];
      dim = std::max(dim, t.shape()[i]);
    }
  }
  for (std::size_t i = 0; wanted && i < dims.size(); ++i) {
    if ((*wanted)[i] < 0) continue;
    PLIMSOLL_CHECK(dims[i] <= (*wanted)[i], DataLossError,
                   "Attempted to pad to a smaller size than the input element: component {} has "
                   "size {} in dimension {}, and {} was asked for",
                   leaf, dims[i], i, (*wanted)[i]);
    dims[i] = (*wanted)[i];
  }
  return dims;
}

// The same strings in a larger shape, `text` in what is new.
Tensor padded_strings(const Tensor& t, const std::vector<std::int64_t>& dims,
                      std::string_view text) {
  const Shape shape{std::span<const std::int64_t>(dims)};
  const std::span<const std::string> from = strings_of(t, "padded_batch");
  StringBuilder made(static_cast<std::size_t>(shape.num_elements()), batch_owner());
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    std::int64_t rest = i, at = 0, stride = 1;
    bool is_there = true;
    for (int axis = t.rank() - 1; axis >= 0; --axis) {
      const std::int64_t along = rest % shape[axis];
      is_there = is_there && along < t.shape()[axis];
      at += along * stride;
      rest /= shape[axis];
      stride *= t.shape()[axis];
    }
    made.add_copy(is_there ? std::string_view(from[static_cast<std::size_t>(at)]) : text);
  }
  return made.finish(shape);
}

// Of one value for all tensors, or one for each.
template <class T>
T value_of(const std::vector<T>& values, std::size_t leaf) {
  return values.empty() ? T() : values.size() == 1 ? values[0] : values[leaf];
}

Tensor padded(const Tensor& t, const std::vector<std::int64_t>& dims, double value,
              std::string_view text) {
  Paddings paddings;
  bool is_needed = false;
  for (int i = 0; i < t.rank(); ++i) {
    const std::int64_t more = dims[static_cast<std::size_t>(i)] - t.shape()[i];
    paddings.emplace_back(0, more);
    is_needed = is_needed || more > 0;
  }
  if (!is_needed) return t;
  if (t.dtype() == DType::kString) return padded_strings(t, dims, text);
  return pad(t, paddings, "CONSTANT", value);
}

}  // namespace

Element pad_elements(std::span<const Element> elements, const PaddedBatchOptions& options) {
  std::vector<std::vector<Tensor>> parts;  // by leaf
  for (const Element& element : elements) {
    const std::vector<Tensor> leaves = element.flatten();
    if (parts.empty()) parts.resize(leaves.size());
    PLIMSOLL_CHECK(leaves.size() == parts.size(), InvalidArgumentError,
                   "Cannot batch elements of {} and of {} tensors", parts.size(), leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) parts[i].push_back(leaves[i]);
  }
  PLIMSOLL_CHECK(options.padded_shapes.empty() || options.padded_shapes.size() == parts.size(),
                 InvalidArgumentError, "padded_shapes has {} shapes for elements of {} tensors",
                 options.padded_shapes.size(), parts.size());
  PLIMSOLL_CHECK(
      (options.padding_values.size() <= 1 || options.padding_values.size() == parts.size()) &&
          (options.padding_texts.size() <= 1 || options.padding_texts.size() == parts.size()),
      InvalidArgumentError, "padding_values has {} values for elements of {} tensors",
      options.padding_values.size(), parts.size());
  std::size_t leaf = 0;
  return elements[0].map([&](const Tensor&) {
    const auto* wanted = options.padded_shapes.empty() ? nullptr : &options.padded_shapes[leaf];
    const double value = value_of(options.padding_values, leaf);
    const std::string text = value_of(options.padding_texts, leaf);
    const auto dims = common_shape(parts[leaf], wanted, leaf);
    std::vector<Tensor> rows;
    for (const Tensor& t : parts[leaf]) rows.push_back(padded(t, dims, value, text));
    ++leaf;
    return stack_rows(rows);
  });
}

Dataset Dataset::padded_batch(std::int64_t batch_size, const PaddedBatchOptions& options) const {
  PLIMSOLL_CHECK(batch_size > 0, InvalidArgumentError,
                 "`batch_size` must be greater than zero. Received: {}", batch_size);
  const auto run = [in = *this, batch_size, options] {
    return make_run([run = std::shared_ptr<Iterator>(in.make_iterator()), batch_size, options,
                     elements = std::vector<Element>()]() mutable -> std::optional<Element> {
      while (static_cast<std::int64_t>(elements.size()) < batch_size) {
        auto element = run->next();
        if (!element) break;
        elements.push_back(std::move(*element));
      }
      const bool is_short = static_cast<std::int64_t>(elements.size()) < batch_size;
      if (elements.empty() || (is_short && options.drop_remainder)) return std::nullopt;
      Element batch =
          call_or_drop([&] { return pad_elements(elements, options); }, [&] { elements.clear(); });
      elements.clear();
      return batch;
    });
  };
  const auto count = [in = *this, batch_size, drop = options.drop_remainder] {
    const std::int64_t n = in.cardinality();
    if (n < 0) return n;
    return drop ? n / batch_size : (n + batch_size - 1) / batch_size;
  };
  const auto holds = [in = *this, batch_size](const Use& use, std::uint64_t seen) {
    Holds made = collected(in.node()->holds(use.taking_times(batch_size)),
                           static_cast<std::uint64_t>(batch_size), seen);
    made.trust = Trust::kAbout;  // lengths differ
    return made;
  };
  return make_step({.run = run, .count = count, .from = {*this}, .holds = holds});
}

namespace {

// Elements wait by length until as many are there as make a batch.
class BucketRun : public Iterator {
 public:
  BucketRun(std::unique_ptr<Iterator> in, std::function<std::int64_t(const Element&)> length,
            const BucketOptions& options)
      : in_(std::move(in)),
        length_(std::move(length)),
        options_(options),
        waiting_(options.bucket_batch_sizes.size()) {}

  std::optional<Element> next() override {
    while (true) {
      for (std::size_t bucket = 0; bucket < waiting_.size(); ++bucket) {
        const auto size = static_cast<std::int64_t>(waiting_[bucket].size());
        if (size == options_.bucket_batch_sizes[bucket]) return take_or_drop(bucket);
      }
      if (!next_) next_ = in_->next();
      if (!next_) break;
      const std::size_t bucket =
          call_or_drop([&] { return bucket_of(length_(*next_)); }, [&] { next_.reset(); });
      waiting_[bucket].push_back(std::move(*next_));
      next_.reset();  // not before: without memory for its length it waits for another try
    }
    for (std::size_t bucket = 0; bucket < waiting_.size(); ++bucket) {
      if (!waiting_[bucket].empty() && !options_.padding.drop_remainder)
        return take_or_drop(bucket);
    }
    return std::nullopt;
  }

 private:
  std::size_t bucket_of(std::int64_t length) const {
    const auto& bounds = options_.bucket_boundaries;
    return static_cast<std::size_t>(std::ranges::upper_bound(bounds, length) - bounds.begin());
  }
  Element take_or_drop(std::size_t bucket) {
    Element batch =
        call_or_drop([&] { return batch_of(bucket); }, [&] { waiting_[bucket].clear(); });
    waiting_[bucket].clear();
    return batch;
  }
  Element batch_of(std::size_t bucket) const {
    const std::vector<Element>& elements = waiting_[bucket];
    PaddedBatchOptions padding = options_.padding;
    if (options_.pad_to_bucket_boundary) {
      PLIMSOLL_CHECK(bucket < options_.bucket_boundaries.size(), InvalidArgumentError,
                     "When pad_to_bucket_boundary=True, elements must have length < {}",
                     options_.bucket_boundaries.back());
      const std::int64_t longest = options_.bucket_boundaries[bucket] - 1;
      if (padding.padded_shapes.empty()) {
        for (const Tensor& t : elements[0].flatten())
          padding.padded_shapes.emplace_back(static_cast<std::size_t>(t.rank()), -1);
      }
      for (auto& shape : padding.padded_shapes) std::ranges::replace(shape, -1, longest);
    }
    return pad_elements(elements, padding);
  }

  const std::unique_ptr<Iterator> in_;
  const std::function<std::int64_t(const Element&)> length_;
  const BucketOptions options_;
  std::optional<Element> next_;
  std::vector<std::vector<Element>> waiting_;  // by bucket
};

}  // namespace

Dataset Dataset::bucket_by_sequence_length(std::function<std::int64_t(const Element&)> length,
                                           const BucketOptions& options) const {
  PLIMSOLL_CHECK(length, InvalidArgumentError, "bucket_by_sequence_length needs a function");
  PLIMSOLL_CHECK(options.bucket_batch_sizes.size() == options.bucket_boundaries.size() + 1,
                 InvalidArgumentError,
                 "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                 "`len(bucket_batch_sizes)={}` and `len(bucket_boundaries)={}`.",
                 options.bucket_batch_sizes.size(), options.bucket_boundaries.size());
  PLIMSOLL_CHECK(std::ranges::is_sorted(options.bucket_boundaries) &&
                     std::ranges::all_of(options.bucket_batch_sizes, [](auto n) { return n > 0; }),
                 InvalidArgumentError,
                 "bucket_boundaries have to grow, and bucket_batch_sizes to be positive");
  // Every bucket but one may be full but for an element.
  const auto holds = [in = *this, options](const Use& use, std::uint64_t seen) {
    const auto all = std::accumulate(options.bucket_batch_sizes.begin(),
                                     options.bucket_batch_sizes.end(), std::int64_t{0});
    const Holds before = in.node()->holds(use.taking_all());
    Holds made = collected(before, static_cast<std::uint64_t>(all), seen);
    made.kept += static_cast<std::uint64_t>(all) * before.owned;
    made.trust = Trust::kAbout;
    return made;
  };
  return make_step({.run =
                        [in = *this, length, options] {
                          return std::make_unique<BucketRun>(in.make_iterator(), length, options);
                        },
                    .from = {*this},
                    .holds = holds});
}

}  // namespace plimsoll::data
