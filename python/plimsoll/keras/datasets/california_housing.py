"""Prices of houses by 8 numbers: (x_train, y_train), (x_test, y_test)."""

from ._files import find, load_arrays, split_rows


def load_data(version="large", path="california_housing.npz", test_split=0.2, seed=113):
    if version not in ("small", "large"):
        raise ValueError(f"Argument `version` must be one of 'small', 'large'. Received: version={version}")
    file = load_arrays(find(path), "x", "y")
    x, y = file["x"], file["y"]
    if version == "small":
        x, y = x[:600], y[:600]
    return split_rows(x, y, test_split, seed)
