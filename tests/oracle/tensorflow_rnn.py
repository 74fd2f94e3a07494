"""Rows of tensorflow_ops.py for recurrent layers: Keras's layers, with the weights of the case."""

import tensorflow as tf

INTERNAL = {"LstmGrad", "GruGrad", "SimpleRnnGrad"}


def _split(a, x, rest):
    """Bias, initial states and mask, as the attributes say which are there; x and mask [batch, time, ...]."""
    rest = list(rest)
    bias = rest.pop(0) if a["has_bias"] else None
    mask = rest.pop() if a["has_mask"] else None
    if a["time_major"]:
        x = tf.transpose(x, [1, 0, 2])
        mask = None if mask is None else tf.transpose(mask)
    return x, bias, rest, mask


def _layer(a, make, x, kernel, recurrent, rest, states):
    """Outputs and last states. Keras's variables give way to the tensors, so that gradients reach these."""
    x, bias, initial, mask = _split(a, x, rest)
    units = recurrent.shape[0]
    if x.shape[0] == 0:  # which Keras's cells refuse
        empty = tf.zeros([0, units], x.dtype)
        return [tf.zeros(([x.shape[1], 0] if a["time_major"] else [0, x.shape[1]]) + [units], x.dtype)] + [empty] * states
    layer = make(units, dtype=x.dtype.name, use_bias=bias is not None, go_backwards=a["go_backwards"],
                 return_sequences=True, return_state=True, zero_output_for_mask=a["zero_output_for_mask"])
    layer.build(x.shape)
    cell = layer.cell
    for name, value in (("kernel", kernel), ("recurrent_kernel", recurrent), ("bias", bias)):
        object.__setattr__(cell, name, value)
    if not initial:
        initial = [tf.zeros([x.shape[0], units], x.dtype)] * states
    outputs, *last = layer(x, initial_state=initial, mask=mask)
    if a["time_major"]:
        outputs = tf.transpose(outputs, [1, 0, 2])
    return [outputs, *last]


def _kept(a, kind, x, kernel, recurrent, rest, made):
    """What an op keeps for its gradient, step by step from Keras's outputs."""
    x, bias, initial, mask = _split(a, x, rest)
    units, dtype = recurrent.shape[0], tf.float64 if x.dtype == tf.float64 else tf.float32
    x, kernel, recurrent = (tf.cast(t, dtype) for t in (x, kernel, recurrent))
    order = range(x.shape[1])[::-1] if a["go_backwards"] else range(x.shape[1])
    h, c = ([tf.cast(t, dtype) for t in initial] + [tf.zeros([x.shape[0], units], dtype)] * 2)[:2]
    bias = tf.zeros([kernel.shape[1]], dtype) if bias is None else tf.cast(bias, dtype)
    both = (bias[0], bias[1]) if len(bias.shape) == 2 else (bias, tf.zeros_like(bias))
    rows = []
    for t in order:
        counts = tf.ones([x.shape[0], 1], tf.bool) if mask is None else mask[:, t, None]
        by_x, by_h = x[:, t] @ kernel + both[0], h @ recurrent + both[1]
        if kind == "Lstm":
            i, f, g, o = tf.split(by_x + by_h, 4, 1)
            i, f, g, o = tf.sigmoid(i), tf.sigmoid(f), tf.tanh(g), tf.sigmoid(o)
            now = tf.where(counts, f * c + i * g, c)
            h, c, gates, rest = tf.where(counts, o * tf.tanh(now), h), now, [i, f, g, o], [now]
        else:
            z, r = (tf.sigmoid(p) for p in tf.split((by_x + by_h)[:, : 2 * units], 2, 1))
            q = by_h[:, 2 * units :] if a["reset_after"] else (r * h) @ recurrent[:, 2 * units :]
            n = tf.tanh(by_x[:, 2 * units :] + (r * q if a["reset_after"] else q))
            h, gates, rest = tf.where(counts, z * h + (1 - z) * n, h), [z, r, n] + [q] * a["reset_after"], []
        rows.append(tf.concat([tf.where(counts, gate, tf.zeros_like(gate)) for gate in gates] + rest, 1))
    return made + [tf.stack(rows)]


def _lstm(a, x, kernel, recurrent, *rest):
    def make(units, **options):
        return tf.keras.layers.LSTM(units, **options)

    made = _layer(a, make, x, kernel, recurrent, rest, 2)
    return _kept(a, "Lstm", x, kernel, recurrent, rest, made) if a["keeps"] else made


def _gru(a, x, kernel, recurrent, *rest):
    def make(units, **options):
        return tf.keras.layers.GRU(units, reset_after=a["reset_after"], **options)

    made = _layer(a, make, x, kernel, recurrent, rest, 1)
    return _kept(a, "Gru", x, kernel, recurrent, rest, made) if a["keeps"] else made


def _simple(a, x, kernel, recurrent, *rest):
    def make(units, **options):
        return tf.keras.layers.SimpleRNN(units, activation=["tanh", "relu"][a["activation"]], **options)

    return _layer(a, make, x, kernel, recurrent, rest, 1)


OPS = {"Lstm": _lstm, "Gru": _gru, "SimpleRnn": _simple}
