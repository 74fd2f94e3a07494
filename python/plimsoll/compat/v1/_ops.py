"""Ops under the first version's names, or with its arguments."""

from ... import _core
from ..._gradients import UnconnectedGradients  # noqa: F401

# Ops that have other names now.
_RENAMED = {
    "log": "math.log", "log1p": "math.log1p", "log_sigmoid": "math.log_sigmoid", "rsqrt": "math.rsqrt",
    "reciprocal": "math.reciprocal", "ceil": "math.ceil", "floor_div": "math.floordiv",
    "floordiv": "math.floordiv", "floormod": "math.floormod", "mod": "math.floormod", "erf": "math.erf",
    "erfc": "math.erfc", "is_nan": "math.is_nan",
    "is_inf": "math.is_inf", "is_finite": "math.is_finite", "logical_xor": "math.logical_xor",
    "squared_difference": "math.squared_difference", "cumsum": "math.cumsum", "cumprod": "math.cumprod",
    "segment_sum": "math.segment_sum", "segment_mean": "math.segment_mean",
    "segment_max": "math.segment_max", "segment_min": "math.segment_min",
    "segment_prod": "math.segment_prod", "unsorted_segment_sum": "math.unsorted_segment_sum",
    "unsorted_segment_mean": "math.unsorted_segment_mean",
    "unsorted_segment_max": "math.unsorted_segment_max",
    "unsorted_segment_min": "math.unsorted_segment_min", "div_no_nan": "math.divide_no_nan",
    "space_to_depth": "nn.space_to_depth", "depth_to_space": "nn.depth_to_space",
    "matrix_inverse": "linalg.inv", "matrix_determinant": "linalg.det", "cholesky": "linalg.cholesky",
    "matrix_solve": "linalg.solve", "matrix_triangular_solve": "linalg.triangular_solve",
    "matrix_band_part": "linalg.band_part", "matrix_diag": "linalg.diag",
    "matrix_diag_part": "linalg.diag_part", "matrix_transpose": "linalg.matrix_transpose",
    "svd": "linalg.svd", "qr": "linalg.qr", "trace": "linalg.trace", "self_adjoint_eig": "linalg.eigh",
    "self_adjoint_eigvals": "linalg.eigvalsh", "tensor_scatter_update": "tensor_scatter_nd_update",
    "tensor_scatter_add": "tensor_scatter_nd_add", "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "random_gamma": "random.gamma", "random_poisson": "random.poisson", "random_shuffle": "random.shuffle",
    "check_numerics": "debugging.check_numerics",
    "assert_none_equal": "debugging.assert_none_equal",
    "assert_less_equal": "debugging.assert_less_equal",
    "assert_greater_equal": "debugging.assert_greater_equal",
    "assert_positive": "debugging.assert_positive", "assert_negative": "debugging.assert_negative",
    "assert_non_negative": "debugging.assert_non_negative",
    "assert_non_positive": "debugging.assert_non_positive", "assert_near": "debugging.assert_near",
}


def _op(name):
    return _core.op(name)


def one_of(new_name, new, old_name, old):
    """An argument that has had two names."""
    if new is not None and old is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old if new is None else new


def _reduction(name):
    full = f"reduce_{name}" if _core.op(f"reduce_{name}") else f"math.reduce_{name}"

    def reduce(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = one_of("axis", axis, "reduction_indices", reduction_indices)
        keepdims = one_of("keepdims", keepdims, "keep_dims", keep_dims)
        return _op(full)(input_tensor, axis, bool(keepdims), name=name)

    reduce.__name__ = f"reduce_{name}"
    return reduce


reduce_sum, reduce_mean, reduce_max = (_reduction(n) for n in ("sum", "mean", "max"))
reduce_min, reduce_prod, reduce_all = (_reduction(n) for n in ("min", "prod", "all"))
reduce_any, reduce_logsumexp = (_reduction(n) for n in ("any", "logsumexp"))


def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype="int64", name=None,
                  reduction_indices=None, keep_dims=None, input=None):
    return _op("math.count_nonzero")(one_of("input", input, "input_tensor", input_tensor),
                                     one_of("axis", axis, "reduction_indices", reduction_indices),
                                     bool(one_of("keepdims", keepdims, "keep_dims", keep_dims)), dtype)


def _arg(name):
    def find(input, axis=None, name=None, dimension=None, output_type="int64"):
        return _op(found)(input, one_of("axis", axis, "dimension", dimension) or 0, output_type, name=name)

    found = "arg" + name
    find.__name__ = found
    return find


argmax, argmin = _arg("max"), _arg("min")


def arg_max(input, dimension, output_type="int64", name=None):
    return argmax(input, dimension, name, output_type=output_type)


def arg_min(input, dimension, output_type="int64", name=None):
    return argmin(input, dimension, name, output_type=output_type)


def _casting(dtype):
    def convert(x, name=None):
        return _op("cast")(x, dtype, name=name)

    return convert


to_float, to_double, to_int32 = _casting("float32"), _casting("float64"), _casting("int32")
to_int64, to_bfloat16 = _casting("int64"), _casting("bfloat16")


def div(x, y, name=None):
    """x / y as Python 2 divided: integers are rounded down."""
    x, y = _pair(x, y)
    return _op("math.floordiv")(x, y, name=name) if x.dtype.is_integer else _op("divide")(x, y, name=name)


def _pair(x, y):
    convert = _op("convert_to_tensor")
    if hasattr(x, "dtype"):
        x = convert(x)
        return x, y if hasattr(y, "_is_symbolic") or isinstance(y, _core.Tensor) else convert(y, x.dtype)
    y = convert(y)
    return convert(x, y.dtype), y


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False,
           a_is_sparse=False, b_is_sparse=False, name=None, output_type=None):
    return _op("matmul")(a, b, transpose_a or adjoint_a, transpose_b or adjoint_b, name=name)


batch_matmul = matmul


def expand_dims(input, axis=None, name=None, dim=None):
    axis = one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return _op("expand_dims")(input, axis, name=name)


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    return _op("squeeze")(input, one_of("axis", axis, "squeeze_dims", squeeze_dims), name=name)


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    return _op("split")(value, num_or_size_splits, axis, num, name=name)


def concat(values, axis, name="concat"):
    if not isinstance(axis, int) and isinstance(values, int):
        values, axis = axis, values  # the order of the oldest programs
    return _op("concat")(values, axis, name=name)


def pack(values, axis=0, name="pack"):
    return _op("stack")(values, axis, name=name)


def unpack(value, num=None, name="unpack", axis=0):
    return _op("unstack")(value, num, axis, name=name)


def transpose(a, perm=None, name="transpose", conjugate=False):
    return _op("transpose")(a, perm, name=name)


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    return _op("gather")(params, indices, axis=axis, batch_dims=batch_dims, name=name)


def where(condition, x=None, y=None, name=None):
    """x where the condition holds, else y; a condition of one dimension chooses rows."""
    if x is None or y is None:
        return _op("where")(condition, x, y, name=name)
    condition, x = _op("convert_to_tensor")(condition), _op("convert_to_tensor")(x)
    rank, of_x = condition.ndim, x.ndim
    if rank == 1 and of_x is not None and of_x > 1:
        condition = _op("reshape")(condition, [-1] + [1] * (of_x - 1))
    made = _op("where")(condition, x, y, name=name)
    if made.shape.rank is None and of_x:  # x and y are of one shape
        made.set_shape(x.shape)
    return made


def diag(diagonal, name=None):
    """A tensor of twice the rank with these on its diagonal, and zeros elsewhere."""
    x = _op("convert_to_tensor")(diagonal)
    if x.ndim == 1:
        return _op("linalg.diag")(x, name=name)
    dims = _op("shape")(x)
    return _op("reshape")(_op("linalg.diag")(_op("reshape")(x, [-1])), _op("concat")([dims, dims], 0), name=name)


def diag_part(input, name=None):
    """The diagonal of a tensor whose shape is some sizes, twice."""
    x = _op("convert_to_tensor")(input)
    if x.ndim == 2:
        return _op("linalg.diag_part")(x, name=name)
    dims = _op("shape")(x)[:x.ndim // 2]
    flat = _op("reshape")(x, _op("stack")([_op("reduce_prod")(dims), -1]))
    return _op("reshape")(_op("linalg.diag_part")(flat), dims, name=name)


def cross(a, b, name=None):
    """The product of vectors of three elements that is normal to both."""
    a, b = _pair(a, b)
    roll = _op("roll")
    return _op("subtract")(roll(a, -1, -1) * roll(b, -2, -1), roll(a, -2, -1) * roll(b, -1, -1), name=name)


def invert_permutation(x, name=None):
    """Where each number stands."""
    x = _op("convert_to_tensor")(x)
    return _op("cast")(_op("argsort")(x), x.dtype, name=name)


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """The tensor, if all of its elements are finite numbers; else an error with the message."""
    return _op("debugging.check_numerics")(one_of("x", x, "t", t), one_of("message", message, "msg", msg),
                                           name=name)


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    return _op("boolean_mask")(tensor, mask, axis, name=name)


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    return _op("pad")(tensor, paddings, mode, constant_values, name=name)


def shape(input, name=None, out_type="int32"):
    return _op("shape")(input, out_type, name=name)


def size(input, name=None, out_type="int32"):
    return _op("size")(input, out_type, name=name)


def zeros_like(tensor, dtype=None, name=None, optimize=True):
    return _op("zeros_like")(tensor, dtype, name=name)


def ones_like(tensor, dtype=None, name=None, optimize=True):
    return _op("ones_like")(tensor, dtype, name=name)


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True,
                    name=None):
    """A dense tensor with values at these places."""
    values = _op("convert_to_tensor")(sparse_values)
    at = _op("convert_to_tensor")(sparse_indices)
    rank = at.shape.rank
    if rank < 2:
        at = _op("reshape")(at, [-1, 1])
    values = _op("broadcast_to")(values, _op("shape")(at)[:1])
    blank = _op("fill")(output_shape, _op("cast")(default_value, values.dtype))
    return _op("tensor_scatter_nd_update")(blank, at, values)


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    return _op("norm")(tensor, ord, axis, bool(one_of("keepdims", keepdims, "keep_dims", keep_dims)),
                       name=name)


def random_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    return _op("random.normal")(shape, mean, stddev, dtype, seed, name=name)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None):
    return _op("random.truncated_normal")(shape, mean, stddev, dtype, seed, name=name)


def random_uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None):
    return _op("random.uniform")(shape, minval, maxval, dtype, seed, name=name)


def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    return _op("random.categorical")(logits, num_samples, output_dtype, seed, name=name)


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,
               swap_memory=False, name=None, maximum_iterations=None, return_same_structure=False):
    """body(*loop_vars) as long as cond(*loop_vars) holds; of one variable without its list."""
    if _core.is_building():
        from .._control import while_loop as build
        return build(cond, body, loop_vars, maximum_iterations, shape_invariants, name,
                     return_same_structure)
    from ..._control_flow import while_loop as run
    return run(cond, body, loop_vars, maximum_iterations=maximum_iterations)


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    from ..._control_flow import cond as run
    return run(pred, true_fn or fn1, false_fn or fn2, name)


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False,
           infer_shape=True, name=None, fn_output_signature=None):
    from ..._control_flow import map_fn as run
    return run(fn, elems, name=name)


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    if _core.is_building():
        from .._calls import constant as build
        return build(value, dtype, shape, name, verify_shape)
    return _op("constant")(value, dtype, shape)


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    return _op("convert_to_tensor")(value, dtype,
                                    preferred_dtype if dtype_hint is None else dtype_hint, name=name)


def group(*inputs, **kwargs):
    from ..._control_flow import group as make
    return make(*inputs, **kwargs)


def clip_by_average_norm(t, clip_norm, name=None):
    count = _op("cast")(_op("size")(t), "float32")
    average = _op("sqrt")(reduce_sum(_op("square")(t))) / count
    return t * clip_norm / _op("maximum")(average, clip_norm)


def assert_rank(x, rank, data=None, summarize=None, message=None, name=None):
    found = x.shape.rank
    if found is not None and found != rank:
        raise ValueError(f"{message or ''} Tensor {x} must have rank {rank}. Received rank {found}, shape "
                         f"{x.shape}")
    return group() if _core.is_building() else None


def global_norm(t_list, name=None):
    from ..._functions import global_norm as norm_of_all
    return norm_of_all(t_list)


globals().update({_name: _core.op(_full) for _name, _full in _RENAMED.items()})
__all__ = [_n for _n in globals() if not _n.startswith("_") and _n not in ("one_of",)]
