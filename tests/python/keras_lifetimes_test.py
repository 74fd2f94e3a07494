"""Training in threads, in children, interrupted, and in objects that hold each other: what is left behind is nothing."""

import gc
import threading
import weakref

import numpy as np
import pytest

import plimsoll as tf
from plimsoll import keras
from plimsoll.keras import layers

ROWS = 256


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, 6)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


def network(seed=1):
    keras.utils.set_random_seed(seed)
    model = keras.Sequential([keras.Input((6,)), layers.Dense(64, activation="relu"), layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def in_use():
    gc.collect()
    tf.memory.trim()
    return tf.memory.stats()["in_use"]


def test_interrupts_from_outside(program):
    """Ctrl-C while C++ computes, with no Python in between: an exception, a model that can be used, memory back."""
    out = program("""
import gc, os, signal, threading
import numpy as np
keras = tf.keras

def in_use():
    gc.collect()
    tf.memory.trim()
    return tf.memory.stats()["in_use"]

x, y = np.ones([4096, 32], "float32"), np.ones([4096, 1], "float32")
model = keras.Sequential([keras.Input((32,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, verbose=0, batch_size=32)
model.evaluate(x, y, verbose=0)
model.predict(x, verbose=0)
before = in_use()
calls = [lambda: model.fit(x, y, verbose=0, epochs=100000, batch_size=32),
         lambda: model.fit(x, y, verbose=0, epochs=100000, validation_split=0.5, shuffle=False),
         lambda: model.evaluate(x.repeat(500, axis=0), y.repeat(500, axis=0), verbose=0, batch_size=8)]
for call in calls:
    threading.Timer(0.4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        call()
        print("ended")
    except KeyboardInterrupt:
        print("stopped", tf.memory.report().external)
print("left nothing:", in_use() - before < 1 << 14)
print("loss is finite:", np.isfinite(model.fit(x, y, verbose=0).history["loss"][0]))
""", timeout=110).stdout.splitlines()
    assert out == ["stopped 0"] * 3 + ["left nothing: True", "loss is finite: True"]


def test_fit_in_a_thread_is_fit(data):
    losses = {}

    def train(name):
        losses[name] = network().fit(*data, epochs=3, verbose=0, shuffle=False).history["loss"]

    thread = threading.Thread(target=train, args=("there",))
    thread.start()
    thread.join()
    train("here")
    assert losses["there"] == losses["here"]


def test_models_in_several_threads(data):
    """Each has a model of its own; what each learns is what it learns alone."""
    models = [network(seed) for seed in range(4)]
    alone = [network(seed) for seed in range(4)]
    losses, failures = {}, []

    def train(i):
        try:
            losses[i] = models[i].fit(*data, epochs=3, verbose=0, shuffle=False).history["loss"]
        except Exception as error:  # noqa: BLE001  told below
            failures.append(error)

    threads = [threading.Thread(target=train, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
    for i, model in enumerate(alone):
        assert losses[i] == model.fit(*data, epochs=3, verbose=0, shuffle=False).history["loss"]


def test_a_thread_leaves_nothing(data):
    def work():
        model = network()
        model.fit(*data, verbose=0)
        model.predict(data[0], verbose=0)

    def in_thread():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    in_thread()
    before = in_use()
    for _ in range(3):
        in_thread()
    assert in_use() == before and tf.memory.report().external == 0


@pytest.mark.parametrize("used", [False, True], ids=["after_import", "after_fit"])
def test_fit_in_a_child(program, used):
    out = program(f"""
import os
import numpy as np
keras = tf.keras
x = np.random.default_rng(0).normal(size=[256, 6]).astype("float32")
y = x.sum(axis=1, keepdims=True)

def train():
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model.fit(x, y, epochs=2, verbose=0, shuffle=False).history["loss"]

if {used}:
    train()
read, write = os.pipe()
child = os.fork()
if child == 0:
    try:
        os.write(write, repr(train()).encode())
    finally:
        os._exit(0)
os.close(write)
there = b""
while part := os.read(read, 65536):
    there += part
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
here = train()
print(np.allclose(eval(there), here, rtol=1e-4))
""", timeout=60).stdout
    assert out == "0\nTrue\n"


class Circle(keras.Model):
    """Everything that can hold the model holds it."""

    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(256)
        self.out = layers.Dense(1)
        self.hidden.parent = self
        self.parts = {"self": [self]}
        self.call_me = lambda x: self(x)

    def call(self, x):
        return self.out(self.hidden(x))

    @tf.function
    def forward(self, x):
        return self(x)


class Holder(keras.callbacks.Callback):
    def __init__(self, model):
        super().__init__()
        self.held = model


def train_circle(data):
    model = Circle()
    callback = Holder(model)
    model.callback = callback
    model.compile("adam", lambda a, b: tf.reduce_mean(tf.square(a - b)) + 0.0 * len(model.parts),
                  metrics=[keras.metrics.MeanAbsoluteError()])
    model.fit(*data, verbose=0, callbacks=[callback])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model.forward(tf.constant(data[0])))
    model.gradients = tape.gradient(loss, model.trainable_variables)
    model.tape = tape
    return [weakref.ref(o) for o in (model, model.hidden, model.optimizer, callback)]


def test_circles_are_collected_and_their_memory_comes_back(data):
    train_circle(data)
    before = in_use()
    alive = train_circle(data)
    after = in_use()
    assert [r() for r in alive] == [None] * len(alive)
    assert after == before


def test_a_layer_in_a_circle(data):
    class Twice(layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = layers.Dense(512)
            self.inner.outer = self
            self.step = tf.function(self.call)

        def call(self, x):
            return self.inner(x) * 2.0

    def run():
        layer = Twice()
        layer.step(tf.constant(data[0]))
        return weakref.ref(layer)

    run()
    before = in_use()
    gone = run()
    assert in_use() == before and gone() is None


def test_an_exception_does_not_keep_the_model(data):
    def run():
        model = network()

        class Fail(keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs=None):
                if batch == 1:
                    raise KeyError("mine")

        with pytest.raises(KeyError):
            model.fit(*data, verbose=0, callbacks=[Fail()])
        return weakref.ref(model)

    run()
    before = in_use()
    gone = run()
    assert in_use() == before and gone() is None
