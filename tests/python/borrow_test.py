"""Arrays that are read where they stand: fit, evaluate and predict make no copy of their data."""

import gc
import threading
import weakref

import numpy as np
import pytest


def external(tf):
    gc.collect()
    return tf.memory.report().external


@pytest.fixture
def borrow():
    from plimsoll import _core
    return _core.borrow


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "int64", "bool"])
def test_borrow(tf, borrow, dtype):
    array = np.arange(24).reshape(4, 6).astype(dtype)
    tensor = borrow(array)
    assert tensor.dtype.name == dtype and tensor.shape == (4, 6)
    assert np.shares_memory(tensor.numpy(), array) and external(tf) == array.nbytes
    array[0, 1] = 0
    assert tensor.numpy()[0, 1] == 0
    del tensor
    assert external(tf) == 0


@pytest.mark.parametrize("odd", [
    np.arange(24.0).reshape(4, 6)[:, ::2], np.asfortranarray(np.ones([3, 4])), np.array(2.0), np.ones([0, 3]),
    np.array(["a", "b"]), [1.0, 2.0], np.frombuffer(bytes(9), "uint8")[1:].view("float32"),
], ids=["strided", "fortran", "scalar", "empty", "words", "list", "unaligned"])
def test_what_cannot_be_borrowed_is_copied(tf, borrow, odd):
    tensor = borrow(odd)
    assert external(tf) == 0
    want = tf.constant(odd)
    assert tensor.dtype == want.dtype and np.array_equal(tensor.numpy(), want.numpy())


def test_a_type_that_is_not_there(tf, borrow):
    with pytest.raises(tf.errors.UnimplementedError, match="complex128"):
        borrow(np.ones(3, "complex128"))


def test_an_array_lives_as_long_as_its_tensor(tf, borrow):
    class Watched(np.ndarray):
        pass
    array = np.ones([1000, 10], np.float32).view(Watched)
    watch = weakref.ref(array)
    tensor = borrow(array)
    del array
    gc.collect()
    assert watch() is not None and float(tf.reduce_sum(tensor)) == 10000
    del tensor
    gc.collect()
    assert watch() is None


def test_ops_do_not_write_to_it(tf, borrow):
    array = np.ones([64], np.float32)
    v = tf.Variable(borrow(array))
    v.assign_add(tf.ones([64]))
    assert array.sum() == 64 and float(tf.reduce_sum(v)) == 128


def test_the_last_one_may_go_without_the_lock(tf, borrow):
    """A tensor that a thread without Python's lock drops: the array follows when Python is back."""
    keras = tf.keras
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.ones([512, 4], np.float32), np.ones([512, 1], np.float32)
    threads = [threading.Thread(target=lambda: model.predict(x, verbose=0)) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    model.fit(x, y, verbose=0)
    assert external(tf) == 0


FIT = """
import numpy as np
import os, resource

def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

keras = tf.keras
MB = 1000 * 1000
rows, width = 50000, {width}
x = np.ones([rows, width], np.{dtype})
y = np.zeros([rows, 1], np.{dtype})
assert x.nbytes == 200 * MB
model = keras.Sequential([keras.Input((width,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x[:1000], y[:1000], batch_size=500, verbose=0, shuffle=False)
seen = []

class Watch(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        report = tf.memory.report()
        seen.append((rss(), report.total, report.external))

before = rss()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
model.fit(x, y, batch_size=500, verbose=0, callbacks=[Watch()], shuffle=False)
model.evaluate(x, y, batch_size=500, verbose=0)
model.predict(x, batch_size=500, verbose=0)
assert len(seen) == 100
print("grew:", max(s[0] for s in seen) - before < 20 * MB,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - peak < 20 * MB)
print("counted:", max(s[1] for s in seen) < 20 * MB)
print("external:", {{s[2] for s in seen}} == {{x.nbytes + y.nbytes}}, tf.memory.report().external)
"""


@pytest.mark.parametrize("dtype,width", [("float32", 1000), ("float64", 500), ("uint8", 4000)])
def test_fit_makes_no_copy(program, dtype, width):
    out = program(FIT.format(dtype=dtype, width=width)).stdout.splitlines()
    assert out == ["grew: True True", "counted: True", "external: True 0"]


def model_of(tf, width=4):
    model = tf.keras.Sequential([tf.keras.Input((width,)),
                                 tf.keras.layers.Dense(1, kernel_initializer="zeros", use_bias=False)])
    model.compile("sgd", "mse")
    return model


def test_the_plan_holds_for_double_precision(tf):
    model = model_of(tf)
    history = model.fit(np.ones([100, 4]), np.ones([100, 1]), batch_size=30, verbose=0)
    assert history.planned_peak_bytes == history.measured_peak_bytes


def test_single_and_double_precision_train_alike(tf):
    x, y = np.random.default_rng(1).normal(size=[64, 4]), np.ones([64, 1])
    losses = [model_of(tf).fit(x.astype(t), y.astype(t), shuffle=False, epochs=2, verbose=0).history["loss"]
              for t in ("float32", "float64")]
    assert losses[0] == losses[1]


def test_changes_are_seen_by_the_batches_that_follow(tf):
    x, y = np.ones([4, 4], np.float32), np.zeros([4, 1], np.float32)
    losses = []

    class Change(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            losses.append(logs["loss"])
            y[batch + 1:] = 3.0

    model_of(tf).fit(x, y, batch_size=1, shuffle=False, verbose=0, callbacks=[Change()])
    assert losses[0] == 0 and losses[1] > 0


def test_fit_holds_arrays_that_the_caller_forgets(tf):
    class Watched(np.ndarray):
        pass
    held = {"x": np.ones([64, 4], np.float32).view(Watched), "y": np.ones([64, 1], np.float32).view(Watched)}
    watch = weakref.ref(held["x"])
    alive = []

    class Forget(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            held.clear()
            gc.collect()
            alive.append(watch() is not None)

    model = model_of(tf)

    def fit(x, y):
        return model.fit(x, y, batch_size=16, verbose=0, callbacks=[Forget()], epochs=2)

    assert np.isfinite(fit(held["x"], held["y"]).history["loss"][-1])
    gc.collect()
    assert all(alive) and watch() is None and external(tf) == 0


def test_fit_on_a_gpu_takes_batches_there(program):
    """Rows are gathered on the host, in either precision, and the batch goes to the device."""
    out = program("""
import numpy as np
for dtype in ("float32", "float64"):
    x = np.random.default_rng(0).normal(size=[256, 8]).astype(dtype)
    model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    history = model.fit(x, x[:, :1] * 2, epochs=2, verbose=0, validation_split=0.25)
    print("GPU:0" in model.weights[0].value.device, history.planned_peak_bytes == history.measured_peak_bytes,
          model.predict(x, verbose=0).shape, tf.memory.report().external)
""", env={"PLIMSOLL_SIM_DEVICES": "rtx-3060-12gb"}).stdout.splitlines()
    assert out == ["True True (256, 1) 0"] * 2
