"""tf.function: traces, arguments, structures."""

import collections

import numpy as np
import pytest

Point = collections.namedtuple("Point", ["x", "y"])


def test_traced_once(tf):
    calls = []

    @tf.function
    def f(x):
        calls.append(1)
        return x + 1.0

    for i in range(3):
        assert float(f(tf.constant(float(i)))) == i + 1
    assert len(calls) == 1 and f.experimental_get_tracing_count() == 1
    f(tf.constant([1.0]))
    f(tf.constant(1.0, tf.float64))
    assert len(calls) == 3


def test_decorator_forms(tf):
    @tf.function
    def a(x):
        """Doc."""
        return x * 2

    @tf.function(reduce_retracing=True)
    def b(x):
        return x * 2

    c = tf.function(lambda x: x * 2)
    for f in (a, b, c):
        assert int(f(tf.constant(4))) == 8
    assert a.__name__ == "a" and a.__doc__ == "Doc."
    assert a.python_function(4) == 8


def test_python_values_are_part_of_the_key(tf):
    calls = []

    @tf.function
    def f(x, k, flag=False):
        calls.append((k, flag))
        return x * k + (1 if flag else 0)

    x = tf.constant(2)
    assert int(f(x, 3)) == 6 and int(f(x, 3)) == 6
    assert int(f(x, k=3)) == 6 and int(f(x, 3, False)) == 6
    assert int(f(x, 3, flag=True)) == 7 and int(f(x, 4)) == 8
    assert calls == [(3, False), (3, True), (4, False)]


def test_tensors_are_not(tf):
    calls = []

    @tf.function
    def f(x):
        calls.append(1)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    f(np.int32(3))
    assert len(calls) == 1


def test_structures(tf):
    @tf.function
    def f(d, p, items):
        return {"sum": d["a"] + d["b"], "point": Point(p.y, p.x)}, [t * 2 for t in items], None

    first, second, third = f({"b": tf.constant(1), "a": tf.constant(10)},
                             Point(tf.constant(1.0), tf.constant(2.0)), (tf.constant(3),))
    assert int(first["sum"]) == 11
    assert isinstance(first["point"], Point) and float(first["point"].x) == 2
    assert int(second[0]) == 6 and third is None


def test_arrays_and_numbers_come_back_as_tensors(tf):
    @tf.function
    def f(x):
        return x, 1.5, True

    x, number, flag = f(np.array([1.0, 2.0]))
    assert x.dtype == tf.float64 and number.dtype == tf.float32 and flag.dtype == tf.bool


def test_nothing_returned(tf):
    v = tf.Variable(0)

    @tf.function
    def f():
        v.assign_add(1)

    assert f() is None
    f()
    assert int(v) == 2


def test_closures(tf):
    c, v = tf.constant(10.0), tf.Variable(1.0)

    @tf.function
    def f(x):
        return x + c + v

    assert float(f(tf.constant(1.0))) == 12
    v.assign(5.0)
    assert float(f(tf.constant(1.0))) == 16


def test_variables_as_arguments(tf):
    @tf.function
    def f(v, d):
        v.assign_add(d)
        return v * 2.0

    a, b = tf.Variable(1.0), tf.Variable(10.0)
    assert float(f(a, tf.constant(1.0))) == 4 and float(f(b, tf.constant(1.0))) == 22
    assert float(a) == 2 and float(b) == 11


def test_order_of_reads_and_writes(tf):
    v = tf.Variable(1.0)

    @tf.function
    def f():
        a = v + 0.0
        v.assign(5.0)
        b = v + 0.0
        v.assign_add(1.0)
        return a, b, v.read_value()

    assert [float(t) for t in f()] == [1, 5, 6]


def test_methods(tf):
    class Counter:
        def __init__(self, start):
            self.v = tf.Variable(start)
            self.num_traced = 0

        @tf.function
        def add(self, x, times=1):
            self.num_traced += 1
            self.v.assign_add(x * times)
            return self.v.read_value()

    a, b = Counter(1), Counter(100)
    assert int(a.add(tf.constant(1))) == 2 and int(b.add(tf.constant(1))) == 101
    assert int(a.add(tf.constant(2), times=3)) == 8 and int(a.add(tf.constant(1))) == 9
    assert a.num_traced == 2 and b.num_traced == 1


def test_functions_in_functions(tf):
    @tf.function
    def inner(x):
        return x * 2

    @tf.function
    def outer(x):
        return inner(inner(x)) + 1

    assert int(outer(tf.constant(3))) == 13


def test_input_signature(tf):
    calls = []

    @tf.function(input_signature=[tf.TensorSpec([3], tf.float32)])
    def f(x):
        calls.append(1)
        return tf.reduce_sum(x)

    assert float(f(tf.constant([1.0, 2.0, 3.0]))) == 6
    assert float(f([1, 2, 3])) == 6
    assert len(calls) == 1
    with pytest.raises((TypeError, ValueError)):
        f(tf.constant([1.0]))
    with pytest.raises((TypeError, ValueError)):
        f(tf.constant(["a", "b", "c"]))


def test_signature_of_any_size(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def f(x):
        return tf.reduce_sum(x, axis=0)

    np.testing.assert_array_equal(f(tf.ones([3, 2])), [3, 3])
    np.testing.assert_array_equal(f(tf.ones([5, 2])), [5, 5])
    with pytest.raises((TypeError, ValueError)):
        f(tf.ones([3, 3]))


def test_concrete_functions(tf):
    @tf.function
    def f(x):
        return x * 2.0

    concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert f.experimental_get_tracing_count() == 1
    np.testing.assert_array_equal(concrete(tf.constant([1.0, 2.0])), [2, 4])
    assert f.experimental_get_tracing_count() == 1


def test_symbolic_tensors(tf):
    seen = []

    @tf.function
    def f(x):
        seen.append((str(x), x.shape, x.dtype, tf.executing_eagerly()))
        return x + 1.0

    f(tf.constant([1.0, 2.0]))
    text, shape, dtype, eager = seen[0]
    assert text == 'Tensor("x:0", shape=(2,), dtype=float32)'
    assert shape == (2,) and dtype == tf.float32 and eager is False
    assert tf.executing_eagerly()


def test_values_are_not_there_while_tracing(tf):
    @tf.function(autograph=False)
    def branch(x):
        return x if x > 0 else -x

    with pytest.raises(TypeError, match="symbolic"):
        branch(tf.constant(1.0))

    @tf.function
    def to_numpy(x):
        return x.numpy()

    with pytest.raises((AttributeError, NotImplementedError)):
        to_numpy(tf.constant(1.0))


def test_errors_of_the_body_come_through(tf):
    @tf.function
    def f(x):
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            f(tf.constant(1))


def test_a_failed_run_changes_no_variable(tf):
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(i):
        v.assign_add([1.0, 1.0])
        return tf.gather(v, i)

    assert float(f(tf.constant(1))) == 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(7))


def test_unrolled_loops(tf):
    @tf.function
    def f(x):
        total = tf.zeros_like(x[0])
        for row in x:
            total += row
        for i in range(3):
            total += float(i)
        return total

    np.testing.assert_array_equal(f(tf.ones([4, 2])), [7, 7])


def test_wrong_arguments(tf):
    @tf.function
    def f(x, y):
        return x + y

    with pytest.raises(TypeError):
        f(tf.constant(1))
    with pytest.raises(TypeError):
        f(tf.constant(1), tf.constant(1), tf.constant(1))
    with pytest.raises(TypeError):
        f(tf.constant(1), z=tf.constant(1))


def test_run_eagerly(tf):
    calls = []

    @tf.function
    def f(x):
        calls.append(1)
        return x

    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1))
        f(tf.constant(1))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(calls) == 2


def test_random_numbers_are_new_in_every_call(tf):
    @tf.function
    def f():
        return tf.random.uniform([8])

    assert not np.array_equal(f(), f())


def test_shapes_in_functions(tf):
    @tf.function
    def f(x):
        n = tf.shape(x)[0]
        return tf.reshape(x, [n * 2, -1]), tf.zeros([n, 3]), tf.range(n)

    a, b, c = f(tf.ones([4, 6]))
    assert a.shape == (8, 3) and b.shape == (4, 3)
    np.testing.assert_array_equal(c, [0, 1, 2, 3])
