"""The models in TensorFlow, as a tf.function of plain ops."""

import tensorflow as tf

from networks import NETWORKS, Net, batch_of


def explicit(n):
    return [[0, 0], [n, n], [n, n], [0, 0]] if n else "VALID"


class TensorFlowNet(Net):
    relu, relu6, gelu = staticmethod(tf.nn.relu), staticmethod(tf.nn.relu6), staticmethod(tf.nn.gelu)

    def variable(self, value, name, trainable=True):
        with tf.init_scope():
            return tf.Variable(value, trainable=trainable, name=name)

    def dense(self, x, name, n_in, n_out):
        kernel, bias = self.dense_weights(name, n_in, n_out)
        y = tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, n_in]), kernel), bias)
        return y if len(x.shape) == 2 else tf.reshape(y, x.shape[:-1] + [n_out])

    def conv(self, x, name, size, n_in, n_out, stride=1, pad=None, bias=False, depthwise=False):
        kernel = self.conv_kernel(name, size, n_in, n_out, depthwise)
        padding = explicit((size - 1) // 2 if pad is None else pad)
        if depthwise:
            x = tf.nn.depthwise_conv2d(x, kernel, [1, stride, stride, 1], padding)
        else:
            x = tf.nn.conv2d(x, kernel, stride, padding)
        return tf.nn.bias_add(x, self.get_constant(name + "/bias", n_out, 0)) if bias else x

    def batch_norm(self, x, name, channels):
        gamma, beta = self.norm_weights(name, channels)
        mean, variance = self.moving_averages(name, channels)
        y, now_mean, now_variance = tf.compat.v1.nn.fused_batch_norm(x, gamma, beta, epsilon=1e-5)
        mean.assign_sub((mean - now_mean) * 0.1)
        variance.assign_sub((variance - now_variance) * 0.1)
        return y

    def layer_norm(self, x, name, channels):
        gamma, beta = self.norm_weights(name, channels)
        mean, variance = tf.nn.moments(x, [-1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-5)

    def attention(self, x, name, channels, heads):
        batch, positions, size = x.shape[0], x.shape[1], channels // heads
        qkv = tf.reshape(self.dense(x, name + "/qkv", channels, 3 * channels), [batch, positions, 3, heads, size])
        q, k, v = tf.unstack(tf.transpose(qkv, [2, 0, 3, 1, 4]))
        y = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * size**-0.5), v)
        y = tf.reshape(tf.transpose(y, [0, 2, 1, 3]), [batch, positions, channels])
        return self.dense(y, name + "/out", channels, channels)

    def lstm(self, x, name, n_in, units):
        """The last state; the kernel's product for all steps at once, then the steps one by one."""
        kernel, recurrent, bias = self.lstm_weights(name, n_in, units)
        sums = tf.nn.bias_add(tf.matmul(tf.reshape(x, [-1, n_in]), kernel), bias)
        h = c = tf.zeros([x.shape[0], units], x.dtype)
        for step in tf.unstack(tf.reshape(sums, [x.shape[0], x.shape[1], 4 * units]), axis=1):
            i, f, g, o = tf.split(step + tf.matmul(h, recurrent), 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
            h = tf.sigmoid(o) * tf.tanh(c)
        return h

    def max_pool(self, x, window, stride, pad):
        return tf.nn.max_pool2d(tf.pad(x, explicit(pad)) if pad else x, window, stride, "VALID")

    def flatten(self, x):
        return tf.reshape(x, [x.shape[0], -1])

    def dropout(self, x):
        return tf.nn.dropout(x, self.dropout_rate)

    def global_average(self, x):
        return tf.reduce_mean(x, [1, 2])

    def mean_of_positions(self, x):
        return tf.reduce_mean(x, 1)


class Updates:
    """SGD with momentum or Adam, by TensorFlow's fused kernels."""

    def __init__(self, optimizer, variables):
        zeros = lambda: [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
        self.variables, self.m = variables, zeros()
        self.is_adam = optimizer == "adam"
        if self.is_adam:
            self.v = zeros()
            self.powers = [tf.Variable(1.0), tf.Variable(1.0)]

    def apply(self, gradients):
        if not self.is_adam:
            for variable, m, g in zip(self.variables, self.m, gradients):
                tf.raw_ops.ResourceApplyMomentum(var=variable.handle, accum=m.handle, lr=0.001, grad=g, momentum=0.9)
            return
        power1, power2 = self.powers[0].assign(self.powers[0] * 0.9), self.powers[1].assign(self.powers[1] * 0.999)
        for variable, m, v, g in zip(self.variables, self.m, self.v, gradients):
            tf.raw_ops.ResourceApplyAdam(
                var=variable.handle, m=m.handle, v=v.handle, beta1_power=power1, beta2_power=power2, lr=0.001,
                beta1=0.9, beta2=0.999, epsilon=1e-7, grad=g)


def set_threads(threads):
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    tf.constant(0.0)  # starts the runtime


def make_step(model, batch, optimizer, dropout, variant):
    network = NETWORKS[model][0]
    x, y = map(tf.constant, batch_of(model, batch))
    net = TensorFlowNet(dropout)
    tf.function(lambda x: network(net, x)).get_concrete_function(x)  # makes the variables
    variables = list(net.weights.values())
    updates = Updates(optimizer, variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, network(net, x)))
        updates.apply(tape.gradient(loss, variables))
        return loss

    return lambda: step(x, y), float
