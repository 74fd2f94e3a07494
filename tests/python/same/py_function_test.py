"""tf.py_function and tf.numpy_function: what comes of one value, of lists, and inside of Dataset.map."""

import numpy as np
import pytest


@pytest.fixture
def x(tf):
    return tf.ones([3, 2])


def test_one_value_without_a_list(tf, x):
    [given] = tf.py_function(lambda v: v.numpy() * 2, [x], [tf.float32])
    np.testing.assert_array_equal(given, np.full((3, 2), 2, "float32"))
    [given] = tf.py_function(lambda v: 3, [x], [tf.float32])
    assert given.dtype == tf.float32 and given.shape == ()
    assert tf.py_function(lambda v: [v], [x], tf.float32).shape == (3, 2)
    assert tf.py_function(lambda v: None, [x], []) == []


def test_several_values(tf, x):
    first, second = tf.py_function(lambda v: (v, v.numpy()[0]), [x], [tf.float32, tf.float32])
    assert first.shape == (3, 2) and second.shape == (2,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="returns 1 values, but expects to see 2 values"):
        tf.py_function(lambda v: v.numpy()[:2], [x], [tf.float32, tf.float32])


def test_numpy_function_at_once(tf, x):
    for types in (tf.float32, [tf.float32]):
        given = tf.numpy_function(lambda v: v * 2, [x], types)
        assert tf.is_tensor(given) and given.shape == (3, 2)
    given = tf.numpy_function(lambda v: (v, v[0]), [x], [tf.float32, tf.float32])
    assert isinstance(given, list) and given[1].shape == (2,)
    assert tf.numpy_function(lambda v: None, [x], []) is None
    assert tf.compat.v1.py_func(lambda v: v * 2, [x], [tf.float32]).shape == (3, 2)


@pytest.mark.parametrize("name", ["py_function", "numpy_function"])
def test_in_datasets(tf, name):
    rows = tf.data.Dataset.from_tensor_slices(np.ones((2, 3, 2), "float32"))

    def one(v):
        [made] = getattr(tf, name)(lambda a: np.asarray(a) * 2, [v], [tf.float32])
        return made

    def two(v):
        return getattr(tf, name)(lambda a: (np.asarray(a), np.asarray(a)[0]), [v], [tf.float32, tf.float32])

    assert [e.shape for e in rows.map(one)] == [(3, 2), (3, 2)]
    first, second = next(iter(rows.map(two, num_parallel_calls=2)))
    assert first.shape == (3, 2) and second.shape == (2,)


def test_what_is_called_in_datasets_is_eager(tf):
    def inner(v):
        made = tf.numpy_function(lambda a: a * 2, [v], [tf.float32])
        assert tf.is_tensor(made)
        return made

    rows = tf.data.Dataset.from_tensor_slices(np.ones((2, 3), "float32"))
    assert next(iter(rows.map(lambda v: tf.py_function(inner, [v], tf.float32)))).shape == (3,)
