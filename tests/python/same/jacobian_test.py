"""Jacobians, and what a tape says of itself."""

import numpy as np
import pytest


@pytest.fixture(params=["eager", "function"])
def mode(tf, request):
    return (lambda f: f) if request.param == "eager" else tf.function


def test_jacobian(tf, mode):
    @mode
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        return tape.jacobian(y, x)

    np.testing.assert_allclose(run(tf.constant([1.0, 2.0, 3.0])), np.diag([2.0, 4.0, 6.0]))


def test_shapes_are_target_then_source(tf, mode):
    w = tf.Variable(np.arange(6.0).reshape(3, 2).astype("float32"))
    b = tf.Variable(tf.zeros([2]))

    @mode
    def run(x):
        with tf.GradientTape() as tape:
            y = tf.matmul(x, w) + b
        return tape.jacobian(y, {"w": w, "b": [b]})

    x = np.arange(12.0).reshape(4, 3).astype("float32")
    made = run(tf.constant(x))
    want = np.zeros([4, 2, 3, 2])
    for i in range(4):
        for j in range(2):
            want[i, j, :, j] = x[i]
    np.testing.assert_allclose(made["w"], want)
    np.testing.assert_allclose(made["b"][0], np.broadcast_to(np.eye(2), [4, 2, 2]))


def test_scalars(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * x
    made = tape.jacobian(y, x)
    assert made.shape == () and float(made) == 27.0


def test_unconnected(tf):
    x, z = tf.constant([1.0, 2.0]), tf.constant([3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * x
    made = tape.jacobian(y, [x, z])
    assert made[0].shape == (2, 2) and made[1] is None
    made = tape.jacobian(y, [x, z], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert made[1].numpy().tolist() == [[0.0], [0.0]]


def test_a_tape_is_used_once(tf):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.jacobian(y, x)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, x)


def test_hessian(tf, mode):
    @mode
    def run(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(x * x * x) + x[0] * x[1]
            dy = inner.gradient(y, x)
        return outer.jacobian(dy, x)

    np.testing.assert_allclose(run(tf.constant([1.0, 2.0])), [[6.0, 1.0], [1.0, 12.0]])


def test_batch_jacobian(tf, mode):
    @mode
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.concat([x * x, tf.reduce_sum(x, 1, keepdims=True)], 1)
        return tape.batch_jacobian(y, x)

    x = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "float32")
    want = np.stack([np.array([[2 * a, 0], [0, 2 * b], [1, 1]]) for a, b in x])
    np.testing.assert_allclose(run(tf.constant(x)), want)


def test_batch_jacobian_of_higher_rank(tf):
    x = tf.constant(np.random.default_rng(0).normal(size=[2, 3]).astype("float32"))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reshape(tf.matmul(tf.sin(x), tf.ones([3, 4]) * tf.range(1.0, 5.0)), [2, 2, 2])
    full = tape.jacobian(y, x)
    batch = tape.batch_jacobian(y, x)
    assert full.shape == (2, 2, 2, 2, 3) and batch.shape == (2, 2, 2, 3)
    np.testing.assert_allclose(batch, np.stack([full[i, :, :, i] for i in range(2)]), rtol=1e-6)


def test_batch_jacobian_needs_as_many_rows(tf):
    x = tf.ones([2, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.transpose(x)
    with pytest.raises(ValueError, match="Need first dimension of target shape"):
        tape.batch_jacobian(y, x)


def test_watched_variables(tf):
    a, b, c = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b"), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = b * a + c
    assert [v.name for v in tape.watched_variables()] == ["a:0", "b:0"]
    assert tape.watched_variables()[0] is a and isinstance(tape.watched_variables(), tuple)
    assert [float(t) for t in tape.gradient(y, tape.watched_variables())] == [2.0, 1.0]


def test_watched_variables_that_were_named(tf):
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(b)
        y = a * b
    assert len(tape.watched_variables()) == 1 and tape.watched_variables()[0] is b
    assert tape.gradient(y, a) is None


def test_watched_variables_of_a_model(tf):
    keras = tf.keras
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones([4, 3])))
    watched = tape.watched_variables()
    assert sorted(tuple(v.shape) for v in watched) == [(1,), (2,), (2, 1), (3, 2)]
    by_tape = tape.gradient(loss, watched)
    assert all(g is not None for g in by_tape)


def test_watched_variables_in_a_function(tf):
    a = tf.Variable(1.0)
    names = []

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            y = a * x
        names.extend(v.name for v in tape.watched_variables())
        return tape.gradient(y, a)

    assert float(f(tf.constant(4.0))) == 4.0 and names == [a.name]


def test_reset(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        z = y + x * x * x
    assert float(tape.gradient(z, x)) == 27.0


def test_stop_recording(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            unseen = y * x
        z = y * x
    assert tape.gradient(unseen, x) is None and float(tape.gradient(z, x)) == 27.0
