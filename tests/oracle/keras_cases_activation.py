"""Layers of keras.layers.activations."""

from keras_case import Case, floats


def activation_cases():
    for name in ["relu", "softmax", "sigmoid", "tanh", "gelu", "silu", "hard_silu", "sparsemax", "elu", "selu",
                 "celu", "glu", "softplus", "softsign", "squareplus", "soft_shrink", "sparse_plus", "tanh_shrink",
                 "sparse_sigmoid", "exponential", "hard_sigmoid", "hard_tanh", "hard_shrink", "linear", "mish",
                 "log_softmax", "log_sigmoid", "leaky_relu", "relu6"]:
        yield Case(f"activation_{name}", lambda k, name=name: k.layers.Activation(name),
                   floats(3, 6, low=-4, high=4), passes_training=False)
