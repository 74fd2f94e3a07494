"""Gradients."""

import numpy as np
import pytest


def test_of_a_tensor(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert float(tape.gradient(y, x)) == 6


def test_of_variables(tf):
    w, b = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([1.0, 1.0])
    x = tf.constant([[1.0, 2.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.matmul(x, w) + b)
    dw, db = tape.gradient(loss, [w, b])
    np.testing.assert_array_equal(dw, [[1, 1], [2, 2]])
    np.testing.assert_array_equal(db, [1, 1])


def test_structures(tf):
    v = {"a": tf.Variable(1.0), "b": (tf.Variable(2.0), tf.Variable(3.0))}
    with tf.GradientTape() as tape:
        y = v["a"] * v["b"][0] * v["b"][1]
    g = tape.gradient(y, v)
    assert float(g["a"]) == 6 and float(g["b"][0]) == 3 and float(g["b"][1]) == 2
    assert isinstance(g["b"], tuple)


def test_once_unless_persistent(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used to compute "
                                           "one set of gradients"):
        tape.gradient(y, x)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = y * y
    assert float(tape.gradient(y, x)) == 4 and float(tape.gradient(z, x)) == 32


def test_unconnected(tf):
    a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        y = a * 2.0
    assert tape.gradient(y, b) is None
    zero = tape.gradient(y, b, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    np.testing.assert_array_equal(zero, [0, 0])
    np.testing.assert_array_equal(tape.gradient(y, b, unconnected_gradients="zero"), [0, 0])
    with pytest.raises(ValueError):
        tape.gradient(y, b, unconnected_gradients="nonsense")


def test_second_order(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x * x
        dy = inner.gradient(y, x)
    assert float(outer.gradient(dy, x)) == 12


def test_what_is_watched(tf):
    x, fixed = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = x * fixed
    dx, df = tape.gradient(y, [x, fixed])
    assert float(dx) == 3 and df is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = x * fixed
    assert tape.gradient(y, x) is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(fixed)
        y = x * fixed
    assert float(tape.gradient(y, fixed)) == 2


def test_output_gradients_and_several_targets(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        z = 3.0 * x
    np.testing.assert_array_equal(tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0])),
                                  [2, 40])
    np.testing.assert_array_equal(tape.gradient([y, z], x), [5, 7])


def test_stopping(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            z = y * 100.0
        w = y + tf.stop_gradient(x)
    assert float(tape.gradient(w, x)) == 6
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.reset()
        z = 5.0 * x
    assert tape.gradient(y, x) is None and float(tape.gradient(z, x)) == 5


def test_entered_again(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape(persistent=True)
    with tape:
        y = x * x
    with tape:
        z = y * x
    assert float(tape.gradient(z, x)) == 27


def test_variable_that_changes_before_its_gradient(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    x.assign(10.0)
    assert float(tape.gradient(y, x)) == 6
    with tf.GradientTape() as tape:
        y = x * x
        x.assign_add(1.0)
        y = y + 2.0 * x
    assert float(tape.gradient(y, x)) == 22


def test_integers_have_none(tf):
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None


def test_through_a_function(tf):
    w = tf.Variable(3.0)

    @tf.function
    def f(x):
        return w * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    dx, dw = tape.gradient(y, [x, w])
    assert float(dx) == 12 and float(dw) == 4


def test_in_a_function(tf):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * w * x)
        grad = tape.gradient(loss, w)
        w.assign_sub(0.5 * grad)
        return loss, grad

    loss, grad = step(tf.constant([1.0, 1.0]))
    assert float(loss) == 5
    np.testing.assert_array_equal(grad, [2, 4])
    np.testing.assert_array_equal(w, [0, 0])


def test_regression_by_gradient_descent(tf):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 3)).astype("float32")
    y = x @ np.array([[1.0], [-2.0], [0.5]], "float32") + 0.25
    w, b = tf.Variable(tf.zeros([3, 1])), tf.Variable(tf.zeros([1]))
    for _ in range(300):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
    np.testing.assert_allclose(w, [[1], [-2], [0.5]], atol=1e-3)
    np.testing.assert_allclose(b, [0.25], atol=1e-3)
