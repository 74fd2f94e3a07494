"""A model in one framework, written in Python, as a process that takes steps when it is asked to.

    python_models.py plimsoll|tensorflow|torch MODEL BATCH

The models of bench/models: in Plimsoll and TensorFlow of Keras's layers, with train_on_batch, the same text for both;
in PyTorch bench/models/peer_torch.py. Prints "ready"; for each line "N" of its input it takes N steps and prints the
seconds and the loss.
"""

import os
import pathlib
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, str(pathlib.Path(__file__).parent / "models"))


def mlp(keras, x):
    layers = keras.layers
    x = layers.Dense(512, activation="relu")(x)
    x = layers.Dense(512, activation="relu")(x)
    return layers.Dense(10)(x)


def cnn(keras, x):
    layers = keras.layers
    x = layers.MaxPooling2D(2)(layers.Conv2D(32, 3, activation="relu")(x))
    x = layers.MaxPooling2D(2)(layers.Conv2D(64, 3, activation="relu")(x))
    return layers.Dense(10)(layers.Dropout(0.5)(layers.Flatten()(x)))


def lstm(keras, x):
    return keras.layers.Dense(10)(keras.layers.LSTM(256)(x))


def transformer(keras, x):
    layers = keras.layers
    for _ in range(4):
        y = layers.LayerNormalization()(x)
        x = layers.Add()([x, layers.MultiHeadAttention(4, 64)(y, y)])
        y = layers.Dense(1024, activation="gelu")(layers.LayerNormalization()(x))
        x = layers.Add()([x, layers.Dense(256)(y)])
    return layers.Dense(10)(layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x)))


def conv_norm(keras, x, filters, size, strides=1, activation=None, depthwise=False):
    layers = keras.layers
    options = {"strides": strides, "padding": "same", "use_bias": False}
    conv = layers.DepthwiseConv2D(size, **options) if depthwise else layers.Conv2D(filters, size, **options)
    x = layers.BatchNormalization()(conv(x))
    return layers.Activation(activation)(x) if activation else x


def resnet50(keras, x):
    layers = keras.layers
    x = layers.MaxPooling2D(3, 2, padding="same")(conv_norm(keras, x, 64, 7, 2, "relu"))
    for stage, depth in enumerate([3, 4, 6, 3]):
        width = 64 << stage
        for i in range(depth):
            strides = 2 if i == 0 and stage > 0 else 1
            y = conv_norm(keras, x, width, 1, 1, "relu")
            y = conv_norm(keras, y, width, 3, strides, "relu")
            y = conv_norm(keras, y, 4 * width, 1)
            if i == 0:
                x = conv_norm(keras, x, 4 * width, 1, strides)
            x = layers.Activation("relu")(layers.Add()([x, y]))
    return layers.Dense(1000)(layers.GlobalAveragePooling2D()(x))


def mobilenet_v2(keras, x):
    layers = keras.layers
    x = conv_norm(keras, x, 32, 3, 2, "relu6")
    num = 32
    for factor, filters, repeats, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                            (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeats):
            strides = first if i == 0 else 1
            y = x if factor == 1 else conv_norm(keras, x, num * factor, 1, 1, "relu6")
            y = conv_norm(keras, y, None, 3, strides, "relu6", depthwise=True)
            y = conv_norm(keras, y, filters, 1)
            x = layers.Add()([x, y]) if strides == 1 and num == filters else y
            num = filters
    x = conv_norm(keras, x, 1280, 1, 1, "relu6")
    return layers.Dense(1000)(layers.GlobalAveragePooling2D()(x))


MODELS = {f.__name__: f for f in (mlp, cnn, lstm, transformer, mobilenet_v2, resnet50)}


def keras_step(keras, name, batch):
    from networks import NETWORKS, batch_of
    keras.utils.set_random_seed(1)
    inputs = keras.Input(tuple(NETWORKS[name][1]))
    model = keras.Model(inputs, MODELS[name](keras, inputs))
    model.compile(keras.optimizers.SGD(0.001, momentum=0.9),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    x, y = batch_of(name, batch)
    return lambda: float(model.train_on_batch(x, y))


def torch_step(name, batch):
    import peer_torch
    peer_torch.set_threads(os.cpu_count())
    step, to_float = peer_torch.make_step(name, batch, "sgd", 0.5 if name == "cnn" else 0, "channels_last")
    return lambda: to_float(step())


def main():
    framework, name, batch = sys.argv[1:]
    if framework == "torch":
        step = torch_step(name, int(batch))
    else:
        step = keras_step(__import__(framework).keras, name, int(batch))
    print("ready", flush=True)
    for line in sys.stdin:
        begin = time.perf_counter()
        for _ in range(int(line)):
            loss = step()
        print(time.perf_counter() - begin, loss, flush=True)


if __name__ == "__main__":
    main()
