"""Keras's classes in Python against Keras itself: signatures of all of them, and files in both directions."""

import inspect
import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "build" / "release" / "python"))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras as theirs  # noqa: E402

from plimsoll import keras as ours  # noqa: E402
from plimsoll.keras import _classes  # noqa: E402

KINDS = ["layers", "optimizers", "losses", "metrics", "initializers", "regularizers", "constraints",
         "callbacks", "optimizers.schedules"]
# Arguments of Keras that are taken and mean nothing here, or come in another way.
TAKEN = {"lora_rank", "lora_alpha", "gptq_unpacked_column_size", "use_cudnn", "weights"}
OTHERS = {"InputLayer", "Lambda", "Functional", "Model", "Sequential"}


def find(root, path):
    for part in path.split("."):
        root = getattr(root, part)
    return root


def shared_classes():
    for kind in KINDS:
        for name in _classes.names(kind.rpartition(".")[2]):
            if name not in OTHERS and hasattr(find(theirs, kind), name):
                yield f"{kind}.{name}"


@pytest.mark.parametrize("path", shared_classes())
def test_signature(path):
    own = inspect.signature(find(ours, path)).parameters
    skipped = TAKEN | ({"dtype"} if path.startswith("losses") else set())
    peer = [p for p in inspect.signature(find(theirs, path)).parameters.values()
            if p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in skipped]
    if path.startswith("layers"):  # which Keras takes by name only, as a rule
        peer = [p for p in peer if p.name not in ("name", "dtype", "trainable", "activity_regularizer")]
    assert list(own)[:len(peer)] == [p.name for p in peer]
    needed = [p.name for p in peer if p.default is inspect.Parameter.empty]
    assert [n for n, p in own.items() if p.default is inspect.Parameter.empty] == needed


def build(keras, with_op=True):  # Keras does not read its own .h5 files with ops in the model
    layers = keras.layers
    a, b = keras.Input((12, 3), name="a"), keras.Input((6,), name="b")
    h = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(layers.Conv1D(5, 3, padding="same")(a))
    h = layers.GlobalAveragePooling1D()(layers.LayerNormalization()(h))
    side = layers.Dense(4, activation="gelu")(b)
    h = layers.concatenate([h, side * 2.0 if with_op else side])
    model = keras.Model([a, b], layers.Dense(2, activation="softmax", kernel_regularizer="l2")(h))
    model.compile(keras.optimizers.AdamW(0.01), keras.losses.SparseCategoricalCrossentropy(),
                  metrics=[keras.metrics.SparseCategoricalAccuracy()])
    return model


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("writes", ["ours", "theirs"])
def test_files(tmp_path, ending, writes):
    writer, reader = (ours, theirs) if writes == "ours" else (theirs, ours)
    rng = np.random.default_rng(0)
    x = [rng.normal(size=(32, 12, 3)).astype("float32"), rng.normal(size=(32, 6)).astype("float32")]
    y = rng.integers(0, 2, 32)
    model = build(writer, ending == "keras")
    model.fit(x, y, epochs=2, batch_size=8, verbose=0)
    path = str(tmp_path / f"model.{ending}")
    model.save(path)
    again = reader.models.load_model(path)
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), atol=2e-5)
    if ending == "keras" or reader is ours:  # Keras does not train on what it has read of .h5 files
        first, second = (m.fit(x, y, epochs=3, batch_size=8, shuffle=False, verbose=0).history["loss"]
                         for m in (model, again))
        np.testing.assert_allclose(first, second, rtol=2e-4)
    weights = str(tmp_path / "w.weights.h5")
    again.save_weights(weights)
    fresh = build(writer, ending == "keras")
    fresh.load_weights(weights)
    np.testing.assert_allclose(fresh.predict(x, verbose=0), again.predict(x, verbose=0), atol=2e-5)
