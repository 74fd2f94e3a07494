#!/usr/bin/env python3
"""Saves an application of Keras whose results depend on every weight, and what TensorFlow makes of it.

    keras_fixture.py NAME OUTDIR

OUTDIR gets NAME.h5, NAME.keras and NAME.npz, by whichever Keras is installed: 3, or 2 with TensorFlow 2.15. Fresh
weights would prove little: most applications then give the same number for every class. So scales, biases and
statistics are random or come from data, and it is checked that single weights matter. Dropout is set to 0, so that a
step of training can be repeated. NAME.npz holds

    x, y, label     images, the model's output, classes
    logits          what the last softmax is given
    w0, w1, ...     the weights, layer by layer
    loss, t0, ...   the loss of one step of SGD(RATE), and the weights after it
    layers, l0, ... for those in WITH_LAYERS: names of layers and their outputs for the first image
    true_loss, d0, ...
                    loss and weights of that step computed in float64
    own_logits, own_layers
                    by how much TensorFlow differs from itself without oneDNN, measured as difference() does
"""

import os
import pathlib
import subprocess
import sys
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np

RATE = 0.1
WITH_LAYERS = {"MobileNetV2"}
NUM_PROBES = 6  # weights that are changed, to see that they matter


def difference(ours, theirs):
    """The largest difference, relative to the spread of the values."""
    ours, theirs = np.asarray(ours, "f8"), np.asarray(theirs, "f8")
    return float(np.max(np.abs(ours - theirs), initial=0) / max(np.std(theirs), 1e-12))


def step_differences(before, ours, theirs):
    """The same for what a step has changed, by weight: the norm of the difference by that of the change. Some gradients
    are rounding alone, as those of a bias before batch normalisation: changes far below the usual ones count as such."""
    def norm(a, b):
        return np.sqrt(np.mean(np.square(a.astype("f8") - b)))

    sizes = [norm(t, b) for b, t in zip(before, theirs)]
    usual = 1e-2 * np.median([s for s in sizes if s > 0])
    return np.array([norm(o, t) / max(size, usual) for o, t, size in zip(ours, theirs, sizes)])


def flat_layers(model):
    for layer in model.layers:
        if hasattr(layer, "layers"):
            yield from flat_layers(layer)
        else:
            yield layer


def weights_of(model):
    return [w for layer in model.layers for w in layer.weights]


def values_of(weights):
    return [np.asarray(w.numpy()) for w in weights]


def make_model(name):
    import keras

    keras.utils.set_random_seed(zlib.crc32(name.encode()) % 10000)
    model = getattr(keras.applications, name)(weights=None)
    for layer in flat_layers(model):
        if type(layer).__name__ == "Dropout":
            layer.rate = 0
    return model


def randomise(model, rng):
    for layer in flat_layers(model):
        kind = type(layer).__name__
        if kind in ("BatchNormalization", "LayerNormalization"):
            if layer.gamma is not None:
                layer.gamma.assign(rng.uniform(0.7, 1.3, layer.gamma.shape))
            if layer.beta is not None:
                layer.beta.assign(rng.normal(0, 0.3, layer.beta.shape))
        elif kind == "LayerScale":
            layer.gamma.assign(rng.uniform(0.1, 0.5, layer.gamma.shape))
        elif kind == "Normalization" and hasattr(layer, "adapt_mean"):  # else its statistics are given
            layer.adapt_mean.assign(rng.uniform(0.3, 0.6, layer.adapt_mean.shape))
            layer.adapt_variance.assign(rng.uniform(0.04, 0.09, layer.adapt_variance.shape))
            layer.finalize_state()
        elif getattr(layer, "bias", None) is not None:
            layer.bias.assign(rng.normal(0, 0.05, layer.bias.shape))


def take_statistics(model, images):
    """Moving averages become those of a batch."""
    normalisations = [layer for layer in flat_layers(model) if type(layer).__name__ == "BatchNormalization"]
    momenta = [layer.momentum for layer in normalisations]
    for layer in normalisations:
        layer.momentum = 0.0
    model(images, training=True)
    for layer, momentum in zip(normalisations, momenta):
        layer.momentum = momentum


def logits_of(model, x):
    last = model.layers[-1]
    activation = last.activation
    assert activation.__name__ == "softmax", activation
    last.activation = lambda values: values
    try:
        return np.asarray(model(x, training=False))
    finally:
        last.activation = activation


def check_sensitivity(model, x, logits, rng):
    """Returns the smallest difference that the change of a weight makes."""
    weights = model.trainable_weights
    changes = []
    for k in rng.choice(len(weights), min(NUM_PROBES, len(weights)), replace=False):
        value = weights[k].numpy()
        weights[k].assign(value * 1.05 + 0.01)
        changes.append(difference(logits_of(model, x), logits))
        weights[k].assign(value)
    return min(changes)


def layer_outputs(model, x):
    import keras

    layers = [layer for layer in model.layers if type(layer).__name__ != "InputLayer"]
    values = keras.Model(model.inputs, [layer.output for layer in layers])(x[:1], training=False)
    return [layer.name for layer in layers], [np.asarray(v) for v in values]


def train(model, x, label):
    import keras

    model.compile(optimizer=keras.optimizers.SGD(RATE), loss="sparse_categorical_crossentropy")
    loss = model.train_on_batch(x, label)
    return float(loss[0] if isinstance(loss, list) else loss), values_of(weights_of(model))


def make(name, out):
    """In the first process: model, files and values."""
    rng = np.random.default_rng(7)
    model = make_model(name)
    size = [d or 224 for d in model.inputs[0].shape[1:]]
    randomise(model, rng)
    take_statistics(model, rng.uniform(0, 255, [4, *size]).astype("f4"))
    x = rng.uniform(0, 255, [2, *size]).astype("f4")
    label = rng.integers(0, model.outputs[0].shape[-1], len(x)).astype("i4")
    logits = logits_of(model, x)
    weakest = check_sensitivity(model, x, logits, rng)
    if not weakest > 1e-4:
        sys.exit(f"{name}: a changed weight moves the logits by only {weakest:.1e}; the fixture proves nothing")
    for ending in ("h5", "keras"):
        model.save(f"{out}/{name}.{ending}")
    made = dict(x=x, y=np.asarray(model(x, training=False)), label=label, logits=logits)
    made |= {f"w{i}": value for i, value in enumerate(values_of(weights_of(model)))}
    if name in WITH_LAYERS:
        names, values = layer_outputs(model, x)
        made |= {"layers": np.array(names), **{f"l{i}": value for i, value in enumerate(values)}}
    loss, trained = train(model, x, label)
    made |= {"loss": loss, **{f"t{i}": value for i, value in enumerate(trained)}}
    np.savez(f"{out}/{name}.part.npz", **made)
    print(f"{name}: the weakest of {NUM_PROBES} changes of a weight moves the logits by {weakest:.1e}")


def numbered(arrays, letter):
    names = [key for key in arrays if key[0] == letter and key[1:].isdigit()]
    return [arrays[key] for key in sorted(names, key=lambda key: int(key[1:]))]


def remake(name, weights):
    model = make_model(name)
    for weight, value in zip(weights_of(model), weights):
        weight.assign(value)
    for layer in flat_layers(model):
        if type(layer).__name__ == "Normalization":
            layer.finalize_state()
    return model


def add_own_differences(name, made):
    """In the second process, without oneDNN: the same model again."""
    model = remake(name, numbered(made, "w"))
    made["own_logits"] = difference(logits_of(model, made["x"]), made["logits"])
    if "layers" in made:
        _, values = layer_outputs(model, made["x"])
        made["own_layers"] = np.array([difference(a, b) for a, b in zip(values, numbered(made, "l"))])
    print(f"{name}: TensorFlow differs from itself by {made['own_logits']:.1e} in logits")


def add_truth(name, made):
    """In the third process: the step in float64."""
    import keras

    keras.backend.set_floatx("float64")
    before = numbered(made, "w")
    loss, trained = train(remake(name, before), made["x"].astype("f8"), made["label"])
    made |= {"true_loss": loss, **{f"d{i}": value for i, value in enumerate(trained)}}
    off = step_differences(before, numbered(made, "t"), trained)
    print(f"{name}: what a step changes is off by {off.max():.1e} at most, {np.median(off):.1e} usually, in float32")


STAGES = {"--without-onednn": add_own_differences, "--in-float64": add_truth}


def main():
    name, out = sys.argv[1], sys.argv[2]
    part = f"{out}/{name}.part.npz"
    if sys.argv[3:]:
        with np.load(part) as file:
            made = dict(file)
        STAGES[sys.argv[3]](name, made)
        return np.savez(part, **made)
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "1"
    make(name, out)
    for stage in STAGES:
        subprocess.run([sys.executable, __file__, name, out, stage], check=True,
                       env=os.environ | {"TF_ENABLE_ONEDNN_OPTS": "0"})
    os.replace(part, f"{out}/{name}.npz")


if __name__ == "__main__":
    main()
