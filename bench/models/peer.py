"""One model in TensorFlow or PyTorch, as a peer process of bench_models.

    peer.py tensorflow|torch|torch_channels_last MODEL BATCH OPTIMIZER DROPOUT THREADS

Answers the requests that bench/models/serve.h lists.
"""

import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def status_bytes(name):
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(name):
                return int(line.split()[1]) * 1024
    return 0


def process_seconds():
    """Since the kernel started this process."""
    with open("/proc/self/stat", encoding="ascii") as file:
        ticks = int(file.read().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def main():
    framework, model, batch, optimizer, dropout, threads = sys.argv[1:]
    try:
        if framework == "tensorflow":
            import peer_tensorflow as peer
        else:
            import peer_torch as peer
        peer.set_threads(int(threads))
    except (ImportError, OSError) as e:
        print(f"{framework} cannot be imported: {e}".splitlines()[0], flush=True)
        return
    imported = process_seconds(), status_bytes("VmRSS")
    print("ready", flush=True)
    step = to_float = None
    for line in sys.stdin:
        request, num = line.split()
        start = time.perf_counter()
        if request == "import":
            print(*imported, flush=True)
        elif request == "model":
            variant = framework.removeprefix("torch_")
            step, to_float = peer.make_step(model, int(batch), optimizer, float(dropout), variant)
            print(time.perf_counter() - start, 0, flush=True)
        elif request == "step" and step:
            for _ in range(int(num)):
                loss = step()
            loss = to_float(loss)
            print(time.perf_counter() - start, loss, flush=True)
        elif request == "cpu":
            print(time.process_time(), 0, flush=True)
        elif request == "memory":
            print(status_bytes("VmHWM"), status_bytes("VmRSS"), flush=True)
        else:
            print("unknown", flush=True)


if __name__ == "__main__":
    main()
