"""Layers of keras.layers.activations."""

import numpy as np

from keras_case import Case, floats


def activation_cases():
    for name in ["relu", "softmax", "sigmoid", "tanh", "gelu", "silu", "hard_silu", "sparsemax", "elu", "selu",
                 "celu", "glu", "softplus", "softsign", "squareplus", "soft_shrink", "sparse_plus", "tanh_shrink",
                 "sparse_sigmoid", "exponential", "hard_sigmoid", "hard_tanh", "hard_shrink", "linear", "mish",
                 "log_softmax", "log_sigmoid", "leaky_relu", "relu6"]:
        yield Case(f"activation_{name}", lambda k, name=name: k.layers.Activation(name),
                   floats(3, 6, low=-4, high=4), passes_training=False,
                   partial=name != "glu")  # Keras says that its shape stays
    x = floats(3, 4, 5, low=-3, high=8)

    def case(what, name, **kwargs):
        return Case(f"{name.lower()}_{what}", lambda k: getattr(k.layers, name)(**kwargs), x,
                    passes_training=False)

    yield case("plain", "ReLU")
    yield case("max", "ReLU", max_value=4.0)
    yield case("six", "ReLU", max_value=6.0)
    yield case("slope", "ReLU", negative_slope=0.2)
    yield case("slope_max", "ReLU", negative_slope=0.2, max_value=3.0)
    yield case("threshold", "ReLU", threshold=1.5)
    yield case("all", "ReLU", negative_slope=0.2, max_value=4.0, threshold=1.5)
    yield case("max_threshold", "ReLU", max_value=4.0, threshold=1.5)
    yield case("plain", "LeakyReLU")
    yield case("slope", "LeakyReLU", negative_slope=0.05)
    yield case("plain", "PReLU")
    yield case("shared", "PReLU", shared_axes=[1], alpha_initializer="ones", alpha_regularizer="l2",
               alpha_constraint="non_neg")
    yield case("all_shared", "PReLU", shared_axes=[1, 2])
    yield case("plain", "ELU")
    yield case("alpha", "ELU", alpha=0.3)
    yield case("plain", "Softmax")
    yield case("axis", "Softmax", axis=1)
    yield case("axes", "Softmax", axis=[1, 2])
    yield case("list", "Softmax", axis=[1])
    mask = np.random.default_rng(1).uniform(size=(3, 4, 5)) > 0.4
    mask[0, 0] = False
    yield Case("softmax_mask", lambda k: k.layers.Softmax(), x, mask=mask, passes_training=False)
    yield Case("softmax_float_mask", lambda k: k.layers.Softmax(axis=1), x,
               mask=mask[:, :1].astype("float32"), passes_training=False)
    yield Case("softmax_mask_axes", lambda k: k.layers.Softmax(axis=[1, 2]), x, mask=mask,
               passes_training=False)
