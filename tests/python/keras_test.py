"""Keras in Python, where Plimsoll promises more than Keras: memory, lifetimes, interrupts, errors."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import traceback
import weakref

import numpy as np
import pytest

import plimsoll as tf
from plimsoll import keras
from plimsoll.keras import layers


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(64, 6)).astype("float32"), rng.normal(size=(64, 1)).astype("float32")


def small():
    return keras.Sequential([keras.Input((6,)), layers.Dense(32, activation="relu"), layers.Dense(1)])


class Scale(layers.Layer):
    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="w")

    def call(self, x):
        return x * self.w * self.factor


def test_keras_comes_when_it_is_asked_for():
    code = ("import sys, plimsoll; assert 'plimsoll.keras' not in sys.modules; plimsoll.keras; "
            "assert 'plimsoll.keras.layers' not in sys.modules")
    path = os.pathsep.join(p for p in sys.path if p)
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": path})


def test_all_classes_can_be_made_from_the_tables():
    for name in tf._core.keras_names("layers"):
        assert getattr(layers, name).__name__ == name
    for kind in ("optimizers", "losses", "metrics", "initializers", "regularizers", "constraints", "callbacks"):
        module = getattr(keras, kind)
        for name in keras._classes.names(kind):
            cls = getattr(module, name)
            assert cls.__doc__ and cls.__signature__ is not None
    for name in ("Adam", "SGD", "RMSprop", "Lion", "Adafactor"):
        optimizer = getattr(keras.optimizers, name)()
        again = type(optimizer).from_config(optimizer.get_config())
        assert again.get_config() == {**optimizer.get_config(), "name": again.name}


def test_planned_is_measured(data):
    model = small()
    model.compile("adam", "mse")
    plan = model.plan_fit(*data, batch_size=16)
    history = model.fit(*data, epochs=2, batch_size=16, verbose=0)
    assert history.planned_peak_bytes == history.measured_peak_bytes > 0
    assert plan.peak_bytes > 0 and plan.weights_bytes > 0
    assert model.plan_train(batch_size=16).arena_bytes <= plan.peak_bytes


def test_a_budget_that_is_too_small_names_a_batch(data):
    model = keras.Sequential([keras.Input((6,)), layers.Dense(512, activation="relu"), layers.Dense(1)])
    model.compile("sgd", "mse", memory_budget="400KiB")
    x, y = np.tile(data[0], (8, 1)), np.tile(data[1], (8, 1))
    with pytest.raises(tf.errors.ResourceExhaustedError, match="batch"):
        model.fit(x, y, batch_size=512, verbose=0)
    model.compile("sgd", "mse", memory_budget="64MiB")
    model.fit(x, y, batch_size=512, verbose=0)


def test_progress_goes_to_pythons_stdout(data, capsys):
    model = small()
    model.compile("sgd", "mse")
    model.fit(*data, epochs=2, verbose=2)
    model.summary()
    text = capsys.readouterr().out
    assert "Epoch 2/2" in text and "plan: peak" in text and "Total params: 257" in text


def test_models_in_python_are_collected(data):
    class Mine(keras.Model):
        def __init__(self):
            super().__init__()
            self.scale, self.out = Scale(), layers.Dense(1)
            self.own_loss = lambda a, b: tf.reduce_mean(tf.square(a - b)) + 0.0 * tf.reduce_sum(self.scale.w)
            self.itself = [self]  # a cycle

        def call(self, x):
            return self.out(self.scale(x))

    def run():
        model = Mine()
        model(data[0][:1])
        model.compile("adam", model.own_loss, metrics=[lambda a, b: tf.reduce_mean(a - b)])
        model.fit(*data, verbose=0)
        inputs = keras.Input((6,))
        functional = keras.Model(inputs, Scale()(inputs))
        functional.predict(data[0], verbose=0)
        return [weakref.ref(o) for o in (model, model.scale, functional, functional.layers[1])]

    run()
    gc.collect()
    before = tf.memory.stats()["in_use"] if hasattr(tf.memory, "stats") else None
    alive = run()
    gc.collect()
    assert [r() for r in alive] == [None] * 4
    if before is not None:
        assert tf.memory.stats()["in_use"] == before


def test_layers_stay_as_long_as_the_model():
    def make():
        inputs = keras.Input((6,))
        x = Scale(3.0)(inputs)
        return keras.Model(inputs, layers.Lambda(lambda t: t + 1.0)(x))

    model = make()
    gc.collect()
    np.testing.assert_allclose(model(np.ones((1, 6), "float32")), np.full((1, 6), 4.0))
    sequence = keras.Sequential([Scale(2.0), Scale(2.0)])
    gc.collect()
    np.testing.assert_allclose(sequence(np.ones((1, 6), "float32")), np.full((1, 6), 4.0))
    around = layers.TimeDistributed(Scale(2.0))
    gc.collect()
    np.testing.assert_allclose(around(np.ones((1, 2, 3), "float32")), np.full((1, 2, 3), 2.0))


def test_interrupt(data):
    model = small()
    model.compile("sgd", "mse")
    model.fit(*data, verbose=0)

    class Press(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 1:
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        model.fit(*data, epochs=1000, verbose=0, batch_size=8, callbacks=[Press()])
    assert np.isfinite(model.fit(*data, verbose=0).history["loss"][0])


def test_errors_in_python_keep_their_lines(data):
    class Broken(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            raise KeyError("mine")

    model = small()
    model.compile("sgd", "mse")
    with pytest.raises(KeyError, match="mine") as caught:
        model.fit(*data, verbose=0, callbacks=[Broken()])
    assert "on_epoch_end" in "".join(traceback.format_tb(caught.tb))

    class BrokenLayer(layers.Layer):
        def call(self, x):
            return x[:, 99]

    with pytest.raises(Exception) as caught:
        BrokenLayer()(data[0])
    assert "x[:, 99]" in "".join(traceback.format_tb(caught.tb))
    model.fit(*data, verbose=0)


def test_no_lock_while_training(data):
    model = keras.Sequential([keras.Input((6,)), layers.Dense(64, activation="relu"), layers.Dense(1)])
    model.compile("sgd", "mse")
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            done.wait(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    model.fit(*data, epochs=100, batch_size=8, verbose=0)
    done.set()
    thread.join()
    assert len(ticks) > 1


def test_classes_that_derive_from_keras_layers(data):
    class Doubled(layers.Dense):
        def call(self, inputs):
            return super().call(inputs) * 2.0

    layer = Doubled(3, kernel_initializer="ones", name="doubled")
    y = layer(np.ones((1, 6), "float32"))
    np.testing.assert_allclose(y, np.full((1, 3), 12.0))
    assert layer.units == 3 and layer.kernel.shape == (6, 3) and len(layer.weights) == 2
    model = keras.Sequential([keras.Input((6,)), Doubled(1)])
    model.compile("sgd", "mse")
    model.fit(*data, verbose=0)

    class Sub(keras.Sequential):
        def describe(self):
            return len(self.layers)

    assert Sub([keras.Input((6,)), layers.Dense(1)]).describe() == 1


def test_extended_callback(data):
    class Counted(keras.callbacks.EarlyStopping):
        calls = 0

        def on_epoch_end(self, epoch, logs=None):
            self.calls += 1
            super().on_epoch_end(epoch, logs)

    model = small()
    model.compile("sgd", "mse")
    stop = Counted("loss", min_delta=1e9, patience=2)
    history = model.fit(*data, epochs=10, verbose=0, callbacks=[stop])
    assert stop.calls == len(history.epoch) == 3
    rates = []
    model.fit(*data, epochs=2, verbose=0, callbacks=[
        keras.callbacks.LearningRateScheduler(lambda epoch, lr: lr * 0.5),
        keras.callbacks.LambdaCallback(
            on_epoch_end=lambda epoch, logs: rates.append(float(model.optimizer.learning_rate)))])
    np.testing.assert_allclose(rates, [0.005, 0.0025], rtol=1e-5)


def test_mixed_precision(data):
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    try:
        model = small()
    finally:
        keras.mixed_precision.set_global_policy("float32")
    assert model.layers[0].compute_dtype == "bfloat16" and model.layers[0].kernel.dtype == "float32"
    model.compile("sgd", "mse")
    assert np.isfinite(model.fit(*data, verbose=0).history["loss"][0])


def test_ops(data):
    ops = keras.ops
    x = data[0]
    np.testing.assert_allclose(ops.mean(ops.square(x), axis=-1), np.mean(x ** 2, axis=-1), rtol=1e-5)
    np.testing.assert_allclose(ops.matmul(x, ops.transpose(x)), x @ x.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(1.0 - ops.softmax(x), ops.subtract(1.0, ops.softmax(x)))
    inputs = keras.Input((6,))
    model = keras.Model(inputs, ops.concatenate([ops.relu(inputs), ops.exp(inputs)], axis=-1))
    assert model(x).shape == (64, 12)
    with pytest.raises(AttributeError, match="not built"):
        ops.fft


def test_what_is_not_there_says_so(tmp_path, monkeypatch):
    with pytest.raises(AttributeError, match="load_model"):
        keras.applications.ResNet50
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="mnist.npz"):
        keras.datasets.mnist.load_data()
    (tmp_path / "datasets").mkdir()
    arrays = {f"{a}_{b}": np.zeros(3, "uint8") for a in "xy" for b in ("train", "test")}
    np.savez(tmp_path / "datasets" / "mnist.npz", **arrays)
    (x_train, _), _ = keras.datasets.mnist.load_data()
    assert x_train.shape == (3,)
    with pytest.raises(tf.errors.UnimplementedError):
        small().export("x")
    with pytest.raises(AttributeError):
        layers.NoSuchLayer


@pytest.mark.parametrize("name", ["TensorBoard", "RemoteMonitor", "ProgbarLogger", "SwapEMAWeights", "OrbaxCheckpoint"])
def test_callbacks_that_are_not_built(name):
    assert hasattr(keras.callbacks, name)  # who only looks is not stopped
    with pytest.raises(tf.errors.UnimplementedError, match=f"keras.callbacks.{name} is not built: "):
        getattr(keras.callbacks, name)("anything", more=1)
    page = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "keras_in_python.md"
    assert f"| `{name}` |" in page.read_text(encoding="utf-8")


def test_old_ways_to_say_the_shape():
    model = keras.Sequential()
    model.add(layers.Dense(4, input_shape=(6,)))
    model.add(layers.Dense(2, input_dim=4))
    assert model.output_shape == (None, 2) and model.input_shape == (None, 6)
    assert len(model.layers) == 2 and model.built
    keras.backend.clear_session()
    assert layers.Dense(1).name == "dense"
