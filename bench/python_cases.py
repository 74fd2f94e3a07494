"""One measurement of the Python front or of a peer, in a process of its own.

    python_cases.py import plimsoll|tensorflow|torch|numpy|both      (both: numpy, then plimsoll)
    python_cases.py ops plimsoll|tensorflow|torch
    python_cases.py step plimsoll|tensorflow|torch       (process start to the end of a training step)

Prints a JSON object.
"""

import json
import os
import resource
import sys
import time

BEGIN = time.perf_counter()
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_import(name):
    for module in ("numpy", "plimsoll") if name == "both" else (name,):
        __import__(module)
    return {"ms": (time.perf_counter() - BEGIN) * 1e3, "rss_mb": rss_mb()}


def nanoseconds(call, calls=5000, rounds=7):
    for _ in range(200):
        call()
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - begin) / calls)
    return best * 1e9


def torch_ops():
    import torch
    torch.set_num_threads(1)
    a, m = torch.ones(4), torch.ones(4, 4)
    return {"a + b": lambda: a + a, "a + 1.0": lambda: a + 1.0, "add(a, b)": lambda: torch.add(a, a),
            "matmul": lambda: torch.matmul(m, m), "reduce_sum": lambda: torch.sum(a),
            "relu": lambda: torch.relu(a)}


def tensorflow_ops(tf):
    a, m = tf.ones([4]), tf.ones([4, 4])
    return {"a + b": lambda: a + a, "a + 1.0": lambda: a + 1.0, "add(a, b)": lambda: tf.add(a, a),
            "matmul": lambda: tf.matmul(m, m), "reduce_sum": lambda: tf.reduce_sum(a),
            "relu": lambda: tf.nn.relu(a)}


def measure_ops(name):
    ops = torch_ops() if name == "torch" else tensorflow_ops(__import__(name))
    return {what: nanoseconds(call) for what, call in ops.items()}


def torch_step():
    import torch
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                              torch.nn.Linear(16 * 14 * 14, 10))
    x, y = torch.ones(32, 3, 16, 16), torch.zeros(32, dtype=torch.long)
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    torch.optim.SGD(net.parameters(), 0.01).step()
    return float(loss)


def tensorflow_step(tf):
    k = tf.Variable(tf.random.normal([3, 3, 3, 16], stddev=0.1))
    w = tf.Variable(tf.random.normal([16 * 14 * 14, 10], stddev=0.01))

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.nn.conv2d(x, k, 1, "VALID"))
            logits = tf.matmul(tf.reshape(h, [32, -1]), w)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        dk, dw = tape.gradient(loss, [k, w])
        k.assign_sub(0.01 * dk)
        w.assign_sub(0.01 * dw)
        return loss

    return float(step(tf.ones([32, 16, 16, 3]), tf.zeros([32], tf.int32)))


def measure_step(name):
    loss = torch_step() if name == "torch" else tensorflow_step(__import__(name))
    return {"ms": (time.perf_counter() - BEGIN) * 1e3, "loss": loss}


if __name__ == "__main__":
    kind, peer = sys.argv[1:]
    print(json.dumps({"import": measure_import, "ops": measure_ops, "step": measure_step}[kind](peer)))
