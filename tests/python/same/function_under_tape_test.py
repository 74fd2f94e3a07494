"""Functions that are called under a tape: one step of it, with the gradients of the ops inside."""

import numpy as np
import pytest


def test_gradient(tf):
    v = tf.Variable([[2.0], [3.0]])

    @tf.function
    def f(x):
        return tf.matmul(tf.sin(x), v), tf.reduce_sum(x)

    x = tf.constant([[0.5, 1.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, s = f(x)
        loss = tf.reduce_sum(y * y) + s
    dx, dv = tape.gradient(loss, [x, v])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.matmul(tf.sin(x), v)
        loss = tf.reduce_sum(y * y) + tf.reduce_sum(x)
    want = tape.gradient(loss, [x, v])
    np.testing.assert_allclose(dx, want[0], rtol=1e-6)
    np.testing.assert_allclose(dv, want[1], rtol=1e-6)


def test_the_function_is_traced_once_and_not_run_as_python(tf):
    v = tf.Variable(3.0)
    calls = []

    @tf.function
    def f(x):
        calls.append(x)
        return x * v

    for i in range(4):
        with tf.GradientTape() as tape:
            y = f(tf.constant(float(i)))
        assert float(tape.gradient(y, v)) == float(i)
    assert len(calls) == 1


def test_variables_that_change_inside(tf):
    """What the gradient reads are the values of then, not of later."""
    v = tf.Variable(2.0)
    count = tf.Variable(0.0, trainable=False)

    @tf.function
    def f(x):
        y = x * v * v
        count.assign_add(1.0)
        v.assign(10.0)
        return y * count

    with tf.GradientTape() as tape:
        y = f(tf.constant(3.0))
    v.assign(100.0)
    count.assign(50.0)
    assert float(y) == 12.0 and float(tape.gradient(y, v)) == 12.0 and float(v) == 100.0


def test_random_numbers_are_those_of_the_forward_part(tf):
    @tf.function
    def f(x):
        return tf.nn.dropout(x, 0.5)

    x = tf.ones([1000])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(tape.gradient(y, x), y.numpy())


def test_unconnected_and_integers(tf):
    @tf.function
    def f(x, n):
        return x * 2.0, n + 1

    x, z = tf.constant(1.0), tf.constant(5.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y, n = f(x, tf.constant(3))
    assert float(tape.gradient(y, x)) == 2.0 and int(n) == 4
    assert tape.gradient(y, z) is None


def test_results_that_are_arguments_or_each_other(tf):
    @tf.function
    def f(x):
        y = x * x
        return x, y, y

    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b, c = f(x)
    assert float(tape.gradient(a, x)) == 1.0 and float(tape.gradient(b, x)) == 6.0
    assert float(tape.gradient(c, x)) == 6.0 and float(tape.gradient([a, b, c], x)) == 13.0


def test_output_gradients_and_persistent_tapes(tf):
    f = tf.function(lambda x: tf.exp(x))
    x = tf.constant([0.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        z = f(y)
    np.testing.assert_allclose(tape.gradient(y, x, output_gradients=tf.constant([2.0, 3.0])),
                               [2.0, 3.0 * np.e], rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(z, x), np.exp([0.0, 1.0]) * np.exp(np.exp([0.0, 1.0])), rtol=1e-5)


def test_second_derivatives(tf):
    f = tf.function(lambda x: x * x * x)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f(x)
        dy = inner.gradient(y, x)
    assert float(dy) == 12.0 and float(outer.gradient(dy, x)) == 12.0


def test_loops_and_branches(tf):
    @tf.function
    def f(x):
        y = tf.scan(lambda a, r: a * r, x)[-1]
        return tf.cond(y > 0.0, lambda: y * 2.0, lambda: y * 3.0)

    x = tf.constant([2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert float(y) == 48.0 and tape.gradient(y, x).numpy().tolist() == [24.0, 16.0, 12.0]


def test_functions_in_functions(tf):
    inner = tf.function(lambda x: x * x)
    outer = tf.function(lambda x: inner(x) + x)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    assert float(tape.gradient(y, x)) == 7.0


def test_a_custom_gradient_inside(tf):
    @tf.custom_gradient
    def times(x):
        s = tf.sin(x)
        return s * x, lambda upstream: upstream * s * 100.0

    f = tf.function(lambda x: times(x * 2.0))
    x = tf.constant(0.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x), np.sin(1.0) * 200.0, rtol=1e-6)


def test_stopped_tapes_and_tapes_that_ended(tf):
    v = tf.Variable(2.0)
    f = tf.function(lambda x: x * v)
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            y = f(tf.constant(3.0))
        z = f(tf.constant(4.0))
    assert float(y) == 6.0 and float(tape.gradient(z, v)) == 4.0
    assert float(f(tf.constant(5.0))) == 10.0


def test_variables_that_are_not_followed(tf):
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    f = tf.function(lambda x: x * v * w)
    with tf.GradientTape(watch_accessed_variables=False, persistent=True) as tape:
        tape.watch(v)
        y = f(tf.constant(5.0))
    assert float(tape.gradient(y, v)) == 15.0 and tape.gradient(y, w) is None


def test_a_training_loop(tf):
    keras = tf.keras
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="tanh"), keras.layers.BatchNormalization(),
                              keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.05)
    forward = tf.function(lambda x: model(x, training=True))
    x = np.random.default_rng(0).normal(size=[64, 4]).astype("float32")
    y = tf.constant(x.sum(1, keepdims=True))
    losses = []
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((forward(tf.constant(x)) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        losses.append(float(loss))
    assert losses[-1] < 0.2 * losses[0]


@pytest.mark.parametrize("shape", [[3], [5]])
def test_shapes_are_traced_apart(tf, shape):
    f = tf.function(lambda x: tf.reduce_sum(x * x))
    x = tf.ones(shape)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0] * shape[0]
