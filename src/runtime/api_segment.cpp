#include "ops/segment_scale.h"

#include <algorithm>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/shape_values.h"

namespace plimsoll::math {
namespace {

void check_valid(const Tensor& a, const Tensor& b, const char* what) {
  PLIMSOLL_CHECK(a.is_valid() && b.is_valid(), InvalidArgumentError, "{} of an empty Tensor", what);
}

// How many segments sorted ids have: the last one says it.
std::int64_t num_sorted(const Tensor& data, const Tensor& ids, const char* name) {
  check_valid(data, ids, name);
  PLIMSOLL_CHECK(ids.rank() == 1, InvalidArgumentError,
                 "segment_ids should be a vector, got shape {} [Op:{}]", ids.shape().to_string(),
                 name);
  const std::int64_t num_ids = ids.num_elements();
  if (num_ids == 0) return 0;
  const std::int64_t last = known_int(reshape(slice(ids, {num_ids - 1}, {1}), {}), name,
                                      "Use its unsorted form, which is given num_segments");
  // A last id that is negative is for the kernel to name.
  return std::max<std::int64_t>(last, 0) + 1;
}

Tensor sum_of(const Tensor& data, const Tensor& ids, std::int64_t num_segments, bool sorted,
              SegmentScale scale) {
  return call(OpId::SegmentSum, {data, ids},
              {num_segments, sorted, static_cast<std::int64_t>(scale)});
}

}  // namespace

Tensor segment_sum(const Tensor& data, const Tensor& segment_ids) {
  return sum_of(data, segment_ids, num_sorted(data, segment_ids, "segment_sum"), true,
                SegmentScale::kNone);
}
Tensor segment_mean(const Tensor& data, const Tensor& segment_ids) {
  const std::int64_t num_segments = num_sorted(data, segment_ids, "segment_mean");
  // The sum of small integers does not fit into their type.
  const bool is_small = is_integer(data.dtype()) && data.dtype() != int64;
  const Tensor mean = sum_of(is_small ? cast(data, int64) : data, segment_ids, num_segments, true,
                             SegmentScale::kCount);
  return is_small ? cast(mean, data.dtype()) : mean;
}
Tensor segment_max(const Tensor& data, const Tensor& segment_ids) {
  return call(OpId::SegmentMax, {data, segment_ids},
              {num_sorted(data, segment_ids, "segment_max"), true});
}
Tensor segment_min(const Tensor& data, const Tensor& segment_ids) {
  return call(OpId::SegmentMin, {data, segment_ids},
              {num_sorted(data, segment_ids, "segment_min"), true});
}
Tensor segment_prod(const Tensor& data, const Tensor& segment_ids) {
  return call(OpId::SegmentProd, {data, segment_ids},
              {num_sorted(data, segment_ids, "segment_prod"), true});
}

Tensor unsorted_segment_sum(const Tensor& data, const Tensor& segment_ids,
                            std::int64_t num_segments) {
  return sum_of(data, segment_ids, num_segments, false, SegmentScale::kNone);
}
Tensor unsorted_segment_mean(const Tensor& data, const Tensor& segment_ids,
                             std::int64_t num_segments) {
  check_valid(data, segment_ids, "unsorted_segment_mean");
  return sum_of(is_integer(data.dtype()) ? cast(data, float64) : data, segment_ids, num_segments,
                false, SegmentScale::kCount);
}
Tensor unsorted_segment_sqrt_n(const Tensor& data, const Tensor& segment_ids,
                               std::int64_t num_segments) {
  return sum_of(data, segment_ids, num_segments, false, SegmentScale::kSqrtCount);
}
Tensor unsorted_segment_max(const Tensor& data, const Tensor& segment_ids,
                            std::int64_t num_segments) {
  return call(OpId::SegmentMax, {data, segment_ids}, {num_segments, false});
}
Tensor unsorted_segment_min(const Tensor& data, const Tensor& segment_ids,
                            std::int64_t num_segments) {
  return call(OpId::SegmentMin, {data, segment_ids}, {num_segments, false});
}
Tensor unsorted_segment_prod(const Tensor& data, const Tensor& segment_ids,
                             std::int64_t num_segments) {
  return call(OpId::SegmentProd, {data, segment_ids}, {num_segments, false});
}

Tensor bincount(const Tensor& arr, const BincountOptions& options) {
  PLIMSOLL_CHECK(arr.is_valid() && is_integer(arr.dtype()), InvalidArgumentError,
                 "bincount needs integers, got {}",
                 arr.is_valid() ? dtype_word(arr.dtype()) : "an empty Tensor");
  PLIMSOLL_CHECK(!options.axis || *options.axis == 0 || *options.axis == -1, InvalidArgumentError,
                 "Unsupported value for argument axis={}. Only 0 and -1 are currently supported.",
                 *options.axis);
  PLIMSOLL_CHECK(!options.weights.is_valid() || !options.binary_output, InvalidArgumentError,
                 "Arguments `binary_output` and `weights` are mutually exclusive. Please specify "
                 "only one.");
  for (const auto& length : {options.minlength, options.maxlength}) {
    PLIMSOLL_CHECK(!length || *length >= 0, InvalidArgumentError,
                   "bincount: minlength and maxlength must be >= 0, got {}", *length);
  }
  const bool by_row = options.axis == -1 && arr.rank() != 1;
  const auto flat = [&](const Tensor& t) { return by_row ? t : reshape(t, {-1}); };
  Tensor values = flat(arr);
  if (values.dtype() != int64) values = cast(values, int32);
  std::int64_t size = options.minlength.value_or(0);
  if (!options.maxlength || *options.maxlength > size) {
    if (values.num_elements() > 0) {
      const std::int64_t largest =
          known_int(reduce_max(values), "bincount", "Give minlength and maxlength of one value");
      size = std::max(size, largest == INT64_MAX ? largest : largest + 1);
    }
  }
  size = std::min(size, options.maxlength.value_or(size));
  if (!options.weights.is_valid())
    return call(OpId::Bincount, {values}, {size, options.dtype, options.binary_output});
  return call(OpId::Bincount, {values, flat(options.weights)},
              {size, options.weights.dtype(), false});
}

}  // namespace plimsoll::math
