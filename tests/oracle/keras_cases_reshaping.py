"""Layers of keras.layers.reshaping."""

from keras_case import Case, floats


def reshaping_cases():
    yield Case("flatten", lambda k: k.layers.Flatten(), floats(2, 3, 4), passes_training=False)
    yield Case("flatten_first", lambda k: k.layers.Flatten(data_format="channels_first"), floats(2, 3, 4, 5),
               passes_training=False)
