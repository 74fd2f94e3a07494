"""Rows of tensorflow_ops.py for what picks and joins rows: scatter, segments, counts, searches; and resized images."""

import numpy as np
import tensorflow as tf

INTERNAL = {"ResizeGrad"}

_METHODS = ["nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]


def _segment(name):
    def row(a, x, ids):
        if a["sorted"]:
            return getattr(tf.math, f"segment_{name}")(x, ids)
        made = getattr(tf.math, f"unsorted_segment_{name}")(x, ids, a["num_segments"])
        return made if a["num_segments"] else tf.stop_gradient(made)  # its gradient would pick one of no segments

    return row


def _segment_sum(a, x, ids):
    """In float32 for 16-bit floats, which TensorFlow adds in 16 bits."""
    row = _segment(["sum", "mean", "sqrt_n"][a["scale"]])
    is_small = x.dtype in (tf.float16, tf.bfloat16)
    return tf.cast(row(a, tf.cast(x, tf.float32), ids), x.dtype) if is_small else row(a, x, ids)


def _bincount(a, x, weights=None):
    axis = -1 if x.shape.rank == 2 else None
    return tf.math.bincount(x, weights, a["size"], a["size"], a["dtype"], axis=axis, binary_output=a["binary_output"])


def _window_sum(a, x):
    padded = tf.pad(x, [[0, 0]] * (x.shape.rank - 1) + [[a["radius"], a["radius"]]])
    return tf.add_n([padded[..., k : k + x.shape[-1]] for k in range(2 * a["radius"] + 1)])


def _resize_weights(a, axis, size):
    """What TensorFlow makes of an image of one column, with a channel for each of its pixels that is one there."""
    eye = tf.reshape(tf.eye(size), [1, size, 1, size])
    return tf.image.resize(eye, [a["size"][axis], 1], _METHODS[a["method"]], antialias=a["antialias"])[0, :, 0, :]


def _resize(a, x):
    """In float64 by the weights that TensorFlow has in float32; its own results are float32 there."""
    own = tf.image.resize(x, a["size"], _METHODS[a["method"]], antialias=a["antialias"])
    if x.dtype != tf.float64 or 0 in x.shape:
        return tf.cast(own, x.dtype) if x.dtype == tf.float64 else own
    rows, columns = (tf.cast(_resize_weights(a, axis, x.shape[axis + 1]), x.dtype) for axis in (0, 1))
    made = tf.einsum("nhwc,yh,xw->nyxc", x, rows, columns)
    np.testing.assert_allclose(own, made, rtol=1e-5, atol=1e-5)
    return made


OPS = {
    "TensorScatterMax": lambda a, x, i, u: tf.tensor_scatter_nd_max(x, i, u),
    "TensorScatterMin": lambda a, x, i, u: tf.tensor_scatter_nd_min(x, i, u),
    "SegmentSum": _segment_sum,
    "SegmentProd": _segment("prod"),
    "SegmentMax": _segment("max"),
    "SegmentMin": _segment("min"),
    "Bincount": _bincount,
    "SearchSorted": lambda a, x, v: tf.searchsorted(x, v, "right" if a["right"] else "left", a["out_type"]),
    "InTopK": lambda a, x, t: tf.math.in_top_k(t, tf.cast(x, tf.float32), a["k"]),
    "WindowSum": _window_sum,
    "Resize": _resize,
}
