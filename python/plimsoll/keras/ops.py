"""keras.ops: on KerasTensors they are nodes of a model, on tensors they compute."""

import sys

from .. import _core
from ._tensor import apply_op

# Ops that C++ has as nodes: (class, module, arguments after the first).
_NODES = {
    **{name: (cls, "numpy", ("x2",)) for name, cls in {
        "add": "Add", "subtract": "Subtract", "multiply": "Multiply", "divide": "Divide",
        "true_divide": "TrueDivide", "floor_divide": "FloorDivide", "mod": "Mod", "power": "Power",
        "maximum": "Maximum", "minimum": "Minimum", "equal": "Equal", "not_equal": "NotEqual",
        "greater": "Greater", "greater_equal": "GreaterEqual", "less": "Less", "less_equal": "LessEqual",
        "logical_and": "LogicalAnd", "logical_or": "LogicalOr", "matmul": "Matmul"}.items()},
    **{name: (cls, "numpy", ()) for name, cls in {
        "negative": "Negative", "abs": "Absolute", "absolute": "Absolute", "square": "Square",
        "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "tanh": "Tanh", "sin": "Sin", "cos": "Cos",
        "log1p": "Log1p", "reciprocal": "Reciprocal", "floor": "Floor", "ceil": "Ceil", "sign": "Sign",
        "logical_not": "LogicalNot"}.items()},
    **{name: (cls, "nn", ()) for name, cls in {
        "relu": "Relu", "relu6": "Relu6", "sigmoid": "Sigmoid", "silu": "Silu", "swish": "Silu",
        "softplus": "Softplus", "softsign": "Softsign", "hard_sigmoid": "HardSigmoid",
        "hard_silu": "HardSilu", "hard_swish": "HardSilu"}.items()},
    **{name: (cls, "numpy", ("axis", "keepdims")) for name, cls in {
        "mean": "Mean", "sum": "Sum", "max": "Max", "min": "Min", "prod": "Prod", "any": "Any",
        "all": "All"}.items()},
    "rsqrt": ("Rsqrt", "math", ()),
    "reshape": ("Reshape", "numpy", ("newshape",)),
    "transpose": ("Transpose", "numpy", ("axes",)),
    "expand_dims": ("ExpandDims", "numpy", ("axis",)),
    "squeeze": ("Squeeze", "numpy", ("axis",)),
    "concatenate": ("Concatenate", "numpy", ("axis",)),
    "stack": ("Stack", "numpy", ("axis",)),
    "clip": ("Clip", "numpy", ("x_min", "x_max")),
    "where": ("Where", "numpy", ("x1", "x2")),
    "argmax": ("Argmax", "numpy", ("axis",)),
    "repeat": ("Repeat", "numpy", ("repeats", "axis")),
    "tile": ("Tile", "numpy", ("repeats",)),
    "softmax": ("Softmax", "nn", ("axis",)),
    "log_softmax": ("LogSoftmax", "nn", ("axis",)),
    "gelu": ("Gelu", "nn", ("approximate",)),
    "leaky_relu": ("LeakyRelu", "nn", ("negative_slope",)),
    "one_hot": ("OneHot", "nn", ("num_classes", "axis")),
    "cast": ("Cast", "core", ("dtype",)),
}
# Ops of tensors alone, by TensorFlow's names.
_OTHERS = {
    "argmin": "argmin", "cumsum": "cumsum", "cumprod": "math.cumprod", "einsum": "einsum",
    "erf": "math.erf", "expm1": "math.expm1", "stop_gradient": "stop_gradient", "tan": "tan",
    "sinh": "sinh", "cosh": "cosh", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "round": "round",
    "isnan": "math.is_nan", "isfinite": "math.is_finite", "isinf": "math.is_inf", "take": "gather",
    "zeros": "zeros", "ones": "ones", "zeros_like": "zeros_like", "ones_like": "ones_like", "full": "fill",
    "eye": "eye", "linspace": "linspace", "sort": "sort", "argsort": "argsort", "top_k": "math.top_k",
    "identity": "identity", "std": "math.reduce_std", "var": "math.reduce_variance", "norm": "norm",
    "logsumexp": "reduce_logsumexp", "pad": "pad", "flip": "reverse", "roll": "roll", "elu": "nn.elu",
    "selu": "nn.selu", "log_sigmoid": "math.log_sigmoid", "split": "split", "unstack": "unstack",
    "scatter": "scatter_nd", "segment_sum": "math.segment_sum", "cross": "linalg.cross",
    "broadcast_to": "broadcast_to", "slice": "slice", "ndim": "rank", "size": "size",
}


def _tensor(value):
    if isinstance(value, (_core.KerasTensor, _core.Tensor)):
        return value
    if isinstance(value, (list, tuple)) and any(isinstance(v, (_core.KerasTensor, _core.Tensor)) for v in value):
        return list(value)
    return convert_to_tensor(value)


def _node(name):
    cls, module, names = _NODES[name]

    def op(x, *args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}
        for key in ("axis", "newshape", "axes", "repeats"):
            if isinstance(given.get(key), tuple):
                given[key] = list(given[key])
        if "shape" in given and "newshape" in names:
            given["newshape"] = given.pop("shape")
        if "dtype" in given and given["dtype"] is not None:
            from ._base import dtype_name
            given["dtype"] = dtype_name(given["dtype"])
        if names == ("x2",) and isinstance(x, (int, float)) and not isinstance(given.get("x2"), (int, float)):
            return apply_op(cls, _tensor(given["x2"]), module, x1=x)
        return apply_op(cls, _tensor(x), module, **given)

    op.__name__ = name
    return op


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    made = _core.op("convert_to_tensor")(x)
    return made if dtype is None else _core.op("cast")(made, dtype)


def convert_to_numpy(x):
    import numpy
    return x.numpy() if hasattr(x, "numpy") else numpy.asarray(x)


def is_tensor(x):
    return isinstance(x, _core.Tensor)


def shape(x):
    return tuple(x.shape)


def arange(start, stop=None, step=1, dtype=None):
    made = _core.op("range")(start, delta=step) if stop is None else _core.op("range")(start, stop, step)
    return made if dtype is None else _core.op("cast")(made, dtype)


def dot(x1, x2):
    return matmul(x1, x2)


def array(x, dtype=None):
    return convert_to_tensor(x, dtype)


def ravel(x):
    return reshape(x, [-1])


def swapaxes(x, axis1, axis2):
    axes = list(range(len(x.shape)))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return transpose(x, axes)


def __getattr__(name):
    if name in _NODES:
        found = _node(name)
    else:
        found = _core.op(_OTHERS.get(name, "")) if name in _OTHERS else None
    if found is None:
        raise AttributeError(f"keras.ops.{name} is not built")
    setattr(sys.modules[__name__], name, found)
    return found


matmul, reshape, transpose = (_node(n) for n in ("matmul", "reshape", "transpose"))


def __dir__():
    own = [n for n in globals() if not n.startswith("_") and n not in ("sys", "apply_op")]
    return sorted({*own, *_NODES, *_OTHERS})
