"""Graphs, sessions and variables of the first version."""

import collections

import numpy as np
import pytest


@pytest.fixture
def v1(tf):
    with tf.Graph().as_default():
        yield tf.compat.v1


def run(v1, fetches, feed=None):
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(v1.local_variables_initializer())
        return sess.run(fetches, feed)


class TestGraph:
    def test_constants_and_names(self, tf, v1):
        a = tf.constant([1.0, 2.0])
        b = tf.constant([1.0, 2.0])
        with tf.name_scope("scope"):
            c = tf.constant(3, name="c")
            d = tf.constant(3, name="c")
        assert [t.name for t in (a, b, c, d)] == ["Const:0", "Const_1:0", "scope/c:0", "scope/c_1:0"]
        assert a.op.name == "Const" and a.op.type == "Const"
        assert str(a) == 'Tensor("Const:0", shape=(2,), dtype=float32)'
        assert repr(c) == "<tf.Tensor 'scope/c:0' shape=() dtype=int32>"
        assert a.graph is v1.get_default_graph()
        assert v1.get_default_graph().get_tensor_by_name("scope/c:0") is c
        assert v1.get_default_graph().get_operation_by_name("scope/c") is c.op

    def test_a_name_that_is_not_there(self, v1):
        v1.constant(1)
        with pytest.raises(KeyError, match="refers to a Tensor which does not exist"):
            v1.get_default_graph().get_tensor_by_name("nothing:0")
        with pytest.raises(KeyError, match="refers to an Operation not in the graph"):
            v1.get_default_graph().get_operation_by_name("nothing")

    def test_executing_eagerly(self, tf, v1):
        assert not tf.executing_eagerly()
        assert not v1.executing_eagerly()

    def test_no_values(self, tf, v1):
        a = tf.constant([1.0])
        with pytest.raises(TypeError, match="bool"):
            bool(a > 0)
        with pytest.raises(TypeError):
            len(a)
        with pytest.raises(TypeError):
            iter(a)

    def test_static_shapes(self, tf, v1):
        x = v1.placeholder(tf.float32, [None, 28, 28, 1])
        assert x.shape.as_list() == [None, 28, 28, 1]
        flat = tf.reshape(x, [-1, 784])
        assert flat.shape.as_list() == [None, 784]
        same = tf.reshape(x, [tf.shape(x)[0], 784])
        assert same.shape.as_list() == [None, 784]
        assert tf.reduce_mean(flat).shape.as_list() == []
        assert tf.reduce_mean(flat, 1).shape.as_list() == [None]
        assert tf.matmul(flat, tf.zeros([784, 10])).shape.as_list() == [None, 10]
        conv = tf.nn.conv2d(x, tf.zeros([5, 5, 1, 6]), 1, "VALID")
        assert conv.shape.as_list() == [None, 24, 24, 6]
        assert tf.concat([flat, flat], 1).shape.as_list() == [None, 1568]
        assert tf.argmax(flat, 1).dtype == tf.int64
        assert v1.placeholder(tf.float32).shape.rank is None

    def test_a_shape_that_does_not_fit(self, tf, v1):
        with pytest.raises(ValueError):
            tf.matmul(tf.zeros([2, 3]), tf.zeros([4, 5]))

    def test_another_graph(self, tf, v1):
        a = tf.constant(1.0)
        with tf.Graph().as_default():
            b = tf.constant(2.0)
            with pytest.raises(ValueError):
                a + b

    def test_finalize(self, tf, v1):
        tf.constant(1)
        v1.get_default_graph().finalize()
        with pytest.raises(RuntimeError, match="Graph is finalized and cannot be modified"):
            tf.constant(2)

    def test_collections(self, v1):
        v1.add_to_collection("things", 1)
        v1.add_to_collection("things", 2)
        assert v1.get_collection("things") == [1, 2]
        assert v1.get_collection("nothing") == []
        assert v1.GraphKeys.GLOBAL_VARIABLES == "variables"


class TestShapes:
    def test_sizes_that_are_not_known(self, tf, v1):
        x, u = v1.placeholder(tf.float32, [None, 5]), v1.placeholder(tf.float32)
        both, row = v1.placeholder(tf.float32, [None, None]), v1.placeholder(tf.float32, [1, 5])
        assert (x + both).shape.as_list() == [None, 5]
        assert (row + both).shape.as_list() == [None, 5]
        assert (both * tf.ones([3, 4])).shape.as_list() == [3, 4]
        assert v1.nn.dropout(x, u).shape.as_list() == [None, 5]
        assert v1.nn.dropout(x, rate=u).shape.as_list() == [None, 5]
        assert v1.where(x > 0, x, x * u).shape.as_list() == [None, 5]
        for made in (x * u, x - u, tf.maximum(x, u), tf.ones([3, 4]) * u):
            assert made.shape.rank is None
        kept = tf.reshape(v1.nn.dropout(x, u), [-1, 5, 1]) + 0 * tf.reduce_sum(x * u)
        with v1.Session() as sess:
            assert sess.run(kept, {x: np.ones([3, 5]), u: 1.0}).shape == (3, 5, 1)
            assert sess.run(x * u, {x: np.ones([3, 5]), u: np.ones([2, 1, 5])}).shape == (2, 3, 5)

    def test_sizes_below_zero(self, tf, v1):
        with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
            v1.placeholder(tf.float32, [-1, 2])


class TestSession:
    def test_structures(self, tf, v1):
        a, b = tf.constant(1.0), tf.constant([2, 3])
        Pair = collections.namedtuple("Pair", ["a", "b"])
        with v1.Session() as sess:
            assert sess.run(a) == 1.0
            assert isinstance(sess.run(b), np.ndarray)
            got = sess.run({"x": [a, (b, a)], "pair": Pair(a, b)})
            assert got["x"][0] == 1.0 and got["x"][1][0].tolist() == [2, 3]
            assert got["pair"].b.tolist() == [2, 3]
            assert sess.run("Const:0") == 1.0
            assert sess.run([]) == []
            assert sess.run([tf.no_op(), a]) == [None, 1.0]

    def test_results_can_be_written(self, tf, v1):
        a = tf.constant([1.0, 2.0])
        with v1.Session() as sess:
            got = sess.run(a)
            got[0] = 5.0
            assert sess.run(a).tolist() == [1.0, 2.0]

    def test_feeds(self, tf, v1):
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        y = x * 2 + 1
        with v1.Session() as sess:
            assert sess.run(y, {x: [[1, 2]]}).tolist() == [[3, 5]]
            assert sess.run(y, feed_dict={"x:0": np.ones((3, 2), np.float64)}).shape == (3, 2)
            assert y.eval({x: [[0, 0]]}).tolist() == [[1, 1]]
            assert sess.run(y, {y: [[7, 7]]}).tolist() == [[7, 7]]
            assert sess.run(x, {x: [[7, 7]]}).tolist() == [[7, 7]]

    def test_a_missing_feed(self, tf, v1):
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        with v1.Session() as sess:
            with pytest.raises(tf.errors.InvalidArgumentError,
                               match="You must feed a value for placeholder tensor 'x' with dtype float and "
                                     r"shape \[\?,2\]"):
                sess.run(x + 1)

    def test_feeds_that_do_not_fit(self, tf, v1):
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        with v1.Session() as sess:
            with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\) for Tensor x:0, which "
                                                 r"has shape \(None, 2\)"):
                sess.run(x, {x: [1, 2, 3]})
            with pytest.raises(TypeError, match="The value of a feed cannot be a tf.Tensor object"):
                sess.run(x, {x: tf.constant([[1.0, 2.0]])})
            with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
                sess.run(x, {"y:0": 1})
            with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
                sess.run(x, {5: 1})

    def test_what_cannot_be_fetched(self, tf, v1):
        tf.constant(1)
        with v1.Session() as sess:
            with pytest.raises(TypeError, match="has invalid type"):
                sess.run(5)
            with pytest.raises(TypeError):
                sess.run(None)
            with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
                sess.run("nothing:0")
            with tf.Graph().as_default():
                other = tf.constant(1)
            with pytest.raises(ValueError, match="is not an element of this graph"):
                sess.run(other)

    def test_closed_and_empty(self, tf, v1):
        sess = v1.Session()
        with pytest.raises(RuntimeError, match="The Session graph is empty"):
            sess.run([])
        a = tf.constant(1)
        sess.close()
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            sess.run(a)
        with pytest.raises(ValueError, match="No default session is registered"):
            a.eval()

    def test_default_sessions(self, tf, v1):
        a = tf.constant(2)
        assert v1.get_default_session() is None
        sess = v1.InteractiveSession()
        assert v1.get_default_session() is sess and a.eval() == 2
        sess.close()
        other = v1.Session()
        with other.as_default():
            assert a.eval() == 2
        assert v1.get_default_session() is None

    def test_placeholder_with_default(self, tf, v1):
        x = v1.placeholder_with_default([1.0, 2.0], [None])
        y = x * 2
        with v1.Session() as sess:
            assert sess.run(y).tolist() == [2, 4]
            assert sess.run(y, {x: [5]}).tolist() == [10]

    def test_shapes_that_feeds_say(self, tf, v1):
        n = v1.placeholder(tf.int32, [])
        z = tf.zeros([n, 3])
        assert z.shape.as_list() == [None, 3]
        with v1.Session() as sess:
            assert sess.run(z, {n: 2}).shape == (2, 3)
            assert sess.run(z, {n: 4}).shape == (4, 3)

    def test_make_callable(self, tf, v1):
        x = v1.placeholder(tf.float32, [])
        with v1.Session() as sess:
            double = sess.make_callable(x * 2, [x])
            assert double(4.0) == 8.0


class TestVariables:
    def test_first_values(self, tf, v1):
        v = v1.Variable([1.0, 2.0], name="v")
        w = tf.Variable(tf.ones([2]) * 3, name="v")
        assert (v.name, w.name, v.op.name) == ("v:0", "v_1:0", "v")
        assert v.shape.as_list() == [2] and v.dtype.base_dtype == tf.float32
        assert isinstance(v, tf.Variable)
        assert [t.name for t in v1.global_variables()] == ["v:0", "v_1:0"]
        assert [t.name for t in v1.trainable_variables()] == ["v:0", "v_1:0"]
        assert run(v1, v + w).tolist() == [4, 5]

    def test_no_value_yet(self, tf, v1):
        v = v1.Variable(1.0, name="v")
        with v1.Session() as sess:
            assert not sess.run(v1.is_variable_initialized(v))
            assert sess.run(v1.report_uninitialized_variables()).tolist() == [b"v"]
            with pytest.raises(tf.errors.FailedPreconditionError):
                sess.run(v + 1)
            sess.run(v.initializer)
            assert sess.run(v1.is_variable_initialized(v))
            assert sess.run(v + 1) == 2

    def test_each_session_has_its_own(self, v1):
        v = v1.Variable(1.0)
        first, second = v1.Session(), v1.Session()
        for sess in (first, second):
            sess.run(v1.global_variables_initializer())
        first.run(v1.assign(v, 5.0))
        assert first.run(v) == 5 and second.run(v) == 1
        first.close()
        second.close()

    def test_changes(self, v1):
        v = v1.Variable([1.0, 2.0])
        add, sub = v1.assign_add(v, [1.0, 1.0]), v.assign_sub([0.5, 0.5])
        rows = v1.scatter_update(v, [1], [9.0])
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            assert sess.run(add).tolist() == [2, 3]
            assert sess.run(sub).tolist() == [1.5, 2.5]
            sess.run(rows)
            assert sess.run(v).tolist() == [1.5, 9]
            v.load([7.0, 7.0], sess)
            assert v.eval(sess).tolist() == [7, 7]
            with pytest.raises(ValueError):
                v.assign([1.0, 2.0, 3.0])

    def test_assigned_without_initializer(self, tf, v1):
        v = v1.Variable([1.0, 2.0])
        x = v1.placeholder(tf.float32, [2])
        change = v.assign(x)
        with v1.Session() as sess:
            sess.run(change, {x: [3, 4]})
            assert sess.run(v).tolist() == [3, 4]

    def test_control_dependencies(self, tf, v1):
        v = v1.Variable(1.0)
        change = v.assign_add(1.0)
        with tf.control_dependencies([change]):
            after = v.read_value() * 10
        both = tf.group(change, after)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            assert sess.run(after) == 20
            assert sess.run(both) is None
            assert sess.run(v) == 3

    def test_get_variable(self, tf, v1):
        with v1.variable_scope("a") as scope:
            v = v1.get_variable("v", [2, 3])
            assert v.name == "a/v:0"
            with pytest.raises(ValueError, match="Variable a/v already exists, disallowed"):
                v1.get_variable("v", [2, 3])
            with v1.variable_scope("b"):
                assert v1.get_variable("v", [1]).name == "a/b/v:0"
        with v1.variable_scope(scope, reuse=True):
            assert v1.get_variable("v", [2, 3]) is v
            with pytest.raises(ValueError, match="Variable a/w does not exist"):
                v1.get_variable("w", [1])
            with pytest.raises(ValueError, match="Trying to share variable a/v, but specified shape"):
                v1.get_variable("v", [3, 3])
        with v1.variable_scope("a", reuse=v1.AUTO_REUSE):
            assert v1.get_variable("v") is v
            assert v1.get_variable("w", [1]).name == "a/w:0"
        assert [t.name for t in v1.get_collection("variables", "a/b")] == ["a/b/v:0"]
        with pytest.raises(ValueError, match="fully defined"):
            v1.get_variable("u", [None, 2])

    def test_scopes(self, tf, v1):
        with v1.variable_scope("s"):
            x = tf.constant(1.0, name="x")
        with v1.variable_scope("s"):
            y = tf.constant(1.0, name="x")
        with v1.variable_scope(None, "d"):
            v = v1.get_variable("v", [1])
        with v1.variable_scope(None, "d"):
            w = v1.get_variable("v", [1])
        assert (x.name, y.name) == ("s/x:0", "s_1/x:0")
        assert (v.name, w.name) == ("d/v:0", "d_1/v:0")
        with v1.variable_scope("r") as scope:
            v1.get_variable("v", [1])
            scope.reuse_variables()
            assert v1.get_variable("v", [1]).name == "r/v:0"
            assert v1.get_variable_scope().name == "r"

    def test_initializers(self, tf, v1):
        with v1.variable_scope("i", initializer=v1.constant_initializer(2.0)):
            a = v1.get_variable("a", [2])
        b = v1.get_variable("b", initializer=tf.constant([1, 2]))
        c = v1.get_variable("c", [2], tf.int32)
        d = v1.get_variable("d", [1000], initializer=v1.truncated_normal_initializer(stddev=0.1))
        e = v1.get_variable("e", [2], initializer=v1.ones_initializer())
        f = v1.get_variable("f", [2, 2], initializer=v1.orthogonal_initializer())
        a, b, c, d, e, f = run(v1, [a, b, c, d, e, f])
        assert a.tolist() == [2, 2] and b.tolist() == [1, 2] and b.dtype == np.int32
        assert c.tolist() == [0, 0] and c.dtype == np.int32 and e.tolist() == [1, 1]
        assert 0.05 < d.std() < 0.1 and abs(d).max() <= 0.2
        np.testing.assert_allclose(f @ f.T, np.eye(2), atol=1e-5)

    def test_regularizers(self, tf, v1):
        v1.get_variable("v", [2], initializer=v1.constant_initializer(3.0),
                        regularizer=lambda w: tf.reduce_sum(w * w))
        losses = v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
        assert run(v1, losses) == [18]


class TestInitializers:
    def test_arguments_of_functions(self, tf, v1):
        seen = []

        def note(shape, dtype, partition_info):
            seen.append((list(shape), dtype, partition_info))
            return tf.ones(shape, dtype)

        a = v1.get_variable("a", [2], initializer=note)
        b = v1.get_variable("b", [2], initializer=lambda shape, dtype: tf.ones(shape, dtype) * 2)
        c = v1.get_variable("c", [2], initializer=lambda shape, **rest: tf.ones(shape) * len(rest))
        d = v1.get_variable("d", initializer=lambda num=3: tf.zeros([num], tf.int32))
        assert seen == [([2], tf.float32, None)] and d.dtype.base_dtype == tf.int32
        assert [v.tolist() for v in run(v1, [a, b, c, d])] == [[1, 1], [2, 2], [1, 1], [0, 0, 0]]
        with pytest.raises(ValueError):
            v1.get_variable("e", initializer=lambda shape: tf.zeros(shape))

    def test_mistakes_in_functions(self, tf, v1):
        calls = []

        def wrong(shape, dtype=None):
            calls.append(shape)
            raise TypeError("inside")

        with pytest.raises(TypeError, match="inside"):
            v1.get_variable("a", [2], initializer=wrong)
        assert len(calls) == 1


class TestControlFlow:
    def test_cond(self, tf, v1):
        x = v1.placeholder(tf.float32, [None])
        v = v1.Variable(0.0)
        made = tf.cond(tf.reduce_sum(x) > 3, lambda: x * 2, lambda: x * 3)
        changed = tf.cond(tf.reduce_sum(x) > 3, lambda: v.assign_add(1.0), lambda: v.assign_sub(1.0))
        (gradient,) = v1.gradients(made, x)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            assert sess.run(made, {x: [1, 1]}).tolist() == [3, 3]
            assert sess.run(made, {x: [2, 2]}).tolist() == [4, 4]
            assert sess.run(gradient, {x: [2, 2]}).tolist() == [2, 2]
            sess.run(changed, {x: [5]})
            assert sess.run(v) == 1
            sess.run(changed, {x: [1]})
            assert sess.run(v) == 0

    def test_while_loop(self, tf, v1):
        w = v1.Variable(2.0)
        _, total = v1.while_loop(lambda i, s: i < 5, lambda i, s: (i + 1, s * w), [0, 1.0])
        assert run(v1, total) == 32

    def test_branches_of_several_shapes(self, tf, v1):
        p, x = v1.placeholder(tf.bool, []), v1.placeholder(tf.float32, [None, 3])
        rows = v1.cond(p, lambda: x * 2, lambda: x[:1])
        ranks = v1.cond(tf.reduce_sum(x) > 5, lambda: x, lambda: tf.reduce_sum(x, 0))
        (gradient,) = v1.gradients(tf.reduce_sum(rows), x)
        assert rows.shape.as_list() == [None, 3] and ranks.shape.rank is None
        with v1.Session() as sess:
            for _ in range(2):
                assert sess.run(rows, {p: True, x: np.ones([2, 3])}).tolist() == [[2, 2, 2]] * 2
                assert sess.run(rows, {p: False, x: np.ones([2, 3])}).tolist() == [[1, 1, 1]]
            assert sess.run(gradient, {p: False, x: np.ones([2, 3])}).tolist() == [[1] * 3, [0] * 3]
            assert sess.run(gradient, {p: True, x: np.ones([2, 3])}).tolist() == [[2] * 3] * 2
            assert sess.run(ranks, {x: np.ones([2, 3])}).shape == (2, 3)
            assert sess.run(ranks, {x: np.ones([1, 3])}).shape == (3,)

    def test_a_branch_that_changes_variables_and_has_another_shape(self, tf, v1):
        p, v = v1.placeholder(tf.bool, []), v1.Variable(0.0)

        def change():
            with tf.control_dependencies([v.assign_add(1.0)]):
                return tf.zeros([2])

        made = v1.cond(p, change, lambda: tf.zeros([3]))
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for num, given in enumerate([True, False, True]):
                assert sess.run(made, {p: given}).shape == ((2,) if given else (3,))
            assert sess.run(v) == 2

    def test_branches_of_nothing(self, tf, v1):
        p = v1.placeholder(tf.bool, [])
        assert v1.cond(p, lambda: None, lambda: None) is None
        with pytest.raises(ValueError, match="must"):
            v1.cond(p, lambda: None, lambda: tf.constant(1))

    def test_a_loop_that_a_size_enters_unknown(self, tf, v1):
        x, n, i = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.int32, []), tf.constant(0)
        shapes = [i.get_shape(), tf.TensorShape([None])]
        grown = v1.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, tf.concat([a, [1.0]], 0)], [i, x],
                              shape_invariants=shapes)
        kept = v1.while_loop(lambda i, a: i < n, lambda i, a: [i + 1, a * 2], [i, x], shape_invariants=shapes)
        with v1.Session() as sess:
            for num in (2, 0, 3):
                got = sess.run(grown, {x: [2.0, 3.0], n: num})
                assert got[0] == num and got[1].tolist() == [2, 3] + [1] * num
            assert sess.run(kept[1], {x: [2.0, 3.0], n: 2}).tolist() == [8, 12]

    def test_structures_of_loops(self, tf, v1):
        def step(i, d):
            return i + 1, {"a": d["a"] * 2}

        def asks(i, d):
            return i < 3

        first = tf.constant(0), {"a": tf.constant(1.0)}
        made = v1.while_loop(asks, step, first)
        assert isinstance(made, tuple) and run(v1, made[1]["a"]) == 8
        assert isinstance(v1.while_loop(asks, step, list(first)), list)
        one = v1.while_loop(lambda i: i < 3, lambda i: (i + 1,), (first[0],), return_same_structure=True)
        assert isinstance(one, tuple) and run(v1, one[0]) == 3

    def test_map_and_scan(self, tf, v1):
        x = v1.placeholder(tf.float32, [None, 2])
        mapped = tf.map_fn(lambda row: tf.reduce_sum(row) * 2, x)
        scanned = tf.scan(lambda a, row: a + row, x)
        with v1.Session() as sess:
            got = sess.run([mapped, scanned], {x: [[1, 2], [3, 4]]})
        assert got[0].tolist() == [6, 14] and got[1].tolist() == [[1, 2], [4, 6]]

    def test_functions_of_python(self, tf, v1):
        x = v1.placeholder(tf.float32, [None])
        y = v1.py_func(lambda a: a + 1, [x * 2], tf.float32)
        z = tf.reduce_sum(y) * 2
        with v1.Session() as sess:
            assert sess.run(z, {x: [1, 2]}) == 16

    def test_random_numbers(self, tf, v1):
        v1.set_random_seed(1)
        x = tf.random.normal([100], seed=3)
        y = v1.random_uniform([100], 2.0, 3.0)
        with v1.Session() as sess:
            first, second = sess.run(x), sess.run(x)
            assert not np.array_equal(first, second)
            drawn = sess.run(y)
            assert 2 <= drawn.min() and drawn.max() < 3
        with v1.Session() as sess:
            np.testing.assert_array_equal(first, sess.run(x))
        np.testing.assert_allclose(first[:2], [-0.67086124, 0.22357145], rtol=1e-5)


class TestGradients:
    def test_of_variables_and_tensors(self, tf, v1):
        x = v1.placeholder(tf.float32, [None, 3])
        w = v1.Variable(tf.ones([3, 1]))
        u = v1.Variable(1.0)
        hidden = tf.matmul(x, w)
        y = tf.reduce_sum(hidden ** 2)
        by_w, by_x, by_hidden, by_u = v1.gradients(y, [w, x, hidden, u])
        assert by_u is None
        assert by_w.shape.as_list() == [3, 1] and by_x.shape.as_list() == [None, 3]
        got = run(v1, [by_w, by_x, by_hidden], {x: [[1, 2, 3]]})
        assert got[0].tolist() == [[12], [24], [36]]
        assert got[1].tolist() == [[12, 12, 12]] and got[2].tolist() == [[12]]

    def test_twice(self, tf, v1):
        x = v1.placeholder(tf.float32, [])
        (first,) = v1.gradients(x ** 3, x)
        (second,) = v1.gradients(first, x)
        (third,) = v1.gradients(second, x)
        with v1.Session() as sess:
            assert sess.run([first, second, third], {x: 2.0}) == [12, 12, 6]

    def test_given_and_stopped(self, tf, v1):
        x = tf.constant([1.0, 2.0])
        (given,) = v1.gradients(x * x, x, grad_ys=[tf.constant([1.0, 10.0])])
        (several,) = v1.gradients([x * x, x * 3], x)
        assert v1.gradients(tf.stop_gradient(x) * 2.0, x) == [None]
        (zero,) = v1.gradients(tf.stop_gradient(x), x, unconnected_gradients="zero")
        got = run(v1, [given, several, zero])
        assert [g.tolist() for g in got] == [[2, 40], [5, 7], [0, 0]]


    def test_of_variables_that_are_not_trained(self, tf, v1):
        k = v1.Variable(2.0, trainable=False)
        v = v1.get_variable("v", initializer=[1.0, -2.0])
        y = tf.reduce_sum(v * v) * k * k
        by_k, by_v = v1.gradients(y, [k, v])
        (twice,) = v1.gradients(by_k, k)
        got = run(v1, [by_k, by_v, twice])
        assert got[0] == 20 and got[1].tolist() == [8, -16] and got[2] == 10

    def test_tensors_that_count_as_constants(self, tf, v1):
        a = tf.constant(2.0)
        b = 3.0 * a
        w = v1.Variable(5.0)
        y = a * b * w
        whole = v1.gradients(y, [a, b, w])
        parts = v1.gradients(y, [a, b, w], stop_gradients=[a, b])
        assert v1.gradients(b, a, stop_gradients=[b]) == [None]
        got = run(v1, [whole, parts])
        assert got == [[60, 10, 12], [30, 10, 12]]


OPTIMIZERS = {
    "sgd": lambda t: t.GradientDescentOptimizer(0.1),
    "momentum": lambda t: t.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda t: t.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adam": lambda t: t.AdamOptimizer(0.1),
    "adagrad": lambda t: t.AdagradOptimizer(0.1),
    "rmsprop": lambda t: t.RMSPropOptimizer(0.1, momentum=0.5),
    "centered": lambda t: t.RMSPropOptimizer(0.1, centered=True),
    "adadelta": lambda t: t.AdadeltaOptimizer(1.0),
    "ftrl": lambda t: t.FtrlOptimizer(0.5, l1_regularization_strength=0.1,
                                      l2_regularization_strength=0.2,
                                      l2_shrinkage_regularization_strength=0.05),
}
# The variable after five steps down 0.5 * (w - 3)^2 * [1, 2], as TensorFlow has it, and the slots.
STEPS = {
    "sgd": ([1.81902, 1.68928], []),
    "momentum": ([3.05832, 5.32168], ["momentum"]),
    "nesterov": ([3.209163, 4.66287], ["momentum"]),
    "adam": ([1.497043, -0.501269], ["m", "v"]),
    "adagrad": ([1.311111, -0.681808], ["accumulator"]),
    "rmsprop": ([2.08516, 0.612164], ["momentum", "rms"]),
    "centered": ([1.730586, 0.108963], ["mg", "momentum", "rms"]),
    "adadelta": ([1.002278, -0.997722], ["accum", "accum_update"]),
    "ftrl": ([1.963662, 0.515079], ["accum", "linear"]),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(tf, v1, name):
    w = v1.Variable([1.0, -1.0], name="w")
    loss = tf.reduce_sum(0.5 * (w - 3.0) ** 2 * [1.0, 2.0])
    step = v1.train.get_or_create_global_step()
    optimizer = OPTIMIZERS[name](v1.train)
    train = optimizer.minimize(loss, global_step=step)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for _ in range(5):
            sess.run(train)
        got = sess.run(w)
        assert sess.run(step) == 5
    wanted, slots = STEPS[name]
    np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)
    assert optimizer.get_slot_names() == slots


def test_names_of_training(tf, v1):
    w = v1.Variable([1.0, 2.0], name="w")
    loss, step = tf.reduce_sum(w), v1.train.get_or_create_global_step()
    sgd = v1.train.GradientDescentOptimizer(1.0)
    assert sgd.minimize(loss, name="train_op").name == "train_op"
    assert sgd.minimize(loss, step, name="train_op").name == "train_op_1"
    assert sgd.minimize(loss, step).name == "GradientDescent"
    with tf.name_scope("scope"):
        assert sgd.minimize(loss, name="train").name == "scope/train"
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        assert sess.run("train_op") is None
        sess.run("train_op_1")
        assert sess.run(w).tolist() == [-1, 0] and sess.run(step) == 1


def test_names_of_slots(tf, v1):
    w = v1.Variable([1.0], name="w")
    optimizer = v1.train.AdamOptimizer()
    optimizer.minimize(tf.reduce_sum(w * w))
    assert sorted(v.name for v in v1.global_variables()) == [
        "beta1_power:0", "beta2_power:0", "w/Adam:0", "w/Adam_1:0", "w:0"]
    assert optimizer.get_slot(w, "m").name == "w/Adam:0"


def test_gradients_that_are_clipped(tf, v1):
    w, u = v1.Variable([3.0, 4.0]), v1.Variable(1.0)
    optimizer = v1.train.GradientDescentOptimizer(1.0)
    pairs = optimizer.compute_gradients(tf.reduce_sum(w * w) / 2)
    assert pairs[1][0] is None and pairs[1][1] is u
    train = optimizer.apply_gradients([(tf.clip_by_norm(g, 1.0), v) for g, v in pairs if g is not None])
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(train)
        np.testing.assert_allclose(sess.run(w), [2.4, 3.2], rtol=1e-6)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.minimize(tf.constant(1.0))


def test_all_variables_of_an_optimizer(tf, v1):
    a, z = v1.Variable(1.0, name="a"), v1.Variable(1.0, name="z")
    optimizer = v1.train.AdamOptimizer()
    optimizer.minimize(z * a)
    assert [v.op.name for v in optimizer.variables()] == ["a/Adam", "a/Adam_1", "beta1_power", "beta2_power",
                                                          "z/Adam", "z/Adam_1"]


def test_rates_with_cosines(tf, v1):
    train = v1.train
    got = run(v1, [train.linear_cosine_decay(0.1, 5, 10), train.cosine_decay_restarts(0.1, 27, 10, 1.5, 0.5, 0.1),
                   train.cosine_decay_restarts(0.1, 27, 10, 1.0)])
    np.testing.assert_allclose(got, [0.0251, 0.03206420, 0.02061074], rtol=1e-5)


def test_a_rate_that_decays(tf, v1):
    step = v1.train.get_or_create_global_step()
    rate = v1.train.exponential_decay(0.5, step, 2, 0.5, staircase=True)
    w = v1.Variable(0.0)
    train = v1.train.GradientDescentOptimizer(rate).minimize(-w, step)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        got = [(sess.run(train), sess.run(w))[1] for _ in range(5)]
    np.testing.assert_allclose(got, [0.5, 1.0, 1.25, 1.5, 1.625])


def test_moving_averages(tf, v1):
    w = v1.Variable(1.0, name="w")
    average = v1.train.ExponentialMovingAverage(0.9)
    update = average.apply([w])
    assert average.average(w).op.name == "w/ExponentialMovingAverage"
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        sess.run(w.assign(2.0))
        sess.run(update)
        np.testing.assert_allclose(sess.run(average.average(w)), 1.1, rtol=1e-6)
