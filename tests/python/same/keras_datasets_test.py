"""keras.datasets, out of generated files in the formats of the real ones."""

import gzip
import importlib
import io
import json
import os
import pickle
import pickletools
import tarfile

import numpy as np
import pytest

MODULES = ["boston_housing", "california_housing", "cifar10", "cifar100", "fashion_mnist", "imdb", "mnist", "reuters"]


@pytest.fixture
def datasets(tf, is_plimsoll, tmp_path, monkeypatch):
    """The folder of files, and keras.datasets that reads them."""
    folder = tmp_path / "datasets"
    folder.mkdir()
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    if not is_plimsoll:  # Keras would fetch the real files, since these have other sums
        def get_file(fname=None, origin=None, cache_subdir="", **_):
            found = folder / os.path.basename(cache_subdir) / fname
            return str(found)
        for name in MODULES:
            monkeypatch.setattr(importlib.import_module("keras.src.datasets." + name), "get_file", get_file)
    return folder, tf.keras.datasets


def ragged(rows):
    made = np.empty(len(rows), object)
    made[:] = rows
    return made


def test_mnist(datasets):
    folder, keras = datasets
    rng = np.random.default_rng(0)
    arrays = {"x_train": rng.integers(0, 256, [6, 28, 28], "uint8"), "y_train": np.arange(6, dtype="uint8"),
              "x_test": rng.integers(0, 256, [2, 28, 28], "uint8"), "y_test": np.arange(2, dtype="uint8")}
    np.savez_compressed(folder / "mnist.npz", **arrays)
    (x_train, y_train), (x_test, y_test) = keras.mnist.load_data()
    for name, made in (("x_train", x_train), ("y_train", y_train), ("x_test", x_test), ("y_test", y_test)):
        np.testing.assert_array_equal(made, arrays[name])
        assert made.dtype == np.uint8


def test_fashion_mnist(datasets):
    folder, keras = datasets
    folder = folder / "fashion-mnist"
    folder.mkdir()
    rng = np.random.default_rng(0)
    images, labels = rng.integers(0, 256, [5, 28, 28], "uint8"), np.arange(5, dtype="uint8")
    for part in ("train", "t10k"):
        with gzip.open(folder / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(np.array([2051, 5, 28, 28], ">i4").tobytes() + images.tobytes())
        with gzip.open(folder / f"{part}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(np.array([2049, 5], ">i4").tobytes() + labels.tobytes())
    (x_train, y_train), (x_test, y_test) = keras.fashion_mnist.load_data()
    np.testing.assert_array_equal(x_train, images)
    np.testing.assert_array_equal(y_test, labels)
    assert x_test.shape == (5, 28, 28) and y_train.dtype == np.uint8


def cifar_batch(num, first, labels):
    rng = np.random.default_rng(first)
    return {b"data": rng.integers(0, 256, [num, 3072], "uint8"), b"filenames": [b"a.png"] * num,
            **{key: [(first + i) % 10 for i in range(num)] for key in labels}}


def pickled(batch):
    """As the real files are: of Python 2, whose texts are bytes, by an older numpy."""
    raw = bytearray(pickle.dumps(batch, protocol=3).replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    for code, _, at in list(pickletools.genops(bytes(raw))):
        if code.name in ("SHORT_BINBYTES", "BINBYTES"):
            raw[at:at + 1] = b"U" if code.name == "SHORT_BINBYTES" else b"T"
    return bytes(raw)


def write_cifar(folder, name, batches, is_plimsoll, archive=True):
    """As an archive, which Keras would have unpacked."""
    if not is_plimsoll or not archive:
        inner = folder / (name + "-target") / name
        inner.mkdir(parents=True)
        for member, batch in batches.items():
            (inner / member).write_bytes(pickled(batch))
        return
    with tarfile.open(folder / (name.replace("-batches-py", "-python") + ".tar.gz"), "w:gz") as file:
        for member, batch in batches.items():
            raw = pickled(batch)
            info = tarfile.TarInfo(f"{name}/{member}")
            info.size = len(raw)
            file.addfile(info, io.BytesIO(raw))


@pytest.mark.parametrize("archive", [True, False], ids=["archive", "folder"])
def test_cifar10(datasets, is_plimsoll, archive):
    folder, keras = datasets
    num = 2 if is_plimsoll else 10000  # Keras has room for as many as the real batches hold
    batches = {f"data_batch_{i}": cifar_batch(num, i, [b"labels"]) for i in range(1, 6)}
    batches["test_batch"] = cifar_batch(3, 9, [b"labels"])
    write_cifar(folder, "cifar-10-batches-py", batches, is_plimsoll, archive)
    (x_train, y_train), (x_test, y_test) = keras.cifar10.load_data()
    assert x_train.shape == (5 * num, 32, 32, 3) and y_train.shape == (5 * num, 1) and y_train.dtype == np.uint8
    np.testing.assert_array_equal(x_train[0].transpose(2, 0, 1).ravel(), batches["data_batch_1"][b"data"][0])
    np.testing.assert_array_equal(x_train[-1].transpose(2, 0, 1).ravel(), batches["data_batch_5"][b"data"][-1])
    assert x_test.shape == (3, 32, 32, 3) and y_test.ravel().tolist() == [9, 0, 1]


def test_cifar100(datasets, is_plimsoll):
    folder, keras = datasets
    batches = {"train": cifar_batch(4, 1, [b"fine_labels"]), "test": cifar_batch(3, 5, [b"fine_labels"])}
    for batch in batches.values():
        batch[b"coarse_labels"] = [7] * len(batch[b"fine_labels"])
    write_cifar(folder, "cifar-100-python", batches, is_plimsoll)
    (x_train, y_train), (x_test, y_test) = keras.cifar100.load_data()
    assert x_train.shape == (4, 32, 32, 3) and y_train.ravel().tolist() == [1, 2, 3, 4]
    assert x_test.shape == (3, 32, 32, 3)
    (_, y_train), _ = keras.cifar100.load_data(label_mode="coarse")
    assert y_train.ravel().tolist() == [7] * 4
    with pytest.raises(ValueError, match="label_mode"):
        keras.cifar100.load_data(label_mode="rough")


ROWS = [[1, 2, 3], [4, 5], [6, 7, 8, 9], [1, 9], [2]]


def test_imdb(datasets):
    folder, keras = datasets
    np.savez(folder / "imdb.npz", x_train=ragged(ROWS), y_train=np.arange(5), x_test=ragged(ROWS[:2]),
             y_test=np.arange(2))
    random = np.random.RandomState(113)
    first, second = np.arange(5), np.arange(2)
    random.shuffle(first)
    random.shuffle(second)
    (x_train, y_train), (x_test, y_test) = keras.imdb.load_data()
    # The most frequent number but one is the last that is known where no number is asked for.
    want = [[1] + [w + 3 if w + 3 < 12 else 2 for w in ROWS[i]] for i in first]
    assert list(x_train) == want and y_train.tolist() == first.tolist()
    assert [len(row) for row in x_test] == [len(ROWS[i]) + 1 for i in second] and y_test.tolist() == second.tolist()
    (x_train, y_train), _ = keras.imdb.load_data(num_words=8, skip_top=5, maxlen=4, start_char=None, oov_char=None,
                                                 index_from=0)
    kept = [i for i in first if len(ROWS[i]) < 4]
    assert list(x_train) == [[w for w in ROWS[i] if 5 <= w < 8] for i in kept] and y_train.tolist() == kept
    with pytest.raises(ValueError, match="Increase maxlen"):
        keras.imdb.load_data(maxlen=1)
    (folder / "imdb_word_index.json").write_text(json.dumps({"the": 1}), encoding="utf-8")
    assert keras.imdb.get_word_index() == {"the": 1}


def test_reuters(datasets):
    folder, keras = datasets
    np.savez(folder / "reuters.npz", x=ragged(ROWS), y=np.arange(5))
    order = np.arange(5)
    np.random.RandomState(113).shuffle(order)
    (x_train, y_train), (x_test, y_test) = keras.reuters.load_data(num_words=10, test_split=0.4)
    rows = [[1] + [w + 3 if w + 3 < 10 else 2 for w in ROWS[i]] for i in order]
    assert list(x_train) == rows[:3] and list(x_test) == rows[3:]
    assert y_train.tolist() + y_test.tolist() == order.tolist()


@pytest.mark.parametrize("name,columns", [("boston_housing", 13), ("california_housing", 8)])
def test_housing(datasets, name, columns):
    folder, keras = datasets
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=[1000, columns]), rng.normal(size=[1000])
    np.savez(folder / f"{name}.npz", x=x, y=y)
    order = np.arange(1000)
    np.random.RandomState(113).shuffle(order)
    (x_train, y_train), (x_test, y_test) = getattr(keras, name).load_data()
    np.testing.assert_allclose(x_train, x[order][:800], rtol=1e-6)
    np.testing.assert_allclose(y_test, y[order][800:], rtol=1e-6)
    assert x_test.shape == (200, columns) and y_train.shape == (800,)
    assert x_train.dtype == y_test.dtype == np.float64
    if name == "california_housing":
        (x_train, _), _ = keras.california_housing.load_data(version="small")
        assert x_train.shape == (480, 8)
        with pytest.raises(ValueError, match="version"):
            keras.california_housing.load_data(version="tiny")
