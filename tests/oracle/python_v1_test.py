"""Checkpoints in both directions: written by one, read by the other."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT = ROOT / "build" / "release" / "python"
sys.path.insert(0, str(BUILT))

import tensorflow as theirs  # noqa: E402

import plimsoll as ours  # noqa: E402

NUM = 300
DTYPES = ["float16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "int64", "bool"]


def values(dtype):
    rng = np.random.default_rng(len(dtype))
    return (rng.normal(size=(3, 4)) * 50).astype("int32").astype(dtype)


def write(tf, path):
    """Variables of all types, of no elements and no dimensions, and so many that the index has blocks."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        for dtype in DTYPES:
            v1.get_variable(f"types/{dtype}", initializer=values(dtype))
        v1.get_variable("empty", initializer=np.zeros([0, 3], "float32"))
        v1.get_variable("one", initializer=np.float64(2.5))
        for i in range(NUM):
            v1.get_variable(f"many/with_a_rather_long_name_in_front/{i:03}",
                            initializer=np.full([2], i, "float32"))
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            return v1.train.Saver().save(sess, path, write_meta_graph=False)


def check(tf, path):
    v1 = tf.compat.v1
    shapes = dict(v1.train.list_variables(path))
    assert len(shapes) == len(DTYPES) + NUM + 2
    assert shapes["empty"] == [0, 3] and shapes["one"] == []
    reader = v1.train.NewCheckpointReader(path)
    for dtype in DTYPES:
        got = reader.get_tensor(f"types/{dtype}")
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, values(dtype))
    for i in range(NUM):
        assert reader.get_tensor(f"many/with_a_rather_long_name_in_front/{i:03}").tolist() == [i, i]
    with tf.Graph().as_default():
        one = v1.get_variable("one", [], tf.float64)
        with v1.Session() as sess:
            v1.train.Saver().restore(sess, path)
            assert sess.run(one) == 2.5


@pytest.mark.parametrize("writer, reader", [(ours, theirs), (theirs, ours)], ids=["ours", "theirs"])
def test_both_directions(writer, reader, tmp_path):
    check(reader, write(writer, str(tmp_path / "m")))


def test_the_files_are_the_same(tmp_path):
    for tf, name in ((ours, "a"), (theirs, "b")):
        write(tf, str(tmp_path / name))
    for ending in (".index", ".data-00000-of-00001"):
        assert (tmp_path / ("a" + ending)).read_bytes() == (tmp_path / ("b" + ending)).read_bytes()


def test_a_trained_net_and_its_slots(tmp_path):
    script = ROOT / "tests" / "python" / "scripts" / "v1_digits.py"
    for name, options in (("a", ["-m", "plimsoll"]), ("b", [])):
        subprocess.run([sys.executable, *options, str(script), str(tmp_path / name)], check=True,
                       env={**os.environ, "PYTHONPATH": str(BUILT)}, capture_output=True)
    found = [theirs.compat.v1.train.load_checkpoint(str(tmp_path / name)) for name in "ab"]
    shapes = [reader.get_variable_to_shape_map() for reader in found]
    assert shapes[0] == shapes[1] and "conv1/w/Adam_1" in shapes[0] and "beta1_power" in shapes[0]
    for name in shapes[0]:
        np.testing.assert_allclose(found[0].get_tensor(name), found[1].get_tensor(name), rtol=0.02,
                                   atol=2e-3)


@pytest.mark.parametrize("ending, at", [(".index", 10), (".index", -3), (".data-00000-of-00001", 3)])
def test_damaged_files(tmp_path, ending, at):
    path = write(ours, str(tmp_path / "m"))
    file = pathlib.Path(path + ending)
    text = bytearray(file.read_bytes())
    text[at] ^= 0x55
    file.write_bytes(text)
    with pytest.raises(ours.errors.DataLossError):
        check(ours, path)
