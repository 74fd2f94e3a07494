"""fit, evaluate and predict: the same numbers as Keras from the same weights."""

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


def small(keras, out=1, activation="sigmoid"):
    layers = keras.layers
    return fix(keras.Sequential([keras.Input((6,)), layers.Dense(5, activation="tanh"),
                                 layers.Dense(out, activation=activation)]))


# What Keras 3.15 on TensorFlow 2.21 gives: each test runs there, too.
@pytest.mark.parametrize("optimizer, losses", [
    ("sgd", [0.716388, 0.714493, 0.712639]),
    ("adam", [0.716347, 0.713241, 0.710377]),
    ("rmsprop", [0.715516, 0.710249, 0.706679]),
])
def test_histories(keras, data, optimizer, losses):
    model = small(keras)
    model.compile(optimizer, "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(*data, epochs=3, batch_size=16, shuffle=False, verbose=0).history
    assert sorted(history) == ["accuracy", "loss"]
    np.testing.assert_allclose(history["loss"], losses, atol=2e-5)


def test_validation_weights_and_callbacks(keras, data):
    model = small(keras)
    model.compile(keras.optimizers.SGD(0.1, momentum=0.9), keras.losses.BinaryCrossentropy(),
                  metrics=["accuracy", keras.metrics.AUC(name="auc")])
    seen = []

    class Watch(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.append("begin")

        def on_epoch_end(self, epoch, logs=None):
            seen.append((epoch, sorted(logs)))

        def on_train_batch_end(self, batch, logs=None):
            if batch == 0:
                seen.append(sorted(logs))

    history = model.fit(*data, epochs=5, batch_size=16, shuffle=False, verbose=0, validation_split=0.25,
                        class_weight={0: 1.0, 1: 2.0},
                        callbacks=[Watch(), keras.callbacks.EarlyStopping("val_loss", min_delta=10, patience=1)])
    assert history.epoch == [0, 1]
    assert seen == ["begin", ["accuracy", "auc", "loss"],
                    (0, ["accuracy", "auc", "loss", "val_accuracy", "val_auc", "val_loss"]),
                    ["accuracy", "auc", "loss"],
                    (1, ["accuracy", "auc", "loss", "val_accuracy", "val_auc", "val_loss"])]
    assert all(isinstance(v, float) for values in history.history.values() for v in values)


def test_evaluate_and_batches(keras, data):
    x, y = data
    model = small(keras)
    model.compile("sgd", "mse", metrics=["mae"])
    loss, mae = model.evaluate(x, y, verbose=0)
    predicted = model.predict(x, verbose=0)
    assert predicted.dtype == np.float32 and predicted.shape == (64, 1)
    assert loss == pytest.approx(np.mean((predicted - y) ** 2), rel=1e-5)
    assert mae == pytest.approx(np.mean(np.abs(predicted - y)), rel=1e-5)
    assert model.evaluate(x, y, verbose=0, return_dict=True) == pytest.approx({"loss": loss, "mae": mae}, rel=1e-5)
    first = model.train_on_batch(x, y)
    assert first == pytest.approx([loss, mae], rel=1e-5)
    logs = model.test_on_batch(x, y, return_dict=True)
    assert set(logs) == {"loss", "mae"}
    np.testing.assert_allclose(model.predict_on_batch(x[:3]), model(x[:3]).numpy(), rtol=1e-5)


def test_batches_of_a_generator_and_a_dataset(keras, data):
    x, y = data
    model, other = small(keras), small(keras)
    for m in (model, other):
        m.compile("sgd", "mse")

    def batches():
        while True:
            for i in range(0, 64, 16):
                yield x[i:i + 16], y[i:i + 16]

    class Rows(keras.utils.PyDataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return x[16 * i:16 * i + 16], y[16 * i:16 * i + 16]

    expected = model.fit(x, y, epochs=2, batch_size=16, shuffle=False, verbose=0).history["loss"]
    got = other.fit(batches(), epochs=2, steps_per_epoch=4, verbose=0).history["loss"]
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    other = small(keras)
    other.compile("sgd", "mse")
    got = other.fit(Rows(), epochs=2, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_functional_with_two_ends(keras, data):
    x, y = data
    layers = keras.layers
    a, b = keras.Input((6,), name="a"), keras.Input((6,), name="b")
    h = layers.concatenate([layers.Dense(4, activation="relu")(a), layers.Dense(4)(b) * 0.5 + 1.0])
    model = keras.Model({"a": a, "b": b}, {"p": layers.Dense(1, name="p")(h), "q": layers.Dense(1, name="q")(h)})
    fix(model)
    model.compile("sgd", {"p": "mse", "q": "mae"}, loss_weights={"p": 1.0, "q": 0.5}, metrics={"p": ["mae"]})
    history = model.fit({"a": x, "b": x[::-1]}, {"p": y, "q": 1 - y}, batch_size=32, epochs=2, shuffle=False,
                        verbose=0).history
    assert sorted(history) == ["loss", "p_loss", "p_mae", "q_loss"]
    np.testing.assert_allclose(np.array(history["p_loss"]) + 0.5 * np.array(history["q_loss"]), history["loss"],
                               rtol=1e-5)
    out = model.predict({"a": x, "b": x}, verbose=0)
    assert set(out) == {"p", "q"} and out["p"].shape == (64, 1)


def test_errors_are_value_errors(keras, data):
    x, y = data
    model = small(keras)
    with pytest.raises(ValueError, match="compile"):
        model.fit(x, y, verbose=0)
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="[Dd]ata cardinality is ambiguous"):
        model.fit(x, y[:10], verbose=0)
    with pytest.raises(ValueError):
        model.get_layer("no")
    with pytest.raises(ValueError):
        model(np.ones((2, 7), "float32"))
    with pytest.raises(ValueError):
        keras.layers.Dense(3, activation="no_such")
    with pytest.raises(TypeError):
        keras.layers.Dense()
    with pytest.raises(ValueError):
        keras.layers.Dense(3, no_such=1)
