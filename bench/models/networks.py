"""The networks of bench/models/networks.cpp, over the layers of one framework.

`net` is TensorFlowNet or TorchNet: both make a layer's weights when they first see its name.
"""

import math

from values import labels, uniform


class Net:
    """What the frameworks' layers have in common: weights by name, with the values of networks.cpp."""

    def __init__(self, dropout):
        self.weights = {}  # trainable, by name
        self.state = {}  # moving averages
        self.dropout_rate = dropout

    def get(self, name, shape, limit):
        if name not in self.weights:
            self.weights[name] = self.variable(uniform(name, shape, limit), name)
        return self.weights[name]

    def get_constant(self, name, channels, value, trainable=True):
        kept = self.weights if trainable else self.state
        if name not in kept:
            kept[name] = self.variable(uniform(name, [channels], 0) + value, name, trainable)
        return kept[name]

    def dense_weights(self, name, n_in, n_out):
        kernel = self.get(name + "/kernel", [n_in, n_out], math.sqrt(6 / n_in) / 2)
        return kernel, self.get_constant(name + "/bias", n_out, 0)

    def lstm_weights(self, name, n_in, units):
        kernel = self.get(name + "/kernel", [n_in, 4 * units], math.sqrt(6 / n_in) / 2)
        recurrent = self.get(name + "/recurrent_kernel", [units, 4 * units], math.sqrt(6 / units) / 2)
        return kernel, recurrent, self.get_constant(name + "/bias", 4 * units, 0)

    def norm_weights(self, name, channels):
        return self.get_constant(name + "/gamma", channels, 1), self.get_constant(name + "/beta", channels, 0)

    def moving_averages(self, name, channels):
        return (self.get_constant(name + "/mean", channels, 0, trainable=False),
                self.get_constant(name + "/variance", channels, 1, trainable=False))

    def conv_kernel(self, name, size, n_in, n_out, depthwise):
        fan_in = size * size * (1 if depthwise else n_in)
        shape = [size, size, n_in, 1] if depthwise else [size, size, n_in, n_out]
        return self.get(name + "/kernel", shape, math.sqrt(6 / fan_in))


def mlp(net, x):
    x = net.relu(net.dense(x, "dense1", 784, 512))
    x = net.relu(net.dense(x, "dense2", 512, 512))
    return net.dense(x, "head", 512, 10)


def cnn(net, x):
    x = net.relu(net.conv(x, "conv1", 3, 1, 32, pad=0, bias=True))
    x = net.max_pool(x, 2, 2, pad=0)
    x = net.relu(net.conv(x, "conv2", 3, 32, 64, pad=0, bias=True))
    x = net.max_pool(x, 2, 2, pad=0)
    x = net.flatten(x)
    if net.dropout_rate:
        x = net.dropout(x)
    return net.dense(x, "head", 5 * 5 * 64, 10)


def conv_norm(net, x, name, size, n_in, n_out, **options):
    x = net.conv(x, name + "/conv", size, n_in, n_out, **options)
    return net.batch_norm(x, name + "/norm", n_out)


def resnet50(net, x):
    x = net.relu(conv_norm(net, x, "stem", 7, 3, 64, stride=2))
    x = net.max_pool(x, 3, 2, pad=1)
    n_in = 64
    for stage, depth in enumerate([3, 4, 6, 3]):
        width = 64 << stage
        for i in range(depth):
            name = f"block{stage + 1}_{i + 1}"
            stride = 2 if i == 0 and stage > 0 else 1
            y = net.relu(conv_norm(net, x, name + "/1", 1, n_in, width))
            y = net.relu(conv_norm(net, y, name + "/2", 3, width, width, stride=stride))
            y = conv_norm(net, y, name + "/3", 1, width, 4 * width)
            if i == 0:
                x = conv_norm(net, x, name + "/0", 1, n_in, 4 * width, stride=stride)
            x = net.relu(y + x)
            n_in = 4 * width
    return net.dense(net.global_average(x), "head", 2048, 1000)


def mobilenet_v2(net, x):
    x = net.relu6(conv_norm(net, x, "stem", 3, 3, 32, stride=2))
    n_in, number = 32, 0
    for factor, n_out, repeats, first_stride in [
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(repeats):
            number += 1
            name, wide = f"block{number}", n_in * factor
            stride = first_stride if i == 0 else 1
            y = x if factor == 1 else net.relu6(conv_norm(net, x, name + "/1", 1, n_in, wide))
            y = net.relu6(conv_norm(net, y, name + "/2", 3, wide, wide, stride=stride, depthwise=True))
            y = conv_norm(net, y, name + "/3", 1, wide, n_out)
            x = x + y if stride == 1 and n_in == n_out else y
            n_in = n_out
    x = net.relu6(conv_norm(net, x, "last", 1, n_in, 1280))
    return net.dense(net.global_average(x), "head", 1280, 1000)


def transformer(net, x):
    for i in range(4):
        name = f"layer{i + 1}"
        x = x + net.attention(net.layer_norm(x, name + "/norm1", 256), name + "/attention", 256, 4)
        y = net.gelu(net.dense(net.layer_norm(x, name + "/norm2", 256), name + "/wide", 256, 1024))
        x = x + net.dense(y, name + "/narrow", 1024, 256)
    return net.dense(net.mean_of_positions(net.layer_norm(x, "norm", 256)), "head", 256, 10)


def lstm(net, x):
    return net.dense(net.lstm(x, "lstm", 128, 256), "head", 256, 10)


# name: the network, the shape of one example, the number of classes
NETWORKS = {
    "mlp": (mlp, [784], 10),
    "cnn": (cnn, [28, 28, 1], 10),
    "transformer": (transformer, [128, 256], 10),
    "lstm": (lstm, [64, 128], 10),
    "mobilenet_v2": (mobilenet_v2, [224, 224, 3], 1000),
    "resnet50": (resnet50, [224, 224, 3], 1000),
}


def batch_of(model, batch):
    _, shape, num_classes = NETWORKS[model]
    return uniform("x", [batch] + shape, 1), labels("labels", batch, num_classes)
