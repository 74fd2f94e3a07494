"""Handwritten digits, 28 x 28: (x_train, y_train), (x_test, y_test)."""

from ._files import find, load_arrays


def load_data(path="mnist.npz"):
    file = load_arrays(find(path), "x_train", "y_train", "x_test", "y_test")
    return (file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])
