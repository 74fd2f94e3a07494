"""Operators, with numbers and arrays on either side."""

import operator

import numpy as np
import pytest

BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_binary(tf, name, dtype):
    op = getattr(operator, name)
    a, b = np.array([7, 2, 9], dtype), np.array([2, 3, 4], dtype)
    wanted = op(a, b)
    x, y = tf.constant(a), tf.constant(b)
    for got in (op(x, y), op(x, b), op(a, y), op(x, [2, 3, 4] if "int" in dtype else [2., 3., 4.])):
        assert isinstance(got, tf.Tensor)
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
    np.testing.assert_allclose(op(x, 2), op(a, np.array(2, dtype)), rtol=1e-6)
    np.testing.assert_allclose(op(2, y), op(np.array(2, dtype), b), rtol=1e-6)


@pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
def test_comparison(tf, name):
    op = getattr(operator, name)
    a, b = np.array([1.0, 2.0, 3.0], "float32"), np.array([2.0, 2.0, 2.0], "float32")
    for got in (op(tf.constant(a), tf.constant(b)), op(tf.constant(a), b), op(tf.constant(a), 2.0)):
        assert got.dtype == tf.bool
        np.testing.assert_array_equal(got, op(a, b))


def test_division_of_integers(tf):
    assert (tf.constant(7) / tf.constant(2)).dtype == tf.float64
    assert float(tf.constant(7) / 2) == 3.5
    assert int(tf.constant(-7) // 2) == -4 and int(tf.constant(-7) % 3) == 2
    assert (tf.constant(1, tf.int8) / tf.constant(2, tf.int8)).dtype == tf.float32


def test_logic(tf):
    t, f = tf.constant([True, False]), tf.constant([True, True])
    np.testing.assert_array_equal(t & f, [True, False])
    np.testing.assert_array_equal(t | f, [True, True])
    np.testing.assert_array_equal(t ^ f, [False, True])
    np.testing.assert_array_equal(~t, [False, True])
    np.testing.assert_array_equal(tf.constant(6) & tf.constant(3), 2)
    np.testing.assert_array_equal(tf.constant(6) | 1, 7)


def test_unary(tf):
    x = tf.constant([-1.0, 2.0])
    np.testing.assert_array_equal(-x, [1, -2])
    np.testing.assert_array_equal(abs(x), [1, 2])


def test_matmul(tf):
    a, b = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(tf.constant(a) @ tf.constant(b), a @ b)
    np.testing.assert_allclose(tf.constant(a) @ b, a @ b)
    np.testing.assert_allclose(a @ tf.constant(b), a @ b)


@pytest.mark.parametrize("a, b", [
    ("tf.constant([1.0])", "tf.constant([1])"),
    ("tf.constant([1.0])", "tf.constant([1.0], tf.float64)"),
])
def test_types_must_agree(tf, a, b):
    with pytest.raises(tf.errors.InvalidArgumentError):
        eval(a, {"tf": tf}) + eval(b, {"tf": tf})


def test_numbers_take_the_tensors_type(tf):
    assert (tf.constant([1.0], tf.float16) * 2).dtype == tf.float16
    assert (tf.constant([1], tf.int64) + 1).dtype == tf.int64
    assert (1 - tf.constant([1.0], tf.float64)).dtype == tf.float64
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([1]) + 1.5


def test_shapes_broadcast(tf):
    got = tf.ones([2, 1, 3]) + tf.ones([4, 1])
    assert got.shape == (2, 4, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tf.ones([2]) + tf.ones([3])


def test_with_objects_that_are_no_tensors(tf):
    with pytest.raises((TypeError, ValueError)):
        tf.constant([1.0]) + object()
    with pytest.raises((TypeError, ValueError)):
        tf.constant([1.0]) + None


def test_variables(tf):
    v = tf.Variable([1.0, 2.0])
    np.testing.assert_array_equal(v + 1, [2, 3])
    np.testing.assert_array_equal(1 - v, [0, -1])
    np.testing.assert_array_equal(v * v, [1, 4])
    np.testing.assert_array_equal(v < 2, [True, False])
    np.testing.assert_array_equal(np.array([1.0, 1.0], "float32") + v, [2, 3])
    np.testing.assert_array_equal(-v, [-1, -2])
    assert float(v[1]) == 2
