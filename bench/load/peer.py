"""A peer of bench_load: one process, one prediction.

    peer.py make FOLDER          writes resnet50.h5 and resnet50.pt there, unless they are there
    peer.py tensorflow FILE      loads the model, predicts one image, prints what measure.cpp reads
    peer.py torch FILE

Prints "result CHECKSUM PEAK_RSS_BYTES".
"""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def image():
    """As load.cpp makes it."""
    import numpy as np

    return (np.arange(224 * 224 * 3) * 37 % 256).astype("float32").reshape(1, 224, 224, 3)


def report(y):
    """Called with the probabilities of the one image."""
    import numpy as np

    y = np.asarray(y).reshape(-1).astype("float64")
    checksum = float((y * np.arange(1, len(y) + 1)).sum())
    with open("/proc/self/status", encoding="ascii") as file:
        peak = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))
    print(f"result {checksum:.9g} {peak}", flush=True)
    os._exit(0)  # what an interpreter takes to end is not looked at


def make_keras(path):
    import keras
    import numpy as np

    rng = np.random.default_rng(5)
    keras.utils.set_random_seed(5)
    model = keras.applications.ResNet50(weights=None)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.0
            layer.gamma.assign(rng.uniform(0.7, 1.3, layer.gamma.shape))
            layer.beta.assign(rng.normal(0, 0.3, layer.beta.shape))
    model(rng.uniform(0, 255, (4, 224, 224, 3)).astype("float32"), training=True)  # its statistics
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.momentum = 0.99
    part = path.with_suffix(".part.h5")
    model.save(part)
    os.replace(part, path)


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "resnet50.h5").exists():
        make_keras(folder / "resnet50.h5")
    if not (folder / "resnet50.pt").exists():
        import torch
        from torch_resnet50 import ResNet50

        torch.manual_seed(5)
        torch.save(ResNet50().state_dict(), folder / "resnet50.part.pt")
        os.replace(folder / "resnet50.part.pt", folder / "resnet50.pt")


def run_tensorflow(path):
    import keras

    model = keras.models.load_model(path, compile=False)
    report(model(image(), training=False))


def run_torch(path):
    import torch
    from torch_resnet50 import ResNet50

    with torch.device("meta"):
        model = ResNet50()
    model.load_state_dict(torch.load(path, weights_only=True), assign=True)
    model.eval()
    with torch.inference_mode():
        x = torch.from_numpy(image()).permute(0, 3, 1, 2)
        report(torch.softmax(model(x), 1))


def main():
    what, path = sys.argv[1], sys.argv[2]
    if what == "make":
        make(pathlib.Path(path))
    elif what == "tensorflow":
        run_tensorflow(path)
    elif what == "torch":
        run_torch(path)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
