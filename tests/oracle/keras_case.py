"""A case of keras_layers_test.py: a layer of Keras and what it is called on."""

import dataclasses
import typing

import numpy as np


@dataclasses.dataclass
class Case:
    name: str
    make: typing.Callable  # of the module keras: the layer
    inputs: typing.Any     # an array, or a structure of arrays
    named: dict = dataclasses.field(default_factory=dict)    # further tensors by name
    options: dict = dataclasses.field(default_factory=dict)  # and what is no tensor
    mask: typing.Any = None     # is given to call()
    carried: dict = dataclasses.field(default_factory=dict)  # masks on tensors: of "inputs", or by name
    adapt: typing.Any = None  # data to adapt to, on both sides
    gradients: bool = True
    random_weights: bool = True      # else those that Keras makes
    random_in_training: bool = False
    passes_training: bool = True     # call() takes it
    build_by_call: bool = True
    traced: bool = True              # is compared with the same call in a function
    traced_values: bool = False      # and that without gradients, too
    partial: bool = True             # shapes are compared for batches of unknown size, too
    tolerance: float = 2e-5
    call: typing.Callable | None = None  # of layer and inputs, where Keras itself cannot on a CPU


def floats(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype("float32")


def through_channels_last(layer, x):
    """What a layer with channels first gives: TensorFlow has no convolutions of these on a CPU, and Keras
    adds the bias to the last axis where that is as long as the bias."""
    import tensorflow as tf

    rank = len(x.shape)
    layer.data_format = "channels_last"
    try:
        y = layer.call(tf.transpose(x, [0, *range(2, rank), 1]))
    finally:
        layer.data_format = "channels_first"
    return tf.transpose(y, [0, rank - 1, *range(1, rank - 1)])


def with_spread_kernel(layer, x):
    """A dilated transposed convolution, which TensorFlow does not have on a CPU: by a kernel with zeros in it."""
    import keras
    import tensorflow as tf

    kernel = tf.convert_to_tensor(layer.kernel)
    for axis, rate in enumerate(layer.dilation_rate):
        parts = tf.split(kernel, kernel.shape[axis], axis)
        zeros = [tf.zeros_like(parts[0])] * (rate - 1)
        kernel = tf.concat([p for part in parts[:-1] for p in (part, *zeros)] + parts[-1:], axis)
    y = keras.ops.conv_transpose(x, kernel, list(layer.strides), layer.padding, layer.output_padding)
    return layer.activation(y + layer.bias)
