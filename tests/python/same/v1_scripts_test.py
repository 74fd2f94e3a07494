"""A program of the first version as it stands: the same losses, and files that can be read again."""

import os
import pathlib

import numpy as np

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "v1_digits.py"
# TensorFlow 2.21 prints these.
LOSSES = [1.77463, 1.13607, 0.21515, 0.03618, 0.00932, 0.00672]


def test_digits(program, is_plimsoll, tmp_path):
    done = program.file(SCRIPT, arguments=[tmp_path], options=["-m", "plimsoll"] if is_plimsoll else [])
    lines = done.stdout.splitlines()
    losses = [float(line.split()[1]) for line in lines if line.startswith("loss")]
    np.testing.assert_allclose(losses, LOSSES, rtol=2e-3, atol=2e-5)
    assert lines[-3:] == ["model.ckpt-60", "step 60", "accuracy 1.000"]
    kept = sorted(n for n in os.listdir(tmp_path) if not n.endswith(".meta"))
    assert kept == ["checkpoint"] + [f"model.ckpt-{n}.{part}" for n in (50, 60)
                                     for part in ("data-00000-of-00001", "index")]
