"""How TensorFlow computes each op of ops.def: OPS[name](attrs, *inputs)."""

import tensorflow as tf

import tensorflow_math

# Ops without a name in TensorFlow's own API: parts of gradients, which the gradients of the ops that emit them cover.
INTERNAL = {"StridedSliceGrad", "MirrorPadGrad", "LinearRecurrence", "GatherGrad"} | tensorflow_math.INTERNAL
# What passes make of several ops.
INTERNAL |= {"BatchNormAct", "BatchNormActInference", "BatchNormActGrad", "MatMulBias", "Conv2DBias"}


def _axes(attrs):
    return attrs["axes"] or None


def _step(attrs):
    """Start and delta of a Range, which has them as integers and as floats."""
    is_float = tf.as_dtype(attrs["dtype"]).is_floating
    return (attrs["float_start"], attrs["float_delta"]) if is_float else (attrs["start"], attrs["delta"])


def _end(attrs):
    """End and strides of a slice that has begin, size and strides."""
    ends = [b + n * s for b, n, s in zip(attrs["begin"], attrs["size"], attrs["strides"])]
    return [e if e >= 0 else e - 1000 for e in ends], attrs["strides"]


def _cumprod(attrs, x):
    """By reduce_prod: the gradient of tf.math.cumprod divides by x, and is wrong where that is zero."""
    y = tf.math.cumprod(x, attrs["axis"], attrs["exclusive"], attrs["reverse"])
    if not x.dtype.is_floating or 0 in x.shape:
        return y
    parts = tf.unstack(x, axis=attrs["axis"])
    parts = parts[::-1] if attrs["reverse"] else parts
    ends = range(len(parts)) if attrs["exclusive"] else range(1, len(parts) + 1)
    made = [tf.reduce_prod(tf.stack(parts[:end]), 0) if end else tf.ones_like(parts[0]) for end in ends]
    made = tf.stack(made[::-1] if attrs["reverse"] else made, attrs["axis"])
    return tf.where(tf.math.is_finite(y), made + tf.stop_gradient(y - made), y)


def _top_k(attrs, x):
    if attrs["largest"]:
        return tf.math.top_k(x, attrs["k"], attrs["sorted"])
    order = tf.argsort(x, stable=True)[..., : attrs["k"]]
    return tf.gather(x, order, batch_dims=len(x.shape) - 1, axis=-1), order


def _reduce_sum(attrs, x):
    """Long sums in float64: TensorFlow adds floats one after another, which is off by more than what is allowed here."""
    if x.dtype == tf.float32 and tf.size(x) > 10_000:
        return tf.cast(tf.reduce_sum(tf.cast(x, tf.float64), _axes(attrs), attrs["keepdims"]), tf.float32)
    return tf.reduce_sum(x, _axes(attrs), attrs["keepdims"])


OPS = {
    **tensorflow_math.OPS,
    # create
    "Fill": lambda a: tf.cast(tf.fill(a["shape"], a["value"]), a["dtype"]),
    "Range": lambda a: tf.range(a["size"], dtype=a["dtype"]) * tf.cast(_step(a)[1], a["dtype"]) + tf.cast(_step(a)[0], a["dtype"]),
    "LinSpace": lambda a: tf.cast(tf.linspace(tf.cast(a["start"], tf.float64), a["stop"], a["num"]), a["dtype"]),
    "Eye": lambda a: tf.eye(a["shape"][-2], a["shape"][-1], a["shape"][:-2], a["dtype"]),
    "OneHot": lambda a, x: tf.one_hot(x, a["depth"], tf.cast(a["on_value"], a["dtype"]), tf.cast(a["off_value"], a["dtype"]), a["axis"], a["dtype"]),
    "StopGradient": lambda a, x: tf.stop_gradient(x),
    "Copy": lambda a, x: tf.identity(x),
    "Identity": lambda a, x: tf.identity(x),
    "Cast": lambda a, x: tf.cast(x, a["dtype"]),
    # elementwise
    "Add": lambda a, x, y: tf.add(x, y),
    "Sub": lambda a, x, y: tf.subtract(x, y),
    "Mul": lambda a, x, y: tf.multiply(x, y),
    "Div": lambda a, x, y: tf.divide(x, y),
    "Maximum": lambda a, x, y: tf.maximum(x, y),
    "Minimum": lambda a, x, y: tf.minimum(x, y),
    "Pow": lambda a, x, y: tf.pow(x, y),
    "Neg": lambda a, x: tf.negative(x),
    "Abs": lambda a, x: tf.abs(x),
    "Sign": lambda a, x: tf.sign(x),
    "Square": lambda a, x: tf.square(x),
    "Sqrt": lambda a, x: tf.sqrt(x),
    "Exp": lambda a, x: tf.exp(x),
    "Log": lambda a, x: tf.math.log(x),
    "Tanh": lambda a, x: tf.tanh(x),
    "Sigmoid": lambda a, x: tf.sigmoid(x),
    "Relu": lambda a, x: tf.nn.relu(x),
    "Equal": lambda a, x, y: tf.equal(x, y),
    "Less": lambda a, x, y: tf.less(x, y),
    "Greater": lambda a, x, y: tf.greater(x, y),
    "GreaterEqual": lambda a, x, y: tf.greater_equal(x, y),
    "LogicalNot": lambda a, x: tf.logical_not(x),
    "Select": lambda a, c, x, y: tf.where(c, x, y),
    # reduce
    "ReduceSum": _reduce_sum,
    "ReduceMean": lambda a, x: tf.reduce_mean(x, _axes(a), a["keepdims"]),
    "ReduceMax": lambda a, x: tf.reduce_max(x, _axes(a), a["keepdims"]),
    "ReduceMin": lambda a, x: tf.reduce_min(x, _axes(a), a["keepdims"]),
    "ReduceProd": lambda a, x: tf.reduce_prod(x, _axes(a), a["keepdims"]),
    "ReduceAny": lambda a, x: tf.reduce_any(x, _axes(a), a["keepdims"]),
    "ReduceAll": lambda a, x: tf.reduce_all(x, _axes(a), a["keepdims"]),
    "ArgMax": lambda a, x: tf.argmax(x, a["axis"], a["output_type"]),
    "ArgMin": lambda a, x: tf.argmin(x, a["axis"], a["output_type"]),
    "Cumsum": lambda a, x: tf.cumsum(x, a["axis"], a["exclusive"], a["reverse"]),
    "Cumprod": _cumprod,
    "TopK": _top_k,
    # shape
    "Reshape": lambda a, x: tf.reshape(x, a["shape"]),
    "BroadcastTo": lambda a, x: tf.broadcast_to(x, a["shape"]),
    "Transpose": lambda a, x: tf.transpose(x, a["perm"]),
    "Tile": lambda a, x: tf.tile(x, a["multiples"]),
    "Reverse": lambda a, x: tf.reverse(x, a["axes"]),
    "Roll": lambda a, x: tf.roll(x, a["shifts"], list(range(len(a["shifts"])))),
    "StridedSlice": lambda a, x: tf.strided_slice(x, a["begin"], *_end(a)),
    "Pad": lambda a, x: tf.pad(x, list(zip(a["before"], a["after"])), constant_values=tf.cast(a["value"], x.dtype)),
    "MirrorPad": lambda a, x: tf.pad(x, list(zip(a["before"], a["after"])), "SYMMETRIC" if a["symmetric"] else "REFLECT"),
    "Concat": lambda a, *x: tf.concat(x, a["axis"]),
    "Split": lambda a, x: tf.split(x, a["sizes"] or a["num"], a["axis"]),
    # gather
    "Gather": lambda a, x, i: tf.gather(x, i, axis=a["axis"], batch_dims=a["batch_dims"]),
    "GatherNd": lambda a, x, i: tf.gather_nd(x, i),
    "ScatterNd": lambda a, i, u: tf.scatter_nd(i, u, tf.constant(a["shape"], i.dtype)),
    "TensorScatterAdd": lambda a, x, i, u: tf.tensor_scatter_nd_add(x, i, u),
    "TensorScatterUpdate": lambda a, x, i, u: tf.tensor_scatter_nd_update(x, i, u),
    "Where": lambda a, x: tf.where(x) if x.shape.rank else tf.zeros([a["count"], 0], tf.int64),
    # debugging: they have no results, and both fail where TensorFlow's does
    "Print": lambda a, text, *x: tf.print(end="") or [],
    "Assert": lambda a, holds, text, *x: tf.debugging.Assert(holds, x, a["summarize"]) or [],
    # matmul
    "MatMul": lambda a, x, y: tf.linalg.matmul(x, y, a["transpose_a"], a["transpose_b"]),
}
