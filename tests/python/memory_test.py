"""The contract, from Python: limits, plans, reports, memory that comes back."""

import gc
import json

import numpy as np
import pytest

MIB = 1 << 20


def test_a_budget_is_hard(program):
    out = program("""
tf.memory.set_budget("64MiB")
held = [tf.ones([8 << 20])]
try:
    held.append(tf.ones([16 << 20]))
except tf.errors.ResourceExhaustedError as e:
    print(e)
held.append(tf.ones([7 << 20]))
print(tf.memory.stats("CPU:0")["in_use"], tf.memory.get_budget())
""").stdout.splitlines()
    assert out[0].startswith("OOM when allocating tensor with shape[16777216] and type float on "
                             "/job:localhost/replica:0/task:0/device:CPU:0 by allocator plimsoll")
    text = "\n".join(out)
    assert "64.0 MiB asked for activations" in text and "limit 64.0 MiB (memory::set_budget)" in text
    assert out[-1] == f"{(8 + 7) * 4 * MIB} {64 * MIB}"


def test_reports_name_the_line(program):
    out = program("""
tf.memory.set_budget("64MiB")
big = tf.ones([8 << 20])    # line 4 of the file
try:
    tf.zeros([16 << 20])    # line 6
except tf.errors.ResourceExhaustedError as e:
    print(e)
print([row.owner for row in tf.memory.report().rows if row.nbytes > 1 << 20])
""").stdout
    assert "asked for activations 'Fill at program1.py:6'" in out
    assert "largest: 32.0 MiB activations 'Fill at program1.py:4'" in out
    assert "['Fill at program1.py:4']" in out


def test_functions_name_the_line(program):
    out = program("""
tf.memory.set_budget("64MiB")
@tf.function
def f(x):
    y = tf.tile(x, [16, 1])          # line 6
    return tf.reduce_sum(tf.matmul(y, y, transpose_b=True))
try:
    f(tf.ones([1024, 256]))
except tf.errors.ResourceExhaustedError as e:
    print(e)
print(float(f(tf.ones([8, 256]))))
""").stdout
    assert "function 'f'" in out and "program1.py:7" in out
    assert out.splitlines()[-1] == str(float((8 * 16)**2 * 256))


def test_a_plan_is_what_a_run_takes(program):
    out = program("""
import json
w = tf.Variable(tf.ones([256, 256]))
@tf.function
def f(x):
    return tf.nn.relu(tf.matmul(tf.nn.relu(tf.matmul(x, w)), w))
plan = tf.memory.plan(f, tf.TensorSpec([1024, 256]))
assert plan.peak_bytes == plan.variable_bytes + plan.input_bytes + plan.output_bytes + plan.arena_bytes \\
    + plan.constant_bytes
x = tf.ones([1024, 256])
f.prepare(x)
tf.config.experimental.reset_memory_stats("CPU:0")
before = tf.config.experimental.get_memory_info("CPU:0")["current"]
y = f(x)
after = tf.config.experimental.get_memory_info("CPU:0")
print(after["peak"] - before == plan.reserve_bytes)
print(json.loads(plan.to_json())["function"], f.memory_plan(x).peak_bytes == plan.peak_bytes)
print("memory plan of 'f'" in str(plan), "MatMul" in plan.by_op())
""").stdout.splitlines()
    assert out == ["True", "f True", "True True"]


def test_scopes(tf):
    with tf.memory.budget("1MiB") as scope:
        x = tf.ones([1000])
        with pytest.raises(tf.errors.ResourceExhaustedError, match="1.0 MiB"):
            tf.ones([1 << 20])
        assert scope.in_use >= 4000
    assert scope.peak >= 4000
    del x
    tf.ones([1 << 20])


def test_memory_comes_back(tf):
    tf.memory.trim()
    before = tf.memory.stats("CPU:0")["in_use"]
    x = tf.ones([4 << 20])
    array = x.numpy()
    assert tf.memory.stats("CPU:0")["in_use"] == before + 16 * MIB
    del x
    assert tf.memory.stats("CPU:0")["in_use"] == before + 16 * MIB  # the view holds it
    assert array[7] == 1
    del array
    assert tf.memory.stats("CPU:0")["in_use"] == before


def test_numpy_views_cost_nothing(tf):
    x = tf.ones([1 << 20])
    a, b = np.asarray(x), x.numpy()
    assert a.ctypes.data == b.ctypes.data
    assert not a.flags.writeable and not a.flags.owndata
    with pytest.raises(ValueError):
        a[0] = 2


def test_assigning_spares_who_looks(tf):
    v = tf.Variable(np.zeros([4], np.float32))
    seen = v.numpy()
    v.assign_add(tf.ones([4]))
    np.testing.assert_array_equal(seen, np.zeros([4]))
    np.testing.assert_array_equal(v, np.ones([4]))


def test_report(tf):
    x = tf.ones([1 << 20])
    report = tf.memory.report()
    assert report.total == sum(row.nbytes for row in report.rows)
    assert report.devices[0].name == "CPU:0" and report.devices[0].in_use >= x.shape[0] * 4
    assert json.loads(report.to_json()) and "CPU:0" in str(report)


@pytest.mark.parametrize("call, error", [
    ("tf.memory.set_budget('many')", ValueError),
    ("tf.memory.set_budget(-1)", ValueError),
    ("tf.memory.set_budget([])", TypeError),
    ("tf.memory.budget('1XB').__enter__()", ValueError),
    ("tf.memory.plan(len)", TypeError),
    ("tf.memory.stats('GPU:7')", ValueError),
])
def test_wrong_values(tf, call, error):
    with pytest.raises(error):
        eval(call, {"tf": tf})


@pytest.mark.parametrize("limit", ["-5", "'1G'", "True", "[]"])
def test_limits_are_checked_at_the_call(tf, limit):
    with pytest.raises((TypeError, ValueError)):
        tf.config.LogicalDeviceConfiguration(memory_limit=eval(limit))


def test_growth_is_checked_at_the_call(tf):
    cpu = tf.config.list_physical_devices("CPU")[0]
    with pytest.raises(TypeError, match="for gpu in tf.config.list_physical_devices"):
        tf.config.experimental.set_memory_growth(cpu, "yes")


def test_limits_of_the_cpu(program):
    out = program("""
cpu = tf.config.list_physical_devices('CPU')[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration(memory_limit=64)])
try:
    tf.ones([32 << 20])
except tf.errors.ResourceExhaustedError as e:
    print(e)
print(tf.config.experimental.get_memory_info('CPU:0')['current'])
""").stdout
    assert "limit 64.0 MiB (memory_limit of CPU:0)" in out and out.splitlines()[-1] == "0"


def test_limits_and_growth_of_a_gpu(program):
    out = program("""
gpus = tf.config.list_physical_devices('GPU')
tf.config.experimental.set_memory_growth(gpus[1], False)
tf.config.set_logical_device_configuration(gpus[1], [tf.config.LogicalDeviceConfiguration(memory_limit=64)])
tf.config.experimental.set_memory_growth(gpus[0], True)
with tf.device('/GPU:1'):
    x = tf.ones([1 << 20])
    print(x.device, float(tf.reduce_sum(x)), float(x.numpy().sum()))
    try:
        tf.ones([1 << 25])
    except tf.errors.ResourceExhaustedError as e:
        print('limit 64.0 MiB' in str(e))
print(tf.config.experimental.get_memory_growth(gpus[0]), len(tf.config.list_logical_devices('GPU')))
""", env={"PLIMSOLL_SIM_DEVICES": "rtx-3060-12gb,rtx-3060-12gb"}).stdout.splitlines()
    assert out == ["/job:localhost/replica:0/task:0/device:GPU:1 1048576.0 1048576.0", "True", "True 2"]


def test_no_growth_over_time(tf):
    def once(i):
        f = tf.function(lambda x: tf.reduce_sum(x * float(i)))
        f(tf.ones([256, 256]))
        with tf.GradientTape() as tape:
            v = tf.Variable(tf.ones([64, 64]))
            y = tf.reduce_sum(v * v)
        tape.gradient(y, v)

    for i in range(3):
        once(i)
    gc.collect()
    tf.memory.trim()
    before = tf.memory.stats("CPU:0")["in_use"]
    for i in range(50):
        once(i)
    gc.collect()
    tf.memory.trim()
    assert tf.memory.stats("CPU:0")["in_use"] <= before
