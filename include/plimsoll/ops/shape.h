// Other shapes of the same elements, and parts of tensors.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "plimsoll/tensor.h"

namespace plimsoll {

// Axes count from the end where they are negative. What goes wrong is an InvalidArgumentError.

// One dimension of `shape` may be -1: what is left. memory: a view.
Tensor reshape(const Tensor& tensor, std::span<const std::int64_t> shape);
inline Tensor reshape(const Tensor& tensor, std::initializer_list<std::int64_t> shape) {
  return reshape(tensor, std::span(shape.begin(), shape.size()));
}
Tensor expand_dims(const Tensor& input, std::int64_t axis);  // memory: a view
// No axes: all dimensions of size 1. memory: a view.
Tensor squeeze(const Tensor& input, const std::vector<std::int64_t>& axis = {});

Tensor broadcast_to(const Tensor& input, const Shape& shape);
// No permutation: dimensions in reverse order.
Tensor transpose(const Tensor& a, const std::vector<std::int64_t>& perm = {});
Tensor reverse(const Tensor& tensor, const std::vector<std::int64_t>& axis);
Tensor roll(const Tensor& input, const std::vector<std::int64_t>& shift,
            const std::vector<std::int64_t>& axis);
inline Tensor roll(const Tensor& input, std::int64_t shift, std::int64_t axis) {
  return roll(input, std::vector{shift}, std::vector{axis});
}
Tensor tile(const Tensor& input, const std::vector<std::int64_t>& multiples);
// Each element `repeats` times, or repeats[i] times. No axis: of the flattened tensor.
Tensor repeat(const Tensor& input, std::int64_t repeats, std::optional<std::int64_t> axis = {});
Tensor repeat(const Tensor& input, const std::vector<std::int64_t>& repeats,
              std::optional<std::int64_t> axis = {});
// By a scalar or a vector of integers, whose values are waited for.
Tensor repeat(const Tensor& input, const Tensor& repeats, std::optional<std::int64_t> axis = {});

Tensor concat(std::span<const Tensor> values, std::int64_t axis);
inline Tensor concat(std::initializer_list<Tensor> values, std::int64_t axis) {
  return concat(std::span(values.begin(), values.size()), axis);
}
Tensor stack(std::span<const Tensor> values, std::int64_t axis = 0);
inline Tensor stack(std::initializer_list<Tensor> values, std::int64_t axis = 0) {
  return stack(std::span(values.begin(), values.size()), axis);
}
std::vector<Tensor> unstack(const Tensor& value, std::optional<std::int64_t> num = {},
                            std::int64_t axis = 0);
// Into equal parts, or parts of the given sizes, one of which may be -1: what is left.
std::vector<Tensor> split(const Tensor& value, std::int64_t num_splits, std::int64_t axis = 0);
std::vector<Tensor> split(const Tensor& value, const std::vector<std::int64_t>& size_splits,
                          std::int64_t axis = 0);

// A size of -1 takes the rest of its dimension.
Tensor slice(const Tensor& input, const std::vector<std::int64_t>& begin,
             const std::vector<std::int64_t>& size);
struct StridedSliceOptions {
  std::vector<std::int64_t> strides = {};  // none: 1 everywhere
  std::int64_t begin_mask = 0;             // bit i: begin[i] is not looked at
  std::int64_t end_mask = 0;
  std::int64_t ellipsis_mask = 0;
  std::int64_t new_axis_mask = 0;
  std::int64_t shrink_axis_mask = 0;
};
Tensor strided_slice(const Tensor& input, const std::vector<std::int64_t>& begin,
                     const std::vector<std::int64_t>& end, const StridedSliceOptions& options = {});

// One place of x[...] as Python writes it:
//   getitem(x, {0, {1, 4}, ellipsis, newaxis, {{}, {}, -1}})   // x[0, 1:4, ..., newaxis, ::-1]
struct Index {
  enum class Kind { kAt, kRange, kEllipsis, kNewAxis };

  Index() noexcept = default;  // the whole dimension
  Index(int at) noexcept : Index(static_cast<std::int64_t>(at)) {}
  Index(std::int64_t at) noexcept : kind(Kind::kAt), begin(at) {}
  Index(std::optional<std::int64_t> first, std::optional<std::int64_t> last,
        std::int64_t step = 1) noexcept
      : begin(first), end(last), stride(step) {}
  Index(Kind special) noexcept : kind(special) {}

  Kind kind = Kind::kRange;
  std::optional<std::int64_t> begin, end;
  std::int64_t stride = 1;
};
inline constexpr Index::Kind ellipsis = Index::Kind::kEllipsis;
inline constexpr Index::Kind newaxis = Index::Kind::kNewAxis;
Tensor getitem(const Tensor& tensor, const std::vector<Index>& spec);

using Paddings = std::vector<std::pair<std::int64_t, std::int64_t>>;  // before and after
// mode: CONSTANT, REFLECT or SYMMETRIC.
Tensor pad(const Tensor& tensor, const Paddings& paddings, std::string_view mode = "CONSTANT",
           double constant_values = 0);

// bool: position < length, for positions up to maxlen (none: the largest length).
Tensor sequence_mask(const Tensor& lengths, std::optional<std::int64_t> maxlen = {},
                     DType dtype = bool_);
// indexing: xy or ij.
std::vector<Tensor> meshgrid(std::span<const Tensor> args, std::string_view indexing = "xy");
inline std::vector<Tensor> meshgrid(std::initializer_list<Tensor> args,
                                    std::string_view indexing = "xy") {
  return meshgrid(std::span(args.begin(), args.size()), indexing);
}

namespace nn {
// data_format: NHWC or NCHW.
Tensor space_to_depth(const Tensor& input, std::int64_t block_size,
                      std::string_view data_format = "NHWC");
Tensor depth_to_space(const Tensor& input, std::int64_t block_size,
                      std::string_view data_format = "NHWC");
}  // namespace nn

}  // namespace plimsoll
