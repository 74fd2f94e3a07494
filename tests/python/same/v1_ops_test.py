"""Ops, losses and metrics with the first version's names and arguments."""

import numpy as np
import pytest

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)
Y = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]], np.float32)


@pytest.fixture
def v1(tf):
    with tf.Graph().as_default():
        yield tf.compat.v1


def run(v1, fetches, feed=None):
    with v1.Session() as sess:
        sess.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        return sess.run(fetches, feed)


def close(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=1e-6)


def test_reductions(v1):
    x = v1.constant(X)
    got = run(v1, [v1.reduce_sum(x, 1, keep_dims=True), v1.reduce_mean(x, reduction_indices=[0]),
                   v1.reduce_max(x, axis=1, keepdims=True), v1.reduce_logsumexp(x),
                   v1.count_nonzero(x)])
    close(got[0], X.sum(1, keepdims=True))
    close(got[1], X.mean(0))
    close(got[2], X.max(1, keepdims=True))
    close(got[3], np.log(np.exp(X).sum()))
    assert got[4] == 6
    with pytest.raises(ValueError, match="both"):
        v1.reduce_sum(x, axis=0, reduction_indices=0)


def test_other_names(v1):
    x = v1.constant(X)
    got = run(v1, {
        "argmax": v1.argmax(x, dimension=1), "arg_max": v1.arg_max(x, 1), "to_float": v1.to_float([1, 2]),
        "to_int32": v1.to_int32(x), "log": v1.log(v1.abs(x)), "div": v1.div(7, 2),
        "div_float": v1.div(7.0, 2.0), "expand": v1.expand_dims(x, dim=0),
        "squeeze": v1.squeeze(v1.ones([1, 2, 1]), squeeze_dims=[0]), "floordiv": v1.floordiv(-7, 2),
        "where": v1.where([True, False], X, -X), "norm": v1.norm(x, axis=1, keep_dims=True),
        "dense": v1.sparse_to_dense([[0, 1], [1, 2]], [2, 3], [5, 6]), "filled": v1.constant(1, shape=[2, 2]),
        "last": v1.constant([1, 2], shape=[4]), "trace": v1.trace(v1.eye(3)), "mod": v1.mod(-7, 3),
        "rsqrt": v1.rsqrt([4.0]), "split": v1.split(x, 3, 1)[2],
    })
    assert got["argmax"].tolist() == got["arg_max"].tolist() == [2, 1]
    assert got["argmax"].dtype == np.int64
    assert got["to_float"].dtype == np.float32 and got["to_int32"].tolist() == X.astype(int).tolist()
    close(got["log"], np.log(abs(X)))
    assert got["div"] == 3 and got["div_float"] == 3.5 and got["floordiv"] == -4 and got["mod"] == 2
    assert got["expand"].shape == (1, 2, 3) and got["squeeze"].shape == (2, 1)
    close(got["where"], [X[0], -X[1]])
    close(got["norm"], np.linalg.norm(X, axis=1, keepdims=True))
    assert got["dense"].tolist() == [[0, 5, 0], [0, 0, 6]]
    assert got["filled"].tolist() == [[1, 1], [1, 1]]
    assert got["last"].tolist() == [1, 2, 2, 2]
    assert got["trace"] == 3 and got["rsqrt"].tolist() == [0.5]
    close(got["split"], X[:, 2:])


def test_operators(v1):
    x = v1.placeholder(v1.float32, [None, 3])
    n = v1.constant([7, -7])
    got = run(v1, [1.0 - x, 2.0 / v1.abs(x), x ** 2, -x, x[:, 1], x[0], n // 2, n % 4, (x > 0) & (x < 2),
                   X + x, x[v1.newaxis].shape.rank * x, abs(x)], {x: X})
    close(got[0], 1 - X)
    close(got[1], 2 / abs(X))
    close(got[2], X * X)
    close(got[3], -X)
    close(got[4], X[:, 1])
    close(got[5], X[0])
    assert got[6].tolist() == [3, -4] and got[7].tolist() == [3, 1]
    assert got[8].tolist() == ((X > 0) & (X < 2)).tolist()
    close(got[9], X + X)
    close(got[10], 3 * X)
    close(got[11], abs(X))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def test_cross_entropies(tf, v1):
    logits, labels = v1.constant(X), v1.constant(softmax(Y))
    wanted = -(softmax(Y) * np.log(softmax(X))).sum(-1)
    first = v1.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    second = v1.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    sparse = v1.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 1], logits=logits)
    sigmoid = v1.nn.sigmoid_cross_entropy_with_logits(labels=v1.constant(Y), logits=logits)
    got = run(v1, [first, second, sparse, sigmoid])
    close(got[0], wanted)
    close(got[1], wanted)
    close(got[2], -np.log(softmax(X))[[0, 1], [2, 1]])
    close(got[3], np.maximum(X, 0) - X * Y + np.log1p(np.exp(-abs(X))))
    assert v1.gradients(first, labels) == [None]
    assert v1.gradients(second, labels)[0] is not None


def test_windows(v1):
    rng = np.random.default_rng(0)
    image = rng.normal(size=[1, 5, 5, 2]).astype(np.float32)
    kernel = rng.normal(size=[3, 3, 2, 4]).astype(np.float32)
    conv = v1.nn.conv2d(image, filter=kernel, strides=[1, 1, 1, 1], padding="VALID")
    pool = v1.nn.max_pool(image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
    mean, variance = v1.nn.moments(v1.constant(image), [0, 1, 2], keep_dims=True)
    got = run(v1, [conv, pool, mean, variance, v1.nn.bias_add(conv, [1.0, 2.0, 3.0, 4.0])])
    wanted = sum(image[:, i:i + 3, j:j + 3] @ kernel[i, j] for i in range(3) for j in range(3))
    close(got[0], wanted)
    assert got[1].shape == (1, 3, 3, 2) and got[1][0, 0, 0, 0] == image[0, :2, :2, 0].max()
    close(got[2], image.mean((0, 1, 2), keepdims=True))
    close(got[3], image.var((0, 1, 2), keepdims=True))
    close(got[4], wanted + [1, 2, 3, 4])


def test_dropout(v1):
    x, keep = v1.ones([1000]), v1.placeholder(v1.float32, [])
    fixed, fed = v1.nn.dropout(x, 0.8), v1.nn.dropout(x, keep_prob=keep)
    with v1.Session() as sess:
        for got, part in ((sess.run(fixed), 0.8), (sess.run(fed, {keep: 0.5}), 0.5)):
            assert set(np.unique(got)) <= {np.float32(0), np.float32(1 / np.float32(part))}
            assert abs((got > 0).mean() - part) < 0.1
        close(sess.run(fed, {keep: 1.0}), np.ones(1000))
    with pytest.raises(ValueError):
        v1.nn.dropout(x, 0.0)


def test_losses(v1):
    x, y = v1.constant(X), v1.constant(Y)
    wanted = {
        "absolute_difference": abs(X - Y).mean(), "mean_squared_error": ((X - Y) ** 2).mean(),
        "huber_loss": np.where(abs(X - Y) <= 1, 0.5 * (X - Y) ** 2, abs(X - Y) - 0.5).mean(),
    }
    for name, value in wanted.items():
        close(run(v1, getattr(v1.losses, name)(y, x)), value)
    close(run(v1, v1.losses.hinge_loss(y, x)), np.maximum(0, 1 - (2 * Y - 1) * X).mean())
    close(run(v1, v1.losses.softmax_cross_entropy(y, x)), -(Y * np.log(softmax(X))).sum(-1).mean())
    close(run(v1, v1.losses.sparse_softmax_cross_entropy([2, 1], x)),
          -np.log(softmax(X))[[0, 1], [2, 1]].mean())
    close(run(v1, v1.losses.sigmoid_cross_entropy(y, x)),
          (np.maximum(X, 0) - X * Y + np.log1p(np.exp(-abs(X)))).mean())
    close(run(v1, v1.losses.log_loss(y, v1.sigmoid(x))),
          (np.maximum(X, 0) - X * Y + np.log1p(np.exp(-abs(X)))).mean())
    assert len(v1.losses.get_losses()) == 8
    assert v1.losses.get_total_loss().shape.rank == 0


def test_weighted_losses(v1):
    x, y = v1.constant(X), v1.constant(Y)
    weights = np.array([[2.0], [0.0]], np.float32)
    square = (X - Y) ** 2 * weights
    reductions = v1.losses.Reduction
    for reduction, value in ((reductions.SUM_BY_NONZERO_WEIGHTS, square.sum() / 3),
                             (reductions.SUM, square.sum()), (reductions.NONE, square),
                             (reductions.MEAN, square.sum() / 6),
                             (reductions.SUM_OVER_BATCH_SIZE, square.sum() / 6)):
        close(run(v1, v1.losses.mean_squared_error(y, x, weights, reduction=reduction)), value)
    with pytest.raises(ValueError, match="weights can not be broadcast to values"):
        v1.losses.mean_squared_error(y, x, [1.0, 2.0, 3.0, 4.0])


def test_metrics(v1):
    labels, found = v1.placeholder(v1.int32, [None]), v1.placeholder(v1.int32, [None])
    accuracy, take = v1.metrics.accuracy(labels, found, name="accuracy")
    precision, take_precision = v1.metrics.precision(labels, found)
    recall, take_recall = v1.metrics.recall(labels, found)
    mean, take_mean = v1.metrics.mean(v1.to_float(labels), weights=v1.to_float(found))
    names = [v.name for v in v1.local_variables()]
    assert names[:2] == ["accuracy/total:0", "accuracy/count:0"]
    with v1.Session() as sess:
        sess.run(v1.local_variables_initializer())
        updates = [take, take_precision, take_recall, take_mean]
        got = sess.run(updates, {labels: [1, 1, 0, 0], found: [1, 0, 0, 0]})
        close(got, [0.75, 1.0, 0.5, 1.0])
        sess.run(updates, {labels: [0, 1], found: [1, 1]})
        close(sess.run([accuracy, precision, recall, mean]), [4 / 6, 2 / 3, 2 / 3, 2 / 3])


def test_print(v1, capfd):
    x = v1.Print(v1.constant([1.0, 2.0]), [v1.constant(3), v1.constant([4, 5])], message="values: ")
    assert run(v1, x).tolist() == [1, 2]
    text = capfd.readouterr().err
    assert "values: [3][4 5]" in text


def test_assertions(tf, v1):
    x = v1.placeholder(v1.float32, [])
    with v1.control_dependencies([v1.assert_less(x, 2.0)]):
        y = v1.identity(x)
    with v1.Session() as sess:
        assert sess.run(y, {x: 1.0}) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(y, {x: 3.0})


def test_string_placeholders(v1):
    x = v1.placeholder(v1.string, [])
    with v1.Session() as sess:
        assert sess.run(x, {x: b"text"}) == b"text"
        assert sess.run(v1.constant("word")) == b"word"


def test_switches(tf, v1):
    assert v1.VERSION.startswith("2.")
    assert v1.GraphKeys.UPDATE_OPS == "update_ops"
    config = v1.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0},
                            gpu_options=v1.GPUOptions(allow_growth=True))
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    assert config.gpu_options.allow_growth and config.device_count["GPU"] == 0
    with pytest.raises(AttributeError):
        config.gpu_options.allow_grwoth = True
    with pytest.raises(TypeError):
        config.gpu_options.allow_growth = "yes"
    with pytest.raises(ValueError):
        v1.ConfigProto(nothing=1)
    with pytest.raises(TypeError):
        v1.Session(config="config")
    with v1.Session(config=config) as sess:
        assert sess.run(tf.constant(3) * 2) == 6
        assert sess.list_devices()[0].name.endswith("device:CPU:0")


def test_shapes_that_values_say(tf, v1):
    x = v1.placeholder(v1.float32, [None, 3])
    kept = v1.boolean_mask(x, x[:, 0] > 0.6)
    fixed = v1.boolean_mask(v1.constant(X), [True, False])
    places = v1.where(x > 1)
    w = v1.get_variable("w", initializer=[1.0, 1.0, 1.0])
    (gradient,) = v1.gradients(v1.reduce_sum(kept * w), w)
    assert kept.shape.as_list() == [None, 3] and places.dtype == v1.int64
    got = run(v1, [kept, fixed, places, gradient], {x: X})
    close(got[0], X[:1])
    close(got[1], X[:1])
    assert got[2].tolist() == [[0, 2], [1, 1]]
    close(got[3], X[0])


def test_a_loop_whose_shapes_grow(tf, v1):
    n = v1.placeholder(v1.int32, [])
    w = v1.get_variable("w", initializer=3.0)
    _, grown = v1.while_loop(lambda i, m: i < n, lambda i, m: [i + 1, v1.concat([m, m * w], 0)],
                             [v1.constant(0), v1.ones([1, 2])],
                             shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])
    (gradient,) = v1.gradients(v1.reduce_sum(grown), w)
    assert grown.shape.as_list() == [None, 2]
    got = run(v1, [grown, gradient], {n: 2})
    close(got[0], [[1, 1], [3, 3], [3, 3], [9, 9]])
    close(got[1], 16)
    assert run(v1, grown, {n: 0}).shape == (1, 2)


def test_losses_of_lists(v1):
    got = run(v1, [v1.losses.softmax_cross_entropy([[0, 1]], [[1.0, 2.0]], label_smoothing=0.1),
                   v1.losses.sigmoid_cross_entropy([[0, 1]], [[1.0, 2.0]]),
                   v1.losses.sparse_softmax_cross_entropy([1], [[1.0, 2.0]])])
    close(got, [0.3632617, 0.7200948, 0.3132617])


def test_names_that_moved(tf, v1):
    assert isinstance(v1.tables_initializer(), tf.Operation)
    assert v1.FixedLenFeature is tf.io.FixedLenFeature and v1.OpError is tf.errors.OpError
    assert v1.train.Example is tf.train.Example
    got = run(v1, [v1.lin_space(0.0, 1.0, 3),
                   v1.confusion_matrix([0, 1, 1, 2], [0, 2, 1, 2]),
                   v1.confusion_matrix([0, 1], [1, 1], num_classes=3, weights=[2, 5]),
                   v1.expm1(v1.constant([0.5]))])
    assert got[0].tolist() == [0, 0.5, 1]
    assert got[1].tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 1]] and got[1].dtype == np.int32
    assert got[2].tolist() == [[0, 2, 0], [0, 5, 0], [0, 0, 0]]
    close(got[3], np.expm1([0.5]))


def test_a_loop_and_its_gradient(v1):
    w, n = v1.get_variable("w", initializer=2.0), v1.placeholder(v1.int32, [])
    _, power = v1.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * w), [0, 1.0])
    (gradient,) = v1.gradients(power, w)
    assert run(v1, [power, gradient], {n: 3}) == [8, 12]
    assert run(v1, [power, gradient], {n: 5}) == [32, 80]


def test_names_of_linear_algebra(v1):
    a, b = np.array([[1.0, 2.0, 3.0]], np.float32), np.array([[0.0, -1.0, 4.0]], np.float32)
    x = v1.placeholder(v1.float32, [None, 3])
    four = v1.diag(x)
    got = run(v1, [v1.diag([1, 2]), v1.diag_part(four), v1.cross(a, b), v1.invert_permutation([3, 0, 2, 1]),
                   four, v1.diag_part([[1, 2], [3, 4]])], {x: X})
    assert got[0].tolist() == [[1, 0], [0, 2]] and got[5].tolist() == [1, 4]
    close(got[1], X)
    close(got[4], np.diag(X.ravel()).reshape(2, 3, 2, 3))
    close(got[2], np.cross(a, b))
    assert got[3].tolist() == [1, 3, 2, 0] and got[3].dtype == np.int32
    assert isinstance(v1.GIT_VERSION, str)


def test_numbers_that_are_not_finite(tf, v1):
    x = v1.placeholder(v1.float32, [2])
    y = v1.verify_tensor_all_finite(x, "not all finite")
    with v1.Session() as sess:
        assert sess.run(y, {x: [1, 2]}).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not all finite"):
            sess.run(y, {x: [1, np.nan]})


@pytest.mark.parametrize("kind", ["NONE", "ZLIB", "GZIP"])
def test_records(v1, tmp_path, kind):
    io = v1.python_io
    options = io.TFRecordOptions(getattr(io.TFRecordCompressionType, kind))
    path = str(tmp_path / "records")
    with io.TFRecordWriter(path, options) as writer:
        writer.write(b"one")
        writer.write(b"")
    assert list(io.tf_record_iterator(path, options)) == [b"one", b""]
