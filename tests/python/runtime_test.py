"""Threads, fork, interrupts, garbage, imports: what Python programs do around the runtime."""

import gc
import pathlib
import sys
import threading
import time
import weakref

import numpy as np
import pytest


def test_import_is_small(program):
    out = program("""
import sys
print('numpy' in sys.modules, any(m.startswith('plimsoll.keras') for m in sys.modules))
print(sum(m.startswith('plimsoll') for m in sys.modules) < 12)
""").stdout.splitlines()
    assert out == ["False False", "True"]


def test_threads_compute_at_the_same_time(tf):
    results = {}

    def work(i):
        x = tf.fill([200, 200], float(i))
        for _ in range(20):
            y = tf.matmul(x, tf.eye(200))
        results[i] = float(tf.reduce_mean(y))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {i: float(i) for i in range(4)}


def test_the_lock_is_given_back(tf):
    """While a product runs, another thread of Python goes on, though nobody is made to give way."""
    x = tf.ones([1500, 1500])
    counted = [0]
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        before = counted[0]
        tf.matmul(x, x)
        after = counted[0]
    finally:
        sys.setswitchinterval(interval)
        stop.set()
        thread.join()
    assert after > before


def test_functions_from_many_threads(tf):
    v = tf.Variable(1.0)
    f = tf.function(lambda x: x * v)
    results = []

    def work():
        for i in range(50):
            results.append(float(f(tf.constant(float(i)))) == i)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(results) and len(results) == 200 and f.experimental_get_tracing_count() == 1


def test_fork(program):
    out = program("""
import os
x = tf.ones([600, 600])
tf.matmul(x, x)
child = os.fork()
if child == 0:
    y = tf.matmul(x, x)
    ok = float(tf.reduce_sum(y)) == 600.0**3
    f = tf.function(lambda a: tf.reduce_sum(tf.matmul(a, a)))
    ok = ok and float(f(x)) == 600.0**3
    os._exit(0 if ok else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float(tf.reduce_sum(tf.matmul(x, x))))
""", timeout=60).stdout
    assert out == "0 216000000.0\n"


def test_interrupt(program):
    done = program("""
import os, signal, threading
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    tf.while_loop(lambda i: True, lambda i: [i + 1], [tf.constant(0)])
except KeyboardInterrupt:
    print("stopped")
print(int(tf.constant(1) + 1))
""", timeout=60)
    assert done.stdout == "stopped\n2\n"


def test_cycles_are_collected(tf):
    class Model:
        def __init__(self):
            self.v = tf.Variable(tf.ones([1 << 18]))
            self.me = self

        @tf.function
        def call(self, x):
            return x * self.v

    model = Model()
    model.call(tf.ones([1 << 18]))
    gone = weakref.ref(model)
    before = tf.memory.stats("CPU:0")["in_use"]
    del model
    gc.collect()
    assert gone() is None
    assert tf.memory.stats("CPU:0")["in_use"] <= before - (1 << 20)


def test_functions_are_collected(tf):
    class Big:
        pass

    big = Big()
    gone = weakref.ref(big)

    @tf.function
    def f(x, what):
        return x + 1.0

    f(tf.constant(1.0), big)
    f.me = f
    del big, f
    gc.collect()
    assert gone() is None


def test_traces_are_bounded(tf):
    f = tf.function(lambda x, k: x * k)
    for k in range(200):
        assert int(f(tf.constant(2), k)) == 2 * k
    assert int(f(tf.constant(2), 3)) == 6


def test_long_loops_are_refused(tf):
    @tf.function
    def f(n):
        total = tf.constant(0)
        for i in tf.range(n):
            total += i
        return total

    assert int(f(256)) == sum(range(256))
    with pytest.raises(tf.errors.UnimplementedError, match="tf.while_loop, tf.scan or tf.map_fn"):
        f(257)

    @tf.function
    def g(x):
        return sum(x)

    with pytest.raises(tf.errors.UnimplementedError, match="300"):
        g(tf.ones([300]))


def test_the_users_line_is_in_the_traceback(tf):
    import traceback

    @tf.function
    def f(x):
        return tf.reshape(x, [7])  # this line

    try:
        f(tf.ones([3]))
    except tf.errors.InvalidArgumentError as e:
        text = "".join(traceback.format_exception(e))
    assert "# this line" in text


def test_a_tape_that_recorded_nothing(tf):
    x = tf.ones([])
    with pytest.raises(RuntimeError, match="nothing was recorded"):
        tf.GradientTape().gradient(x, x)


def test_weak_references(tf):
    x = tf.ones([3])
    gone = weakref.ref(x)
    del x
    assert gone() is None


def test_narrow_integers_are_checked(tf):
    with pytest.raises(TypeError, match="Cannot convert 300 to EagerTensor of dtype uint8"):
        tf.constant(300, tf.uint8)


@pytest.mark.parametrize("dtype", ["uint32", "uint64", "complex64"])
def test_types_that_are_not_built(tf, dtype):
    with pytest.raises(tf.errors.UnimplementedError, match=dtype):
        tf.constant(np.zeros([2], dtype))


def test_arguments_that_are_not_built(tf):
    with pytest.raises(tf.errors.UnimplementedError, match="a_is_sparse=True is not built"):
        tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]), a_is_sparse=True)


def test_torch_style_dlpack(tf):
    x = tf.ones([2, 3])
    array = np.from_dlpack(x)
    assert array.shape == (2, 3) and array.ctypes.data == x.numpy().ctypes.data
    y = tf.experimental.dlpack.from_dlpack(np.arange(6.0))
    assert y.dtype == tf.float64 and y.shape == (6,)


def test_names(tf):
    assert "matmul" in dir(tf) and "relu" in dir(tf.nn) and "log1p" in dir(tf.math)
    with pytest.raises(AttributeError, match="tf.compat.v1.Session"):
        tf.Session
    with pytest.raises(AttributeError, match="nonsense"):
        tf.math.nonsense
    with pytest.raises(AttributeError, match="tf.distribute is not built|no attribute 'distribute'"):
        tf.distribute
    assert tf.random.experimental.stateless_shuffle([1, 2, 3], [1, 2]).shape == (3,)
    assert tf.add.__name__ == "add" and "broadcast" in tf.add.__doc__


SCRIPT = """
import sys
import tensorflow as tf
import tensorflow.math
from tensorflow import nn
from tensorflow.nn import relu
print(tf.__name__, float(nn.relu(tf.constant(-1.0))), sys.argv[1:], __name__)
assert relu is tf.nn.relu and tensorflow.math is tf.math
"""


def test_scripts_run_unchanged(program, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = program.file(script, options=["-m", "plimsoll"], arguments=["a", "b"])
    assert done.stdout == "plimsoll 0.0 ['a', 'b'] __main__\n"


def test_usage(program, tmp_path):
    done = program.file("--help", options=["-m", "plimsoll"])
    assert "usage: python -m plimsoll" in done.stdout


def test_code_and_stdin(program, tmp_path):
    done = program.file("-c", options=["-m", "plimsoll"], arguments=[
        "import sys, tensorflow as tf; print(tf.__name__, __name__, sys.argv)", "a"])
    assert done.stdout == "plimsoll __main__ ['-c', 'a']\n"
    text = "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'plimsoll', '-', 'a'], check=True, text=True, " \
           "input='import keras, sys; print(keras.__name__, sys.argv)')\n"
    assert program(text).stdout == "plimsoll.keras ['-', 'a']\n"
    done = program.file(tmp_path / "no.py", options=["-m", "plimsoll"], check=False)
    assert done.returncode == 2 and "can't open file" in done.stderr and "Traceback" not in done.stderr


def test_tracebacks_begin_with_the_script(program, tmp_path):
    script = tmp_path / "script.py"
    script.write_text("def f():\n    raise KeyError('a')\n\n\nf()\n", encoding="utf-8")
    done = program.file(script, options=["-m", "plimsoll"], check=False)
    plain = program.file(script, check=False)
    assert done.returncode == 1 and done.stderr == plain.stderr


SPAWNS = """
import multiprocessing
import tensorflow as tf


def name(x):
    import keras
    return tf.__name__, keras.__name__, int(tf.constant(x) + 1)


if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(pool.map(name, [1]))
"""


def test_processes_that_are_started_anew(program, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SPAWNS, encoding="utf-8")
    done = program.file(script, options=["-m", "plimsoll"])
    assert done.stdout == "[('plimsoll', 'plimsoll.keras', 2)]\n" * 2


@pytest.mark.parametrize("statement", [
    "from tensorflow.keras.preprocessing.image import ImageDataGenerator",
    "from keras.preprocessing.text import Tokenizer",
])
def test_imports_that_are_not_built(program, statement):
    done = program.file("-c", options=["-m", "plimsoll"], arguments=[statement], check=False)
    assert "\nImportError: keras.preprocessing." in done.stderr and "is not built: use layers" in done.stderr


def test_images_of_older_names(program):
    program.file("-c", options=["-m", "plimsoll"], arguments=[
        "from tensorflow.keras.preprocessing.image import load_img, img_to_array, array_to_img, smart_resize\n"
        "import tensorflow as tf\n"
        "assert load_img is tf.keras.utils.load_img and not hasattr(tf.keras.preprocessing.image, 'ImageDataGenerator')"])


def test_own_version(tf):
    text = (pathlib.Path(__file__).parent.parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{tf.version.PLIMSOLL_VERSION}"\n' in text


def test_registered_objects_do_not_disturb_the_end(program):
    """C++ holds them until the process ends, when Python is gone."""
    done = program("@tf.keras.utils.register_keras_serializable()\ndef doubled(x):\n    return 2 * x\nprint('done')\n")
    assert done.returncode == 0 and done.stdout == "done\n"
