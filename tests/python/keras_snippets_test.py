"""Programs of tests/snippets that use Keras, with the import changed and unchanged."""

import pathlib
import re

import pytest

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "snippets"
DEVICES = ["", "rtx-3060-12gb", "rtx-3060-12gb,rtx-3060-12gb"]


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    from plimsoll import keras
    layers = keras.layers
    path = tmp_path_factory.mktemp("models") / "model.h5"
    keras.Sequential([keras.Input((784,)), layers.Dense(512, activation="relu"), layers.Dense(10)]).save(path)
    return path


@pytest.fixture(params=["changed", "unchanged"])
def run(request, program, tmp_path):
    def run_snippet(name, devices="", arguments=(), env=None, replace=(), more="", check=True):
        text = next(FOLDER.glob(name + "_*.py")).read_text(encoding="utf-8")
        for a, b in replace:
            assert a in text
            text = text.replace(a, b)
        options = ["-m", "plimsoll"]
        if request.param == "changed":
            text, options = text.replace("import tensorflow as tf", "import plimsoll as tf"), []
        file = tmp_path / f"{name}.py"
        file.write_text(text + more, encoding="utf-8")
        return program.file(file, env={"PLIMSOLL_SIM_DEVICES": devices, **(env or {})}, options=options,
                            arguments=arguments, check=check)

    return run_snippet


@pytest.mark.parametrize("devices", DEVICES, ids=["no_gpu", "one_gpu", "two_gpus"])
def test_limit_then_load(run, devices, model_file):
    out = run("a1", devices, [model_file]).stdout
    assert ("limit set" in out) == bool(devices) and "Total params: 407,050" in out
    assert "407050" in run("a2", devices, [model_file]).stdout


def test_a_file_that_does_not_fit(run, model_file):
    more = """
print(tf.reduce_sum(tf.ones([4])).numpy())
"""
    small = [("memory_limit_mb=1024", "memory_limit_mb=1"),
             ("model = tf.keras.models.load_model(sys.argv[1])\nmodel.summary()",
              "try:\n    tf.keras.models.load_model(sys.argv[1])\nexcept tf.errors.ResourceExhaustedError as e:\n"
              "    print(e)")]
    out = run("a1", "rtx-3060-12gb", [model_file], replace=small, more=more).stdout
    assert "its weights need 1.6 MiB" in out and "Nothing was loaded" in out and out.endswith("4.0\n")


def test_limit_of_the_cpu(run, model_file):
    out = run("a3", "", [model_file]).stdout
    assert "holding 3" in out and "holding 4" not in out
    assert "TF_CPU_ALLOCATOR_MEM_LIMIT" in out and "a3.py:17" in out


SMALL = [("(4096, 64, 64, 3)", "(256, 32, 32, 3)"), ("10, 4096", "10, 256"), ("(64, 64, 3)", "(32, 32, 3)"),
         ("batch_size = 1024", "batch_size = 128")]


def test_batch_size(run):
    more = """
print("equal", model.history.planned_peak_bytes == model.history.measured_peak_bytes)
"""
    out = run("d2", replace=SMALL, more=more).stdout
    assert out.count("plan: peak") == 2 and out.endswith("equal True\n")
    done = run("d2", replace=SMALL, env={"PLIMSOLL_BUDGET": "16MiB"}, check=False)
    assert done.returncode == 1
    assert re.search(r"would fit: batch_size \d+", done.stderr) and "PLIMSOLL_BUDGET" in done.stderr


def test_function_with_del(run):
    small = [("range(60)", "range(6)"), ("    with tf.GradientTape() as tape:", "    print('traced')\n"
                                         "    with tf.GradientTape() as tape:")]
    more = """
print(tf.memory.report().devices[0].in_use < 64 << 20)
"""
    out = run("d3", replace=small, more=more).stdout.splitlines()
    assert out.count("traced") == 1 and float(out[-2]) > 0 and out[-1] == "True"
