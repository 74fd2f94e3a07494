"""Layers of keras.layers.pooling."""

import numpy as np

from keras_case import Case, floats
from keras_cases_convolutional import volume


def windows(rank, kind):
    name = f"{kind}Pooling{rank}D"

    def case(what, *args, data_format="channels_last", **kwargs):
        return Case(f"{name.lower()}_{what}",
                    lambda k: getattr(k.layers, name)(*args, data_format=data_format, **kwargs),
                    volume(rank, 3, data_format), passes_training=False)

    yield case("plain", 2)
    yield case("strides", 3, strides=1)
    yield case("same", 3, strides=2, padding="same")
    yield case("sizes", tuple(range(1, rank + 1)), strides=tuple(range(rank, 0, -1)), padding="same")
    yield case("first", 2, data_format="channels_first")
    yield case("first_same", 3, strides=2, padding="same", data_format="channels_first")


def of_everything(rank, kind):
    name = f"Global{kind}Pooling{rank}D"
    for data_format in ("channels_last", "channels_first"):
        for keepdims in (False, True):
            yield Case(f"{name.lower()}_{data_format}_{'keep' if keepdims else 'drop'}",
                       lambda k, d=data_format, kd=keepdims: getattr(k.layers, name)(data_format=d, keepdims=kd),
                       volume(rank, 3, data_format), passes_training=False)


def adaptive(rank, kind):
    name = f"Adaptive{kind}Pooling{rank}D"
    # TensorFlow's gradient of the larger of its two windows, of which there is none here, is not defined.
    yield Case(f"{name.lower()}_one", lambda k: getattr(k.layers, name)(1), volume(rank, 3),
               passes_training=False, gradients=False)
    yield Case(f"{name.lower()}_uneven", lambda k: getattr(k.layers, name)(3), volume(rank, 3),
               passes_training=False)
    yield Case(f"{name.lower()}_first", lambda k: getattr(k.layers, name)(
        2 if rank == 1 else tuple(range(2, rank + 2)), data_format="channels_first"),
        volume(rank, 3, "channels_first"), passes_training=False)


def pooling_cases():
    for rank in (1, 2, 3):
        for kind in ("Max", "Average"):
            yield from windows(rank, kind)
            yield from of_everything(rank, kind)
            yield from adaptive(rank, kind)
    mask = np.array([[1, 1, 0, 0], [1, 0, 1, 1]], dtype=bool)
    yield Case("globalaveragepooling1d_mask", lambda k: k.layers.GlobalAveragePooling1D(),
               floats(2, 4, 3), mask=mask, passes_training=False)
    yield Case("globalaveragepooling1d_mask_first", lambda k: k.layers.GlobalAveragePooling1D(
        data_format="channels_first", keepdims=True), floats(2, 3, 4), mask=mask, passes_training=False)
