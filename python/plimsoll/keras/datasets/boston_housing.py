"""Prices of houses by 13 numbers: (x_train, y_train), (x_test, y_test)."""

from ._files import find, load_arrays, split_rows


def load_data(path="boston_housing.npz", test_split=0.2, seed=113):
    file = load_arrays(find(path), "x", "y")
    return split_rows(file["x"], file["y"], test_split, seed)
