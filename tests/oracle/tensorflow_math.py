"""Rows of tensorflow_ops.py for elementwise ops, activations, softmax, norms and random numbers."""

import math

import tensorflow as tf

INTERNAL = {
    f"{name}Grad"
    for name in (
        "Relu Relu6 LeakyRelu Elu Selu Celu Sigmoid Tanh Gelu GeluTanh Silu Softplus Softsign HardSigmoid HardSilu Mish "
        "Softmax LogSoftmax SoftmaxCrossEntropy SparseSoftmaxCrossEntropy BatchNorm LayerNorm RmsNorm"
    ).split()
}


def _number(value, like):
    """A number in the dtype of a tensor, or in a dtype; tf.cast would take it through float32."""
    return tf.constant(value, getattr(like, "dtype", like))


# TensorFlow's own keep their constants in float32, in float64 too.
def _gelu(a, x):
    return 0.5 * x * (1 + tf.math.erf(x / _number(2**0.5, x)))


def _gelu_tanh(a, x):
    return 0.5 * x * (1 + tf.tanh(_number((2 / math.pi) ** 0.5, x) * (x + _number(0.044715, x) * x * x * x)))


def _leaky_relu(a, x):
    return tf.where(x < 0, _number(a["alpha"], x) * x, x)


def _in_float64(exact, own):
    return lambda a, x: exact(a, x) if x.dtype == tf.float64 else own(a, x)


def _philox(state):
    """Key and counter of a seed pair, or those given."""
    if state.shape[0] == 2:
        return tf.raw_ops.StatelessRandomGetKeyCounter(seed=state)
    words = tf.bitcast(state, tf.uint64)
    return words[:1], words[1:]


def _draw(op, state, shape, **more):
    key, counter = _philox(state)
    return op(shape=tf.constant(shape, tf.int32), key=key, counter=counter, alg=1, **more)


def _uniform(a, state):
    lo, hi = _number(a["minval"], a["dtype"]), _number(a["maxval"], a["dtype"])
    return _draw(tf.raw_ops.StatelessRandomUniformV2, state, a["shape"], dtype=a["dtype"]) * (hi - lo) + lo


def _uniform_int(a, state):
    lo, hi = _number(a["minval"], a["dtype"]), _number(a["maxval"], a["dtype"])
    return _draw(tf.raw_ops.StatelessRandomUniformIntV2, state, a["shape"], minval=lo, maxval=hi)


def _normal(op):
    def make(a, state):
        x = _draw(op, state, a["shape"], dtype=a["dtype"])
        return x * _number(a["stddev"], x) + _number(a["mean"], x)

    return make


def dropout(a, x, state):
    noise = _draw(tf.raw_ops.StatelessRandomUniformV2, state, x.shape, dtype=x.dtype)
    return tf.where(noise >= _number(a["rate"], x), x * _number(1 / (1 - a["rate"]), x), _number(0, x))


def _shuffle(a, x, state):
    """As tf.random.shuffle goes from numbers to places."""
    n = x.shape[0]
    numbers = _draw(tf.raw_ops.StatelessRandomUniformFullIntV2, state, [max(n, 1)], dtype=tf.uint32).numpy()
    order = list(range(n))
    for i in range(n - 1):
        k = i + int(numbers[i]) % (n - i)
        order[i], order[k] = order[k], order[i]
    return tf.gather(x, tf.constant(order, tf.int32))


def _batch_norm(a, x, scale, offset):
    mean, variance = tf.nn.moments(x, list(range(len(x.shape) - 1)))
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, a["epsilon"]), mean, variance


def _last_axes(x, scale):
    return list(range(len(x.shape) - len(scale.shape), len(x.shape)))


def _layer_norm(a, x, scale, offset):
    mean, variance = tf.nn.moments(x, _last_axes(x, scale), keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + _number(a["epsilon"], x)) * scale + offset


def _rms_norm(a, x, scale):
    square = tf.reduce_mean(tf.square(x), _last_axes(x, scale), keepdims=True)
    return x * tf.math.rsqrt(square + _number(a["epsilon"], x)) * scale


def _same(*names):
    """Ops whose name in TensorFlow's modules is given, without attributes."""
    rows = {}
    for name, function in names:
        rows[name] = lambda a, *x, function=function: function(*x)
    return rows


OPS = {
    **_same(
        ("DivNoNan", tf.math.divide_no_nan),
        ("FloorDiv", tf.math.floordiv),
        ("FloorMod", tf.math.floormod),
        ("SquaredDifference", tf.math.squared_difference),
        ("Atan2", tf.math.atan2),
        ("BitwiseAnd", tf.bitwise.bitwise_and),
        ("BitwiseOr", tf.bitwise.bitwise_or),
        ("BitwiseXor", tf.bitwise.bitwise_xor),
        ("LeftShift", tf.bitwise.left_shift),
        ("RightShift", tf.bitwise.right_shift),
        ("LogicalAnd", tf.logical_and),
        ("LogicalOr", tf.logical_or),
        ("NotEqual", tf.not_equal),
        ("LessEqual", tf.less_equal),
        ("ClipByValue", tf.clip_by_value),
        ("Rsqrt", tf.math.rsqrt),
        ("Reciprocal", tf.math.reciprocal),
        ("Expm1", tf.math.expm1),
        ("Log1p", tf.math.log1p),
        ("Sin", tf.sin),
        ("Cos", tf.cos),
        ("Tan", tf.tan),
        ("Asin", tf.asin),
        ("Acos", tf.acos),
        ("Atan", tf.atan),
        ("Sinh", tf.sinh),
        ("Cosh", tf.cosh),
        ("Asinh", tf.asinh),
        ("Acosh", tf.acosh),
        ("Atanh", tf.atanh),
        ("Erf", tf.math.erf),
        ("Erfc", tf.math.erfc),
        ("Floor", tf.floor),
        ("Ceil", tf.math.ceil),
        ("Round", tf.round),
        ("Invert", tf.bitwise.invert),
        ("IsNan", tf.math.is_nan),
        ("IsInf", tf.math.is_inf),
        ("IsFinite", tf.math.is_finite),
        ("Relu6", tf.nn.relu6),
        ("Elu", tf.nn.elu),
        ("Selu", tf.nn.selu),
        ("Silu", tf.nn.silu),
        ("Softplus", tf.nn.softplus),
        ("Softsign", tf.nn.softsign),
        ("HardSigmoid", tf.keras.activations.hard_sigmoid),
        ("HardSilu", tf.keras.activations.hard_silu),
        ("Mish", tf.keras.activations.mish),
    ),
    "LeakyRelu": _in_float64(_leaky_relu, lambda a, x: tf.nn.leaky_relu(x, a["alpha"])),
    "Gelu": _in_float64(_gelu, lambda a, x: tf.nn.gelu(x)),
    "Celu": lambda a, x: tf.keras.activations.celu(x, a["alpha"]),
    "GeluTanh": _in_float64(_gelu_tanh, lambda a, x: tf.nn.gelu(x, approximate=True)),
    "Softmax": lambda a, x: tf.nn.softmax(x, a["axis"]),
    "LogSoftmax": lambda a, x: tf.nn.log_softmax(x, a["axis"]),
    "SoftmaxCrossEntropy": lambda a, x, y: tf.nn.softmax_cross_entropy_with_logits(y, x),
    "SparseSoftmaxCrossEntropy": lambda a, x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(y, x),
    "SigmoidCrossEntropy": lambda a, x, y: tf.nn.sigmoid_cross_entropy_with_logits(y, x),
    "BatchNorm": _batch_norm,
    "BatchNormInference": lambda a, x, s, o, m, v: tf.nn.batch_normalization(x, m, v, o, s, a["epsilon"]),
    "LayerNorm": _layer_norm,
    "RmsNorm": _rms_norm,
    "RandomUniform": _uniform,
    "RandomUniformInt": _uniform_int,
    "RandomNormal": _normal(tf.raw_ops.StatelessRandomNormalV2),
    "TruncatedNormal": _normal(tf.raw_ops.StatelessTruncatedNormalV2),
    "RandomShuffle": _shuffle,
    "Dropout": dropout,
    "RandomBits": lambda a, state: _draw(tf.raw_ops.StatelessRandomUniformFullIntV2, state, a["shape"], dtype=a["dtype"]),
    "RandomCategorical": lambda a, x, state: tf.random.stateless_categorical(x, a["num_samples"], state, a["dtype"]),
    "RandomGamma": lambda a, alpha, state: _draw(tf.raw_ops.StatelessRandomGammaV3, state, a["shape"], alpha=alpha),
    "RandomGammaGrad": lambda a, alpha, x: tf.raw_ops.RandomGammaGrad(alpha=alpha, sample=x),
    "RandomPoisson": lambda a, rate, state: tf.random.stateless_poisson(a["shape"], state, rate, a["dtype"]),
    "RandomBinomial": lambda a, n, p, state: tf.random.stateless_binomial(a["shape"], state, n, p, a["dtype"]),
}
