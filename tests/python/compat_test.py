"""tf.compat.v1 where TensorFlow is no measure: layers, limits, what is not built."""

import gc
import pathlib
import threading

import numpy as np
import pytest

RNG = np.random.default_rng(1)


@pytest.fixture
def v1(tf):
    with tf.Graph().as_default():
        yield tf.compat.v1


def in_use(tf):
    return sum(d.in_use for d in tf.memory.report().devices)


class TestMemoryOfGraphs:
    @pytest.mark.parametrize("name", ["Momentum", "Adam", "Adagrad", "RMSProp", "Adadelta", "Ftrl"])
    def test_slots_take_memory_in_sessions_alone(self, tf, v1, name):
        loss = tf.reduce_sum(v1.get_variable("w", [512, 512]))
        before = in_use(tf)
        more = {"momentum": 0.9} if name == "Momentum" else {}
        getattr(v1.train, name + "Optimizer")(0.1, **more).minimize(loss)
        assert in_use(tf) <= before + 4096

    def test_constants_of_one_value(self, tf, v1):
        before = in_use(tf)
        v = v1.get_variable("v", [512, 512], initializer=v1.constant_initializer(0.5))
        n = v1.get_variable("n", [3], tf.int64, initializer=v1.constant_initializer(2))
        assert in_use(tf) <= before + 4096 and n.dtype == tf.int64
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            assert (sess.run(v) == 0.5).all() and sess.run(n).tolist() == [2, 2, 2]


class TestLayers:
    def test_dense(self, v1):
        x = v1.placeholder(v1.float32, [None, 3])
        y = v1.layers.dense(x, 4, activation=v1.nn.relu, kernel_initializer=v1.ones_initializer(),
                            bias_initializer=v1.constant_initializer(-1.0))
        z = v1.layers.dense(y, 2, use_bias=False)
        assert [v.name for v in v1.trainable_variables()] == ["dense/kernel:0", "dense/bias:0",
                                                              "dense_1/kernel:0"]
        assert y.shape.as_list() == [None, 4] and z.shape.as_list() == [None, 2]
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            got = sess.run(y, {x: [[1, 2, 3], [-1, -1, -1]]})
        assert got.tolist() == [[5, 5, 5, 5], [0, 0, 0, 0]]

    def test_dense_of_three_dimensions(self, v1):
        x = v1.placeholder(v1.float32, [None, None, 3])
        y = v1.layers.dense(x, 2, kernel_initializer=v1.ones_initializer())
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            assert sess.run(y, {x: np.ones((2, 4, 3))}).tolist() == np.full((2, 4, 2), 3.0).tolist()

    def test_names_and_reuse(self, v1):
        x = v1.placeholder(v1.float32, [None, 3])
        v1.layers.dense(x, 4, name="d")
        with pytest.raises(ValueError, match="Variable d/kernel already exists, disallowed"):
            v1.layers.dense(x, 4, name="d")
        v1.layers.dense(x, 4, name="d", reuse=True)
        assert len(v1.trainable_variables()) == 2
        layer = v1.layers.Dense(4, name="e")
        layer(x)
        layer(x)
        assert [v.name for v in layer.variables] == ["e/kernel:0", "e/bias:0"]
        assert layer.kernel is layer.variables[0]

    def test_convolution_and_pooling(self, v1):
        image = RNG.normal(size=(2, 6, 6, 3)).astype(np.float32)
        x = v1.placeholder(v1.float32, [None, 6, 6, 3])
        y = v1.layers.conv2d(x, 4, 3, padding="same", name="c")
        z = v1.layers.flatten(v1.layers.max_pooling2d(y, 2, 2))
        up = v1.layers.conv2d_transpose(y, 2, 3, strides=2, padding="same")
        assert y.shape.as_list() == [None, 6, 6, 4] and z.shape.as_list() == [None, 36]
        kernel = v1.trainable_variables()[0]
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            got, k, flat, grown = sess.run([y, kernel, z, up], {x: image})
        padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
        wanted = sum(padded[:, i:i + 6, j:j + 6] @ k[i, j] for i in range(3) for j in range(3))
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
        pooled = wanted.reshape(2, 3, 2, 3, 2, 4).max((2, 4)).reshape(2, 36)
        np.testing.assert_allclose(flat, pooled, rtol=1e-4, atol=1e-5)
        assert grown.shape == (2, 12, 12, 2)

    @pytest.mark.parametrize("fed", [False, True])
    def test_batch_normalization(self, tf, v1, fed):
        data = RNG.normal(2, 3, size=(64, 5)).astype(np.float32)
        x = v1.placeholder(v1.float32, [None, 5])
        training = v1.placeholder(v1.bool, []) if fed else True
        y = v1.layers.batch_normalization(x, training=training, momentum=0.9)
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        assert len(updates) == 2 and len(v1.trainable_variables()) == 2
        mean = next(v for v in v1.global_variables() if "moving_mean" in v.name)
        variance = next(v for v in v1.global_variables() if "moving_variance" in v.name)
        feed = {x: data, training: True} if fed else {x: data}
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            got, _ = sess.run([y, updates], feed)
            np.testing.assert_allclose(got, (data - data.mean(0)) / np.sqrt(data.var(0) + 1e-3), rtol=1e-3,
                                       atol=1e-4)
            np.testing.assert_allclose(sess.run(mean), 0.1 * data.mean(0), rtol=1e-4)
            np.testing.assert_allclose(sess.run(variance), 0.9 + 0.1 * data.var(0), rtol=1e-4)
            if fed:
                before = sess.run([mean, variance])
                got, _ = sess.run([y, updates], {x: data, training: False})
                np.testing.assert_allclose(got, (data - before[0]) / np.sqrt(before[1] + 1e-3), rtol=1e-3,
                                           atol=1e-4)
                np.testing.assert_array_equal(sess.run(mean), before[0])

    def test_dropout(self, v1):
        training = v1.placeholder(v1.bool, [])
        y = v1.layers.dropout(v1.ones([1000]), 0.4, training=training)
        with v1.Session() as sess:
            assert sess.run(y, {training: False}).tolist() == [1] * 1000
            assert abs((sess.run(y, {training: True}) == 0).mean() - 0.4) < 0.1


class TestRuns:
    def test_the_second_run_is_not_traced(self, v1):
        x = v1.placeholder(v1.float32, [None, 3])
        y = v1.reduce_sum(x * 2.0)
        with v1.Session() as sess:
            for _ in range(5):
                sess.run(y, {x: np.ones((2, 3))})
            (plan,) = sess._plans.values()
            (stage,) = plan.stages
            assert stage.functions[None].num_traces == 1
            sess.run(y, {x: np.ones((4, 3))})
            assert stage.functions[None].num_traces == 2 and len(sess._plans) == 1

    def test_first_values_of_one_run_fit_together(self, v1):
        v = v1.Variable(v1.random_normal([3]))
        w = v1.Variable(v.initialized_value() * 2)
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            a, b = sess.run([v, w])
            np.testing.assert_allclose(a * 2, b)

    def test_memory_comes_back(self, tf, v1):
        before = in_use(tf)
        w = v1.Variable(v1.ones([512, 512]), name="w")
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            sess.run(v1.matmul(w, w))
            assert in_use(tf) >= before + (1 << 20)
        gc.collect()
        assert in_use(tf) < before + (64 << 10)

    def test_a_limit_holds(self, tf, v1):
        x = v1.zeros([1024, 1024])
        y = v1.reduce_sum(v1.matmul(x, x))
        with v1.Session() as sess, tf.memory.budget("4MiB"):
            with pytest.raises(tf.errors.ResourceExhaustedError):
                sess.run(y)
        with v1.Session() as sess:
            assert sess.run(y) == 0

    def test_an_uninitialized_variable_stays_so_after_an_error(self, tf, v1):
        v = v1.Variable(v1.ones([1024, 1024]), name="v")
        with v1.Session() as sess:
            with tf.memory.budget("1MiB"), pytest.raises(tf.errors.ResourceExhaustedError):
                sess.run(v.initializer)
            assert not sess.run(v.is_initialized())
            sess.run(v.initializer)
            assert sess.run(v).sum() == 1 << 20

    def test_gradients_across_functions_of_python(self, tf, v1):
        x = v1.placeholder(v1.float32, [])
        y = x * x
        z = y * v1.py_func(lambda a: a, [y], v1.float32)
        (gradient,) = v1.gradients(z, x)
        with v1.Session() as sess:
            with pytest.raises(tf.errors.UnimplementedError, match="goes through"):
                sess.run(gradient, {x: 2.0})

    def test_functions_become_part_of_the_graph(self, tf, v1):
        @tf.function
        def double(x):
            return x * 2

        x = v1.placeholder(v1.float32, [None])
        with v1.Session() as sess:
            assert sess.run(double(x), {x: [1, 2]}).tolist() == [2, 4]

    def test_an_error_names_its_operation(self, tf, v1):
        x, y = (v1.placeholder(v1.float32, [None, None]) for _ in range(2))
        z = v1.matmul(x, y, name="product")
        with v1.Session() as sess:
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                sess.run(z, {x: np.ones((2, 3)), y: np.ones((4, 5))})
        if hasattr(caught.value, "__notes__"):
            assert "product" in caught.value.__notes__[0]


    def test_graphs_and_sessions_leave_nothing(self, tf):
        v1 = tf.compat.v1

        def once():
            with tf.Graph().as_default():
                x = v1.placeholder(v1.float32, [None, 64])
                loss = v1.reduce_mean(v1.layers.dense(v1.layers.dense(x, 128), 1) ** 2)
                train = v1.train.AdamOptimizer().minimize(loss)
                with v1.Session() as sess:
                    sess.run(v1.global_variables_initializer())
                    sess.run([train, loss], {x: np.ones((8, 64))})

        held = []
        for _ in range(4):
            once()
            gc.collect()
            held.append(in_use(tf))
        assert held[1] == held[2] == held[3]

    def test_the_peak_is_known_before_the_run(self, tf, v1):
        x = v1.placeholder(v1.float32, [None, 256])
        loss = v1.reduce_mean(v1.layers.dense(v1.layers.dense(x, 512, v1.nn.relu), 64) ** 2)
        train = v1.train.AdamOptimizer().minimize(loss)
        feed = {x: np.ones((128, 256), np.float32)}
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            plan = sess.memory_plan([train, loss], feed)
            assert plan.arena_bytes > 128 * 512 * 4 and plan.function == "session_run"
            # The feed becomes a tensor, and kernels are prepared; the rest is what the plan says.
            needed = plan.reserve_bytes + feed[x].nbytes
            with tf.memory.budget(needed + (64 << 10)) as scope:
                sess.run([train, loss], feed)
                assert plan.reserve_bytes <= scope.peak <= needed + (64 << 10)
            with tf.memory.budget(needed - 64), pytest.raises(tf.errors.ResourceExhaustedError):
                sess.run([train, loss], feed)
            with pytest.raises(tf.errors.UnimplementedError, match="in several parts"):
                sess.memory_plan(v1.py_func(lambda a: a, [loss], v1.float32), feed)

    def test_arrays_that_a_dataset_is_fed_are_not_copied(self, tf, v1):
        rows = np.ones([64, 1 << 14], np.float32)  # 4 MiB
        x, size = v1.placeholder(tf.float32, [None, 1 << 14]), v1.placeholder(tf.int64)
        iterator = v1.data.make_initializable_iterator(v1.data.Dataset.from_tensor_slices(x).batch(size))
        total = tf.reduce_sum(iterator.get_next())
        with v1.Session() as sess:
            before = in_use(tf)
            sess.run(iterator.initializer, {x: rows, size: 8})
            assert in_use(tf) <= before + 4096
            assert sum(sess.run(total) for _ in range(8)) == rows.size
            assert in_use(tf) <= before + (1 << 20)

    def test_threads_share_a_session(self, tf, v1):
        x, v = v1.placeholder(v1.float32, []), v1.Variable(0.0)
        change, double = v.assign_add(x), x * 2
        errors = []
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())

            def work():
                try:
                    for _ in range(50):
                        sess.run(change, {x: 1.0})
                        assert sess.run(double, {x: 3.0}) == 6
                except Exception as error:  # shown below
                    errors.append(error)

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert not errors and sess.run(v) == 200


class TestSaver:
    def test_a_file_that_does_not_fit_changes_nothing(self, tf, v1, tmp_path):
        a, b = v1.get_variable("a", initializer=[1.0, 2.0]), v1.get_variable("b", [2])
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            path = v1.train.Saver().save(sess, str(tmp_path / "m"))
        with tf.Graph().as_default():
            a, b = v1.get_variable("a", initializer=[5.0, 6.0]), v1.get_variable("b", [3])
            with v1.Session() as sess:
                sess.run(v1.global_variables_initializer())
                with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors to match"):
                    v1.train.Saver().restore(sess, path)
                assert sess.run(a).tolist() == [5, 6]
                v1.train.Saver([a]).restore(sess, path)
                assert sess.run(a).tolist() == [1, 2]

    def test_outside_of_graphs(self, tf, tmp_path):
        v1 = tf.compat.v1
        v = v1.Variable([1.0, 2.0], name="v")
        path = v1.train.Saver([v]).save(None, str(tmp_path / "m"))
        v.assign([0.0, 0.0])
        v1.train.Saver([v]).restore(None, path)
        assert v.numpy().tolist() == [1, 2]

    def test_a_gpu(self, program, tmp_path):
        out = program(f"""
v1 = tf.compat.v1
v1.disable_eager_execution()
v = v1.get_variable("v", initializer=[1.0, 2.0])
saver = v1.train.Saver()
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    path = saver.save(sess, {str(tmp_path / "m")!r})
with v1.Session() as sess:
    saver.restore(sess, path)
    print(sess.run(v * 2), sess._variables[v].device)
""", env={"PLIMSOLL_SIM_DEVICES": "rtx-3060-12gb"}).stdout
        assert out == "[2. 4.] /job:localhost/replica:0/task:0/device:GPU:0\n"


class TestEager:
    def test_outside_of_graphs(self, tf):
        v1 = tf.compat.v1
        assert v1.executing_eagerly()
        with pytest.raises(RuntimeError, match="not compatible with eager execution"):
            v1.placeholder(tf.float32)
        assert float(v1.reduce_sum([1.0, 2.0], keep_dims=True)[0]) == 3
        v = v1.Variable(1.0)
        v1.train.GradientDescentOptimizer(0.5).minimize(lambda: v * v, var_list=[v])
        assert float(v) == 0
        assert isinstance(v, tf.Variable) and isinstance(tf.constant(1), tf.Tensor)

    def test_eager_execution_can_be_turned_off(self, program):
        out = program("""
tf.compat.v1.disable_eager_execution()
x = tf.constant(3.0)
v = tf.Variable(2.0)
assert not tf.executing_eagerly() and isinstance(x, tf.Tensor) and isinstance(v, tf.Variable)
with tf.compat.v1.Session() as sess:
    sess.run(tf.compat.v1.global_variables_initializer())
    print(sess.run(x * v))
tf.compat.v1.reset_default_graph()
print(len(tf.compat.v1.get_default_graph().get_operations()))
""").stdout
        assert out == "6.0\n0\n"

    def test_dimensions(self, program):
        out = program("""
v1 = tf.compat.v1
v1.disable_v2_behavior()
x = v1.placeholder(tf.float32, [None, 3])
print(x.shape, x.shape[1].value, x.get_shape()[0].value, int(x.shape[1]) * 2, x.shape[0])
print(tf.compat.dimension_value(x.shape[1]), v1.zeros([x.shape[1], 2]).shape)
""").stdout
        assert out == "(None, 3) 3 None 6 ?\n3 (3, 2)\n"

    def test_import_under_the_first_name(self, program, tmp_path):
        file = tmp_path / "old.py"
        file.write_text("""
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, [None])
with tf.Session() as sess:
    print(sess.run(x * 2, feed_dict={x: [1, 2]}))
""", encoding="utf-8")
        assert program.file(file, options=["-m", "plimsoll"]).stdout == "[2. 4.]\n"


class TestConfig:
    GPU = {"PLIMSOLL_SIM_DEVICES": "rtx-3060-12gb"}

    @pytest.mark.parametrize("first", ["", "x = v1.constant(1.0)\n"])
    def test_a_fraction_is_a_limit(self, program, first):
        out = program("""
v1 = tf.compat.v1
v1.disable_eager_execution()
""" + first + """
config = v1.ConfigProto(gpu_options=v1.GPUOptions(per_process_gpu_memory_fraction=0.25))
config.gpu_options.allow_growth = True
with v1.Session(config=config) as sess:
    total = tf.config.experimental.get_device_details(tf.config.list_physical_devices('GPU')[0])
    print([d.memory_limit_bytes == total["memory_bytes"] // 4 >> 20 << 20 for d in sess.list_devices()])
    try:
        sess.run(v1.ones([4 << 30]))
    except tf.errors.ResourceExhaustedError as error:
        print("GPU:0" in str(error))
    print(sess.run(v1.ones([2])))
""", env=self.GPU).stdout
        assert out == "[False, True]\nTrue\n[1. 1.]\n"

    @pytest.mark.parametrize("first", ["", "v1.ones([1])\n"])
    def test_no_gpu_for_this_session(self, program, first):
        done = program("""
v1 = tf.compat.v1
""" + first + """
with tf.Graph().as_default(), v1.Session(config=v1.ConfigProto(device_count={'GPU': 0})) as sess:
    print([d.device_type for d in sess.list_devices()])
    v = v1.get_variable("v", [2])
    sess.run(v1.global_variables_initializer())
    print(sess.run(v * 2).shape, sess._variables[v].device[-5:])
""", env=self.GPU)
        assert done.stdout == "['CPU']\n(2,) CPU:0\n" and "changes nothing" not in done.stderr

    def test_a_session_for_keras(self, program):
        out = program("""
import plimsoll.compat.v1.keras.backend as backend
config = tf.compat.v1.ConfigProto()
config.gpu_options.allow_growth = True
tf.compat.v1.keras.backend.set_session(tf.compat.v1.Session(config=config))
model = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(2)])
print(model(tf.ones([1, 3])).shape, backend.get_session()._config is config)
""", env=self.GPU).stdout
        assert out == "(1, 2) True\n"

    def test_what_comes_too_late_is_said(self, program):
        done = program("""
v1 = tf.compat.v1
tf.ones([1])
config = v1.ConfigProto(intra_op_parallelism_threads=1)
v1.Session(config=config)
""", env=self.GPU)
        assert "intra_op_parallelism_threads changes nothing" in done.stderr

    def test_devices(self, program):
        out = program("""
v1 = tf.compat.v1
v1.disable_eager_execution()
with tf.device("/device:CPU:0"):
    x = v1.constant([1.0]) * 2
    v = v1.get_variable("v", [2])
print(x.device, v.device)
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    print(sess.run(x), sess._variables[v].device)
""", env=self.GPU).stdout.splitlines()
        assert out == ["/device:CPU:0 /device:CPU:0",
                       "[2.] /job:localhost/replica:0/task:0/device:CPU:0"]


    @pytest.mark.parametrize("devices", ["rtx-3060-12gb", "rtx-3060-12gb,rtx-3060-12gb"])
    def test_a_program_on_gpus(self, program, tmp_path, devices):
        script = pathlib.Path(__file__).resolve().parent / "scripts" / "v1_digits.py"
        done = program.file(script, arguments=[tmp_path], options=["-m", "plimsoll"],
                            env={"PLIMSOLL_SIM_DEVICES": devices})
        assert done.stdout.splitlines()[-3:] == ["model.ckpt-60", "step 60", "accuracy 1.000"]

    def test_variables_on_two_devices(self, program):
        out = program("""
v1 = tf.compat.v1
v1.disable_eager_execution()
with tf.device("/cpu:0"):
    table = v1.get_variable("table", initializer=[[1.0, 2.0], [3.0, 4.0]])
w = v1.get_variable("w", initializer=[[1.0], [1.0]])
step = v1.train.get_or_create_global_step()
ids = v1.placeholder(tf.int32, [None])
loss = tf.reduce_sum(tf.matmul(tf.nn.embedding_lookup(table, ids), w))
train = v1.train.GradientDescentOptimizer(0.5).minimize(loss, step)
with v1.Session() as sess:
    sess.run(v1.global_variables_initializer())
    for _ in range(2):
        sess.run(train, {ids: [1]})
    print(sess.run(step), sess.run(table).tolist(), sess.run(w).ravel().tolist())
    print([sess._variables[v].device[-5:] for v in (table, w, step)])
""", env=self.GPU).stdout.splitlines()
        assert out == ["2 [[1.0, 2.0], [2.75, 4.0]] [-1.75, -2.75]", "['CPU:0', 'GPU:0', 'GPU:0']"]


class TestNotBuilt:
    def test_names_say_so(self, tf, v1):
        for call in (lambda: v1.summary.scalar("loss", 1.0), lambda: v1.train.MonitoredTrainingSession(),
                     lambda: v1.nn.dynamic_rnn(None, None), lambda: v1.estimator.Estimator(),
                     lambda: v1.get_default_graph().as_graph_def(), lambda: v1.metrics.auc(None, None),
                     lambda: v1.sparse_placeholder(v1.float32), lambda: v1.nn.rnn_cell.LSTMCell(3),
                     lambda: tf.keras.layers.Dense(3)(v1.placeholder(v1.float32, [None, 4])),
                     lambda: v1.hessians(None, None)):
            with pytest.raises(tf.errors.UnimplementedError):
                call()

    def test_no_such_name(self, v1):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            v1.nothing
        assert not hasattr(v1.train, "nothing")


class TestFlags:
    def test_flags_and_app(self, program):
        done = program("""
flags = tf.compat.v1.flags
flags.DEFINE_integer("steps", 5, "How many.")
flags.DEFINE_bool("fast", False, "Whether.")
def main(argv):
    print(flags.FLAGS.steps, flags.FLAGS.fast, argv[1:])
tf.compat.v1.app.run(main)
""", arguments=["--steps=7", "--fast", "more"])
        assert done.stdout == "7 True ['more']\n"

    def test_without_absl(self, tf):
        from plimsoll.compat.v1 import _flags
        values = _flags.FlagValues()
        _flags.DEFINE_string("name", "a", "A name.", values)
        _flags.DEFINE_float("rate", 0.1, "A rate.", values)
        _flags.DEFINE_boolean("deep", True, "Whether.", values)
        _flags.DEFINE_list("parts", "x,y", "Parts.", values)
        _flags.DEFINE_enum("mode", "train", ["train", "test"], "What to do.", values)
        assert values(["program", "--name", "b", "--nodeep", "--rate=2", "rest"]) == ["program", "rest"]
        assert (values.name, values.rate, values.deep, values.parts, values.mode) == (
            "b", 2.0, False, ["x", "y"], "train")
        values.rate = 3.0
        assert values.flag_values_dict()["rate"] == 3.0
        with pytest.raises(_flags.Error, match="Unknown command line flag 'nothing'"):
            values(["program", "--nothing=1"])
        with pytest.raises(_flags.Error, match="mode=other"):
            values(["program", "--mode=other"])
        with pytest.raises(_flags.Error, match="Missing value for flag --name"):
            values(["program", "--name"])

    def test_logging_and_files(self, tf, tmp_path):
        v1 = tf.compat.v1
        v1.logging.set_verbosity(v1.logging.INFO)
        assert v1.logging.get_verbosity() == v1.logging.INFO
        v1.gfile.MakeDirs(tmp_path / "a" / "b")
        with v1.gfile.GFile(str(tmp_path / "a" / "text"), "w") as file:
            file.write("words")
        assert v1.gfile.Exists(tmp_path / "a" / "text") and v1.gfile.ListDirectory(tmp_path) == ["a"]
        assert v1.gfile.GFile(str(tmp_path / "a" / "text")).read() == "words"
        with pytest.raises(tf.errors.NotFoundError):
            v1.gfile.GFile(str(tmp_path / "nothing")).read()
        v1.gfile.DeleteRecursively(tmp_path / "a")
        assert v1.gfile.ListDirectory(tmp_path) == []
