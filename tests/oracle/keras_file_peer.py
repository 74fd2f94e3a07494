"""What the tests of model files share: loading here, comparing, fixtures and other Kerases, made on demand."""

import contextlib
import fcntl
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from keras_peer import ROOT, decode, encode

FULL = os.environ.get("PLIMSOLL_ORACLE_FULL", "") not in ("", "0")
FIXTURES = pathlib.Path(os.environ.get("PLIMSOLL_FIXTURES", ROOT / "build/fixtures"))
KERAS2 = ROOT / ".venv-keras2/bin/python"

full_only = pytest.mark.skipif(not FULL, reason="scripts/test --full --oracle runs it")


def other_keras(version):
    """The folder with another Keras 3, which runs on the TensorFlow of .venv."""
    return ROOT / ".venv-keras3" / version


@contextlib.contextmanager
def locked(path):
    """For one process at a time: pytest runs several."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def run_script(python, arguments, **environment):
    done = subprocess.run([python, *arguments], capture_output=True, text=True,
                          env=os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", **environment})
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def fixture(name, dialect="keras3"):
    """The folder of an application's fixture and its arrays; made once."""
    folder = FIXTURES / dialect
    with locked(FIXTURES / f"{dialect}_{name}.lock"):
        if not (folder / f"{name}.npz").exists():
            python = sys.executable if dialect == "keras3" else KERAS2
            assert pathlib.Path(python).exists(), f"{python} is missing: scripts/test --full --oracle makes it"
            run_script(python, [ROOT / "tests/oracle/keras_fixture.py", name, folder])
    return folder, np.load(folder / f"{name}.npz")


class Loaded:
    """The answer of the server to a model file, with the tensors that it put into a file beside."""

    def __init__(self, reply, dump):
        self.reply = reply
        self.raw = np.memmap(dump, "u1", "r") if dump and os.path.getsize(dump) else None

    def tensors(self, key):
        return [self._read(item) for item in self.reply[key]]

    def _read(self, item):
        if "offset" not in item:
            return decode(item)
        size = int(np.prod(item["shape"])) * 4
        return self.raw[item["offset"]:item["offset"] + size].view("f4").reshape(item["shape"])

    def __getitem__(self, key):
        return self.reply[key]


def load_here(server, path, dump=None, x=None, **request):
    """Has the server load a file; `request` is what files.cpp takes."""
    reply = server.ask("file", path=str(path), dump=str(dump) if dump else None,
                       x=encode(x) if x is not None else None, **request)
    return Loaded(reply, dump)


def weights_of(model):
    return [np.asarray(w.numpy()) for layer in model.layers for w in layer.weights]


def check_equal(ours, theirs, what="weight"):
    """Bit by bit."""
    assert len(ours) == len(theirs), f"{len(ours)} here, {len(theirs)} in Keras"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert a.shape == b.shape, f"{what} {i}: {a.shape} here, {b.shape} in Keras"
        assert np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), f"{what} {i} {a.shape} has other values"


def check_close(ours, theirs, tolerance, what="output"):
    assert len(ours) == len(theirs), f"{len(ours)} here, {len(theirs)} in Keras"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert a.shape == b.shape, f"{what} {i}: {a.shape} here, {b.shape} in Keras"
        if b.dtype.kind in "OSU":
            words = [w.decode() if isinstance(w, bytes) else str(w) for w in b.reshape(-1)]
            assert a.reshape(-1).tolist() == words, f"{what} {i}"
            continue
        b = np.asarray(b, "f8")
        scale = max(1.0, np.max(np.abs(b), initial=0))
        np.testing.assert_allclose(np.asarray(a, "f8"), b, rtol=tolerance, atol=tolerance * scale,
                                   err_msg=f"{what} {i}")


def outputs_of(model, x):
    import keras
    import tensorflow as tf

    inputs = keras.tree.map_structure(tf.constant, x)
    return [np.asarray(y, "f4" if y.dtype == "bfloat16" else None) for y in keras.tree.flatten(model(inputs, training=False))]


_RELOAD = """
import json, sys
import keras, numpy as np
print(keras.__version__, file=sys.stderr)
request = json.loads(sys.argv[1])
model = keras.models.load_model(request["path"])
weights = [np.asarray(w.numpy()) for layer in model.layers for w in layer.weights]
given = np.load(request["x"])
x = [given[key] for key in given.files]
y = model(x[0] if len(x) == 1 else x, training=False)
y = y if isinstance(y, (list, tuple)) else [y]
np.savez(request["to"], *weights, **{f"y{i}": np.asarray(v) for i, v in enumerate(y)})
"""


def load_in_keras(version, path, x, folder):
    """Weights and outputs as another Keras 3 reads them from a file."""
    inputs, results = folder / "reload_x.npz", folder / "reload_y.npz"
    np.savez(inputs, *(x if isinstance(x, list) else [x]))
    request = dict(path=str(path), x=str(inputs), to=str(results))
    run_script(sys.executable, ["-c", _RELOAD, json.dumps(request)], PYTHONPATH=str(other_keras(version)),
               TF_ENABLE_ONEDNN_OPTS="0", CUDA_VISIBLE_DEVICES="")
    with np.load(results) as made:
        weights = [made[f"arr_{i}"] for i in range(sum(key.startswith("arr_") for key in made.files))]
        return weights, [made[f"y{i}"] for i in range(sum(key[0] == "y" for key in made.files))]
