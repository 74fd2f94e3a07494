"""Layers of keras.layers.regularization."""

from keras_case import Case, floats


def regularization_cases():
    yield Case("dropout", lambda k: k.layers.Dropout(0.3, noise_shape=(None, 1), seed=3), floats(4, 5),
               random_in_training=True)
