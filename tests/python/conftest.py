"""The module under test: Plimsoll, or TensorFlow with PLIMSOLL_PEER=tensorflow.

Files in same/ run under both, with the same results; the others are about Plimsoll alone.
"""

import importlib
import os
import pathlib
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT = pathlib.Path(os.environ.get("PLIMSOLL_PYTHONPATH", ROOT / "build" / "release" / "python"))
PEER = os.environ.get("PLIMSOLL_PEER", "plimsoll")

sys.path.insert(0, str(BUILT))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# A shell that runs tests in the background has them ignore Ctrl-C, which some of them send.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def tf():
    return importlib.import_module(PEER)


@pytest.fixture(scope="session")
def is_plimsoll():
    return PEER == "plimsoll"


class Program:
    """Runs text in a Python of its own, where `tf` is the module under test."""

    def __init__(self, folder):
        self._folder = folder
        self._num = 0

    def __call__(self, text, env=None, arguments=(), options=(), check=True, timeout=120):
        self._num += 1
        file = self._folder / f"program{self._num}.py"
        file.write_text(f"import {PEER} as tf\n{text}", encoding="utf-8")
        return self.file(file, env, arguments, options, check, timeout)

    def file(self, file, env=None, arguments=(), options=(), check=True, timeout=120):
        environment = {**os.environ, "PYTHONPATH": str(BUILT), "PYTHONDONTWRITEBYTECODE": "1",
                       **(env or {})}
        done = subprocess.run([sys.executable, *options, str(file), *map(str, arguments)],
                              env=environment, capture_output=True, text=True, timeout=timeout,
                              check=False)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)
