// Element by element, reductions, sums over segments.
#include <algorithm>
#include <cmath>
#include <limits>

#include "op_table.h"

namespace plimsoll::python {
namespace {

// axis: None is all of them, an empty list none.
struct ReduceAxes {
  Axes axes;
  bool is_nothing = false;
};

using Reduction = Tensor (*)(const Tensor&, const Axes&, bool);

template <Reduction F>
Tensor reduce(const Tensor& input, const ReduceAxes& axis, bool keepdims) {
  return axis.is_nothing ? identity(input) : F(input, axis.axes, keepdims);
}

// A row that was made of something else than a tensor has a type that fits: sums of Python's bools
// and the like are errors as in TensorFlow.
constexpr const char* kReduce = "input_tensor, axis=None, keepdims=False";

nb::object top_k(nb::handle input, nb::handle k, nb::handle sorted) {
  const Tensor from = to_tensor(input);
  const std::int64_t count = to_int(k, "k");
  const bool is_sorted = to_bool(sorted, "sorted");
  const math::TopK found =
      without_gil(from.num_elements(), [&] { return math::top_k(from, count, is_sorted); });
  static PyObject* type =
      nb::object(nb::module_::import_("plimsoll._tensor").attr("TopKV2")).release().ptr();
  return nb::borrow(type)(to_python(found.values), to_python(found.indices));
}

std::array<Tensor, 2> moments(const Tensor& x, const Axes& axes, bool keepdims) {
  const nn::Moments found = nn::moments(x, axes, keepdims);
  return {found.mean, found.variance};
}

struct Range {
  double least = 0;
  double most = 0;
};

int digits_of(DType dtype) {
  if (dtype == float16) return 11;
  if (dtype == bfloat16) return 8;
  return dtype == float32 ? 24 : 53;
}

// The values of a type that have so many digits: those of another type may be fewer.
Range range_of(DType dtype, int digits) {
  if (dtype == float64) {
    constexpr double kMost = std::numeric_limits<double>::max();
    return {-kMost, kMost};
  }
  const bool is_unsigned = dtype == uint8 || dtype == uint16;
  const int bits = dtype == float16     ? 16
                   : is_floating(dtype) ? 128
                                        : static_cast<int>(dtype_size(dtype) * 8) - !is_unsigned;
  digits = std::min({digits, bits, is_floating(dtype) ? digits_of(dtype) : bits});
  const double end = std::ldexp(1.0, bits);
  const double most = end - std::ldexp(1.0, bits - digits);
  return {is_unsigned ? 0 : is_floating(dtype) ? -most : -end, most};
}

bool is_number(DType dtype) {
  return is_integer(dtype) || is_floating(dtype);
}

// The nearest value that the type has. Infinities become the largest finite values, as in
// TensorFlow.
Tensor cast_saturated(const Tensor& value, DType dtype) {
  const DType from = value.dtype();
  if (!is_number(from) || !is_number(dtype)) return cast(value, dtype);
  const int digits = digits_of(from);
  const Range has = range_of(from, digits);
  const Range fits = range_of(dtype, digits);
  const bool is_inside = has.least >= fits.least && has.most <= fits.most;
  if (is_integer(from) && is_inside) return cast(value, dtype);
  return cast(clip_by_value(value, std::max(has.least, fits.least), std::min(has.most, fits.most)),
              dtype);
}

Tensor bincount(const Tensor& arr, const Tensor& weights, std::optional<std::int64_t> minlength,
                std::optional<std::int64_t> maxlength, DType dtype,
                std::optional<std::int64_t> axis, bool binary_output) {
  return math::bincount(arr, {.weights = weights,
                              .minlength = minlength,
                              .maxlength = maxlength,
                              .dtype = dtype,
                              .axis = axis,
                              .binary_output = binary_output});
}

Tensor count_nonzero(const Tensor& input, const Axes& axis, bool keepdims, DType dtype) {
  const Tensor is_set =
      input.dtype() == bool_ ? input : not_equal(input, fill({}, 0, input.dtype()));
  return reduce_sum(cast(is_set, dtype), axis, keepdims);
}

Tensor add_n(const std::vector<Tensor>& inputs) {
  if (inputs.empty()) raise_value_error("inputs must be an iterable of at least one Tensor");
  Tensor sum = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) sum = add(sum, inputs[i]);
  return sum;
}

}  // namespace

template <>
struct In<ReduceAxes> : InValue<ReduceAxes> {
  In(const Given& given) : InValue<ReduceAxes>{} {
    const nb::handle from = given.call.value(given.i);
    if (from.is_none()) return;
    value.axes = to_ints(from, given.call.name(given.i));
    value.is_nothing = value.axes.empty();
  }
};

namespace {

std::vector<OpRow> elementwise() {
  return {
      op("add math.add", "x, y", add, "x + y; shapes broadcast."),
      op("subtract math.subtract", "x, y", subtract, "x - y."),
      op("multiply math.multiply", "x, y", multiply, "x * y, element by element."),
      op("divide math.divide truediv math.truediv", "x, y", divide,
         "x / y as Python divides: integers give floating numbers."),
      op("math.floordiv", "x, y", floordiv, "x / y, rounded down."),
      op("math.floormod math.mod", "x, y", floormod, "What remains of x / y, with the sign of y."),
      op("pow math.pow", "x, y", pow, "x to the power of y."),
      op("maximum math.maximum", "x, y", maximum, "The larger of each two."),
      op("minimum math.minimum", "x, y", minimum, "The smaller of each two."),
      op("math.squared_difference", "x, y", squared_difference, "(x - y) squared."),
      op("math.atan2 atan2", "y, x", atan2, "The angle of the point (x, y)."),
      op("math.divide_no_nan", "x, y", math::divide_no_nan, "x / y, and 0 where y is 0."),
      op(
          "math.multiply_no_nan", "x, y",
          [](const Tensor& x, const Tensor& y) {
            return where(equal(y, zeros_like(y)), zeros_like(multiply(x, y)), multiply(x, y));
          },
          "x * y, and 0 where y is 0."),
      op(
          "math.xlogy", "x, y",
          [](const Tensor& x, const Tensor& y) {
            const Tensor is_zero = equal(x, zeros_like(x));
            return where(is_zero, zeros_like(multiply(x, y)),
                         multiply(x, math::log(where(is_zero, ones_like(y), y))));
          },
          "x * log(y), and 0 where x is 0."),
      op(
          "math.xdivy", "x, y",
          [](const Tensor& x, const Tensor& y) {
            const Tensor is_zero = equal(x, zeros_like(x));
            return where(is_zero, zeros_like(multiply(x, y)),
                         divide(x, where(is_zero, ones_like(y), y)));
          },
          "x / y, and 0 where x is 0."),
      op("math.reciprocal_no_nan", "x",
         [](const Tensor& x) { return math::divide_no_nan(ones_like(x), x); }),
      op("realdiv", "x, y", divide),
      op("scalar_mul math.scalar_mul", "scalar, x", multiply),
      op("clip_by_value", "t, clip_value_min, clip_value_max",
         static_cast<Tensor (*)(const Tensor&, const Tensor&, const Tensor&)>(clip_by_value),
         "Values below the minimum or above the maximum become these."),
      op("add_n math.add_n", "inputs", add_n, "The sum of a list of tensors."),
      op("negative math.negative", "x", negative, "-x."),
      op("abs math.abs", "x", static_cast<Tensor (*)(const Tensor&)>(abs), "|x|."),
      op("sign math.sign", "x", sign, "-1, 0 or 1."),
      op("square math.square", "x", square, "x * x."),
      op("sqrt math.sqrt", "x", static_cast<Tensor (*)(const Tensor&)>(sqrt), "The square root."),
      op("math.rsqrt", "x", math::rsqrt, "1 / sqrt(x)."),
      op("math.reciprocal", "x", math::reciprocal, "1 / x."),
      op("exp math.exp", "x", static_cast<Tensor (*)(const Tensor&)>(exp)),
      op("math.expm1", "x", static_cast<Tensor (*)(const Tensor&)>(math::expm1), "exp(x) - 1."),
      op("math.log", "x", static_cast<Tensor (*)(const Tensor&)>(math::log)),
      op("math.log1p", "x", static_cast<Tensor (*)(const Tensor&)>(math::log1p), "log(1 + x)."),
      op("math.log_sigmoid", "x", math::log_sigmoid),
      op("sin math.sin", "x", static_cast<Tensor (*)(const Tensor&)>(sin)),
      op("cos math.cos", "x", static_cast<Tensor (*)(const Tensor&)>(cos)),
      op("tan math.tan", "x", static_cast<Tensor (*)(const Tensor&)>(tan)),
      op("asin math.asin", "x", static_cast<Tensor (*)(const Tensor&)>(asin)),
      op("acos math.acos", "x", static_cast<Tensor (*)(const Tensor&)>(acos)),
      op("atan math.atan", "x", static_cast<Tensor (*)(const Tensor&)>(atan)),
      op("sinh math.sinh", "x", static_cast<Tensor (*)(const Tensor&)>(sinh)),
      op("cosh math.cosh", "x", static_cast<Tensor (*)(const Tensor&)>(cosh)),
      op("asinh math.asinh", "x", static_cast<Tensor (*)(const Tensor&)>(asinh)),
      op("acosh math.acosh", "x", static_cast<Tensor (*)(const Tensor&)>(acosh)),
      op("atanh math.atanh", "x", static_cast<Tensor (*)(const Tensor&)>(atanh)),
      op("tanh math.tanh nn.tanh", "x", static_cast<Tensor (*)(const Tensor&)>(tanh)),
      op("sigmoid math.sigmoid nn.sigmoid", "x", sigmoid, "1 / (1 + exp(-x))."),
      op("math.erf", "x", static_cast<Tensor (*)(const Tensor&)>(math::erf)),
      op("math.erfc", "x", static_cast<Tensor (*)(const Tensor&)>(math::erfc)),
      op("floor math.floor", "x", static_cast<Tensor (*)(const Tensor&)>(floor)),
      op("math.ceil", "x", static_cast<Tensor (*)(const Tensor&)>(math::ceil)),
      op("round math.round", "x", static_cast<Tensor (*)(const Tensor&)>(round),
         "The nearest integer, halves to even."),
      op("math.rint", "x", static_cast<Tensor (*)(const Tensor&)>(round)),
      op("math.softplus nn.softplus", "features", math::softplus, "log(1 + exp(features))."),
      op("math.is_nan", "x", math::is_nan),
      op("math.is_inf", "x", math::is_inf),
      op("math.is_finite", "x", math::is_finite),
  };
}

std::vector<OpRow> comparisons() {
  return {
      op("equal math.equal", "x, y", static_cast<Tensor (*)(const Tensor&, const Tensor&)>(equal)),
      op("not_equal math.not_equal", "x, y", not_equal),
      op("less math.less", "x, y", static_cast<Tensor (*)(const Tensor&, const Tensor&)>(less)),
      op("less_equal math.less_equal", "x, y", less_equal),
      op("greater math.greater", "x, y",
         static_cast<Tensor (*)(const Tensor&, const Tensor&)>(greater)),
      op("greater_equal math.greater_equal", "x, y", greater_equal),
      op("logical_and math.logical_and", "x, y", logical_and),
      op("logical_or math.logical_or", "x, y", logical_or),
      op("math.logical_xor", "x, y", math::logical_xor),
      op("logical_not math.logical_not", "x", logical_not),
      op("bitwise.bitwise_and", "x, y", bitwise::bitwise_and),
      op("bitwise.bitwise_or", "x, y", bitwise::bitwise_or),
      op("bitwise.bitwise_xor", "x, y", bitwise::bitwise_xor),
      op("bitwise.invert", "x", bitwise::invert),
      op("bitwise.left_shift", "x, y", bitwise::left_shift),
      op("bitwise.right_shift", "x, y", bitwise::right_shift),
      op("cast", "x, dtype", cast, "The same values in another type."),
      op("saturate_cast", "value, dtype", cast_saturated),
  };
}

std::vector<OpRow> reductions() {
  return {
      op("reduce_sum math.reduce_sum", kReduce, reduce<reduce_sum>, "The sum over axes."),
      op("reduce_mean math.reduce_mean", kReduce, reduce<reduce_mean>, "The mean over axes."),
      op("reduce_max math.reduce_max", kReduce, reduce<reduce_max>),
      op("reduce_min math.reduce_min", kReduce, reduce<reduce_min>),
      op("reduce_prod math.reduce_prod", kReduce, reduce<reduce_prod>),
      op("reduce_any math.reduce_any", kReduce, reduce<reduce_any>),
      op("reduce_all math.reduce_all", kReduce, reduce<reduce_all>),
      op("reduce_logsumexp math.reduce_logsumexp", kReduce, reduce<reduce_logsumexp>,
         "log of the sum of exp, without overflow."),
      op("math.reduce_variance", kReduce, reduce<math::reduce_variance>),
      op("math.reduce_std", kReduce, reduce<math::reduce_std>),
      op("math.reduce_euclidean_norm", kReduce,
         [](const Tensor& input, const Axes& axis, bool keepdims) {
           return sqrt(reduce_sum(square(input), axis, keepdims));
         }),
      op("math.count_nonzero", "input, axis=None, keepdims=None, dtype='int64'", count_nonzero),
      op(
          "argmax math.argmax", "input, axis=None, output_type='int64'",
          [](const Tensor& input, std::optional<std::int64_t> axis, DType type) {
            return argmax(input, axis.value_or(0), type);
          },
          "Where the largest is."),
      op("argmin math.argmin", "input, axis=None, output_type='int64'",
         [](const Tensor& input, std::optional<std::int64_t> axis, DType type) {
           return argmin(input, axis.value_or(0), type);
         }),
      op("cumsum math.cumsum", "x, axis=0, exclusive=False, reverse=False", cumsum,
         "Sums so far along an axis."),
      op("math.cumprod", "x, axis=0, exclusive=False, reverse=False", math::cumprod),
      op("sort", "values, axis=-1, direction='ASCENDING'", sort),
      op("argsort", "values, axis=-1, direction='ASCENDING', stable=False", argsort),
      op("math.top_k nn.top_k", "input, k=1, sorted=True, !index_type='int32'", top_k,
         "The k largest of the last dimension, and where they are."),
      op("nn.moments", "x, axes, !shift=None, keepdims=False", moments, "Mean and variance."),
      op("searchsorted", "sorted_sequence, values, side='left', out_type='int32'", searchsorted),
      op("math.in_top_k nn.in_top_k", "~targets, predictions, k", math::in_top_k),
      op("math.bincount",
         "~arr, ~weights=None, minlength=None, maxlength=None, dtype='int32', "
         "name=None, axis=None, binary_output=False",
         bincount, "How often each integer occurs."),
  };
}

std::vector<OpRow> segments() {
  constexpr const char* kSorted = "data, ~segment_ids";
  constexpr const char* kUnsorted = "data, ~segment_ids, num_segments";
  return {
      op("math.segment_sum", kSorted, math::segment_sum),
      op("math.segment_mean", kSorted, math::segment_mean),
      op("math.segment_max", kSorted, math::segment_max),
      op("math.segment_min", kSorted, math::segment_min),
      op("math.segment_prod", kSorted, math::segment_prod),
      op("math.unsorted_segment_sum", kUnsorted, math::unsorted_segment_sum),
      op("math.unsorted_segment_mean", kUnsorted, math::unsorted_segment_mean),
      op("math.unsorted_segment_sqrt_n", kUnsorted, math::unsorted_segment_sqrt_n),
      op("math.unsorted_segment_max", kUnsorted, math::unsorted_segment_max),
      op("math.unsorted_segment_min", kUnsorted, math::unsorted_segment_min),
      op("math.unsorted_segment_prod", kUnsorted, math::unsorted_segment_prod),
  };
}

}  // namespace

std::vector<OpRow> math_ops() {
  std::vector<OpRow> all;
  for (auto* part : {elementwise, comparisons, reductions, segments}) {
    for (const OpRow& row : part()) all.push_back(row);
  }
  return all;
}

}  // namespace plimsoll::python
