"""Drives build/release/bin/keras_server, which answers as Keras would, one request a line."""

import base64
import json
import os
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("PLIMSOLL_KERAS_SERVER", ROOT / "build/release/bin/keras_server"))


def encode(value):
    """Arrays become tensors; lists, tuples, dictionaries and None keep their form."""
    if value is None:
        return None
    if isinstance(value, dict):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    array = np.asarray(value)
    shape = list(array.shape)
    if array.dtype.kind in "OSU":
        words = [w.decode() if isinstance(w, bytes) else str(w) for w in array.reshape(-1)]
        return {"dtype": "string", "shape": shape, "data": words}
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": str(array.dtype), "shape": shape, "data": data}


def decode(value):
    if value is None:
        return None
    if isinstance(value, list):
        return [decode(item) for item in value]
    if "data" not in value:
        return {key: decode(item) for key, item in value.items()}
    if value["dtype"] == "string":
        return np.array(value["data"], dtype=object).reshape(value["shape"])
    dtype = "float32" if value["dtype"] == "bfloat16" else value["dtype"]
    return np.frombuffer(base64.b64decode(value["data"]), dtype=dtype).reshape(value["shape"])


class Refused(Exception):
    """What the server answers to a request that is an error; `name` is the class."""

    def __init__(self, name, message):
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


class Server:
    def __init__(self):
        self.process = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)

    def ask(self, do, **request):
        self.process.stdin.write(json.dumps({"do": do, **request}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        while line and not line.startswith("{"):  # what callbacks print
            line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"keras_server ended with {self.process.wait()} on '{do}'")
        reply = json.loads(line)
        if "error" in reply:
            raise Refused(reply["error"], reply["message"])
        return reply

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def config_of(keras_object):
    """A Keras object's configuration as JSON has it: tuples are lists. Without the shapes for which layers
    inside were built, which are no part of what get_config gives."""
    import keras

    def without_build(value):
        if isinstance(value, dict):
            return {key: without_build(item) for key, item in value.items() if key != "build_config"}
        return [without_build(item) for item in value] if isinstance(value, list) else value

    return without_build(json.loads(json.dumps(keras.saving.serialize_keras_object(keras_object))))
