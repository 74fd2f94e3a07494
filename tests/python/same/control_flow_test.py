"""Branches and loops, eagerly and in functions."""

import numpy as np
import pytest


@pytest.fixture(params=["eager", "function"])
def run(request, tf):
    return tf.function if request.param == "function" else lambda f: f


def test_cond(tf, run):
    @run
    def f(x):
        return tf.cond(x > 0, lambda: {"v": x * 2.0}, lambda: {"v": -x})["v"]

    assert float(f(tf.constant(3.0))) == 6 and float(f(tf.constant(-3.0))) == 3


def test_cond_of_python_bool(tf):
    assert tf.cond(tf.constant(True), lambda: 1, lambda: 2) == 1


def test_while_loop(tf, run):
    @run
    def f(n):
        return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + tf.cast(i, tf.float32)),
                             (tf.constant(0), tf.constant(0.0)))

    i, s = f(tf.constant(10))
    assert int(i) == 10 and float(s) == 45


def test_while_loop_with_a_bound(tf, run):
    @run
    def f(x):
        return tf.while_loop(lambda x: True, lambda x: [x * 2.0], [x], maximum_iterations=5)[0]

    assert float(f(tf.constant(1.0))) == 32


def test_scan(tf, run):
    @run
    def f(x):
        return tf.scan(lambda a, e: a + e, x), tf.scan(lambda a, e: a * e, x, tf.constant(2.0))

    sums, products = f(tf.constant([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(sums, [1, 3, 6])
    np.testing.assert_array_equal(products, [2, 4, 12])


def test_map_fn(tf, run):
    @run
    def f(x):
        return tf.map_fn(lambda e: tf.reduce_sum(e) * 2.0, x)

    np.testing.assert_array_equal(f(tf.constant([[1.0, 2.0], [3.0, 4.0]])), [6, 14])


def test_gradient_of_a_loop(tf):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * x), (0, tf.constant(1.0)),
                              maximum_iterations=3)[1]
        return tape.gradient(y, x)

    assert float(f(tf.constant(2.0))) == 12


def test_where(tf, run):
    @run
    def f(x):
        return tf.where(x > 0, x, 0.0)

    np.testing.assert_array_equal(f(tf.constant([-1.0, 2.0])), [0, 2])
