"""tf.config in processes of their own: what it says, and its errors. Without a GPU."""

import pytest


def say(program, text, **kwargs):
    return program("def caught(f, *args, **kwargs):\n"
                   "    try:\n"
                   "        return f(*args, **kwargs)\n"
                   "    except Exception as e:\n"
                   "        return f'{type(e).__name__}: {e}'\n" + text, **kwargs).stdout.splitlines()


def test_devices(program):
    assert say(program, """
print(tf.config.list_physical_devices())
print(tf.config.list_physical_devices('CPU')[0].name)
print(tf.config.list_physical_devices('gpu'), tf.config.list_physical_devices('XYZ'))
print(tf.config.get_visible_devices('CPU'))
print(tf.config.list_logical_devices('CPU')[0].name, tf.config.list_logical_devices('GPU'))
print(tf.config.experimental.list_physical_devices('CPU') == tf.config.list_physical_devices('CPU'))
""") == ["[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]",
         "/physical_device:CPU:0", "[] []",
         "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]", "/device:CPU:0 []", "True"]


@pytest.mark.parametrize("device", ["True", "'GPU:0'", "None"])
def test_growth_of_what_is_no_device(program, device):
    assert say(program, f"print(caught(tf.config.experimental.set_memory_growth, {device}, True))") == [
        f"ValueError: Unrecognized device: {device}"]


def test_unknown_devices(program):
    assert say(program, """
print(caught(tf.config.set_logical_device_configuration, 'GPU:0', []))
print(caught(tf.config.set_visible_devices, 'GPU:0'))
""") == ["ValueError: Unrecognized device: 'GPU:0'"] * 2


def test_wrong_arguments(program):
    out = say(program, """
for call in ((tf.config.experimental.set_memory_growth,), (tf.config.experimental.set_memory_growth, 1, 2, 3)):
    print(caught(*call).partition(':')[0])
print(caught(tf.config.list_physical_devices, nonsense=1).partition(':')[0])
""")
    assert out == ["TypeError"] * 3


def test_after_the_start(program):
    assert say(program, """
cpu = tf.config.list_physical_devices('CPU')[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
print([d.name for d in tf.config.list_logical_devices()])
print(caught(tf.config.set_logical_device_configuration, cpu,
             [tf.config.LogicalDeviceConfiguration()] * 3))
print(caught(tf.config.set_visible_devices, []))
print(caught(tf.config.set_visible_devices, [cpu]))
print(caught(tf.config.threading.set_intra_op_parallelism_threads, 3))
print(caught(tf.config.threading.set_inter_op_parallelism_threads, 3))
""") == ["['/device:CPU:0', '/device:CPU:1']",
         "RuntimeError: Virtual devices cannot be modified after being initialized",
         "RuntimeError: Visible devices cannot be modified after being initialized", "None",
         "RuntimeError: Intra op parallelism cannot be modified after initialization.",
         "RuntimeError: Inter op parallelism cannot be modified after initialization."]


def test_threads(program):
    assert say(program, """
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(2)
print(tf.config.threading.get_intra_op_parallelism_threads(),
      tf.config.threading.get_inter_op_parallelism_threads())
print(float(tf.reduce_sum(tf.ones([1000]))))
""") == ["1 2", "1000.0"]


def test_memory_info_errors(program):
    assert say(program, """
print(caught(tf.config.experimental.get_memory_info, 'GPU:0'))
print(caught(tf.config.experimental.get_memory_info, 'CPU'))
""") == ["ValueError: No matching devices found for 'GPU:0'",
         "ValueError: Failed parsing device name: 'CPU'. Note a valid device string should at least "
         'contain a device type and a device index, like "GPU:0".']


def test_device_scopes(program):
    out = say(program, """
with tf.device('/CPU:0'):
    print(tf.ones([2]).device)
with tf.device('/GPU:0'):
    print(tf.ones([2]).device)
with tf.device(None):
    print(tf.ones([2]).device)
def bad():
    with tf.device('/XYZ:0'):
        tf.ones([2])
print(caught(bad))
tf.config.set_soft_device_placement(False)
def absent():
    with tf.device('/GPU:0'):
        tf.ones([2]) + 1
print(caught(absent)[:130])
print(tf.config.get_soft_device_placement())
""")
    cpu = "/job:localhost/replica:0/task:0/device:CPU:0"
    assert out[:3] == [cpu] * 3
    assert out[3].startswith("ValueError: Unknown attribute 'XYZ' is encountered while parsing the device "
                             "spec: '/XYZ:0'.")
    assert out[4].startswith("InvalidArgumentError: ") and "Could not satisfy device specification" in out[4]
    assert out[5] == "False"


def test_no_cpu(program):
    out = say(program, """
tf.config.set_visible_devices([], 'CPU')
print(caught(tf.ones, [2]))
""")
    assert out == ["NotFoundError: No CPU devices are available in this process"]
