"""What operations are called when nobody names them."""

# As TensorFlow names the nodes of its functions.
_KINDS = {
    "constant": "Const", "matmul": "MatMul", "reduce_sum": "Sum", "reduce_mean": "Mean",
    "reduce_max": "Max", "reduce_min": "Min", "reduce_prod": "Prod", "reduce_all": "All",
    "reduce_any": "Any", "multiply": "Mul", "subtract": "Sub", "divide": "RealDiv", "add": "AddV2",
    "negative": "Neg", "argmax": "ArgMax", "argmin": "ArgMin", "concat": "ConcatV2", "stack": "Pack",
    "unstack": "Unpack", "conv2d": "Conv2D", "max_pool2d": "MaxPool", "max_pool": "MaxPool",
    "avg_pool": "AvgPool", "avg_pool2d": "AvgPool", "bias_add": "BiasAdd", "expand_dims": "ExpandDims",
    "zeros_like": "ZerosLike", "ones_like": "OnesLike", "one_hot": "OneHot", "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr", "logical_not": "LogicalNot", "greater_equal": "GreaterEqual",
    "less_equal": "LessEqual", "not_equal": "NotEqual", "squared_difference": "SquaredDifference",
    "log_softmax": "LogSoftmax", "add_n": "AddN", "gather": "GatherV2", "floordiv": "FloorDiv",
    "floormod": "FloorMod", "getitem": "StridedSlice", "truediv": "RealDiv",
}
# Where the name differs from the kind in more than its case.
_NAMES = {
    "add": "Add", "divide": "truediv", "concat": "concat", "stack": "stack", "unstack": "unstack",
    "getitem": "strided_slice", "zeros": "zeros", "ones": "ones", "one_hot": "one_hot",
    "random_normal": "random_normal", "reshape": "Reshape", "transpose": "transpose",
    "zeros_like": "zeros_like", "ones_like": "ones_like", "floordiv": "floordiv",
    "softmax_cross_entropy_with_logits": "softmax_cross_entropy_with_logits", "range": "range",
    "normal": "random_normal", "uniform": "random_uniform", "truncated_normal": "truncated_normal",
}


def _camel(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_") if part) or "Op"


def kind_of(function):
    name = getattr(function, "__name__", type(function).__name__)
    return _KINDS.get(name) or _camel(name)


def default_name(function, kind):
    name = getattr(function, "__name__", None)
    return _NAMES.get(name) or kind
