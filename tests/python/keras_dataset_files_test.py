"""Files of keras.datasets that are missing, damaged, or want to run code."""

import os
import pickle

import numpy as np
import pytest

from plimsoll import keras

NAMES = {"mnist": "mnist.npz", "fashion_mnist": "train-labels-idx1-ubyte.gz", "cifar10": "cifar-10-python.tar.gz",
         "cifar100": "cifar-100-python.tar.gz", "imdb": "imdb.npz", "reuters": "reuters.npz",
         "boston_housing": "boston_housing.npz", "california_housing": "california_housing.npz"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    return tmp_path / "datasets"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_the_message_says_which_file_belongs_where(folder, name):
    with pytest.raises(FileNotFoundError) as caught:
        getattr(keras.datasets, name).load_data()
    text = str(caught.value)
    assert str(folder) in text and NAMES[name] in text and "https://" in text and "nothing from the network" in text


def test_a_path_of_ones_own(folder, tmp_path):
    path = tmp_path / "mine.npz"
    with pytest.raises(FileNotFoundError, match="mine.npz is not there"):
        keras.datasets.boston_housing.load_data(str(path))
    np.savez(path, x=np.ones([10, 13]), y=np.ones(10))
    (x, _), _ = keras.datasets.boston_housing.load_data(str(path))
    assert x.shape == (8, 13)


def test_files_that_are_something_else(folder):
    (folder / "mnist.npz").write_bytes(b"not a zip archive")
    with pytest.raises(ValueError, match="mnist.npz is no .npz file"):
        keras.datasets.mnist.load_data()
    np.savez(folder / "reuters.npz", texts=np.ones(3))
    with pytest.raises(ValueError, match="has to have arrays x, y; it has texts"):
        keras.datasets.reuters.load_data()


class Bad:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_files_cannot_run_code(folder, tmp_path):
    sign = str(tmp_path / "ran")
    rows = np.empty(1, object)
    rows[0] = Bad(sign)
    np.savez(folder / "imdb.npz", x_train=rows, y_train=np.ones(1), x_test=rows, y_test=np.ones(1))
    with pytest.raises(pickle.UnpicklingError, match="asks for posix.mkdir"):
        keras.datasets.imdb.load_data()
    inner = folder / "cifar-10-batches-py"
    inner.mkdir()
    (inner / "data_batch_1").write_bytes(pickle.dumps({"data": Bad(sign)}))
    with pytest.raises(pickle.UnpicklingError, match="asks for posix.mkdir"):
        keras.datasets.cifar10.load_data()
    assert not os.path.exists(sign)


def test_arrays_of_every_kind_come_back(folder):
    from plimsoll.keras.datasets import _pickles
    arrays = {"c": np.arange(6.0).reshape(2, 3), "f": np.asfortranarray(np.arange(6).reshape(2, 3)),
              "big": np.arange(3, dtype=">i4"), "u8": np.arange(3, dtype="uint8")}
    for protocol in (0, 2, 4):
        path = folder / "x"
        path.write_bytes(pickle.dumps(arrays, protocol=protocol))
        with open(path, "rb") as file:
            made = _pickles.load(file, "x")
        for name, array in arrays.items():
            np.testing.assert_array_equal(made[name], array)
            assert made[name].dtype == array.dtype
