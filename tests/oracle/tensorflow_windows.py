"""How TensorFlow computes convolutions and pools: OPS[name](attrs, *inputs).

TensorFlow's CPU kernels know neither channels first nor, for pools, explicit padding, and convolve groups in float32
only: here images are transposed and padded and groups are split by hand.
"""

import tensorflow as tf

INTERNAL = {
    "Conv2DBackpropInput",
    "Conv2DBackpropFilter",
    "DepthwiseConv2DBackpropInput",
    "DepthwiseConv2DBackpropFilter",
    "Conv3DBackpropInput",
    "Conv3DBackpropFilter",
    "MaxPool2DGrad",
    "MaxPool2DGradGrad",
    "AvgPool2DGrad",
}

_PADDING = ("VALID", "SAME", "EXPLICIT")


def _channels_last(function):
    """A row whose function gets and gives images in NHWC."""

    def make(a, x, *filters):
        if a["data_format"] == 0:
            return function(a, x, *filters)
        directions = list(range(2, len(x.shape)))
        last, first = [0, *directions, 1], [0, len(x.shape) - 1, *(i - 1 for i in directions)]
        return tf.transpose(function(a, tf.transpose(x, last), *filters), first)

    return make


def _pad(a, x, value=0):
    """The image with its explicit padding, and the padding that is left to do."""
    padding = _PADDING[a["padding"]]
    if padding != "EXPLICIT":
        return x, padding
    pads = a["explicit_paddings"]
    pairs = [[0, 0], *([before, after] for before, after in zip(pads[::2], pads[1::2])), [0, 0]]
    return tf.pad(x, pairs, constant_values=tf.cast(value, x.dtype)), "VALID"


def _dilate(a, kernel):
    """The kernel with zeros between its pixels: TensorFlow has no gradients of dilated convolutions in float64."""
    for axis, rate in enumerate(a["dilations"]):
        shape = kernel.shape.as_list()
        kernel = tf.reshape(kernel, shape[: axis + 1] + [1] + shape[axis + 1 :])
        kernel = tf.pad(kernel, [[0, rate - 1 if i == axis + 1 else 0] for i in range(len(shape) + 1)])
        kernel = tf.reshape(kernel, shape[:axis] + [shape[axis] * rate] + shape[axis + 1 :])
        kernel = tf.gather(kernel, range((shape[axis] - 1) * rate + 1), axis=axis)
    return kernel


def _conv(a, x, kernel):
    x, padding = _pad(a, x)
    if kernel.dtype == tf.float64:
        kernel, a = _dilate(a, kernel), {**a, "dilations": [1, 1]}
    groups = x.shape[3] // kernel.shape[2]
    parts = [
        tf.nn.conv2d(image, part, a["strides"], padding, dilations=a["dilations"])
        for image, part in zip(tf.split(x, groups, 3), tf.split(kernel, groups, 3))
    ]
    return tf.concat(parts, 3)


def _conv3d(a, x, kernel):
    if x.dtype.size == 2:  # TensorFlow adds in 16 bits there
        return tf.cast(_conv3d(a, tf.cast(x, tf.float32), tf.cast(kernel, tf.float32)), x.dtype)
    x, padding = _pad(a, x)
    kernel = _dilate(a, kernel)  # TensorFlow's CPU kernel has no dilations
    groups = x.shape[4] // kernel.shape[3]
    parts = [
        tf.nn.conv3d(image, part, [1, *a["strides"], 1], padding)
        for image, part in zip(tf.split(x, groups, 4), tf.split(kernel, groups, 4))
    ]
    return tf.concat(parts, 4)


def _depthwise(a, x, kernel):
    """Strides that differ, which TensorFlow has no kernel for, as those pixels of a dense convolution that they keep."""
    x, padding = _pad(a, x)
    height, width = a["strides"]
    if height == width:
        return tf.nn.depthwise_conv2d(x, kernel, [1, height, width, 1], padding, dilations=a["dilations"])
    if padding == "SAME":
        pads = [[0, 0]]
        for size, k, stride, dilation in zip(x.shape[1:3], kernel.shape[:2], a["strides"], a["dilations"]):
            total = max((-(-size // stride) - 1) * stride + (k - 1) * dilation + 1 - size, 0)
            pads.append([total // 2, total - total // 2])
        x = tf.pad(x, pads + [[0, 0]])
    y = tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "VALID", dilations=a["dilations"])
    return y[:, ::height, ::width]


def _max_pool(a, x):
    x, padding = _pad(a, x, x.dtype.min)
    return tf.nn.max_pool2d(x, a["ksize"], a["strides"], padding)


def _avg_pool(a, x):
    """What explicit padding adds does not count: the sum of a window over the number of pixels in it."""
    y, padding = _pad(a, x)
    y = tf.nn.avg_pool2d(y, a["ksize"], a["strides"], padding)
    if _PADDING[a["padding"]] != "EXPLICIT":
        return y
    inside, _ = _pad(a, tf.ones_like(x))
    return y / tf.nn.avg_pool2d(inside, a["ksize"], a["strides"], padding)


OPS = {
    "Conv2D": _channels_last(_conv),
    "Conv3D": _channels_last(_conv3d),
    "DepthwiseConv2D": _channels_last(_depthwise),
    "MaxPool2D": _channels_last(_max_pool),
    "AvgPool2D": _channels_last(_avg_pool),
}
