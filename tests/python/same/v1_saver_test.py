"""Checkpoints of the first version's Saver."""

import os

import numpy as np
import pytest


@pytest.fixture
def v1(tf):
    with tf.Graph().as_default():
        yield tf.compat.v1


def model(v1):
    return (v1.get_variable("a", [3, 2]), v1.get_variable("b/c", initializer=np.arange(5)),
            v1.get_variable("d", initializer=True, trainable=False, dtype=v1.bool))


def test_there_and_back(v1, tmp_path):
    variables = model(v1)
    saver = v1.train.Saver()
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        wanted = sess.run(variables)
        path = saver.save(sess, str(tmp_path / "model.ckpt"), global_step=7)
    assert path == str(tmp_path / "model.ckpt-7")
    assert os.path.isfile(path + ".index") and os.path.isfile(path + ".data-00000-of-00001")
    assert v1.train.latest_checkpoint(str(tmp_path)) == path
    with v1.Session() as sess:
        saver.restore(sess, path)
        got = sess.run(variables)
        assert len(sess.run(v1.report_uninitialized_variables())) == 0
    for a, b in zip(wanted, got):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


def test_reading_without_a_graph(v1, tmp_path):
    variables = model(v1)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(sess, str(tmp_path / "m"), write_meta_graph=False)
        wanted = sess.run(variables[0])
    assert v1.train.list_variables(path) == [("a", [3, 2]), ("b/c", [5]), ("d", [])]
    np.testing.assert_array_equal(v1.train.load_variable(str(tmp_path), "a"), wanted)
    reader = v1.train.NewCheckpointReader(path)
    assert reader.has_tensor("d") and not reader.has_tensor("e")
    assert reader.get_variable_to_dtype_map()["b/c"] == v1.int64
    assert reader.get_variable_to_shape_map()["a"] == [3, 2]


def test_how_many_are_kept(v1, tmp_path):
    v = v1.get_variable("v", [1])
    saver = v1.train.Saver(max_to_keep=2)
    with v1.Session() as sess:
        sess.run(v.initializer)
        for step in range(4):
            saver.save(sess, str(tmp_path / "m"), global_step=step, write_meta_graph=False)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint", "m-2.data-00000-of-00001", "m-2.index", "m-3.data-00000-of-00001", "m-3.index"]
    assert [os.path.basename(p) for p in saver.last_checkpoints] == ["m-2", "m-3"]
    state = v1.train.get_checkpoint_state(str(tmp_path))
    assert os.path.basename(state.model_checkpoint_path) == "m-3"
    assert len(state.all_model_checkpoint_paths) == 2


def test_names_of_ones_own(tf, v1, tmp_path):
    v = v1.get_variable("v", initializer=[1.0, 2.0])
    with v1.Session() as sess:
        sess.run(v.initializer)
        path = v1.train.Saver({"other": v}).save(sess, str(tmp_path / "m"), write_meta_graph=False)
    with tf.Graph().as_default():
        w = v1.get_variable("w", [2])
        with v1.Session() as sess:
            v1.train.Saver({"other": w}).restore(sess, path)
            assert sess.run(w).tolist() == [1, 2]


def test_errors(tf, v1, tmp_path):
    with pytest.raises(ValueError, match="No variables to save"):
        v1.train.Saver()
    v = v1.get_variable("v", [2])
    saver = v1.train.Saver()
    with v1.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            saver.save(sess, str(tmp_path / "m"))
        with pytest.raises(ValueError, match="Can't load save_path when it is None"):
            saver.restore(sess, None)
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(sess, str(tmp_path / "nothing"))
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "m"), write_meta_graph=False)
        saver.save(sess, str(tmp_path / "new" / "m"), write_meta_graph=False)
        with pytest.raises(ValueError, match="doesn't exist"):
            saver.save(sess, str(tmp_path / "no" / "folder" / "m"))
    assert v1.train.latest_checkpoint(str(tmp_path / "nothing")) is None
    with tf.Graph().as_default():
        v1.get_variable("w", [2])
        with v1.Session() as sess, pytest.raises(tf.errors.NotFoundError, match="Key w not found"):
            v1.train.Saver().restore(sess, path)
