"""Files: written here and read again, and the configurations in them."""

import json
import pickle
import zipfile

import numpy as np
import pytest


@pytest.fixture
def keras(tf):
    return tf.keras


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(8, 6)).astype("float32")


def trained(keras, x):
    layers = keras.layers
    inputs = keras.Input((6,), name="in")
    h = layers.Dense(5, activation="relu", kernel_regularizer=keras.regularizers.L2(0.01), name="h")(inputs)
    h = layers.BatchNormalization()(h)
    model = keras.Model(inputs, layers.Dense(1, name="out")(h))
    model.compile(keras.optimizers.Adam(0.01), keras.losses.MeanSquaredError(),
                  metrics=[keras.metrics.MeanAbsoluteError(name="mae")])
    model.fit(x, x[:, :1], epochs=2, verbose=0)
    return model


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_round_trip(keras, x, tmp_path, ending, is_plimsoll):
    model = trained(keras, x)
    path = str(tmp_path / f"model.{ending}")
    model.save(path)
    again = keras.models.load_model(path)
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-5, atol=1e-6)
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
    assert again.get_layer("h").get_config()["activation"] == "relu"
    assert int(again.optimizer.iterations) == int(model.optimizer.iterations) == 2
    if ending == "keras" or is_plimsoll:  # Keras does not train on what it has read of .h5 files
        before, after = (m.train_on_batch(x, x[:, :1]) for m in (model, again))
        np.testing.assert_allclose(before[0], after[0], rtol=1e-5)


def test_weights(keras, x, tmp_path):
    model, other = trained(keras, x), trained(keras, x)
    path = str(tmp_path / "w.weights.h5")
    model.save_weights(path)
    other.load_weights(path)
    for a, b in zip(model.get_weights(), other.get_weights()):
        np.testing.assert_array_equal(a, b)


def test_classes_of_ones_own(tf, keras, x, tmp_path):
    @keras.utils.register_keras_serializable(package="tests")
    class Scale(keras.layers.Layer):
        def __init__(self, factor, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def build(self, input_shape):
            self.w = self.add_weight(shape=(input_shape[-1],), initializer="ones", name="w")

        def call(self, x):
            return x * self.w * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    def half(x):
        return x * 0.5

    def model_with(activation):
        return keras.Sequential([keras.Input((6,)), Scale(2.0), keras.layers.Dense(3, activation=activation)])

    model = model_with(half)
    path = str(tmp_path / "own.keras")
    model.save(path)
    with zipfile.ZipFile(path) as file:
        config = json.loads(file.read("config.json"))
    row = config["config"]["layers"][1]
    assert row["registered_name"] == "tests>Scale" and row["config"]["factor"] == 2.0
    with pytest.raises((ValueError, TypeError)):
        keras.models.load_model(path)
    again = keras.models.load_model(path, custom_objects={"half": half})
    assert type(again.layers[0]) is Scale and again.layers[0].factor == 2.0
    np.testing.assert_allclose(again.predict(x, verbose=0), model.predict(x, verbose=0), rtol=1e-6)


def test_checkpoint(keras, x, tmp_path):
    model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    path = str(tmp_path / "best.keras")
    model.fit(x, x[:, :1], epochs=3, verbose=0,
              callbacks=[keras.callbacks.ModelCheckpoint(path, monitor="loss", save_best_only=True),
                         keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))])
    best = keras.models.load_model(path)
    np.testing.assert_allclose(best.get_weights()[0], model.get_weights()[0], rtol=1e-6)
    assert (tmp_path / "log.csv").read_text().startswith("epoch,loss")


def test_configurations(keras):
    layers = keras.layers
    model = keras.Sequential([keras.Input((8, 8, 1)), layers.Conv2D(4, 3, padding="same", activation="relu"),
                              layers.MaxPooling2D(), layers.Flatten(), layers.Dense(2)])
    again = keras.Sequential.from_config(model.get_config())
    assert [type(a).__name__ for a in again.layers] == ["Conv2D", "MaxPooling2D", "Flatten", "Dense"]
    assert again.count_params() == model.count_params()
    clone = keras.models.clone_model(model)
    assert clone.count_params() == model.count_params() and clone.layers[0] is not model.layers[0]
    assert keras.models.model_from_json(model.to_json()).count_params() == model.count_params()


def test_missing_file(keras, tmp_path):
    with pytest.raises(ValueError):
        keras.models.load_model(str(tmp_path / "no.keras"))


@pytest.mark.parametrize("name, kind", [
    ("no.keras", ValueError), ("no.h5", FileNotFoundError), ("no.h5", OSError), ("no", ValueError)])
def test_missing_files_by_ending(keras, tmp_path, name, kind):
    with pytest.raises(kind):
        keras.models.load_model(str(tmp_path / name))


def test_missing_weights(keras, tmp_path):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    with pytest.raises(FileNotFoundError) as caught:
        model.load_weights(str(tmp_path / "no.weights.h5"))
    assert caught.value.errno == 2 and "no.weights.h5" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value) and again.filename == caught.value.filename


def test_errors_come_out_of_other_processes(keras):
    with pytest.raises(ValueError) as caught:
        keras.layers.Dense(-1)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
