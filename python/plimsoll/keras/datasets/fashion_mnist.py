"""Clothes, 28 x 28: (x_train, y_train), (x_test, y_test)."""

import gzip
import os

from ._files import find


def load_data():
    import numpy

    def read(name, offset):
        with gzip.open(find(name, folder=os.path.join("datasets", "fashion-mnist")), "rb") as file:
            return numpy.frombuffer(file.read(), numpy.uint8, offset=offset)

    y_train, y_test = read("train-labels-idx1-ubyte.gz", 8), read("t10k-labels-idx1-ubyte.gz", 8)
    x_train = read("train-images-idx3-ubyte.gz", 16).reshape(len(y_train), 28, 28)
    x_test = read("t10k-images-idx3-ubyte.gz", 16).reshape(len(y_test), 28, 28)
    return (x_train, y_train), (x_test, y_test)
