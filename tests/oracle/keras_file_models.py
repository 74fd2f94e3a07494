"""Small models for keras_files_test.py: each a way in which files differ. A function gives a model of Keras and what
it is called on."""

import numpy as np

from keras_case import floats


def ids(*shape, high=9, seed=0):
    return np.random.default_rng(seed).integers(0, high, shape).astype("int32")


def sequential(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input((9, 9, 3)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(),
        layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.3), layers.Dense(5, activation="softmax"),
    ]), floats(2, 9, 9, 3)


def sequential_without_input(keras):
    model = keras.Sequential([keras.layers.Dense(6, activation="tanh"), keras.layers.Dense(3)])
    x = floats(4, 5)
    model(x)
    return model, x


def sequential_with_batch(keras):
    return keras.Sequential([keras.Input(batch_shape=(4, 5)), keras.layers.Dense(3)], name="fixed"), floats(4, 5)


def functional(keras):
    layers = keras.layers
    inputs = keras.Input((8, 8, 3), name="image")
    h = layers.Conv2D(6, 3, padding="same", use_bias=False, name="stem")(inputs)
    h = layers.BatchNormalization(scale=False, epsilon=1e-5)(h)
    a = layers.ReLU(max_value=6)(h)
    b = layers.SeparableConv2D(6, 3, padding="same")(a)
    c = layers.DepthwiseConv2D(3, padding="same", depth_multiplier=1)(a)
    h = layers.Concatenate()([layers.Add()([b, c]), layers.Multiply()([a, c])])
    h = layers.ZeroPadding2D(((0, 1), (0, 1)))(h)
    h = layers.AveragePooling2D(2)(h)
    h = layers.GlobalAveragePooling2D(keepdims=True)(h)
    return keras.Model(inputs, layers.Flatten()(h), name="branches"), floats(2, 8, 8, 3)


def transposed(keras):
    layers = keras.layers
    inputs = keras.Input((4, 4, 5))
    h = layers.Conv2DTranspose(3, 3, strides=2, padding="same")(inputs)
    h = layers.PReLU(shared_axes=[1, 2])(h)
    h = layers.UpSampling2D(2, interpolation="bilinear")(h)
    h = layers.Cropping2D(1)(h)
    h = layers.LeakyReLU(negative_slope=0.2)(h)
    return keras.Model(inputs, layers.Conv2D(2, 3, groups=1, dilation_rate=2)(h)), floats(2, 4, 4, 5)


def one_dimensional(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input((12, 4)), layers.Conv1D(6, 3, padding="causal", activation="gelu"), layers.LayerNormalization(),
        layers.MaxPooling1D(2), layers.Conv1DTranspose(4, 2), layers.GroupNormalization(groups=2),
        layers.GlobalMaxPooling1D(), layers.Dense(3)]), floats(2, 12, 4)


def volumes(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input((6, 6, 6, 2)), layers.Conv3D(3, 2, activation="relu"), layers.MaxPooling3D(2),
        layers.UnitNormalization(), layers.Flatten(), layers.Dense(2)]), floats(2, 6, 6, 6, 2)


def several_inputs_and_outputs(keras):
    layers = keras.layers
    a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
    h = layers.Concatenate()([layers.Dense(5, activation="relu")(a), b])
    outputs = [layers.Dense(2, name="first")(h), layers.Dense(1, name="second", activation="sigmoid")(h)]
    return keras.Model([a, b], outputs), [floats(3, 4), floats(3, 3, seed=1)]


def dictionaries(keras):
    layers = keras.layers
    inputs = {"left": keras.Input((4,), name="left"), "right": keras.Input((4,), name="right")}
    h = layers.Subtract()([inputs["left"], inputs["right"]])
    outputs = {"wide": layers.Dense(2, name="wide")(h), "same": layers.Dot(1)([inputs["left"], inputs["right"]]),
               "score": layers.Dense(2, name="score")(h)}  # not in the order of the keys
    return keras.Model(inputs, outputs), {"left": floats(3, 4), "right": floats(3, 4, seed=1)}


def shared_layer(keras):
    shared = keras.layers.Dense(4, activation="tanh", name="shared")
    a, b = keras.Input((4,)), keras.Input((4,))
    h = keras.layers.Average()([shared(a), shared(b), shared(shared(a))])
    return keras.Model([a, b], h), [floats(3, 4), floats(3, 4, seed=1)]


def shared_model(keras):
    layers = keras.layers
    tower = keras.Sequential([keras.Input((6, 6, 1)), layers.Conv2D(3, 3), layers.BatchNormalization(),
                              layers.Flatten(), layers.Dense(4)], name="tower")
    a, b = keras.Input((6, 6, 1)), keras.Input((6, 6, 1))
    return keras.Model([a, b], layers.Maximum()([tower(a), tower(b)])), [floats(2, 6, 6, 1), floats(2, 6, 6, 1, seed=1)]


def nested(keras):
    layers = keras.layers
    inner_in = keras.Input((5,))
    inner = keras.Model(inner_in, [layers.Dense(4)(inner_in), layers.Dense(3)(inner_in)], name="inner")
    middle_in = keras.Input((5,))
    p, q = inner(middle_in)
    middle = keras.Model(middle_in, layers.Concatenate()([p, q]), name="middle")
    block = keras.Sequential([layers.Dense(6), layers.LayerNormalization()], name="block")
    inputs = keras.Input((5,))
    return keras.Model(inputs, layers.Dense(2)(block(middle(inputs)))), floats(3, 5)


def nested_sequentials(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input((7,)), keras.Sequential([layers.Dense(5), keras.Sequential([layers.Dense(4)])]),
        keras.Sequential([layers.Dense(3), layers.BatchNormalization()]), layers.Dense(2)]), floats(3, 7)


def recurrent(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input((6, 4)), layers.Masking(), layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
        layers.GRU(4, return_sequences=True), layers.GRU(3, reset_after=False, return_sequences=True),
        layers.SimpleRNN(4, return_sequences=True, go_backwards=True),
        layers.Bidirectional(layers.GRU(2), merge_mode="sum", backward_layer=layers.LSTM(2, go_backwards=True)),
        layers.Dense(2)]), floats(3, 6, 4)


def cells(keras):
    layers = keras.layers
    inputs = keras.Input((5, 4))
    h = layers.RNN([layers.LSTMCell(3), layers.GRUCell(4)], return_sequences=True)(inputs)
    h = layers.RNN(layers.SimpleRNNCell(3), return_sequences=True)(h)
    sequence, last, carry = layers.LSTM(3, return_sequences=True, return_state=True)(h)
    h = layers.LSTM(3)(sequence, initial_state=[last, carry])
    return keras.Model(inputs, h), floats(3, 5, 4)


def time_distributed(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input((3, 6, 6, 2)), layers.TimeDistributed(layers.Conv2D(4, 3)),
        layers.TimeDistributed(keras.Sequential([layers.Flatten(), layers.Dense(3)])),
        layers.Permute((2, 1)), layers.Reshape((9,)), layers.RepeatVector(2)]), floats(2, 3, 6, 6, 2)


def embedded(keras):
    layers = keras.layers
    inputs = keras.Input((7,), dtype="int32")
    h = layers.Embedding(9, 4, mask_zero=True)(inputs)
    h = layers.LSTM(5, return_sequences=True)(h)
    h = layers.GlobalAveragePooling1D()(h)
    return keras.Model(inputs, layers.Dense(2)(h)), ids(3, 7)


def attention(keras):
    layers = keras.layers
    inputs = keras.Input((6,), dtype="int32")
    h = layers.Embedding(9, 8, mask_zero=True)(inputs)
    # In Keras h has lost its mask afterwards: whoever else takes it would see that.
    h = layers.LayerNormalization()(layers.MultiHeadAttention(2, 4, value_dim=3)(h, h))
    h = layers.GroupQueryAttention(4, 4, 2)(h, h, use_causal_mask=True)
    h = layers.Attention(use_scale=True)([h, h])
    h = layers.AdditiveAttention()([h, h])
    return keras.Model(inputs, layers.EinsumDense("abc,cd->abd", (None, 3), bias_axes="d")(h)), ids(3, 6)


def operators(keras):
    inputs = keras.Input((4,))
    h = keras.layers.Dense(4)(inputs)
    h = (h + 1.0) * 2.0 - inputs / 3.0
    h = 1.0 - h
    h = h * inputs + inputs
    return keras.Model(inputs, -h), floats(3, 4)


def op_functions(keras):
    ops = keras.ops
    inputs = keras.Input((4, 6))
    h = keras.layers.Dense(6)(inputs)
    h = ops.maximum(ops.tanh(h), ops.minimum(h, 0.5)) + ops.sqrt(ops.abs(h))
    h = ops.exp(ops.negative(ops.square(h))) ** 2.0
    h = ops.log(h + 1.0) / ops.add(ops.absolute(inputs), 2)
    h = ops.concatenate([ops.relu(h), ops.sigmoid(h)], axis=-1)
    h = ops.reshape(h, (-1, 12, 4))
    h = ops.expand_dims(ops.mean(ops.transpose(h, (0, 2, 1)), axis=-1), 1)
    return keras.Model(inputs, ops.softmax(ops.squeeze(h, 1))), floats(3, 4, 6)


def slices(keras):
    inputs = keras.Input((6, 4))
    return keras.Model(inputs, [inputs[:, 0], inputs[:, 1:5:2], inputs[:, :, -1]]), floats(3, 6, 4)


def cumulated(keras):
    inputs = keras.Input((6, 4))
    return keras.Model(inputs, keras.ops.cumsum(inputs, axis=1)), floats(3, 6, 4)


def normalised(keras):
    layers = keras.layers
    known = layers.Normalization()
    known.adapt(floats(50, 4, low=2, high=7))
    given = layers.Normalization(mean=1.0, variance=4.0)
    return keras.Sequential([keras.Input((4,)), known, layers.Rescaling(2.0, offset=0.5), given,
                             layers.Dense(3)]), floats(3, 4)


def discretised(keras):
    layers = keras.layers
    learnt = layers.Discretization(num_bins=4, output_mode="one_hot")
    learnt.adapt(floats(200, 1))
    return keras.Sequential([keras.Input((1,)), learnt, layers.Flatten(), layers.Dense(2)]), floats(6, 1)


def text(keras):
    layers = keras.layers
    words = layers.TextVectorization(max_tokens=12, output_sequence_length=5)
    words.adapt(np.array(["the ship sails", "the line shows", "a ship, a line"]))
    inputs = keras.Input((1,), dtype="string")
    h = layers.Embedding(12, 4)(words(inputs))
    return keras.Model(inputs, layers.Dense(2)(layers.Flatten()(h))), np.array([["the ship"], ["no line here"]])


def lookups(keras):
    layers = keras.layers
    strings = layers.StringLookup(vocabulary=["ship", "line", "load"], output_mode="one_hot")
    numbers = layers.IntegerLookup(output_mode="int")
    numbers.adapt(np.array([[5], [17], [17], [-3]]))
    a, b = keras.Input((1,), dtype="string"), keras.Input((1,), dtype="int64")
    h = layers.Concatenate()([layers.Flatten()(strings(a)), layers.Flatten()(layers.Embedding(6, 2)(numbers(b)))])
    return keras.Model([a, b], layers.Dense(2)(h)), [np.array([["line"], ["sea"]]), np.array([[17], [4]], "int64")]


def images(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input((8, 8, 3)), layers.Rescaling(1 / 255), layers.RandomFlip("horizontal"), layers.RandomRotation(0.1),
        layers.RandomZoom(0.1), layers.CenterCrop(6, 6), layers.Resizing(5, 5), layers.Conv2D(2, 3),
        layers.SpatialDropout2D(0.2), layers.GaussianNoise(0.1), layers.GlobalMaxPooling2D()]), 255 * floats(2, 8, 8, 3, low=0)


def spectral(keras):
    layers = keras.layers
    return keras.Sequential([keras.Input((6, 6, 2)), layers.SpectralNormalization(layers.Conv2D(3, 3)),
                             layers.Flatten(), layers.Dense(2)]), floats(2, 6, 6, 2)


def regularised(keras):
    layers = keras.layers
    return keras.Sequential([
        keras.Input((5,)),
        layers.Dense(4, kernel_regularizer=keras.regularizers.L1L2(0.01, 0.02), bias_constraint="non_neg",
                     kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.2, seed=4)),
        layers.ActivityRegularization(l2=0.1), layers.AlphaDropout(0.1), layers.ELU(alpha=0.7), layers.Softmax()],
        name="with_penalties"), floats(3, 5)


def mixed_precision(keras):
    layers = keras.layers
    inputs = keras.Input((5,))
    h = layers.Dense(6, dtype="mixed_bfloat16", activation="relu")(inputs)
    return keras.Model(inputs, layers.Dense(2, dtype="float32")(h)), floats(3, 5)


def frozen(keras):
    model, x = functional(keras)
    model.get_layer("stem").trainable = False
    return model, x


def many_layers(keras):
    """More names than one attribute of HDF5 can hold."""
    h = inputs = keras.Input((3,))
    for i in range(60):
        h = keras.layers.Activation("linear", name=f"layer_{i:03}_{'n' * 1200}")(h)
    return keras.Model(inputs, keras.layers.Dense(2)(h)), floats(2, 3)


def long_weight_names(keras):
    inner = keras.Sequential([keras.layers.Dense(2, name=f"dense_{i:03}_{'n' * 1200}") for i in range(30)], name="deep")
    inputs = keras.Input((2,))
    return keras.Model(inputs, inner(inputs)), floats(2, 2)


# Nodes of ops that are not there as nodes here.
NOT_BUILT = {"Cumsum": cumulated}
# Those whose vocabularies .h5 files do not hold.
ADAPTED = ["text", "lookups"]
MODELS = {f.__name__: f for f in (
    sequential, sequential_without_input, sequential_with_batch, functional, transposed, one_dimensional, volumes,
    several_inputs_and_outputs, dictionaries, shared_layer, shared_model, nested, nested_sequentials, recurrent, cells,
    time_distributed, embedded, attention, operators, op_functions, slices, normalised, discretised, text, lookups,
    images, spectral, regularised, mixed_precision, frozen, many_layers, long_weight_names)}
