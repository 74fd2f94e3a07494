"""Tensors: what they are made of, how they convert, print and compare."""

import numpy as np
import pytest


@pytest.mark.parametrize("value, dtype, shape", [
    (1, "int32", ()),
    (1.5, "float32", ()),
    (True, "bool", ()),
    ("word", "string", ()),
    (b"word", "string", ()),
    (2**40, "int64", ()),
    ([1, 2, 3], "int32", (3,)),
    ([1, 2.5], "float32", (2,)),
    ([[1, 2], [3, 4]], "int32", (2, 2)),
    ([], "float32", (0,)),
    ([[], []], "float32", (2, 0)),
    (["a", "bc"], "string", (2,)),
    ([True, False], "bool", (2,)),
    (np.float64(1), "float64", ()),
    (np.int64(1), "int64", ()),
    (np.zeros([2, 3]), "float64", (2, 3)),
    (np.zeros([2, 3], np.float16), "float16", (2, 3)),
    (np.zeros([2, 3], np.int8), "int8", (2, 3)),
    (np.zeros([2], np.bool_), "bool", (2,)),
    (np.array(["x", "yz"]), "string", (2,)),
    ((1.0, 2.0), "float32", (2,)),
    (range(3), "int32", (3,)),
])
def test_constant(tf, value, dtype, shape):
    t = tf.constant(value)
    assert t.dtype.name == dtype
    assert t.dtype == getattr(tf, dtype)
    assert tuple(t.shape) == shape
    assert t.ndim == len(shape)


@pytest.mark.parametrize("value, dtype", [
    (1, "float32"), (1, "int64"), (1, "uint8"), (1.5, "float64"), (1.5, "float16"),
    (np.arange(3.0), "float32"), (np.arange(3), "float64"), ([1, 2], "bfloat16"),
])
def test_constant_of_type(tf, value, dtype):
    t = tf.constant(value, dtype=getattr(tf, dtype))
    assert t.dtype.name == dtype
    np.testing.assert_allclose(np.asarray(tf.cast(t, tf.float64)), np.asarray(value, np.float64))


@pytest.mark.parametrize("value, dtype, error", [
    (1.5, "int32", TypeError),
    ("x", "float32", TypeError),
    ([1.0, [2.0]], None, ValueError),
    ([[1, 2], [3]], None, ValueError),
    (None, None, ValueError),
    (object(), None, ValueError),
    ([1, None], None, ValueError),
])
def test_what_cannot_be_a_tensor(tf, value, dtype, error):
    with pytest.raises(error):
        tf.constant(value, dtype=dtype)


def test_constant_fills_and_shapes(tf):
    np.testing.assert_array_equal(tf.constant(7, shape=[2, 2]), [[7, 7], [7, 7]])
    np.testing.assert_array_equal(tf.constant([1, 2, 3, 4], shape=[2, 2]), [[1, 2], [3, 4]])
    with pytest.raises(TypeError):
        tf.constant([1, 2, 3], shape=[2, 2])


def test_constant_copies(tf):
    array = np.ones([4], np.float32)
    t = tf.constant(array)
    array[:] = 2
    np.testing.assert_array_equal(t, np.ones([4]))


def test_strided_arrays(tf):
    array = np.arange(24).reshape(4, 6)
    np.testing.assert_array_equal(tf.constant(array[::2, ::-1]), array[::2, ::-1])
    np.testing.assert_array_equal(tf.constant(array.T), array.T)


def test_list_of_tensors(tf):
    t = tf.constant(2.0)
    np.testing.assert_array_equal(tf.convert_to_tensor([t, 1.0, t]), [2, 1, 2])
    np.testing.assert_array_equal(tf.convert_to_tensor([np.float32(1), np.float32(2)]), [1, 2])


def test_convert_to_tensor(tf):
    t = tf.constant([1.0])
    assert tf.convert_to_tensor(t) is t
    assert tf.convert_to_tensor(1, dtype_hint=tf.float32).dtype == tf.float32
    with pytest.raises(ValueError, match="requested dtype int32 for Tensor with dtype float32"):
        tf.convert_to_tensor(t, tf.int32)


def test_numpy(tf):
    t = tf.constant([[1.0, 2.0]])
    assert isinstance(t.numpy(), np.ndarray) and t.numpy().dtype == np.float32
    assert isinstance(tf.constant(1.5).numpy(), np.float32)
    assert tf.constant("word").numpy() == b"word"
    assert tf.constant(["a"]).numpy().dtype == object
    assert not np.asarray(t).flags.writeable
    np.testing.assert_array_equal(np.array(t), [[1, 2]])
    assert np.array(t, np.float64).dtype == np.float64


def test_scalars(tf):
    assert int(tf.constant(3)) == 3
    assert float(tf.constant(1.5)) == 1.5
    assert bool(tf.constant(True)) is True
    assert not tf.constant(0)
    assert [10, 20, 30][tf.constant(1)] == 20
    with pytest.raises(ValueError):
        bool(tf.constant([True, False]))
    with pytest.raises(TypeError):
        len(tf.constant(1))
    with pytest.raises(TypeError):
        iter(tf.constant(1))


@pytest.mark.parametrize("value, printed, shown", [
    ([1.0, 2.0], "tf.Tensor([1. 2.], shape=(2,), dtype=float32)",
     "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
    (1, "tf.Tensor(1, shape=(), dtype=int32)", "<tf.Tensor: shape=(), dtype=int32, numpy=1>"),
    (1.5, "tf.Tensor(1.5, shape=(), dtype=float32)",
     "<tf.Tensor: shape=(), dtype=float32, numpy=1.5>"),
    ("a", "tf.Tensor(b'a', shape=(), dtype=string)",
     "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
    ([[1], [2]], "tf.Tensor(\n[[1]\n [2]], shape=(2, 1), dtype=int32)",
     "<tf.Tensor: shape=(2, 1), dtype=int32, numpy=\narray([[1],\n       [2]], dtype=int32)>"),
    ([True], "tf.Tensor([ True], shape=(1,), dtype=bool)",
     "<tf.Tensor: shape=(1,), dtype=bool, numpy=array([ True])>"),
    ([], "tf.Tensor([], shape=(0,), dtype=float32)",
     "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>"),
])
def test_printed(tf, value, printed, shown):
    assert str(tf.constant(value)) == printed
    assert repr(tf.constant(value)) == shown


def test_formatted(tf):
    assert f"{tf.constant(1.5):.3f} {tf.constant(7):>3}" == "1.500   7"
    assert f"{tf.constant([1, 2])}" == "[1 2]"


def test_device_and_shape(tf):
    t = tf.constant([[1, 2, 3]])
    assert t.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert t.shape == (1, 3) and t.shape == [1, 3] and t.shape != (3, 1)
    assert t.shape.as_list() == [1, 3] and t.shape.rank == 2 and t.shape[1] == 3
    assert t.shape.num_elements() == 3 and len(t.shape) == 2
    assert repr(t.shape) == "TensorShape([1, 3])" and str(t.shape) == "(1, 3)"
    assert t.get_shape() == t.shape


def test_equality_and_identity(tf):
    a, b = tf.constant([1, 2]), tf.constant([1, 3])
    np.testing.assert_array_equal(a == b, [True, False])
    np.testing.assert_array_equal(a != b, [False, True])
    assert (a == None) is False  # noqa: E711
    assert not bool(a == tf.constant([1, 2, 3]))
    assert a.ref() == a.ref() and a.ref() != b.ref() and a.ref().deref() is a
    assert {a.ref(): 1}[a.ref()] == 1


def test_dtypes(tf):
    assert tf.float32 == "float32" and tf.float32 == np.float32 and tf.float32 != tf.float64
    assert tf.as_dtype("int64") is tf.int64 and tf.as_dtype(np.dtype("int8")) is tf.int8
    assert tf.as_dtype(float) is tf.float32 and tf.as_dtype(bool) is tf.bool
    assert tf.float32.name == "float32" and tf.float32.as_numpy_dtype is np.float32
    assert repr(tf.float32) == "tf.float32" and str(tf.float32) == "<dtype: 'float32'>"
    assert tf.float16.is_floating and tf.int8.is_integer and not tf.bool.is_integer
    assert tf.float32.size == 4 and tf.int8.max == 127 and tf.uint8.min == 0
    assert len({tf.float32, tf.as_dtype("float32"), tf.double, tf.float64}) == 2
    with pytest.raises(TypeError):
        tf.as_dtype("float31")


def test_iteration(tf):
    rows = list(tf.constant([[1, 2], [3, 4]]))
    assert len(rows) == 2
    np.testing.assert_array_equal(rows[1], [3, 4])
    a, b = tf.constant([1.0, 2.0])
    assert float(a) == 1 and float(b) == 2


def test_pickle(tf):
    import pickle
    t = pickle.loads(pickle.dumps(tf.constant([1.0, 2.0])))
    np.testing.assert_array_equal(t, [1, 2])
    assert t.dtype == tf.float32


def test_dlpack(tf):
    from_dlpack, to_dlpack = tf.experimental.dlpack.from_dlpack, tf.experimental.dlpack.to_dlpack
    t = from_dlpack(to_dlpack(tf.constant([[1.0, 2.0]])))
    np.testing.assert_array_equal(t, [[1, 2]])
    assert t.dtype == tf.float32


def test_tensor_shape(tf):
    unknown = tf.TensorShape([None, 3])
    assert unknown.is_compatible_with([2, 3]) and not unknown.is_compatible_with([2, 4])
    assert not unknown.is_fully_defined() and unknown.num_elements() is None
    assert tf.TensorShape(None).rank is None
    assert (tf.TensorShape([1]) + [2]).as_list() == [1, 2]
    assert tf.TensorShape([1, 2])[1:] == [2]
    assert unknown.merge_with([2, None]) == [2, 3]
