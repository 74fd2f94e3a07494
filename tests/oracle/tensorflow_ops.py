"""How TensorFlow computes each op of ops.def: OPS[name](attrs, *inputs)."""

import tensorflow as tf

# Ops without a name in TensorFlow's own API: parts of gradients, which the gradients of the ops that emit them cover.
INTERNAL = set()


def _axes(attrs):
    return attrs["axes"] or None


OPS = {
    # create
    "Fill": lambda a: tf.cast(tf.fill(a["shape"], a["value"]), a["dtype"]),
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
    "ReduceSum": lambda a, x: tf.reduce_sum(x, _axes(a), a["keepdims"]),
    # shape
    "Reshape": lambda a, x: tf.reshape(x, a["shape"]),
    "BroadcastTo": lambda a, x: tf.broadcast_to(x, a["shape"]),
    # matmul
    "MatMul": lambda a, x, y: tf.linalg.matmul(x, y, a["transpose_a"], a["transpose_b"]),
}
