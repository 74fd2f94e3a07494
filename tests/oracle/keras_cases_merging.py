"""Layers of keras.layers.merging."""

import numpy as np

from keras_case import Case, floats


def merging_cases():
    a, b, c = floats(2, 3, 4, seed=1), floats(2, 3, 4, seed=2), floats(2, 3, 4, seed=3)
    for name in ["Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"]:
        three = [a, b] if name == "Subtract" else [a, b, c]
        yield Case(f"{name.lower()}", lambda k, name=name: getattr(k.layers, name)(), three,
                   passes_training=False)
        yield Case(f"{name.lower()}_broadcast", lambda k, name=name: getattr(k.layers, name)(),
                   [a, floats(2, 1, 4)], passes_training=False)
        yield Case(f"{name.lower()}_ranks", lambda k, name=name: getattr(k.layers, name)(),
                   [floats(2, 4), a], passes_training=False)
    for axis in (-1, 1, 2, 0):
        yield Case(f"concatenate_{axis}", lambda k, axis=axis: k.layers.Concatenate(axis=axis), [a, b, c],
                   passes_training=False)
    yield Case("concatenate_sizes", lambda k: k.layers.Concatenate(axis=1), [a, floats(2, 5, 4)],
               passes_training=False)
    yield Case("concatenate_one", lambda k: k.layers.Concatenate(), [a], passes_training=False)
    yield Case("dot_rows", lambda k: k.layers.Dot(axes=1), [floats(3, 5), floats(3, 5, seed=2)],
               passes_training=False)
    yield Case("dot_matrices", lambda k: k.layers.Dot(axes=(2, 1)), [a, floats(2, 4, 5)], passes_training=False)
    yield Case("dot_negative", lambda k: k.layers.Dot(axes=-1), [a, floats(2, 5, 4)], passes_training=False)
    yield Case("dot_negative_pair", lambda k: k.layers.Dot(axes=[-1, -2]), [a, floats(2, 4, 5)],
               passes_training=False)
    yield Case("dot_normalize", lambda k: k.layers.Dot(axes=1, normalize=True), [a, b], passes_training=False)
    yield Case("dot_vector", lambda k: k.layers.Dot(axes=(2, 1)), [a, floats(2, 4)], passes_training=False)
    yield Case("dot_of_vector", lambda k: k.layers.Dot(axes=(1, 2)), [floats(2, 4), a], passes_training=False)
    yield Case("dot_ranks", lambda k: k.layers.Dot(axes=(1, 3)), [floats(2, 4, 3, 5), floats(2, 3, 2, 4)],
               passes_training=False)
