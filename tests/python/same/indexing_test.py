"""x[...] as numpy reads it."""

import numpy as np
import pytest

X = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5)


@pytest.mark.parametrize("key", [
    "0", "-1", "1, 2", "0, 1, 2, 3", "...", "..., 0", "0, ..., 1", ":", "1:", ":1", ":, 1:3",
    ":, ::2", "::-1", ":, :, ::-2", "None", "None, 0", "0, None, ..., None", ":, None, 1",
    "..., -2:", "1:1", "0, 1:, ..., ::2", "5:", ":, -5:2", ":, 2:0:-1", "0, :, 1, ::-1",
])
def test_as_numpy(tf, key):
    wanted = eval(f"X[{key}]")
    got = eval(f"T[{key}]", {"T": tf.constant(X), "None": None})
    assert tuple(got.shape) == wanted.shape
    np.testing.assert_array_equal(got, wanted)


def test_tensors_as_indices(tf):
    t, i = tf.constant(X), tf.constant(1)
    np.testing.assert_array_equal(t[i], X[1])
    np.testing.assert_array_equal(t[i, i], X[1, 1])
    np.testing.assert_array_equal(t[:, i:tf.constant(3)], X[:, 1:3])
    np.testing.assert_array_equal(t[np.int64(1)], X[1])


def test_masks(tf):
    t = tf.constant(X)
    np.testing.assert_array_equal(t[t > 50], X[X > 50])
    mask = np.array([True, False])
    np.testing.assert_array_equal(t[mask], X[mask])
    np.testing.assert_array_equal(tf.boolean_mask(t, mask), X[mask])


@pytest.mark.parametrize("key", ["1.5", "'a'"])
def test_what_is_no_index(tf, key):
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        eval(f"T[{key}]", {"T": tf.constant(X)})


@pytest.mark.parametrize("key", ["2", "-3", "0, 3", "0, 0, 0, 0, 0"])
def test_out_of_bounds(tf, key):
    with pytest.raises((tf.errors.InvalidArgumentError, IndexError)):
        eval(f"T[{key}]", {"T": tf.constant(X)})


def test_lists_are_tuples(tf):
    np.testing.assert_array_equal(tf.constant(X)[[0, 1]], X[0, 1])


def test_in_functions(tf):
    @tf.function
    def f(x, i):
        return x[i], x[0, i], x[..., i], x[:, 1:, i]

    got = f(tf.constant(X[:, :, :3]), tf.constant(1))
    x = X[:, :, :3]
    for a, b in zip(got, (x[1], x[0, 1], x[..., 1], x[:, 1:, 1])):
        np.testing.assert_array_equal(a, b)
