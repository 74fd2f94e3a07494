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


def two_heads(keras):
    """The keys of the outputs are not in the order in which they are written."""
    inputs = keras.Input((4,))
    later = keras.layers.Dense(1, use_bias=False, name="later")(inputs)
    first = keras.layers.Dense(1, use_bias=False, name="first")(inputs)
    return keras.Model(inputs, {"later": later, "first": first})


def test_dictionaries_of_outputs_go_by_key(keras, tmp_path):
    model = two_heads(keras)
    assert [layer.name for layer in model.layers][1:] == ["first", "later"]
    assert [w.path.split("/")[0] for w in model.weights] == ["first", "later"]
    model.get_layer("later").set_weights([np.full((4, 1), 2.0)])
    model.get_layer("first").set_weights([np.full((4, 1), 10.0)])
    file = str(tmp_path / "heads.weights.h5")
    model.save_weights(file)
    again = two_heads(keras)
    again.load_weights(file)
    found = again.predict(np.ones((1, 4), "float32"), verbose=0)
    assert found["later"].item() == 8 and found["first"].item() == 40
    model.compile("sgd", {"first": "mse", "later": "mae"})
    history = model.fit(np.ones((4, 4)), {"later": np.zeros((4, 1)), "first": np.ones((4, 1))}, batch_size=4, verbose=0)
    assert history.history["first_loss"] == [1521.0] and history.history["later_loss"] == [8.0]


@pytest.mark.parametrize("is_pair", [False, True])
def test_subclassed_models_come_back_with_their_weights(keras, x, tmp_path, is_pair):
    class Two(keras.Model):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = units
            self.hidden = keras.layers.Dense(units, activation="relu")
            self.head = keras.layers.Dense(1)

        def call(self, inputs):
            inputs = inputs[0] + inputs[1] if is_pair else inputs
            return self.head(self.hidden(inputs))

        def get_config(self):
            return {**super().get_config(), "units": self.units}

    given = [x, 2 * x] if is_pair else x
    model = Two(3)
    model.compile("sgd", "mse")
    if not is_pair:
        model.fit(given, np.ones((8, 1)), epochs=1, verbose=0)
    expected = np.asarray(model(given))
    file = str(tmp_path / "two.keras")
    model.save(file)
    again = keras.models.load_model(file, custom_objects={"Two": Two})
    assert len(again.weights) == 4
    for a, b in zip(again.get_weights(), model.get_weights()):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(np.asarray(again(given)), expected, rtol=1e-6)
