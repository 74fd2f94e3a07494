"""Holds the op table's results, as oracle_dump writes them, against the real TensorFlow: one test per op, for
calls one by one and for functions, which have to give the same bits.

Every op needs a row in tensorflow_*.py: how TensorFlow computes the same. Values are compared in every dtype that
TensorFlow has a kernel for, gradients in float64. Run by `scripts/test --oracle`.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import pytest
import tensorflow as tf

import tensorflow_attention
import tensorflow_linalg
import tensorflow_ops
import tensorflow_picks
import tensorflow_rnn
import tensorflow_windows

MODULES = [tensorflow_ops, tensorflow_picks, tensorflow_rnn, tensorflow_windows, tensorflow_linalg, tensorflow_attention]
OPS = {name: how for module in MODULES for name, how in module.OPS.items()}
INTERNAL = {name for module in MODULES for name in getattr(module, "INTERNAL", ())}

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("PLIMSOLL_ORACLE_DUMP", ROOT / "build/release/bin/oracle_dump"))

# How far two results may be apart, relative to their size.
TOLERANCE = {"float32": 4e-6, "float64": 1e-11, "float16": 4e-3, "bfloat16": 3.2e-2}

# Where nan, infinities or signs of zero come out otherwise here, and why that is meant.
OTHER_SPECIAL_VALUES = {
    "BatchNormInference": "TensorFlow multiplies out, and makes inf - inf of a mean",
    "DepthwiseConv2D": "TensorFlow multiplies the padding by the kernel too, which is nan for an infinite one",
    "Erf": "TensorFlow's erf(inf) is nan in float64",
    "Gelu": "by erf",
    "MaxPool2D": "TensorFlow loses a nan or not, by its place in the window; here it stays",
    "RandomPoisson": "TensorFlow never ends for a rate of nan",
    "Resize": "TensorFlow's bilinear multiplies by weights of zero too, which is nan for an infinite pixel",
    "SegmentMax": "TensorFlow loses a nan or not, by its place; here it stays",
    "SegmentMin": "as SegmentMax",
    "TensorScatterMax": "as SegmentMax",
    "TensorScatterMin": "as SegmentMax",
    "TopK": "TensorFlow's order is none as soon as there is a nan",
    **tensorflow_linalg.OTHER_SPECIAL_VALUES,
}


class Data:
    def __init__(self, folder):
        self.bytes = (folder / "data.bin").read_bytes()

    def array(self, spec):
        if spec is None:
            return None
        name = spec["dtype"]
        dtype = tf.bfloat16.as_numpy_dtype if name == "bfloat16" else np.dtype(name)
        count = int(np.prod(spec["shape"], dtype=np.int64))
        flat = np.frombuffer(self.bytes, dtype=dtype, count=count, offset=spec["offset"]) if count else np.empty(0, dtype)
        return flat.reshape(spec["shape"])


def difference(got, wanted, tolerance):
    """What is wrong, in words; empty if they agree."""
    if list(got.shape) != list(wanted.shape):
        return f"shape {got.shape}, TensorFlow's {wanted.shape}"
    if got.dtype != wanted.dtype:
        return f"dtype {got.dtype}, TensorFlow's {wanted.dtype}"
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    close = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        close |= np.abs(a - b) <= tolerance * np.maximum(1, np.abs(b))
    if close.all():
        return ""
    at = tuple(np.argwhere(~close)[0])
    return f"{(~close).sum()} of {a.size} differ, first at {at}: {a[at]!r}, TensorFlow's {b[at]!r}"


def check(case, data):
    """Problems of one case, as a list of strings."""
    function = OPS[case["op"]]
    inputs = [tf.constant(data.array(spec)) for spec in case["in"]]
    tolerance = TOLERANCE.get(case["dtype"], 0) * case["tolerance"]
    with tf.GradientTape() as tape:
        for t in inputs:
            if t.dtype.is_floating:
                tape.watch(t)
        outputs = function(case["attrs"], *inputs)
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        if case["op"] in tensorflow_linalg.ALIGN:
            outputs = tensorflow_linalg.ALIGN[case["op"]](outputs, [data.array(spec) for spec in case["out"]])
        target = None
        for t, spec in zip(outputs, case.get("weights", [])):
            if spec is not None:
                part = tf.reduce_sum(t * data.array(spec))
                target = part if target is None else target + part
    problems = []
    for i, (t, spec) in enumerate(zip(outputs, case["out"], strict=True)):
        problem = difference(data.array(spec), t.numpy(), tolerance)
        if problem:
            problems.append(f"output {i}: {problem}")
    if target is not None:
        floats = [i for i, t in enumerate(inputs) if t.dtype.is_floating]
        for i, wanted in zip(floats, tape.gradient(target, [inputs[i] for i in floats])):
            got = data.array(case["grad"][i])
            if got is None or wanted is None:
                if (got is None) != (wanted is None) and np.any(got if wanted is None else wanted):
                    problems.append(f"gradient {i}: connected only {'here' if wanted is None else 'in TensorFlow'}")
                continue
            wanted = tf.convert_to_tensor(wanted).numpy()
            if not any(tf.size(t) for t in outputs):  # TensorFlow's is whatever stood in its memory, for some ops
                wanted = np.zeros_like(wanted)
            problem = difference(got, wanted, 1e-9)
            if problem:
                problems.append(f"gradient {i}: {problem}")
    return problems


def is_unsupported(error):
    """Whether TensorFlow has no kernel for this dtype: then there is nothing to compare with."""
    text = str(error)
    return any(words in text for words in ("Could not find device for node", "allowed values", "No registered",
                                           "The input data type is not supported"))


def load(mode):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([PROGRAM, folder, mode], check=True, stdout=subprocess.DEVNULL)
        lines = (folder / "cases.jsonl").read_text().splitlines()
        data = Data(folder)
    cases = {}
    for line in lines:
        case = json.loads(line)
        cases.setdefault(case["op"], []).append(case)
    return cases, data


MODES = ["eager", "function"]  # called one by one, or traced and run by plan
CASES, DATA = {}, {}
for loaded in MODES:
    CASES[loaded], DATA[loaded] = load(loaded)
NAMES = CASES["eager"].keys()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", sorted(NAMES - INTERNAL))
def test_op(op, mode):
    assert op in OPS, f"{op} has no row in tensorflow_*.py"
    problems = []
    compared = 0
    for case in CASES[mode][op]:
        if case["case"] == "special_values" and op in OTHER_SPECIAL_VALUES:
            continue
        try:
            found = check(case, DATA[mode])
        except (tf.errors.OpError, TypeError) as e:
            if is_unsupported(e):
                continue
            found = [f"TensorFlow refuses: {e}"]
        compared += 1
        problems += [f"{case['case']}/{case['dtype']}: {problem}" for problem in found]
    assert not problems, "\n".join(problems)
    assert compared, "TensorFlow has no kernel for any case"


@pytest.mark.parametrize("op", sorted(NAMES))
def test_functions_keep_every_bit(op):
    for alone, planned in zip(CASES["eager"][op], CASES["function"][op], strict=True):
        for part in ("in", "out", "grad"):
            pairs = zip(alone.get(part, []), planned.get(part, []), strict=True)
            for i, (a, b) in enumerate(pairs):
                a, b = DATA["eager"].array(a), DATA["function"].array(b)
                assert (a is None) == (b is None) and (a is None or a.tobytes() == b.tobytes()), (
                    f"{alone['case']}/{alone['dtype']}: {part} {i}")


def test_internal_ops_exist():
    assert INTERNAL <= NAMES
