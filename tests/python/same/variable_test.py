"""Variables."""

import numpy as np
import pytest


def test_made_of_values(tf):
    v = tf.Variable([[1.0, 2.0]], name="w")
    assert v.name == "w:0" and v.shape == (1, 2) and v.dtype == tf.float32 and v.trainable
    assert tf.Variable(1.0).name == "Variable:0"
    assert tf.Variable(1, dtype=tf.float64).dtype == tf.float64
    assert tf.Variable(lambda: tf.ones([2])).shape == (2,)
    assert not tf.Variable(1.0, trainable=False).trainable
    assert tf.Variable(tf.zeros([3])).shape == (3,)
    with pytest.raises(ValueError):
        tf.Variable()


def test_assign(tf):
    v = tf.Variable([1.0, 2.0])
    v.assign([3.0, 4.0])
    np.testing.assert_array_equal(v, [3, 4])
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(v, [4, 5])
    v.assign_sub(tf.ones([2]))
    np.testing.assert_array_equal(v.numpy(), [3, 4])
    v.assign(np.array([7.0, 8.0]))
    np.testing.assert_array_equal(v.read_value(), [7, 8])
    returned = v.assign([0.0, 0.0])
    np.testing.assert_array_equal(returned, [0, 0])


def test_what_was_read_stays(tf):
    v = tf.Variable([1.0])
    before, array = v.value(), v.numpy()
    v.assign([2.0])
    v.assign_add([1.0])
    np.testing.assert_array_equal(before, [1])
    np.testing.assert_array_equal(array, [1])


def test_wrong_values(tf):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="Shape mismatch|[Ii]ncompatible"):
        v.assign([1.0])
    with pytest.raises((TypeError, ValueError)):
        v.assign(["a", "b"])
    np.testing.assert_array_equal(v, [1, 2])


def test_printed(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    assert repr(v) == ("<tf.Variable 'v:0' shape=(2,) dtype=float32, "
                       "numpy=array([1., 2.], dtype=float32)>")


def test_numbers(tf):
    v = tf.Variable(3)
    assert int(v) == 3 and float(tf.Variable(1.5)) == 1.5
    assert {v.ref(): 1}[v.ref()] == 1
    np.testing.assert_array_equal(tf.reduce_sum(tf.Variable([1.0, 2.0])), 3)
    np.testing.assert_array_equal(tf.stack([tf.Variable(1.0), tf.Variable(2.0)]), [1, 2])


def test_rows_that_change(tf):
    v = tf.Variable([[1.0], [2.0], [3.0]])
    v.scatter_add(tf.IndexedSlices(tf.constant([[10.0]]), tf.constant([1])))
    np.testing.assert_array_equal(v, [[1], [12], [3]])
    v.scatter_update(tf.IndexedSlices(tf.constant([[0.0]]), tf.constant([2])))
    np.testing.assert_array_equal(v, [[1], [12], [0]])
