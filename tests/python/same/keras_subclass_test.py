"""Classes of one's own: layers, models, steps, losses, metrics, optimizers, schedules."""

import numpy as np
import pytest


@pytest.fixture
def keras(tf):
    return tf.keras


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 6)).astype("float32")
    y = (x.sum(1, keepdims=True) > 0).astype("float32")
    return x, y


def fix(model, seed=1):
    rng = np.random.default_rng(seed)
    model.set_weights([0.3 * rng.normal(size=w.shape).astype("float32") for w in model.get_weights()])
    return model


@pytest.fixture
def Linear(tf, keras):
    class Linear(keras.layers.Layer):
        def __init__(self, units=4, **kwargs):
            super().__init__(**kwargs)
            self.units = units

        def build(self, input_shape):
            self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="glorot_uniform", name="w")
            self.b = self.add_weight(shape=(self.units,), initializer="zeros", name="b", trainable=False)

        def call(self, x):
            return tf.matmul(x, self.w) + self.b

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    return Linear


def test_layer(tf, keras, Linear, data):
    layer = Linear(3, name="mine")
    assert not layer.built and layer.name == "mine" and layer.weights == []
    y = layer(data[0])
    assert y.shape == (64, 3) and layer.built and layer.count_params() == 21
    assert [w.name for w in layer.weights] == ["w", "b"]
    assert [w.name for w in layer.trainable_weights] == ["w"]
    assert layer.w is layer.weights[0]
    np.testing.assert_allclose(y, data[0] @ layer.w.numpy(), rtol=1e-5, atol=1e-6)
    config = layer.get_config()
    assert config["units"] == 3 and config["name"] == "mine" and config["trainable"] is True
    again = Linear.from_config(config)
    assert again.units == 3 and again.name == "mine"
    again.build((None, 6))
    assert again.built and len(again.weights) == 2
    layer.trainable = False
    assert layer.trainable_weights == []


def test_layer_in_functional_model(keras, Linear, data):
    inputs = keras.Input((6,))
    x = Linear(3)(inputs)
    assert tuple(x.shape) == (None, 3)
    model = keras.Model(inputs, keras.layers.Dense(1)(x))
    del inputs, x
    assert model.predict(data[0], verbose=0).shape == (64, 1)
    assert [type(layer).__name__ for layer in model.layers] == ["InputLayer", "Linear", "Dense"]
    assert isinstance(model.layers[1], Linear)


def test_arguments_of_call(tf, keras, data):
    class Both(keras.layers.Layer):
        def call(self, x, other=None, scale=1.0, training=None):
            y = x * scale if other is None else x * scale + other
            return (y, x) if training else (y, y)

    layer = Both()
    x = data[0]
    a, b = layer(x, scale=2.0)
    np.testing.assert_allclose(a, 2 * x)
    result = layer(x, x, training=True)
    assert isinstance(result, tuple)
    np.testing.assert_allclose(result[0], 2 * x)
    np.testing.assert_allclose(result[1], x)


def test_tracking(keras):
    layers = keras.layers

    class Parts(keras.Model):
        def __init__(self):
            super().__init__()
            self.blocks = []
            for _ in range(3):
                self.blocks.append(layers.Dense(2))
            self.named = {"a": layers.Dense(2), "b": layers.Dense(2)}
            self.last = layers.Dense(1)
            self.mean = keras.metrics.Mean(name="m")
            self.scale = keras.Variable(1.0, name="scale")

        def call(self, x):
            for block in self.blocks:
                x = block(x)
            return self.last(self.named["b"](self.named["a"](x))) * self.scale

    model = Parts()
    model(np.ones((1, 2), "float32"))
    assert len(model.layers) == 6 and len(model.weights) == 13
    assert len(model.trainable_variables) == 13
    assert "m" in [m.name for m in model.metrics]


def test_subclassed_model(tf, keras, Linear, data):
    class Mine(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = keras.layers.Dense(5, activation="tanh")
            self.drop = keras.layers.Dropout(0.5)
            self.out = Linear(1)

        def call(self, x, training=False):
            return tf.sigmoid(self.out(self.drop(self.hidden(x), training=False)))

    model = Mine()
    model(data[0][:1])
    fix(model)
    model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(*data, epochs=3, batch_size=16, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], [0.711998, 0.685588, 0.666334], atol=3e-5)
    assert model.predict(data[0], verbose=0).shape == (64, 1)


def test_train_step(tf, keras, data):
    traces = []

    class Custom(keras.Model):
        def train_step(self, data):
            traces.append(1)
            x, y = data
            with tf.GradientTape() as tape:
                y_pred = self(x, training=True)
                loss = self.compute_loss(y=y, y_pred=y_pred)
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
            for metric in self.metrics:
                if metric.name == "loss":
                    metric.update_state(loss)
                else:
                    metric.update_state(y, y_pred)
            return {m.name: m.result() for m in self.metrics}

    inputs = keras.Input((6,))
    model = Custom(inputs, keras.layers.Dense(1)(keras.layers.Dense(4, activation="relu")(inputs)))
    fix(model)
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(*data, epochs=3, batch_size=32, shuffle=False, verbose=0).history
    assert sorted(history) == ["loss", "mae"] and len(traces) <= 2
    plain = fix(keras.Model(model.inputs, model.outputs))
    plain.compile("sgd", "mse", metrics=["mae"])
    expected = plain.fit(*data, epochs=3, batch_size=32, shuffle=False, verbose=0).history
    np.testing.assert_allclose(history["loss"], expected["loss"], rtol=1e-5)
    np.testing.assert_allclose(history["mae"], expected["mae"], rtol=1e-5)


def test_train_step_with_own_metrics(tf, keras, data):
    class Auto(keras.Model):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = keras.layers.Dense(3), keras.layers.Dense(6)
            self.tracker = keras.metrics.Mean(name="reconstruction")

        @property
        def metrics(self):
            return [self.tracker]

        def train_step(self, data):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(data - self.decoder(self.encoder(data))))
            gradients = tape.gradient(loss, self.trainable_weights)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
            self.tracker.update_state(loss)
            return {"reconstruction": self.tracker.result()}

    model = Auto()
    model.decoder(model.encoder(data[0]))
    model.compile(optimizer=keras.optimizers.Adam(0.05))
    values = model.fit(data[0], epochs=5, batch_size=16, verbose=0).history["reconstruction"]
    assert values[-1] < values[0]


def test_losses_and_metrics(tf, keras, data):
    def squares(y_true, y_pred):
        return tf.reduce_mean(tf.square(y_true - y_pred), axis=-1)

    class Absolute(keras.losses.Loss):
        def call(self, y_true, y_pred):
            return tf.reduce_mean(tf.abs(y_true - y_pred), axis=-1)

    class Count(keras.metrics.Metric):
        def __init__(self, name="count", **kwargs):
            super().__init__(name=name, **kwargs)
            self.n = self.add_weight(name="n", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.n.assign_add(tf.cast(tf.shape(y_true)[0], tf.float32))

        def result(self):
            return self.n

    for loss, name in ((squares, "mse"), (Absolute(), "mae")):
        histories = []
        for one in (loss, name):
            model = fix(keras.Sequential([keras.Input((6,)), keras.layers.Dense(
                4, activation=lambda t: tf.nn.relu(t) * 0.5), keras.layers.Dense(1)]))
            model.compile("rmsprop", one, metrics=[squares, Count()])
            histories.append(model.fit(*data, epochs=2, batch_size=32, shuffle=False, verbose=0).history)
        assert sorted(histories[0]) == ["count", "loss", "squares"]
        assert histories[0]["count"] == [64.0, 64.0]
        np.testing.assert_allclose(histories[0]["loss"], histories[1]["loss"], rtol=1e-5)
        np.testing.assert_allclose(histories[0]["squares"], histories[1]["squares"], rtol=1e-5)


def test_optimizer_and_schedule(tf, keras, data):
    class Plain(keras.optimizers.Optimizer):
        def __init__(self, learning_rate=0.1, name="plain", **kwargs):
            super().__init__(learning_rate=learning_rate, name=name, **kwargs)

        def build(self, variables):
            super().build(variables)
            self.seen = [self.add_variable_from_reference(v, name="seen") for v in variables]

        def update_step(self, gradient, variable, learning_rate):
            seen = self.seen[self._get_variable_index(variable)]
            self.assign_add(seen, tf.abs(gradient))
            self.assign_sub(variable, gradient * tf.cast(learning_rate, variable.dtype))

    class Halving(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.1 * tf.pow(0.5, tf.cast(step, tf.float32))

    def history(optimizer):
        model = fix(keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)]))
        model.compile(optimizer, "mse")
        return model.fit(*data, epochs=3, batch_size=32, shuffle=False, verbose=0).history["loss"]

    np.testing.assert_allclose(history(Plain(0.1)), history(keras.optimizers.SGD(0.1)), rtol=1e-5)
    scheduled = keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
    np.testing.assert_allclose(history(keras.optimizers.SGD(Halving())), history(keras.optimizers.SGD(scheduled)),
                               rtol=1e-5)


def test_custom_loop(tf, keras, data):
    x, y = data
    model = fix(keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, activation="relu"),
                                  keras.layers.Dense(1)]))
    optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
    loss_fn, mean = keras.losses.MeanSquaredError(), keras.metrics.Mean()

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        mean.update_state(loss)
        return loss

    losses = [float(step(x, y)) for _ in range(4)]
    np.testing.assert_allclose(losses, [0.497092, 0.397863, 0.289459, 0.242823], atol=3e-5)
    assert float(mean.result()) == pytest.approx(np.mean(losses), rel=1e-5)
    assert int(optimizer.iterations) == 4
    gradients = None
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x))
    gradients = tape.gradient(loss, model.trainable_variables)
    assert [g.shape for g in gradients] == [tuple(v.shape) for v in model.trainable_variables]


def test_cell(tf, keras, tmp_path):
    @keras.utils.register_keras_serializable(package="tests")
    class Minimal(keras.layers.Layer):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = self.state_size = units

        def build(self, input_shape):
            self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", name="kernel")

        def call(self, inputs, states):
            output = tf.matmul(inputs, self.kernel) + states[0] * 0.5
            return output, [output]

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    model = keras.Sequential([keras.Input((3, 2)), keras.layers.RNN(Minimal(4))])
    x = np.ones((1, 3, 2), "float32")
    np.testing.assert_allclose(model.predict(x, verbose=0), np.full((1, 4), 3.5))
    assert len(model.trainable_weights) == 1
    path = str(tmp_path / "cell.keras")
    model.set_weights([np.full((2, 4), 2.0, "float32")])
    model.save(path)
    np.testing.assert_allclose(keras.models.load_model(path).predict(x, verbose=0), np.full((1, 4), 7.0))
