"""The layers and options that keras_layers_test.py compares, by family."""

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
    mask: typing.Any = None
    carried: dict = dataclasses.field(default_factory=dict)  # masks on tensors: of "inputs", or by name
    gradients: bool = True
    random_weights: bool = True      # else those that Keras makes
    random_in_training: bool = False
    passes_training: bool = True     # call() takes it
    build_by_call: bool = True
    traced: bool = True              # also in a function
    tolerance: float = 2e-5


def floats(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype("float32")


def core_cases():
    x = floats(4, 5)
    yield Case("dense", lambda k: k.layers.Dense(3), x, passes_training=False)
    yield Case("dense_options", lambda k: k.layers.Dense(
        3, activation="relu", use_bias=False, kernel_initializer=k.initializers.HeNormal(seed=3),
        kernel_regularizer="l2", kernel_constraint=k.constraints.MaxNorm(1.5), name="d", trainable=False),
        x, passes_training=False)
    yield Case("dense_3d", lambda k: k.layers.Dense(
        3, activation="gelu", bias_regularizer=k.regularizers.L1L2(l1=0.1, l2=0.2),
        activity_regularizer="l1"), floats(2, 3, 5), passes_training=False)


def activation_cases():
    for name in ["relu", "softmax", "sigmoid", "tanh", "gelu", "silu", "hard_silu", "sparsemax", "elu", "selu",
                 "celu", "glu", "softplus", "softsign", "squareplus", "soft_shrink", "sparse_plus", "tanh_shrink",
                 "sparse_sigmoid", "exponential", "hard_sigmoid", "hard_tanh", "hard_shrink", "linear", "mish",
                 "log_softmax", "log_sigmoid", "leaky_relu", "relu6"]:
        yield Case(f"activation_{name}", lambda k, name=name: k.layers.Activation(name),
                   floats(3, 6, low=-4, high=4), passes_training=False)


def reshaping_cases():
    yield Case("flatten", lambda k: k.layers.Flatten(), floats(2, 3, 4), passes_training=False)
    yield Case("flatten_first", lambda k: k.layers.Flatten(data_format="channels_first"), floats(2, 3, 4, 5),
               passes_training=False)


def regularization_cases():
    yield Case("dropout", lambda k: k.layers.Dropout(0.3, noise_shape=(None, 1), seed=3), floats(4, 5),
               random_in_training=True)


CASES = [*core_cases(), *activation_cases(), *reshaping_cases(), *regularization_cases()]
import keras_cases_core  # noqa: E402  (they need Case)
import keras_cases_rnn  # noqa: E402
import keras_cases_attention  # noqa: E402

CASES += [*keras_cases_core.cases(), *keras_cases_rnn.cases(), *keras_cases_attention.cases()]
