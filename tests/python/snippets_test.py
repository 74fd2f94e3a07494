"""Programs as users write them: tests/snippets, with the import changed and unchanged."""

import pathlib
import re

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "snippets"
DEVICES = ["", "rtx-3060-12gb", "rtx-3060-12gb,rtx-3060-12gb"]
# Printed at the beginning and at the end: resident megabytes, the most there were, bytes in use. Freed pages
# stay warm for a quarter of a second: the end waits for them.
RESIDENT = """
def _resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) >> 8
"""
START = RESIDENT + "import plimsoll as _plimsoll; _start = _resident()\n"
MEASURE = """
import time as _time
for _ in range(30):
    if _resident() <= _start + 16:
        break
    _time.sleep(0.1)
with open("/proc/self/status", encoding="ascii") as _file:
    print("most", next(int(line.split()[1]) >> 10 for line in _file if line.startswith("VmHWM")))
print("start", _start)
print("end", _resident())
print("cache", sum(r.nbytes for r in _plimsoll.memory.report().rows if r.tag == "cache"))
print("in_use", sum(d.in_use for d in _plimsoll.memory.report().devices))
"""


@pytest.fixture(params=["changed", "unchanged"])
def run(request, program, tmp_path):
    def run_snippet(name, devices, more="", check=True):
        text = next(FOLDER.glob(name + "_*.py")).read_text(encoding="utf-8")
        text = text.replace("(10000, 10000)", "(4000, 4000)")  # seconds, not minutes
        text = text.replace("range(2000)", "range(600)")
        options = ["-m", "plimsoll"]
        if request.param == "changed":
            text, options = text.replace("import tensorflow as tf", "import plimsoll as tf"), []
        file = tmp_path / f"{name}.py"
        if more:
            text = START + text + more
        file.write_text(text, encoding="utf-8")
        return program.file(file, env={"PLIMSOLL_SIM_DEVICES": devices}, options=options, check=check)

    return run_snippet


@pytest.fixture(params=DEVICES, ids=["no_gpu", "one_gpu", "two_gpus"])
def devices(request):
    return request.param


def num_of(devices):
    return len(devices.split(",")) if devices else 0


def test_growth_of_all(run, devices):
    out = run("b1", devices).stdout
    assert out == (f"growth on for {num_of(devices)}\n" if devices else "")


def test_growth_of_the_first(run, devices):
    out = run("b2", devices).stdout.splitlines()
    assert out == ["growth on for GPU 0" if devices else "no GPU",
                   "tf.Tensor(64.0, shape=(), dtype=float32)"]


def test_growth_of_no_device(run, devices):
    assert run("b3", devices).stdout == "ValueError Unrecognized device: True\n"


@pytest.mark.parametrize("devices", DEVICES[1:])
def test_growth_too_late(run, devices):
    out = run("b4", devices).stdout.splitlines()
    assert out[0] == "Physical devices cannot be modified after being initialized"
    assert out[1] == "{'current': 4194304, 'peak': 4194304}"


def test_growth_or_a_limit(run, devices):
    out = run("c3", devices).stdout
    if devices:
        assert out == f"{num_of(devices)} physical, {num_of(devices)} logical\nboth live\n"
        return
    assert out.startswith("OOM when allocating tensor with shape[256,1024,1024] and type float on "
                          "/job:localhost/replica:0/task:0/device:CPU:0")
    assert "1.0 GiB asked" in out and "limit 1.0 GiB (memory_limit of CPU:0)" in out
    assert "'Fill at c3.py:" in out


def test_kept_and_deleted(run, devices):
    done = run("d1", devices, MEASURE)
    lines = done.stdout.splitlines()
    assert lines[0] == "(4000, 4000)"
    where = "GPU:0" if devices else "CPU:0"
    assert re.search(r"Executing op MatMul in device /job:localhost/replica:0/task:0/device:" + where,
                     done.stderr)
    values = dict(line.split() for line in lines[1:])
    assert int(values["in_use"]) < 1 << 20
    assert int(values["most"]) > int(values["start"]) + 120  # two tensors of 61 MB were there
    assert int(values["end"]) <= int(values["start"]) + 16


def test_a_small_tensor(run, devices):
    lines = run("e1", devices, MEASURE).stdout.splitlines()
    assert lines[:2] == [f"GPUs: {num_of(devices)}", "created (100, 100)"]
    assert int(dict(line.split() for line in lines[2:])["most"]) < 60


def test_a_tape(run, devices):
    assert run("e2", devices).stdout == "[(100, 100), (100,)]\n"


def test_kernels_do_not_pile_up(run, devices):
    lines = run("e3", devices, MEASURE).stdout.splitlines()
    assert lines[0] == "done"
    assert 0 < int(dict(line.split() for line in lines[1:])["cache"]) <= 32 << 20


ARRAYS = (1000000 * 100 + 1000000) * 8 >> 20


def test_a_session_beside_arrays(run, devices):
    lines = run("c1", devices, MEASURE).stdout.splitlines()
    assert lines[0] == "session done"
    values = dict(line.split() for line in lines[1:])
    assert int(values["most"]) <= int(values["start"]) + ARRAYS + 64


def test_batches_of_arrays_in_a_session(run, devices):
    lines = run("c2", devices, MEASURE).stdout.splitlines()
    assert lines[0] == "(32, 100) (32,)"
    values = dict(line.split() for line in lines[1:])
    assert int(values["most"]) <= int(values["start"]) + ARRAYS + 64


def test_growth_and_a_fraction_of_the_first_version(run, devices):
    out = run("e4", devices, """
for _name in [d.name.rpartition("/device:")[2] for d in tf.config.list_logical_devices("GPU")]:
    print(_name, _plimsoll.memory.stats(_name)["limit"])
""").stdout.splitlines()
    name = "/job:localhost/replica:0/task:0/device:"
    gpus = [f"GPU:{i}" for i in range(num_of(devices))]
    assert out[:2] == ["6", str([name + d for d in ["CPU:0", *gpus]])]
    limit = int(12626952192 * 0.4) >> 20 << 20
    assert out[2:] == [f"{gpu} {limit}" for gpu in gpus]
