"""Gradients of whole models: those in float32 here are as near to float64 as TensorFlow's in float32 are.

Deep networks with batch norm make much of small errors: ResNet-50's losses differ from TensorFlow's in the fourth digit after
three steps. What tells a wrong gradient from an unlucky one is how far both are from the same step in float64.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pytest
import tensorflow as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(
    os.environ.get("PLIMSOLL_ORACLE_DUMP", ROOT / "build/release/bin/oracle_dump")).with_name("gradients_dump")
sys.path.insert(0, str(ROOT / "bench/models"))

from networks import NETWORKS, batch_of  # noqa: E402
from peer_tensorflow import TensorFlowNet  # noqa: E402


class Float64Net(TensorFlowNet):
    """The same weights and layers in float64."""

    def variable(self, value, name, trainable=True):
        return tf.Variable(value.astype(np.float64), trainable=trainable, name=name)

    def batch_norm(self, x, name, channels):
        gamma, beta = self.norm_weights(name, channels)
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-5)


def tensorflow_gradients(net, dtype, model, batch):
    x, y = batch_of(model, batch)
    x = tf.constant(x.astype(dtype))
    with tf.GradientTape() as tape:
        logits = NETWORKS[model][0](net, x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    gradients = tape.gradient(loss, list(net.weights.values()))
    return {name: g.numpy().astype(np.float64).ravel() for name, g in zip(net.weights, gradients)}


def own_gradients(model, batch):
    with tempfile.NamedTemporaryFile() as file:
        lines = subprocess.run([PROGRAM, file.name, model, str(batch)], check=True, capture_output=True, text=True).stdout
        values = np.fromfile(file.name, dtype=np.float32).astype(np.float64)
    gradients, at = {}, 0
    for line in lines.splitlines():
        name, count = line.rsplit(" ", 1)
        gradients[name] = values[at:at + int(count)]
        at += int(count)
    return gradients


def errors(gradients, exact):
    """Of each gradient, relative to its own size."""
    return {name: np.linalg.norm(gradients[name] - g) / np.linalg.norm(g) for name, g in exact.items()}


@pytest.mark.parametrize("model,batch", [("cnn", 4), ("transformer", 2), ("lstm", 4), ("mobilenet_v2", 4), ("resnet50", 4)])
def test_gradients_are_as_exact_as_tensorflows(model, batch):
    exact = tensorflow_gradients(Float64Net(0), np.float64, model, batch)
    ours = errors(own_gradients(model, batch), exact)
    theirs = errors(tensorflow_gradients(TensorFlowNet(0), np.float32, model, batch), exact)
    assert ours.keys() == theirs.keys()
    print(f"{model}: {len(exact)} gradients, median error {np.median(list(ours.values())):.2e}, "
          f"TensorFlow's {np.median(list(theirs.values())):.2e}; "
          f"largest {max(ours.values()):.2e}, TensorFlow's {max(theirs.values()):.2e}")
    ratios = {name: ours[name] / theirs[name] for name in exact}
    worst = max(ratios, key=ratios.get)
    assert np.median(list(ratios.values())) <= 1.1
    assert ratios[worst] <= 2, f"{worst} is off by {ours[worst]}, TensorFlow's by {theirs[worst]}"
