#include "runtime/window_args.h"

#include "base/check.h"
#include "plimsoll/ops/shape.h"

namespace plimsoll {
namespace {

using Dims = std::vector<std::int64_t>;

std::string list(std::span<const std::int64_t> values) {
  return AttrValue(values.first(std::min<std::size_t>(values.size(), 16))).to_string();
}

AttrValue ints(const Dims& values) {
  return AttrValue(std::span<const std::int64_t>(values));
}

// One number a direction, out of 1, as many as there are directions, or as many as there are
// dimensions, with ones for batch and channels. Height 1 is added to a single direction.
AttrValue window_list(const nn::WindowSizes& sizes, DataFormat format, std::size_t directions,
                      std::string_view what) {
  const auto& v = sizes.values();
  const std::size_t rank = directions + 2;
  PLIMSOLL_CHECK(v.size() == 1 || v.size() == directions || v.size() == rank, InvalidArgumentError,
                 "{0} should be of length 1, {1} or {2}. Received: {0}={3} of length {4}", what,
                 directions, rank, list(v), v.size());
  Dims made = v;
  if (v.size() == 1) made.assign(directions, v[0]);
  if (v.size() == rank) {
    const bool is_last = format == DataFormat::kNhwc;
    PLIMSOLL_CHECK(v[0] == 1 && v[is_last ? rank - 1 : 1] == 1, UnimplementedError,
                   "Current implementation does not yet support {} in the batch and depth "
                   "dimensions, got {}",
                   what, list(v));
    const auto first = v.begin() + (is_last ? 1 : 2);
    made.assign(first, first + static_cast<std::ptrdiff_t>(directions));
  }
  if (directions == 1) made.insert(made.begin(), 1);
  return ints(made);
}

Dims explicit_pads(const nn::PaddingArg& padding, DataFormat format, std::size_t directions) {
  const auto& pairs = padding.pairs();
  const std::size_t rank = directions + 2;
  PLIMSOLL_CHECK(pairs.size() == rank, InvalidArgumentError,
                 "explicit padding must have a pair for each of the {} dimensions, got {}", rank,
                 pairs.size());
  const std::size_t first = format == DataFormat::kNhwc ? 1 : 2;
  const std::size_t c = format == DataFormat::kNhwc ? rank - 1 : 1;
  const std::pair<std::int64_t, std::int64_t> none{0, 0};
  PLIMSOLL_CHECK(pairs[0] == none && pairs[c] == none, InvalidArgumentError,
                 "Nonzero explicit padding in the batch or depth dimensions is not supported: "
                 "({}, {}) and ({}, {})",
                 pairs[0].first, pairs[0].second, pairs[c].first, pairs[c].second);
  Dims pads;
  if (directions == 1) pads = {0, 0};
  for (std::size_t i = first; i < first + directions; ++i)
    pads.insert(pads.end(), {pairs[i].first, pairs[i].second});
  return pads;
}

}  // namespace

DataFormat parse_data_format(std::string_view data_format, Directions directions) {
  constexpr std::string_view kNames[][2] = {{"NWC", "NCW"}, {"NHWC", "NCHW"}, {"NDHWC", "NCDHW"}};
  const auto& names = kNames[static_cast<int>(directions) - 1];
  PLIMSOLL_CHECK(data_format == names[0] || data_format == names[1], InvalidArgumentError,
                 "Value for attr 'data_format' of \"{}\" is not in the list of allowed values: "
                 "\"{}\", \"{}\"",
                 data_format, names[0], names[1]);
  return data_format == names[0] ? DataFormat::kNhwc : DataFormat::kNchw;
}

Attrs window_attrs(const nn::WindowSizes& strides, const nn::PaddingArg& padding,
                   std::string_view data_format, const nn::WindowSizes& last,
                   std::string_view last_name, Directions directions) {
  const DataFormat format = parse_data_format(data_format, directions);
  const auto count = static_cast<std::size_t>(directions);
  Padding kind = Padding::kExplicit;
  Dims pads;
  if (padding.name() == "SAME" || padding.name() == "same") {
    kind = Padding::kSame;
  } else if (padding.name() == "VALID" || padding.name() == "valid") {
    kind = Padding::kValid;
  } else {
    PLIMSOLL_CHECK(padding.name().empty(), InvalidArgumentError,
                   "Value for attr 'padding' of \"{}\" is not in the list of allowed values: "
                   "\"SAME\", \"VALID\", \"EXPLICIT\"",
                   padding.name());
    pads = explicit_pads(padding, format, count);
  }
  return {window_list(strides, format, count, "strides"), static_cast<std::int64_t>(kind),
          ints(pads), window_list(last, format, count, last_name),
          static_cast<std::int64_t>(format)};
}

Tensor as_image(const Tensor& t, std::string_view data_format, std::string_view what) {
  PLIMSOLL_CHECK(t.is_valid(), InvalidArgumentError, "{} got an empty Tensor", what);
  PLIMSOLL_CHECK(t.rank() == 3, InvalidArgumentError, "{} needs an input of rank 3, got {}", what,
                 t.shape().to_string());
  return expand_dims(t,
                     parse_data_format(data_format, Directions::k1) == DataFormat::kNhwc ? 1 : 2);
}
Tensor from_image(const Tensor& t, std::string_view data_format) {
  return squeeze(t, {parse_data_format(data_format, Directions::k1) == DataFormat::kNhwc ? 1 : 2});
}

}  // namespace plimsoll
