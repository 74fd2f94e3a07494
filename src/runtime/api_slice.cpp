// Slices as TensorFlow and Python write them, resolved to plain bounds; pads; compositions.
#include <algorithm>

#include "base/check.h"
#include "plimsoll/ops.h"
#include "runtime/dispatch.h"
#include "runtime/shape_values.h"
#include "runtime/string_builder.h"

namespace plimsoll {
namespace {

using Ints = std::span<const std::int64_t>;

// What a slice takes of each dimension of the input, and the shape it then has.
struct Resolved {
  std::vector<std::int64_t> begin, size, strides, final_shape;
};

// One dimension of a dense specification.
struct DimSpec {
  std::int64_t begin = 0, end = 0, stride = 1;
  bool begin_masked = true, end_masked = true, shrinks = false;
};

void resolve_dim(const DimSpec& spec, std::int64_t dim, int at, Resolved& made) {
  PLIMSOLL_CHECK(spec.stride != 0, InvalidArgumentError,
                 "strides[{}] must be non-zero [Op:StridedSlice]", at);
  if (spec.shrinks) {
    PLIMSOLL_CHECK(spec.stride > 0, InvalidArgumentError,
                   "only stride 1 allowed on non-range indexing. [Op:StridedSlice]");
    PLIMSOLL_CHECK(spec.begin >= -dim && spec.begin < dim, InvalidArgumentError,
                   "slice index {} of dimension {} out of bounds. [Op:StridedSlice]", spec.begin,
                   at);
    made.begin.push_back(spec.begin < 0 ? spec.begin + dim : spec.begin);
    made.size.push_back(1);
    made.strides.push_back(1);
    return;
  }
  const std::int64_t lowest = spec.stride > 0 ? 0 : -1;
  const std::int64_t highest = spec.stride > 0 ? dim : dim - 1;
  const auto clamp = [&](std::int64_t x, bool masked, std::int64_t if_masked) {
    if (masked) return if_masked;
    return std::clamp(x < 0 ? x + dim : x, lowest, highest);
  };
  const std::int64_t begin =
      clamp(spec.begin, spec.begin_masked, spec.stride > 0 ? lowest : highest);
  const std::int64_t end = clamp(spec.end, spec.end_masked, spec.stride > 0 ? highest : lowest);
  const std::int64_t length = end - begin;
  // Strides beyond the dimension take one element, whatever they are.
  const std::int64_t stride = std::clamp(spec.stride, -dim - 1, dim + 1);
  const bool is_empty = length == 0 || (length < 0) != (stride < 0);
  const std::int64_t size = is_empty ? 0 : length / stride + (length % stride != 0);
  made.begin.push_back(is_empty ? 0 : begin);
  made.size.push_back(size);
  made.strides.push_back(size > 1 ? stride : 1);
  made.final_shape.push_back(size);
}

// Strings stand on the host, and are taken there.
Tensor take_strings(const Tensor& input, const Resolved& r) {
  static const memory::Owner owner(memory::Tag::kActivations, "StridedSlice");
  const std::span<const std::string> texts = strings_of(input, "StridedSlice");
  const Shape shape{Ints(r.size)};
  StringBuilder made(static_cast<std::size_t>(shape.num_elements()), owner);
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    std::int64_t rest = i, at = 0, below = 1;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const auto k = static_cast<std::size_t>(d);
      at += (r.begin[k] + rest % r.size[k] * r.strides[k]) * below;
      rest /= r.size[k];
      below *= input.shape().dim(d);
    }
    made.add_copy(texts[static_cast<std::size_t>(at)]);
  }
  return made.finish(shape);
}

Tensor take_part(const Tensor& input, const Resolved& r) {
  if (input.dtype() == DType::kString) return take_strings(input, r);
  return call(OpId::StridedSlice, {input},
              {AttrValue(Ints(r.begin)), AttrValue(Ints(r.size)), AttrValue(Ints(r.strides))});
}

Tensor take(const Tensor& input, const Resolved& r) {
  bool is_whole = true;
  for (int i = 0; i < input.rank(); ++i)
    is_whole &= r.size[static_cast<std::size_t>(i)] == input.shape().dim(i) &&
                r.strides[static_cast<std::size_t>(i)] == 1;
  const Tensor taken = is_whole ? input : take_part(input, r);
  return taken.shape() == Shape(r.final_shape) && !is_whole ? taken : reshape(taken, r.final_shape);
}

bool has_bit(std::int64_t mask, std::size_t i) {
  return i < 63 && (mask >> i & 1) != 0;
}

}  // namespace

Tensor slice(const Tensor& input, const std::vector<std::int64_t>& begin,
             const std::vector<std::int64_t>& size) {
  PLIMSOLL_CHECK(input.is_valid(), InvalidArgumentError, "slice of an empty Tensor");
  const auto rank = static_cast<std::size_t>(input.rank());
  PLIMSOLL_CHECK(begin.size() == rank && size.size() == rank, InvalidArgumentError,
                 "Expected begin and size arguments to be 1-D tensors of size {}, but got shapes "
                 "[{}] and [{}] instead. [Op:Slice]",
                 rank, begin.size(), size.size());
  Resolved r;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t dim = input.shape().dim(static_cast<int>(i));
    PLIMSOLL_CHECK(begin[i] >= 0 && begin[i] <= dim, InvalidArgumentError,
                   "Expected begin[{}] in [0, {}], but got {} [Op:Slice]", i, dim, begin[i]);
    PLIMSOLL_CHECK(size[i] >= -1 && size[i] <= dim - begin[i], InvalidArgumentError,
                   "Expected size[{}] in [0, {}], but got {} [Op:Slice]", i, dim - begin[i],
                   size[i]);
    r.begin.push_back(begin[i]);
    r.size.push_back(size[i] == -1 ? dim - begin[i] : size[i]);
    r.strides.push_back(1);
  }
  r.final_shape = r.size;
  return take(input, r);
}

Tensor strided_slice(const Tensor& input, const std::vector<std::int64_t>& begin,
                     const std::vector<std::int64_t>& end, const StridedSliceOptions& options) {
  PLIMSOLL_CHECK(input.is_valid(), InvalidArgumentError, "strided_slice of an empty Tensor");
  const std::size_t num = begin.size();
  const std::vector<std::int64_t> strides =
      options.strides.empty() ? std::vector<std::int64_t>(num, 1) : options.strides;
  PLIMSOLL_CHECK(end.size() == num && strides.size() == num, InvalidArgumentError,
                 "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
                 "[{}], [{}], and [{}] instead. [Op:StridedSlice]",
                 num, end.size(), strides.size());
  int num_used = 0;  // dimensions of the input that are spoken of
  bool has_ellipsis = false;
  for (std::size_t i = 0; i < num; ++i) {
    const bool is_ellipsis = has_bit(options.ellipsis_mask, i);
    PLIMSOLL_CHECK(!is_ellipsis || !has_ellipsis, InvalidArgumentError,
                   "Multiple ellipses in slice spec not allowed [Op:StridedSlice]");
    has_ellipsis |= is_ellipsis;
    num_used += !is_ellipsis && !has_bit(options.new_axis_mask, i);
  }
  PLIMSOLL_CHECK(num_used <= input.rank(), InvalidArgumentError,
                 "Index out of range using input dim {0}; input has only {0} dims "
                 "[Op:StridedSlice]",
                 input.rank());
  Resolved r;
  int at = 0;  // the next dimension of the input
  const auto take_whole = [&](int count) {
    for (; count > 0; --count, ++at) resolve_dim({}, input.shape().dim(at), at, r);
  };
  for (std::size_t i = 0; i < num; ++i) {
    if (has_bit(options.ellipsis_mask, i)) {
      take_whole(input.rank() - num_used);
    } else if (has_bit(options.new_axis_mask, i)) {
      r.final_shape.push_back(1);
    } else {
      resolve_dim({.begin = begin[i],
                   .end = end[i],
                   .stride = strides[i],
                   .begin_masked = has_bit(options.begin_mask, i),
                   .end_masked = has_bit(options.end_mask, i),
                   .shrinks = has_bit(options.shrink_axis_mask, i)},
                  input.shape().dim(at), at, r);
      ++at;
    }
  }
  take_whole(input.rank() - at);
  return take(input, r);
}

Tensor getitem(const Tensor& tensor, const std::vector<Index>& spec) {
  PLIMSOLL_CHECK(spec.size() < 63, InvalidArgumentError, "getitem takes fewer than 63 places");
  std::vector<std::int64_t> begin, end;
  StridedSliceOptions options;
  for (std::size_t i = 0; i < spec.size(); ++i) {
    const Index& index = spec[i];
    const std::int64_t bit = std::int64_t{1} << i;
    begin.push_back(index.begin.value_or(0));
    end.push_back(index.end.value_or(0));
    options.strides.push_back(index.stride);
    if (!index.begin) options.begin_mask |= bit;
    if (!index.end) options.end_mask |= bit;
    if (index.kind == Index::Kind::kAt) options.shrink_axis_mask |= bit;
    if (index.kind == Index::Kind::kEllipsis) options.ellipsis_mask |= bit;
    if (index.kind == Index::Kind::kNewAxis) options.new_axis_mask |= bit;
  }
  return strided_slice(tensor, begin, end, options);
}

Tensor pad(const Tensor& tensor, const Paddings& paddings, std::string_view mode,
           double constant_values) {
  PLIMSOLL_CHECK(tensor.is_valid(), InvalidArgumentError, "pad of an empty Tensor");
  PLIMSOLL_CHECK(static_cast<int>(paddings.size()) == tensor.rank(), InvalidArgumentError,
                 "The first dimension of paddings must be the rank of inputs[{},2] {} [Op:Pad]",
                 paddings.size(), tensor.shape().to_string());
  PLIMSOLL_CHECK(mode == "CONSTANT" || mode == "REFLECT" || mode == "SYMMETRIC",
                 InvalidArgumentError,
                 "Value of argument `mode` expected to be one of \"CONSTANT\", \"REFLECT\", or "
                 "\"SYMMETRIC\". Received `mode` = {}",
                 mode);
  std::vector<std::int64_t> before, after;
  for (const auto& [first, last] : paddings) {
    before.push_back(first);
    after.push_back(last);
  }
  const AttrValue sides[] = {AttrValue(Ints(before)), AttrValue(Ints(after))};
  if (mode == "CONSTANT") return call(OpId::Pad, {tensor}, {sides[0], sides[1], constant_values});
  return call(OpId::MirrorPad, {tensor}, {sides[0], sides[1], mode == "SYMMETRIC"});
}

Tensor sequence_mask(const Tensor& lengths, std::optional<std::int64_t> maxlen, DType dtype) {
  PLIMSOLL_CHECK(lengths.is_valid() && is_integer(lengths.dtype()), InvalidArgumentError,
                 "sequence_mask needs lengths of an integer type");
  if (!maxlen) {
    maxlen = lengths.num_elements() == 0
                 ? 0
                 : known_int(reduce_max(lengths), "sequence_mask", "Give it maxlen");
    maxlen = std::max<std::int64_t>(0, *maxlen);
  }
  const Tensor positions = range(0, *maxlen, 1, int64);
  return cast(less(positions, expand_dims(cast(lengths, int64), -1)), dtype);
}

std::vector<Tensor> meshgrid(std::span<const Tensor> args, std::string_view indexing) {
  PLIMSOLL_CHECK(indexing == "xy" || indexing == "ij", InvalidArgumentError,
                 "Argument `indexing` parameter must be either 'xy' or 'ij', got '{}'", indexing);
  std::vector<std::int64_t> sizes;
  for (const Tensor& arg : args) {
    PLIMSOLL_CHECK(arg.is_valid(), InvalidArgumentError, "meshgrid of an empty Tensor");
    sizes.push_back(arg.num_elements());
  }
  const bool swaps = indexing == "xy" && args.size() > 1;
  if (swaps) std::swap(sizes[0], sizes[1]);
  const Shape shape{Ints(sizes)};
  std::vector<Tensor> grids;
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::vector<std::int64_t> dims(args.size(), 1);
    dims[swaps && i < 2 ? 1 - i : i] = args[i].num_elements();
    grids.push_back(broadcast_to(reshape(args[i], dims), shape));
  }
  return grids;
}

namespace nn {
namespace {

// Moves between blocks of an image and its channels, through a transpose of six dimensions.
void check_image(const Tensor& input, std::int64_t block_size, std::string_view data_format,
                 const char* what) {
  PLIMSOLL_CHECK(input.is_valid() && input.rank() == 4, InvalidArgumentError,
                 "Input rank should be: 4 instead of: {} [Op:{}]",
                 input.is_valid() ? input.rank() : 0, what);
  PLIMSOLL_CHECK(block_size >= 2, InvalidArgumentError,
                 "Value for attr 'block_size' of {} must be at least minimum 2 [Op:{}]", block_size,
                 what);
  PLIMSOLL_CHECK(data_format == "NHWC" || data_format == "NCHW", InvalidArgumentError,
                 "data_format must be NHWC or NCHW, got {} [Op:{}]", data_format, what);
}

}  // namespace

Tensor space_to_depth(const Tensor& input, std::int64_t block_size, std::string_view data_format) {
  check_image(input, block_size, data_format, "SpaceToDepth");
  const bool last = data_format == "NHWC";
  const Shape& s = input.shape();
  const std::int64_t h = s[last ? 1 : 2], w = s[last ? 2 : 3], c = s[last ? 3 : 1], b = block_size;
  PLIMSOLL_CHECK(h % b == 0 && w % b == 0, InvalidArgumentError,
                 "Image width {} and height {} should be divisible by block_size: {} "
                 "[Op:SpaceToDepth]",
                 w, h, b);
  if (last) {
    const Tensor t = transpose(reshape(input, {s[0], h / b, b, w / b, b, c}), {0, 1, 3, 2, 4, 5});
    return reshape(t, {s[0], h / b, w / b, b * b * c});
  }
  const Tensor t = transpose(reshape(input, {s[0], c, h / b, b, w / b, b}), {0, 3, 5, 1, 2, 4});
  return reshape(t, {s[0], b * b * c, h / b, w / b});
}

Tensor depth_to_space(const Tensor& input, std::int64_t block_size, std::string_view data_format) {
  check_image(input, block_size, data_format, "DepthToSpace");
  const bool last = data_format == "NHWC";
  const Shape& s = input.shape();
  const std::int64_t h = s[last ? 1 : 2], w = s[last ? 2 : 3], b = block_size;
  const std::int64_t depth = s[last ? 3 : 1];
  PLIMSOLL_CHECK(b < (1 << 20) && depth % (b * b) == 0, InvalidArgumentError,
                 "Input depth dimension {} should be divisible by: {} [Op:DepthToSpace]", depth,
                 b < (1 << 20) ? b * b : b);
  const std::int64_t c = depth / (b * b);
  if (last) {
    const Tensor t = transpose(reshape(input, {s[0], h, w, b, b, c}), {0, 1, 3, 2, 4, 5});
    return reshape(t, {s[0], h * b, w * b, c});
  }
  const Tensor t = transpose(reshape(input, {s[0], b, b, c, h, w}), {0, 3, 4, 1, 5, 2});
  return reshape(t, {s[0], c, h * b, w * b});
}

}  // namespace nn

}  // namespace plimsoll
