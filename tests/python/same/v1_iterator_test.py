"""Datasets in sessions: iterators of the first version."""

import numpy as np
import pytest

X = np.arange(20, dtype=np.float32).reshape(10, 2)
Y = np.arange(10)


@pytest.fixture
def v1(tf):
    with tf.Graph().as_default():
        yield tf.compat.v1


def test_one_shot(tf, v1):
    dataset = v1.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    x, y = v1.data.make_one_shot_iterator(dataset).get_next()
    assert x.shape.as_list() == [None, 2] and y.dtype == tf.int64
    total = tf.reduce_sum(x)
    with v1.Session() as sess:
        assert sess.run([x, y])[1].tolist() == [0, 1, 2, 3]
        assert sess.run(total) == X[4:8].sum()
        assert sess.run(x).shape == (2, 2)
        for _ in range(2):
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(x)
    with v1.Session() as sess:  # each begins anew
        assert sess.run(y).tolist() == [0, 1, 2, 3]


def test_initializable(tf, v1):
    dataset = v1.data.Dataset.from_tensor_slices({"x": X, "y": Y}).map(
        lambda row: {"x": row["x"] * 2, "y": row["y"]}).batch(5)
    iterator = v1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with v1.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="iterator has not been initialized"):
            sess.run(element)
        for _ in range(2):
            sess.run(iterator.initializer)
            seen = []
            while True:
                try:
                    seen.append(sess.run(element))
                except tf.errors.OutOfRangeError:
                    break
            assert [s["y"].tolist() for s in seen] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
            np.testing.assert_array_equal(seen[0]["x"], X[:5] * 2)


def test_fed_datasets(tf, v1):
    x, y = v1.placeholder(tf.float32, [None, 2]), v1.placeholder(tf.int64, [None])
    size = v1.placeholder(tf.int64, [])
    dataset = v1.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a + 1, b)).repeat(2).batch(size)
    iterator = v1.data.make_initializable_iterator(dataset)
    a, b = iterator.get_next()
    assert a.shape.as_list() == [None, 2]
    with v1.Session() as sess:
        sess.run(iterator.initializer, {x: X[:3], y: Y[:3], size: 4})
        got = sess.run([a, b])
        np.testing.assert_array_equal(got[0], X[[0, 1, 2, 0]] + 1)
        assert got[1].tolist() == [0, 1, 2, 0]
        sess.run(iterator.initializer, {x: X, y: Y, size: 7})
        assert sess.run(b).tolist() == [0, 1, 2, 3, 4, 5, 6]
        assert sess.run(b).tolist() == [7, 8, 9, 0, 1, 2, 3]


def test_a_fed_size_of_a_batch(tf, v1):
    x, size = v1.placeholder(tf.float32, [None, 2]), v1.placeholder(tf.int64)
    dataset = v1.data.Dataset.from_tensor_slices(x).repeat(2).batch(size)
    assert dataset.output_types == tf.float32
    assert tf.TensorShape(dataset.output_shapes).as_list() == [None, 2]
    iterator = v1.data.make_initializable_iterator(dataset)
    batch = iterator.get_next()
    with v1.Session() as sess:
        for num, wanted in ((8, [8, 8, 4]), (20, [20])):
            sess.run(iterator.initializer, {x: X, size: num})
            assert [len(sess.run(batch)) for _ in wanted] == wanted
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(batch)


def test_of_a_structure(tf, v1):
    train = v1.data.Dataset.from_tensor_slices(X).batch(4)
    test = v1.data.Dataset.from_tensor_slices(-X).batch(10)
    iterator = v1.data.Iterator.from_structure(v1.data.get_output_types(train),
                                               v1.data.get_output_shapes(train))
    begin_train, begin_test = iterator.make_initializer(train), iterator.make_initializer(test)
    element = iterator.get_next()
    with v1.Session() as sess:
        sess.run(begin_train)
        np.testing.assert_array_equal(sess.run(element), X[:4])
        sess.run(begin_test)
        np.testing.assert_array_equal(sess.run(element), -X)
        sess.run(begin_train)
        np.testing.assert_array_equal(sess.run(element), X[:4])


def test_by_handle(tf, v1):
    first = v1.data.make_one_shot_iterator(v1.data.Dataset.range(3))
    second = v1.data.make_one_shot_iterator(v1.data.Dataset.range(10, 13))
    handle = v1.placeholder(tf.string, [])
    element = v1.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with v1.Session() as sess:
        handles = sess.run([first.string_handle(), second.string_handle()])
        got = [int(sess.run(element, {handle: handles[i]})) for i in (0, 1, 0, 1)]
        assert got == [0, 10, 1, 11]


def test_training_from_a_dataset(tf, v1):
    targets = X @ np.array([[1.0], [-2.0]], np.float32)
    dataset = v1.data.Dataset.from_tensor_slices((X / 20, targets / 20)).repeat().batch(5)
    x, y = v1.data.make_one_shot_iterator(dataset).get_next()
    w = v1.get_variable("w", [2, 1], initializer=v1.zeros_initializer())
    loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
    train = v1.train.GradientDescentOptimizer(0.5).minimize(loss)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        losses = [sess.run([loss, train])[0] for _ in range(20)]
        got = sess.run(w)
    wanted = np.zeros((2, 1), np.float32)
    for step in range(20):
        rows = slice(0, 5) if step % 2 == 0 else slice(5, 10)
        a, b = X[rows] / 20, targets[rows] / 20
        wanted -= 0.5 * 2 / 5 * a.T @ (a @ wanted - b)
    np.testing.assert_allclose(got, wanted, rtol=1e-4)
    assert losses[-1] < losses[0]


def test_random_order(tf, v1):
    dataset = v1.data.Dataset.range(100).shuffle(100).prefetch(2)
    element = v1.data.make_one_shot_iterator(dataset).get_next()
    with v1.Session() as sess:
        got = [int(sess.run(element)) for _ in range(100)]
    assert sorted(got) == list(range(100)) and got != sorted(got)


def test_captured_placeholders(tf, v1):
    x = v1.placeholder(tf.float32, [None, 2])
    dataset = v1.data.Dataset.from_tensor_slices(x)
    with pytest.raises(ValueError):
        v1.data.make_one_shot_iterator(dataset)
