"""Layers, losses, metrics, initializers, optimizers by name and by object; what Keras says of them."""

import inspect

import numpy as np
import pytest


@pytest.fixture
def keras(tf):
    return tf.keras


@pytest.mark.parametrize("name, first", [
    ("Dense", "units activation use_bias"), ("Conv2D", "filters kernel_size strides padding"),
    ("MaxPooling2D", "pool_size strides padding"), ("Dropout", "rate noise_shape seed"),
    ("LSTM", "units activation recurrent_activation"), ("Embedding", "input_dim output_dim"),
    ("BatchNormalization", "axis momentum epsilon"), ("MultiHeadAttention", "num_heads key_dim value_dim"),
    ("TextVectorization", "max_tokens standardize split"), ("SeparableConv2D", "filters kernel_size strides"),
])
def test_order_of_arguments(keras, name, first):
    names = list(inspect.signature(getattr(keras.layers, name)).parameters)
    assert names[:len(first.split())] == first.split()


def test_order_of_other_arguments(keras):
    def names(cls, count):
        return list(inspect.signature(cls).parameters)[:count]

    assert names(keras.optimizers.Adam, 5) == ["learning_rate", "beta_1", "beta_2", "epsilon", "amsgrad"]
    assert names(keras.optimizers.SGD, 4) == ["learning_rate", "momentum", "nesterov", "weight_decay"]
    assert names(keras.losses.SparseCategoricalCrossentropy, 2) == ["from_logits", "ignore_class"]
    assert names(keras.metrics.AUC, 3) == ["num_thresholds", "curve", "summation_method"]
    assert names(keras.initializers.RandomNormal, 3) == ["mean", "stddev", "seed"]
    assert names(keras.callbacks.EarlyStopping, 3) == ["monitor", "min_delta", "patience"]


def test_configs(keras):
    config = keras.layers.Dense(3, activation="relu", name="d").get_config()
    assert config["units"] == 3 and config["activation"] == "relu" and config["name"] == "d"
    assert config["kernel_initializer"]["class_name"] == "GlorotUniform"
    assert keras.optimizers.SGD(0.5).get_config()["learning_rate"] == 0.5
    assert keras.layers.Dense.from_config(config).units == 3


def test_losses(tf, keras):
    y = np.array([[0.0, 1.0], [1.0, 0.0]], "float32")
    p = np.array([[0.2, 0.8], [0.6, 0.4]], "float32")
    assert float(keras.losses.MeanSquaredError()(y, p)) == pytest.approx(0.1)
    np.testing.assert_allclose(keras.losses.MSE(y, p), [0.04, 0.16], rtol=1e-5)
    np.testing.assert_allclose(keras.losses.get("mse")(tf.constant(y), tf.constant(p)), [0.04, 0.16], rtol=1e-5)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    assert loss(np.array([0, 1]), np.array([[1.0, 2.0], [3.0, 4.0]])).shape == (2,)
    assert float(keras.losses.CategoricalCrossentropy()(y, p)) == pytest.approx(0.36698, abs=1e-5)
    weighted = keras.losses.MeanAbsoluteError()(y, p, sample_weight=np.array([1.0, 0.0]))
    assert float(weighted) == pytest.approx(0.1)


def test_metrics(keras):
    metric = keras.metrics.SparseCategoricalAccuracy()
    metric.update_state([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    assert float(metric.result()) == pytest.approx(2 / 3)
    metric.reset_state()
    assert float(metric.result()) == 0
    assert float(metric([1], [[0.1, 0.9]])) == 1
    mean = keras.metrics.Mean(name="m")
    mean.update_state([1.0, 3.0])
    mean.update_state(8.0)
    assert float(mean.result()) == 4 and mean.name == "m" and len(mean.variables) == 2
    assert keras.metrics.get("mae").name in ("mean_absolute_error", "mae")


def test_initializers_regularizers_constraints(tf, keras):
    np.testing.assert_array_equal(keras.initializers.Constant(2.0)((2, 2)), np.full((2, 2), 2.0))
    assert keras.initializers.GlorotUniform(seed=1)((3, 4)).shape == (3, 4)
    assert float(keras.regularizers.L2(0.5)(tf.constant([2.0, 1.0]))) == 2.5
    np.testing.assert_allclose(keras.constraints.NonNeg()(tf.constant([-1.0, 2.0])), [0, 2])
    layer = keras.layers.Dense(2, kernel_initializer=keras.initializers.Ones(),
                               kernel_regularizer=keras.regularizers.l2(0.1),
                               bias_initializer=lambda shape, dtype=None: tf.fill(shape, 3.0))
    np.testing.assert_allclose(layer(np.ones((1, 3), "float32")), [[6, 6]])
    assert float(layer.losses[0]) == pytest.approx(0.6)
    assert layer.kernel.shape == (3, 2) and layer.bias.path.endswith("/bias")


def test_activations(tf, keras):
    x = tf.constant([-1.0, 0.0, 2.0])
    np.testing.assert_allclose(keras.activations.relu(x), [0, 0, 2])
    np.testing.assert_allclose(keras.activations.get("sigmoid")(x), 1 / (1 + np.exp([1.0, 0.0, -2.0])), rtol=1e-5)
    assert keras.layers.Dense(2, activation=keras.activations.tanh).get_config()["activation"] == "tanh"
    with pytest.raises(ValueError):
        keras.activations.get("no_such")


def test_variables(tf, keras):
    v = keras.Variable([1.0, 2.0], name="v")
    assert v.shape == (2,) and v.dtype == "float32" and v.trainable and v.name == "v"
    v.assign([3.0, 4.0])
    v.assign_add([1.0, 1.0])
    np.testing.assert_array_equal(v.numpy(), [4, 5])
    np.testing.assert_array_equal(v * 2 + tf.constant([1.0, 1.0]), [9, 11])
    np.testing.assert_array_equal(tf.reduce_sum(v), 9)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v)
    np.testing.assert_array_equal(tape.gradient(y, v), [8, 10])
    assert float(v[0]) == 4


def test_keras_tensors(tf, keras):
    x = keras.Input((4, 3), name="x")
    assert tuple(x.shape) == (None, 4, 3) and x.dtype == "float32" and x.name == "x"
    assert tuple((x + 1.0).shape) == (None, 4, 3)
    assert tuple(x[:, 0].shape) == (None, 3)
    model = keras.Model(x, (x * 2.0 - x / 4.0)[:, 1:3])
    np.testing.assert_allclose(model(np.ones((1, 4, 3), "float32")), np.full((1, 2, 3), 1.75))
    with pytest.raises(ValueError, match="KerasTensor"):
        tf.reduce_sum(x)
    with pytest.raises(TypeError):
        bool(x)


def test_optimizers(keras):
    optimizer = keras.optimizers.Adam(learning_rate=0.5)
    assert float(optimizer.learning_rate) == 0.5
    optimizer.learning_rate = 0.25
    assert float(optimizer.learning_rate) == 0.25
    v = keras.Variable([1.0])
    keras.optimizers.SGD(0.1).apply([np.array([2.0], "float32")], [v])
    np.testing.assert_allclose(v.numpy(), [0.8], rtol=1e-6)
    rate = keras.optimizers.schedules.CosineDecay(1.0, 10)
    assert float(rate(5)) == pytest.approx(0.5)
    assert type(keras.optimizers.get("rmsprop")).__name__ == "RMSprop"


def test_utils(keras):
    np.testing.assert_array_equal(keras.utils.to_categorical([0, 2], 3), [[1, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(keras.utils.pad_sequences([[1], [2, 3]], maxlen=3), [[0, 0, 1], [0, 2, 3]])
    np.testing.assert_array_equal(keras.utils.pad_sequences([[1], [2, 3, 4]], maxlen=2, padding="post",
                                                            truncating="post"), [[1, 0], [2, 3]])
    keras.utils.set_random_seed(3)
    a = keras.layers.Dense(2)
    a.build((None, 3))
    keras.utils.set_random_seed(3)
    b = keras.layers.Dense(2)
    b.build((None, 3))
    np.testing.assert_array_equal(a.kernel.numpy(), b.kernel.numpy())


def test_recurrent_and_masks(keras):
    layers = keras.layers
    model = keras.Sequential([keras.Input((5,), dtype="int32"), layers.Embedding(10, 4, mask_zero=True),
                              layers.Bidirectional(layers.LSTM(3, return_sequences=True)),
                              layers.GRU(2)])
    rng = np.random.default_rng(0)
    model.set_weights([0.5 * rng.normal(size=w.shape) for w in model.get_weights()])
    y = model.predict(np.array([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0]]), verbose=0)
    np.testing.assert_allclose(y, EXPECTED, atol=2e-5)
    out, h, c = layers.LSTM(3, return_state=True)(np.ones((2, 4, 5), "float32"))
    assert out.shape == h.shape == c.shape == (2, 3)


def test_ends_that_are_not_there(keras):
    class Own(keras.Model):
        def call(self, x):
            return x

    for part in (keras.Sequential([keras.layers.Dense(2)]), Own(), keras.layers.Dense(2)):
        for name in ("input", "output", "input_shape", "output_shape"):
            assert not hasattr(part, name)
        with pytest.raises(AttributeError, match="has never been called and thus has no defined input"):
            part.input  # noqa: B018
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    assert model.input_shape == (None, 3) and model.output_shape == (None, 2) and model.layers[0].output.shape == (None, 2)


EXPECTED = [[-0.752762, 0.122154], [-0.683377, 0.035155]]  # Keras 3.15 on TensorFlow 2.21


def test_a_sequential_model_of_a_built_one_is_built(tf):
    """As in the tutorial on augmenting data."""
    keras = tf.keras
    first = keras.Sequential([keras.Input((16, 16, 3)), keras.layers.RandomFlip("horizontal")])
    model = keras.Sequential([first, keras.layers.Conv2D(4, 3)])
    assert model.built and len(model.weights) == 2 and tuple(model.output_shape) == (None, 14, 14, 4)
    inputs = keras.Input((5,))
    base = keras.Model(inputs, keras.layers.Dense(3)(inputs))
    assert tuple(keras.Sequential([base, keras.layers.Dense(2)]).output_shape) == (None, 2)
