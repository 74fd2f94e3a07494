"""The eager cases in TensorFlow or PyTorch from Python, as a peer process of bench_eager.

    eager_peers.py tensorflow|torch

Answers "case iterations" lines with "seconds checksum"; see bench/peer_process.h.
"""

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np


def numbers(*shape):
    n = int(np.prod(shape))
    return ((np.arange(n, dtype=np.int64) * 7919 % 1000) / 500.0 - 1.0).astype(np.float32).reshape(shape)


def tensorflow_cases():
    import tensorflow as tf

    t = lambda *shape: tf.constant(numbers(*shape))
    small, eight, large = t(4, 4), t(8, 8), t(16384, 1024)

    def tape():
        with tf.GradientTape() as tape:
            tape.watch(small)
            y = small
            for _ in range(100):
                y = tf.add(y, small)
        return tape.gradient(y, small)

    def matmul(n):
        x = t(n, n)
        return lambda: tf.matmul(x, x)

    def conv(channels, kernel):
        x, w, dy = t(16, 56, 56, channels), t(kernel, kernel, channels, 64), t(16, 56, 56, 64)
        attrs = dict(strides=[1, 1, 1, 1], padding="SAME")
        return {
            "": lambda: tf.nn.conv2d(x, w, 1, "SAME"),
            "_input": lambda: tf.raw_ops.Conv2DBackpropInput(input_sizes=x.shape, filter=w, out_backprop=dy, **attrs),
            "_filter": lambda: tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=w.shape, out_backprop=dy, **attrs),
        }

    gamma, beta = tf.ones([1024]), tf.zeros([1024])

    def layer_norm():
        mean, variance = tf.nn.moments(large, [-1], keepdims=True)
        return tf.nn.batch_normalization(large, mean, variance, beta, gamma, 1e-3)

    # Attention is left out: with 8192 places TensorFlow makes several tensors of 1 GiB for its probabilities.
    cases = {
        "add": lambda: tf.add(small, small),
        "matmul_8": lambda: tf.matmul(eight, eight),
        "reshape": lambda: tf.reshape(small, [16]),
        "tape_100": tape,
        "matmul_1024": matmul(1024),
        "matmul_4096": matmul(4096),
        "softmax": lambda: tf.nn.softmax(large),
        "layer_norm": layer_norm,
        "gelu": lambda: tf.nn.gelu(large),
        "normal": lambda: tf.random.normal([16384, 1024]),
    }
    for name, made in (("conv3x3", conv(64, 3)), ("conv1x1", conv(256, 1))):
        cases.update({name + suffix: f for suffix, f in made.items()})
    return cases, lambda x: float(np.abs(x.numpy().astype(np.float64)).sum())


def torch_cases():
    import torch

    small, eight = torch.from_numpy(numbers(4, 4)), torch.from_numpy(numbers(8, 8))
    watched = small.clone().requires_grad_(True)

    def tape():
        y = watched
        for _ in range(100):
            y = torch.add(y, watched)
        return torch.autograd.grad(y.sum(), watched)[0]

    cases = {
        "add": lambda: torch.add(small, small),
        "matmul_8": lambda: torch.matmul(eight, eight),
        "reshape": lambda: torch.reshape(small, (16,)),
        "tape_100": tape,
    }
    return cases, lambda x: float(x.detach().double().abs().sum())


def main():
    try:
        cases, checksum = {"tensorflow": tensorflow_cases, "torch": torch_cases}[sys.argv[1]]()
    except (ImportError, OSError) as e:
        print(f"{sys.argv[1]} cannot be imported: {e}".splitlines()[0], flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        name, iterations = line.split()
        if name not in cases:
            print("unknown", flush=True)
            continue
        f = cases[name]
        f()  # warm
        start = time.perf_counter()
        for _ in range(int(iterations)):
            out = f()
        print(time.perf_counter() - start, checksum(out), flush=True)


if __name__ == "__main__":
    main()
