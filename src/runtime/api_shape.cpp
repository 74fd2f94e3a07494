#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/shape_values.h"

namespace plimsoll {
namespace {

using Ints = std::span<const std::int64_t>;

void check_valid(const Tensor& tensor, const char* what) {
  PLIMSOLL_CHECK(tensor.is_valid(), InvalidArgumentError, "{} of an empty Tensor", what);
}
std::vector<std::int64_t> dims_of(const Tensor& t) {
  return {t.shape().dims().begin(), t.shape().dims().end()};
}
// An axis of `rank` dimensions, with the words of stack and unstack.
std::int64_t checked_axis(std::int64_t axis, std::int64_t rank) {
  PLIMSOLL_CHECK(axis >= -rank && axis < rank, InvalidArgumentError,
                 "Argument `axis` = {} not in range [{}, {})", axis, -rank, rank);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace

Tensor reshape(const Tensor& tensor, Ints shape) {
  check_valid(tensor, "reshape");
  std::vector<std::int64_t> dims(shape.begin(), shape.end());
  std::int64_t known = 1;
  std::int64_t* unknown = nullptr;
  for (std::int64_t& dim : dims) {
    PLIMSOLL_CHECK(dim >= -1, InvalidArgumentError,
                   "Size {} must be non-negative, not {} [Op:Reshape]", &dim - dims.data(), dim);
    PLIMSOLL_CHECK(dim != -1 || !unknown, InvalidArgumentError,
                   "Only one input size may be -1, not both {} and {} [Op:Reshape]",
                   unknown - dims.data(), &dim - dims.data());
    if (dim == -1) {
      unknown = &dim;
    } else {
      PLIMSOLL_CHECK(!__builtin_mul_overflow(known, dim, &known), InvalidArgumentError,
                     "Shape {} would have more than 2**63 - 1 elements",
                     AttrValue(shape).to_string());
    }
  }
  if (unknown) {
    PLIMSOLL_CHECK(known > 0 && tensor.num_elements() % known == 0, InvalidArgumentError,
                   "Input to reshape is a tensor with {} values, but the requested shape requires "
                   "a multiple of {} "
                   "[Op:Reshape]",
                   tensor.num_elements(), known);
    *unknown = tensor.num_elements() / known;
  }
  return call(OpId::Reshape, {tensor}, {AttrValue(Ints(dims))});
}

Tensor expand_dims(const Tensor& input, std::int64_t axis) {
  check_valid(input, "expand_dims");
  auto dims = dims_of(input);
  PLIMSOLL_CHECK(axis >= -input.rank() - 1 && axis <= input.rank(), InvalidArgumentError,
                 "Tried to expand dim index {} for tensor with {} dimensions. [Op:ExpandDims]",
                 axis, input.rank());
  dims.insert(dims.begin() + (axis < 0 ? axis + input.rank() + 1 : axis), 1);
  return reshape(input, dims);
}

Tensor squeeze(const Tensor& input, const std::vector<std::int64_t>& axis) {
  check_valid(input, "squeeze");
  std::vector<bool> goes(static_cast<std::size_t>(input.rank()), false);
  for (const std::int64_t given : axis) {
    PLIMSOLL_CHECK(given >= -input.rank() && given < input.rank(), InvalidArgumentError,
                   "Tried to squeeze dim index {} for tensor with {} dimensions. [Op:Squeeze]",
                   given, input.rank());
    const auto i = static_cast<int>(given < 0 ? given + input.rank() : given);
    PLIMSOLL_CHECK(input.shape().dim(i) == 1, InvalidArgumentError,
                   "Can not squeeze dim[{}], expected a dimension of 1, got {} [Op:Squeeze]", i,
                   input.shape().dim(i));
    goes[static_cast<std::size_t>(i)] = true;
  }
  std::vector<std::int64_t> dims;
  for (int i = 0; i < input.rank(); ++i) {
    const std::int64_t dim = input.shape().dim(i);
    if (axis.empty() ? dim != 1 : !goes[static_cast<std::size_t>(i)]) dims.push_back(dim);
  }
  return reshape(input, dims);
}

Tensor broadcast_to(const Tensor& input, const Shape& shape) {
  return call(OpId::BroadcastTo, {input}, {AttrValue(shape)});
}

Tensor transpose(const Tensor& a, const std::vector<std::int64_t>& perm) {
  check_valid(a, "transpose");
  std::vector<std::int64_t> axes;
  for (int i = a.rank() - 1; perm.empty() && i >= 0; --i) axes.push_back(i);
  for (const std::int64_t axis : perm) axes.push_back(axis < 0 ? axis + a.rank() : axis);
  return call(OpId::Transpose, {a}, {AttrValue(Ints(axes))});
}

Tensor reverse(const Tensor& tensor, const std::vector<std::int64_t>& axis) {
  return call(OpId::Reverse, {tensor}, {AttrValue(Ints(axis))});
}

Tensor roll(const Tensor& input, const std::vector<std::int64_t>& shift,
            const std::vector<std::int64_t>& axis) {
  check_valid(input, "roll");
  PLIMSOLL_CHECK(shift.size() == axis.size(), InvalidArgumentError,
                 "shift and axis must have the same size, got {} and {} [Op:Roll]", shift.size(),
                 axis.size());
  PLIMSOLL_CHECK(input.rank() >= 1, InvalidArgumentError, "input must be 1-D or higher [Op:Roll]");
  std::vector<std::int64_t> shifts(static_cast<std::size_t>(input.rank()), 0);
  for (std::size_t i = 0; i < axis.size(); ++i) {
    PLIMSOLL_CHECK(axis[i] >= -input.rank() && axis[i] < input.rank(), InvalidArgumentError,
                   "axis {} is out of range [Op:Roll]", axis[i]);
    const auto at = static_cast<std::size_t>(axis[i] < 0 ? axis[i] + input.rank() : axis[i]);
    const std::int64_t dim = std::max<std::int64_t>(1, input.shape().dim(static_cast<int>(at)));
    shifts[at] = (shifts[at] + shift[i] % dim) % dim;
  }
  return call(OpId::Roll, {input}, {AttrValue(Ints(shifts))});
}

Tensor tile(const Tensor& input, const std::vector<std::int64_t>& multiples) {
  return call(OpId::Tile, {input}, {AttrValue(Ints(multiples))});
}

Tensor repeat(const Tensor& input, std::int64_t repeats, std::optional<std::int64_t> axis) {
  check_valid(input, "repeat");
  if (!axis) return repeat(reshape(input, {-1}), repeats, 0);
  PLIMSOLL_CHECK(repeats >= 0, InvalidArgumentError, "repeat: repeats must be >= 0, got {}",
                 repeats);
  const int at = normalize_axis(*axis, input.rank(), "repeat");
  std::int64_t before = 1, after = 1;
  for (int i = 0; i <= at; ++i) before *= input.shape().dim(i);
  for (int i = at + 1; i < input.rank(); ++i) after *= input.shape().dim(i);
  auto dims = dims_of(input);
  PLIMSOLL_CHECK(!__builtin_mul_overflow(dims[static_cast<std::size_t>(at)], repeats,
                                         &dims[static_cast<std::size_t>(at)]),
                 InvalidArgumentError, "repeat: {} repeats of shape {} are too many", repeats,
                 input.shape().to_string());
  const Tensor rows = reshape(input, {before, 1, after});
  return reshape(broadcast_to(rows, {before, repeats, after}), dims);
}

Tensor repeat(const Tensor& input, const std::vector<std::int64_t>& repeats,
              std::optional<std::int64_t> axis) {
  check_valid(input, "repeat");
  if (!axis) return repeat(reshape(input, {-1}), repeats, 0);
  if (repeats.size() == 1) return repeat(input, repeats[0], axis);
  const int at = normalize_axis(*axis, input.rank(), "repeat");
  PLIMSOLL_CHECK(static_cast<std::int64_t>(repeats.size()) == input.shape().dim(at),
                 InvalidArgumentError, "Dimensions {} and {} are not compatible",
                 input.shape().dim(at), repeats.size());
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    PLIMSOLL_CHECK(repeats[i] >= 0, InvalidArgumentError,
                   "repeat: repeats[{}] must be >= 0, got {}", i, repeats[i]);
    indices.insert(indices.end(), static_cast<std::size_t>(repeats[i]),
                   static_cast<std::int64_t>(i));
  }
  return gather(input, constant(Ints(indices), {static_cast<std::int64_t>(indices.size())}), at);
}

Tensor repeat(const Tensor& input, const Tensor& repeats, std::optional<std::int64_t> axis) {
  PLIMSOLL_CHECK(repeats.is_valid() && is_integer(repeats.dtype()) && repeats.rank() <= 1,
                 InvalidArgumentError,
                 "repeat needs repeats that are a scalar or a vector of "
                 "integers, got {}",
                 repeats.is_valid() ? fmt::format("{} of shape {}", dtype_word(repeats.dtype()),
                                                  repeats.shape().to_string())
                                    : "an empty Tensor");
  const Tensor wide = cast(repeats, int64);
  check_known(wide, "repeat", "Give repeats as numbers, or use gather");
  const std::vector<std::int64_t> counts = wide.to_vector<std::int64_t>();
  return repeats.rank() == 0 ? repeat(input, counts[0], axis) : repeat(input, counts, axis);
}

Tensor concat(std::span<const Tensor> values, std::int64_t axis) {
  return call(OpId::Concat, values, {axis});
}

Tensor stack(std::span<const Tensor> values, std::int64_t axis) {
  PLIMSOLL_CHECK(!values.empty(), InvalidArgumentError, "stack of no tensors");
  for (std::size_t i = 0; i < values.size(); ++i) {
    check_valid(values[i], "stack");
    PLIMSOLL_CHECK(values[i].shape() == values[0].shape(), InvalidArgumentError,
                   "Shapes of all inputs must match: values[0].shape = {} != values[{}].shape = {} "
                   "[Op:Pack]",
                   values[0].shape().to_string(), i, values[i].shape().to_string());
  }
  const std::int64_t at = checked_axis(axis, values[0].rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor& value : values) parts.push_back(expand_dims(value, at));
  return concat(parts, at);
}

std::vector<Tensor> unstack(const Tensor& value, std::optional<std::int64_t> num,
                            std::int64_t axis) {
  check_valid(value, "unstack");
  const std::int64_t at = checked_axis(axis, value.rank());
  const std::int64_t dim = value.shape().dim(static_cast<int>(at));
  PLIMSOLL_CHECK(!num || *num == dim, InvalidArgumentError,
                 "Input shape axis {} must equal {}, got shape {} [Op:Unpack]", at, num.value_or(0),
                 value.shape().to_string());
  if (dim == 0) return {};
  std::vector<Tensor> parts = split(value, dim, at);
  for (Tensor& part : parts) part = squeeze(part, {at});
  return parts;
}

std::vector<Tensor> split(const Tensor& value, std::int64_t num_splits, std::int64_t axis) {
  return call_all(OpId::Split, {&value, 1}, {axis, num_splits, AttrValue(Ints())});
}

std::vector<Tensor> split(const Tensor& value, const std::vector<std::int64_t>& size_splits,
                          std::int64_t axis) {
  check_valid(value, "split");
  PLIMSOLL_CHECK(!size_splits.empty(), InvalidArgumentError, "split into no sizes");
  PLIMSOLL_CHECK(axis >= -value.rank() && axis < value.rank(), InvalidArgumentError,
                 "-input rank(-{0}) <= split_dim < input rank ({0}), but got {1} [Op:Split]",
                 value.rank(), axis);
  const auto at = static_cast<int>(axis < 0 ? axis + value.rank() : axis);
  std::vector<std::int64_t> sizes = size_splits;
  std::int64_t* unknown = nullptr;
  std::int64_t known = 0;
  for (std::int64_t& size : sizes) {
    PLIMSOLL_CHECK(size != -1 || !unknown, InvalidArgumentError,
                   "There can only be one -1 in the input. [Op:Split]");
    PLIMSOLL_CHECK(size >= -1, InvalidArgumentError,
                   "Split size at index {} must be >= 0 or -1, got: {} [Op:Split]",
                   &size - sizes.data(), size);
    if (size == -1) unknown = &size;
    known += size == -1 ? 0 : std::min(size, INT64_MAX - known);
  }
  const std::int64_t dim = value.shape().dim(at);
  PLIMSOLL_CHECK(unknown ? known <= dim : known == dim, InvalidArgumentError,
                 "Determined shape must either match input shape along split_dim exactly if fully "
                 "specified, or be less than the size of the input along split_dim if not fully "
                 "specified.  Got: {} [Op:Split]",
                 known);
  if (unknown) *unknown = dim - known;
  constexpr std::size_t kMost = AttrValue::kMaxInts;
  if (sizes.size() <= kMost) {
    return call_all(OpId::Split, {&value, 1},
                    {at, static_cast<std::int64_t>(sizes.size()), AttrValue(Ints(sizes))});
  }
  // More sizes than a list of an op holds: groups of them first.
  const std::size_t group = (sizes.size() + kMost - 1) / kMost;
  std::vector<std::vector<std::int64_t>> groups;
  std::vector<std::int64_t> totals;
  for (std::size_t i = 0; i < sizes.size(); i += group) {
    groups.emplace_back(
        sizes.begin() + static_cast<std::ptrdiff_t>(i),
        sizes.begin() + static_cast<std::ptrdiff_t>(std::min(i + group, sizes.size())));
    totals.push_back(0);
    for (const std::int64_t size : groups.back()) totals.back() += size;
  }
  std::vector<Tensor> parts;
  const std::vector<Tensor> wholes = split(value, totals, at);
  for (std::size_t i = 0; i < wholes.size(); ++i) {
    for (Tensor& part : split(wholes[i], groups[i], at)) parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace plimsoll
