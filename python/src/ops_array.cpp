// Making tensors, other shapes of them, parts of them.
#include <fmt/format.h>

#include "op_table.h"
#include "variable.h"

namespace plimsoll::python {
namespace {

Tensor reshaped(const Tensor& tensor, nb::handle shape) {
  const std::vector<std::int64_t> dims = to_ints(shape, "shape");
  return reshape(tensor, std::span<const std::int64_t>(dims));
}

std::optional<DType> optional_dtype(nb::handle dtype) {
  return dtype.is_none() ? std::nullopt : std::optional(to_dtype(dtype));
}

// One value fills a shape, as many as there are take it.
nb::object constant_op(nb::handle value, nb::handle dtype, nb::handle shape) {
  const std::optional<DType> type = optional_dtype(dtype);
  Tensor made;
  Tensor kept;
  if (const Tensor* tensor = tensor_behind(value, kept)) {
    made = type ? cast(*tensor, *type) : *tensor;
  } else {
    made = to_tensor(value, type);
  }
  if (shape.is_none()) return to_python(made);
  const Shape wanted = to_shape(shape);
  if (made.shape() == wanted) return to_python(made);
  if (made.num_elements() == 1 && made.rank() == 0) return to_python(broadcast_to(made, wanted));
  if (made.num_elements() != wanted.num_elements()) {
    raise_type_error(
        fmt::format("Eager execution of tf.constant with unsupported shape. Tensor {} (converted "
                    "from {}) has {} "
                    "elements, but got `shape` {} with {} elements).",
                    repr_of(to_python(made)), repr_of(value), made.num_elements(),
                    wanted.to_string(), wanted.num_elements()));
  }
  return to_python(reshaped(made, shape));
}

nb::object convert_op(nb::handle value, nb::handle dtype, nb::handle dtype_hint) {
  const std::optional<DType> type = optional_dtype(dtype);
  if (type || dtype_hint.is_none()) {
    if (is_tensor(value.ptr()) && (!type || tensor_of(value.ptr()).dtype() == *type))
      return nb::borrow(value);
    return to_python(to_tensor(value, type));
  }
  try {
    return to_python(to_tensor(value, to_dtype(dtype_hint)));
  } catch (nb::python_error&) {  // a hint is no order
    return to_python(to_tensor(value));
  }
}

// Numbers keep their type if both are integers.
bool is_integral(nb::handle value) {
  Tensor kept;
  if (const Tensor* tensor = tensor_behind(value, kept)) return is_integer(tensor->dtype());
  return PyLong_Check(value.ptr()) || PyIndex_Check(value.ptr());
}

DType range_type(nb::handle start, nb::handle limit, nb::handle delta) {
  DType widest = int32;
  for (const nb::handle value : {start, limit, delta}) {
    Tensor kept;
    const Tensor* tensor = tensor_behind(value, kept);
    const DType type = tensor                        ? tensor->dtype()
                       : is_integral(value)          ? int32
                       : nb::hasattr(value, "dtype") ? to_dtype(value.attr("dtype"))
                                                     : float32;
    if (is_floating(type) && (!is_floating(widest) || type == float64)) widest = type;
    if (type == int64 && widest == int32) widest = int64;
  }
  return widest;
}

nb::object range_op(nb::handle start, nb::handle limit, nb::handle delta, nb::handle dtype) {
  nb::object from = nb::borrow(start), to = nb::borrow(limit);
  if (limit.is_none()) {
    to = from;
    from = nb::int_(0);
  }
  const DType type = dtype.is_none() ? range_type(from, to, delta) : to_dtype(dtype);
  const auto make = [&] {
    if (is_integer(type) && is_integral(from) && is_integral(to) && is_integral(delta)) {
      const std::int64_t a = to_int(from, "start"), b = to_int(to, "limit"),
                         step = to_int(delta, "delta");
      return without_gil(b - a, [&] { return range(a, b, step, type); });
    }
    return range(to_double(from, "start"), to_double(to, "limit"), to_double(delta, "delta"), type);
  };
  if (!interop::is_tracing() || !is_integer(type)) return to_python(make());
  const interop::InitScope now;  // a loop over it, or an index, is known
  return to_python(make());
}

nb::object linspace_op(nb::handle start, nb::handle stop, nb::handle num, nb::handle axis) {
  if (to_int(axis, "axis") != 0)
    throw UnimplementedError(fmt::format("linspace: axis is 0 here, got {}", repr_of(axis)));
  Tensor kept;
  const Tensor* tensor = tensor_behind(start, kept);
  const DType type = tensor                        ? tensor->dtype()
                     : is_integral(start)          ? float64
                     : nb::hasattr(start, "dtype") ? to_dtype(start.attr("dtype"))
                                                   : float32;
  return to_python(linspace(to_double(start, "start"), to_double(stop, "stop"), to_int(num, "num"),
                            is_floating(type) ? type : float64));
}

nb::object one_hot_op(nb::handle indices, nb::handle depth, nb::handle on, nb::handle off,
                      nb::handle axis, nb::handle dtype) {
  std::optional<DType> type = optional_dtype(dtype);
  for (const nb::handle value : {on, off}) {
    if (!type && !value.is_none()) type = to_tensor(value).dtype();
  }
  const Tensor at = to_tensor(indices);
  return to_python(one_hot(at, to_int(depth, "depth"), on.is_none() ? 1 : to_double(on, "on_value"),
                           off.is_none() ? 0 : to_double(off, "off_value"),
                           axis.is_none() ? -1 : to_int(axis, "axis"), type.value_or(float32)));
}

nb::object repeat_op(nb::handle input, nb::handle repeats, nb::handle axis) {
  const Tensor from = to_tensor(input);
  const std::optional<std::int64_t> along =
      axis.is_none() ? std::nullopt : std::optional(to_int(axis, "axis"));
  Tensor kept;
  if (const Tensor* counts = tensor_behind(repeats, kept)) {
    return to_python(repeat(from, *counts, along));
  }
  const std::vector<std::int64_t> times = to_ints(repeats, "repeats");
  if (times.size() == 1) return to_python(repeat(from, times[0], along));
  return to_python(repeat(from, times, along));
}

nb::object split_op(nb::handle value, nb::handle parts, nb::handle axis, nb::handle) {
  const Tensor from = to_tensor(value);
  const std::int64_t along = to_int(axis, "axis");
  const std::vector<std::int64_t> sizes = to_ints(parts, "num_or_size_splits");
  Tensor kept;
  const bool is_number = PyIndex_Check(parts.ptr()) &&
                         !(tensor_behind(parts, kept) && tensor_behind(parts, kept)->rank() > 0);
  return nb::steal(to_result(is_number ? split(from, sizes[0], along) : split(from, sizes, along)));
}

nb::object where_op(nb::handle condition, nb::handle x, nb::handle y) {
  const Tensor mask = to_tensor(condition);
  if (x.is_none() && y.is_none()) return to_python(where(mask));
  if (x.is_none() || y.is_none())
    raise_value_error("x and y must both be non-None or both be None.");
  Tensor kept_x, kept_y;
  const Tensor* a = tensor_behind(x, kept_x);
  const Tensor* b = tensor_behind(y, kept_y);
  if (!a) {
    kept_x = to_tensor(x, b ? std::optional(b->dtype()) : std::nullopt);
    a = &kept_x;
  }
  if (!b) {
    kept_y = to_tensor(y, a->dtype());
    b = &kept_y;
  }
  return to_python(
      without_gil(mask.num_elements() + a->num_elements(), [&] { return where(mask, *a, *b); }));
}

nb::object roll_op(nb::handle input, nb::handle shift, nb::handle axis) {
  return to_python(roll(to_tensor(input), to_ints(shift, "shift"), to_ints(axis, "axis")));
}

nb::object ensure_shape(nb::handle x, nb::handle shape) {
  Tensor kept = to_tensor(x);
  bool fits = true;
  int axis = 0;
  if (!shape.is_none()) {
    for (const nb::handle dim : shape) {
      fits = fits && axis < kept.rank() &&
             (dim.is_none() || to_int(dim, "shape") == kept.shape().dim(axis));
      ++axis;
    }
    fits = fits && axis == kept.rank();
  }
  if (!fits) {
    throw InvalidArgumentError(
        fmt::format("Shape of tensor x {} is not compatible with expected shape {}.",
                    kept.shape().to_string(), text_of(shape)));
  }
  return to_python(kept);
}

Tensor strided(const Tensor& input, const std::vector<std::int64_t>& begin,
               const std::vector<std::int64_t>& end, const std::vector<std::int64_t>& strides,
               std::int64_t begin_mask, std::int64_t end_mask, std::int64_t ellipsis_mask,
               std::int64_t new_axis_mask, std::int64_t shrink_axis_mask) {
  return strided_slice(input, begin, end,
                       {.strides = strides,
                        .begin_mask = begin_mask,
                        .end_mask = end_mask,
                        .ellipsis_mask = ellipsis_mask,
                        .new_axis_mask = new_axis_mask,
                        .shrink_axis_mask = shrink_axis_mask});
}

std::vector<OpRow> makers() {
  return {
      op("constant", "value, dtype=None, shape=None", constant_op,
         "A tensor of numbers, strings, a nested list or an array, which is copied once."),
      op("convert_to_tensor", "value, dtype=None, dtype_hint=None", convert_op,
         "The tensor that a value is, or stands for."),
      op("zeros", "shape, dtype='float32', name=None, !layout=None", zeros),
      op("ones", "shape, dtype='float32', name=None, !layout=None", ones),
      op(
          "fill", "dims, value, name=None, !layout=None",
          [](const Shape& dims, const Tensor& value) {
            if (value.rank() != 0)
              throw InvalidArgumentError("value must be a scalar. Received shape: " +
                                         value.shape().to_string());
            return broadcast_to(value, dims);
          },
          "One value everywhere."),
      op("zeros_like", "input, dtype=None, name=None, !layout=None",
         [](const Tensor& input, std::optional<DType> dtype) {
           return zeros(input.shape(), dtype.value_or(input.dtype()));
         }),
      op("ones_like", "input, dtype=None, name=None, !layout=None",
         [](const Tensor& input, std::optional<DType> dtype) {
           return ones(input.shape(), dtype.value_or(input.dtype()));
         }),
      op("identity", "input", identity),
      op("stop_gradient", "input", stop_gradient,
         "The same, but no gradient flows back through it."),
      op("range", "start, limit=None, delta=1, dtype=None", range_op),
      op("linspace", "start, stop, num, name=None, axis=0", linspace_op),
      op("eye linalg.eye", "num_rows, num_columns=None, batch_shape=None, dtype='float32'", eye),
      op("one_hot", "indices, depth, on_value=None, off_value=None, axis=None, dtype=None",
         one_hot_op),
      op("shape", "input, out_type='int32'",
         [](const Tensor& input, std::optional<DType> type) {
           return shape(input, type.value_or(int32));
         }),
      op("size", "input, out_type='int32'",
         [](const Tensor& input, std::optional<DType> type) {
           return size(input, type.value_or(int32));
         }),
      op("rank", "input", static_cast<Tensor (*)(const Tensor&)>(rank)),
      op("sequence_mask", "lengths, maxlen=None, dtype='bool'", sequence_mask),
      op("ensure_shape", "x, shape", ensure_shape),
  };
}

std::vector<OpRow> shapes() {
  return {
      op("reshape", "tensor, shape",
         static_cast<Tensor (*)(const Tensor&, std::span<const std::int64_t>)>(reshape),
         "Other dimensions for the same elements; one of them may be -1."),
      op("expand_dims", "input, axis", expand_dims),
      op("squeeze", "input, axis=None", squeeze),
      op("broadcast_to", "input, shape", broadcast_to),
      op("transpose", "a, perm=None, conjugate=False",
         [](const Tensor& a, const std::vector<std::int64_t>& perm, bool) {
           return transpose(a, perm);
         }),
      op("reverse", "tensor, axis", reverse),
      op("roll", "input, shift, axis", roll_op),
      op("tile", "input, multiples", tile),
      op("repeat", "input, repeats, axis=None", repeat_op),
      op("concat", "values, axis",
         static_cast<Tensor (*)(std::span<const Tensor>, std::int64_t)>(concat)),
      op("stack", "values, axis=0",
         static_cast<Tensor (*)(std::span<const Tensor>, std::int64_t)>(stack)),
      op("unstack", "value, num=None, axis=0", unstack),
      op("split", "value, num_or_size_splits, axis=0, num=None", split_op),
      op("slice", "input_, begin, size", slice),
      op("strided_slice",
         "input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, "
         "new_axis_mask=0, shrink_axis_mask=0, !var=None",
         strided),
      op("pad", "tensor, paddings, mode='CONSTANT', constant_values=0", pad),
  };
}

std::vector<OpRow> picks() {
  return {
      op(
          "gather", "params, ~indices, !validate_indices=None, axis=None, batch_dims=0",
          [](const Tensor& params, const Tensor& indices, std::optional<std::int64_t> axis,
             std::int64_t batch_dims) { return gather(params, indices, axis, batch_dims); },
          "Rows by their numbers."),
      op("gather_nd", "params, ~indices, batch_dims=0, name=None, !bad_indices_policy=''",
         gather_nd),
      op("scatter_nd", "~indices, updates, shape, !bad_indices_policy=''", scatter_nd),
      op("tensor_scatter_nd_add", "tensor, ~indices, updates, !bad_indices_policy=''",
         tensor_scatter_nd_add),
      op("tensor_scatter_nd_sub", "tensor, ~indices, updates, !bad_indices_policy=''",
         tensor_scatter_nd_sub),
      op("tensor_scatter_nd_max", "tensor, ~indices, updates, !bad_indices_policy=''",
         tensor_scatter_nd_max),
      op("tensor_scatter_nd_min", "tensor, ~indices, updates, !bad_indices_policy=''",
         tensor_scatter_nd_min),
      op("tensor_scatter_nd_update", "tensor, ~indices, updates", tensor_scatter_nd_update),
      op("where", "condition, x=None, y=None", where_op,
         "x where the condition holds, else y; without both, where it holds."),
      op("boolean_mask", "tensor, ~mask, axis=None", boolean_mask),
  };
}

}  // namespace

std::vector<OpRow> array_ops() {
  std::vector<OpRow> all;
  for (auto* part : {makers, shapes, picks}) {
    for (const OpRow& row : part()) all.push_back(row);
  }
  return all;
}

}  // namespace plimsoll::python
