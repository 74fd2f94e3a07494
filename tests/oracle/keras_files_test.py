"""Model files of every kind, from Keras 3.15 to here and back: weights bit by bit, outputs, states of optimizers."""

import json

import h5py
import numpy as np
import pytest

from keras_case import floats
from keras_file_models import ADAPTED, MODELS, NOT_BUILT
from keras_file_peer import (check_close, check_equal, full_only, load_here, load_in_keras, outputs_of,
                             weights_of)
from keras_layer_cases import CASES
from keras_peer import Refused, Server, decode, encode

TOLERANCE = 2e-5


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    running.close()


def randomise(model, seed=3):
    """Weights of every kind get values that matter."""
    rng = np.random.default_rng(seed)
    for variable in model.weights:
        if "float" not in str(variable.dtype) or any(word in variable.path for word in ("normalization_given", "count")):
            continue
        low, high = (0.5, 1.5) if "variance" in variable.name else (-0.7, 0.7)
        variable.assign(rng.uniform(low, high, variable.shape))


def made(make):
    import keras

    keras.utils.set_random_seed(1)
    keras.backend.clear_session()
    model, x = make(keras)
    randomise(model)
    # What a layer has derived from its weights.
    for layer in model.layers:
        if type(layer).__name__ == "Normalization":
            layer.finalize_state()
    return model, x


def check_file(server, model, x, path, tmp_path, tolerance=TOLERANCE, **request):
    """Loaded here it has the weights and outputs; saved in both forms, Keras reads it back."""
    import keras

    model.save(path)
    copies = [tmp_path / "again.keras", tmp_path / "again.h5"]
    loaded = load_here(server, path, x=x, save=[str(copy) for copy in copies], **request)
    theirs = weights_of(model)
    check_equal(loaded.tensors("weights"), theirs)
    outputs = outputs_of(model, x)
    check_close(loaded.tensors("outputs"), outputs, tolerance)
    for copy in copies:
        again = keras.models.load_model(copy)
        assert again.name == model.name
        assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
        assert [w.trainable for w in again.weights] == [w.trainable for w in model.weights]
        check_equal(weights_of(again), theirs)
        check_equal(outputs_of(again, x), outputs, f"output of {copy.name}")
    return loaded


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("name", MODELS)
def test_model(server, tmp_path, name, ending):
    model, x = made(MODELS[name])
    if name in ADAPTED and ending == "h5":
        model.save(tmp_path / "model.h5")
        with pytest.raises(Refused, match="FailedPreconditionError: .*vocabulary"):
            load_here(server, tmp_path / "model.h5", x=x)
        return
    check_file(server, model, x, tmp_path / f"model.{ending}", tmp_path,
               tolerance=1e-2 if name == "mixed_precision" else TOLERANCE)


@pytest.mark.parametrize("name", NOT_BUILT)
def test_op_that_is_not_built(server, tmp_path, name):
    model, _ = made(NOT_BUILT[name])
    model.save(tmp_path / "model.keras")
    with pytest.raises(Refused, match=f"UnimplementedError: .*{name}"):
        load_here(server, tmp_path / "model.keras")


def as_model(keras, case):
    """A case of keras_layer_cases.py as a model of that layer alone."""
    layer = case.make(keras)
    if case.adapt is not None:
        layer.adapt(case.adapt)
    is_stateful = getattr(layer, "stateful", False)

    def symbolic(a):
        a = np.asarray(a)
        dtype = "string" if a.dtype.kind in "OSU" else str(a.dtype)
        return keras.Input(batch_shape=(len(a) if is_stateful else None, *a.shape[1:]), dtype=dtype)

    inputs, named = keras.tree.map_structure(symbolic, (case.inputs, case.named))
    outputs = layer(inputs, **named, **case.options)
    return keras.Model(keras.tree.flatten([inputs, named]), outputs), [
        np.asarray(a) for a in keras.tree.flatten([case.inputs, case.named])]


# Called on what has no batch, or gives what has none.
NOT_MODELS = {"identity_list", "concatenate_0", "category_encoding_multi_hot_row", "category_encoding_count_row",
              "center_crop_one", "resizing_one", "random_brightness_one", "integerlookup_row"}


def can_be_model(case):
    if case.name in NOT_MODELS:
        return False
    leaves = [np.asarray(a) for a in _leaves([case.inputs, list(case.named.values())])]
    return case.mask is None and not case.carried and not case.call and all(a.ndim > 0 for a in leaves)


def _leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, (list, tuple)) else [value]


def layer_cases():
    """One of each family always, all of them when everything is wanted."""
    seen = set()
    for case in CASES:
        if can_be_model(case):
            family = case.name.split("_")[0]
            yield pytest.param(case, id=case.name, marks=full_only if family in seen else [])
            seen.add(family)


@pytest.mark.parametrize("case", layer_cases())
def test_layer(server, tmp_path, case):
    """Every layer and option that is compared at all, in both kinds of file."""
    import keras

    keras.utils.set_random_seed(1)
    model, x = as_model(keras, case)
    if case.random_weights and case.adapt is None:
        randomise(model)
    x = x if len(x) > 1 else x[0]
    outputs = outputs_of(model, x)
    for ending in ("keras", "h5"):
        path = tmp_path / f"layer.{ending}"
        try:
            model.save(path)
        except TypeError:  # Keras cannot write some random layers to .h5
            assert ending == "h5"
            continue
        reason = why_not(case, ending)
        if reason:
            with pytest.raises(Refused, match=reason):
                load_here(server, path, x=x)
            continue
        loaded = load_here(server, path, x=x)
        check_equal(loaded.tensors("weights"), weights_of(model))
        check_close([np.asarray(y) for y in loaded.tensors("outputs")], outputs, case.tolerance, f"output of {ending}")


def why_not(case, ending):
    """The error for vocabularies that were learnt: .h5 does not hold them, and tf_idf has weights beside."""
    if case.adapt is None or not any(word in case.name for word in ("lookup", "text")):
        return None
    if ending == "h5":
        return "FailedPreconditionError: .*vocabulary"
    return "UnimplementedError: .*tf_idf" if "tf_idf" in case.name else None


OPTIMIZERS = {
    "sgd": lambda k: k.optimizers.SGD(0.1),
    "momentum": lambda k: k.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "rmsprop": lambda k: k.optimizers.RMSprop(0.01, momentum=0.5, centered=True),
    "adam": lambda k: k.optimizers.Adam(0.01),
    "amsgrad": lambda k: k.optimizers.Adam(0.01, amsgrad=True, clipnorm=1.0),
    "adamw": lambda k: k.optimizers.AdamW(0.01, weight_decay=0.05),
    "adagrad": lambda k: k.optimizers.Adagrad(0.05),
    "adadelta": lambda k: k.optimizers.Adadelta(0.5),
    "adamax": lambda k: k.optimizers.Adamax(0.01),
    "nadam": lambda k: k.optimizers.Nadam(0.01),
    "ftrl": lambda k: k.optimizers.Ftrl(0.05, l1_regularization_strength=0.001),
    "lion": lambda k: k.optimizers.Lion(0.001),
    "lamb": lambda k: k.optimizers.Lamb(0.01),
    "adafactor": lambda k: k.optimizers.Adafactor(0.01),
    "schedule": lambda k: k.optimizers.SGD(k.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5), momentum=0.9),
    "average": lambda k: k.optimizers.Adam(0.01, use_ema=True, ema_momentum=0.8),
    "accumulated": lambda k: k.optimizers.Adam(0.01, gradient_accumulation_steps=2),
    "loss_scale": lambda k: k.optimizers.LossScaleOptimizer(k.optimizers.Adam(0.01), initial_scale=64.0),
}


def small_classifier(keras):
    return keras.Sequential([keras.Input((6,)), keras.layers.Dense(8, activation="tanh"),
                             keras.layers.BatchNormalization(), keras.layers.Dense(3, activation="softmax")])


def batches(num):
    rng = np.random.default_rng(9)
    return [(rng.normal(size=(8, 6)).astype("f4"), rng.integers(0, 3, 8).astype("i4")) for _ in range(num)]


def optimizer_values(optimizer):
    return [np.asarray(v.numpy()) for v in optimizer.variables]


def train(model, data):
    logs = []
    for x, y in data:
        logs.append(model.train_on_batch(x, y, return_dict=True))
        model.reset_metrics()
    return logs


def check_optimizer(server, path, model):
    """The state as Keras reads it from a file; from .h5, out of which Keras 3 restores none, as it stands there."""
    import keras

    theirs = optimizer_values(model.optimizer)
    if path.suffix == ".keras":
        ours = optimizer_values(keras.models.load_model(path).optimizer)
    else:
        with h5py.File(path) as file:
            group = file["optimizer_weights"]
            ours = [group[name][()] for name in group.attrs["weight_names"]]
            assert json.loads(file.attrs["training_config"])["optimizer_config"]["class_name"] == type(
                model.optimizer).__name__
    check_equal(ours, theirs, "variable of the optimizer")


def optimizer_cases():
    always = {("adam", "h5"), *((name, "keras") for name in ("adam", "momentum", "schedule", "average"))}
    return [pytest.param(name, ending, marks=[] if (name, ending) in always else full_only)
            for name in OPTIMIZERS for ending in ("keras", "h5")]


@pytest.mark.parametrize("name,ending", optimizer_cases())
def test_training_goes_on(server, tmp_path, name, ending):
    """After three steps in Keras two more here are as two more there; and the other way round."""
    import keras

    keras.utils.set_random_seed(2)
    model = small_classifier(keras)
    model.compile(optimizer=OPTIMIZERS[name](keras), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    data = batches(6)
    train(model, data[:3])
    path, here, later = (tmp_path / f"{n}.{ending}" for n in ("trained", "here", "later"))
    try:
        model.save(path)
    except ValueError:
        assert (name, ending) == ("adafactor", "h5")  # Keras gives two of its variables one name
        return
    loaded = load_here(server, path, save=[str(here)])
    assert loaded["compiled"]
    check_equal([np.asarray(v) for v in loaded.tensors("optimizer_variables")], optimizer_values(model.optimizer),
                "variable of the optimizer")
    check_optimizer(server, here, model)

    loaded = load_here(server, path, train={"batches": [encode(list(batch)) for batch in data[3:5]]}, save=[str(later)])
    logs = train(model, data[3:5])
    for ours, theirs in zip(loaded["logs"], logs):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            assert abs(ours[key] - value) <= 1e-5 * max(1, abs(value)), key
    check_close(loaded.tensors("trained"), weights_of(model), 1e-5, "trained weight")

    if ending == "keras":
        again = keras.models.load_model(later)
        train(again, data[5:])
        train(model, data[5:])
        check_close(weights_of(again), weights_of(model), 1e-5, "weight trained by Keras again")


LOSSES = {
    "mse": dict(loss="mse", metrics=["mae"]),
    "function": lambda k: dict(loss=k.losses.mean_absolute_error, metrics=[k.metrics.mean_squared_error]),
    "object": lambda k: dict(loss=k.losses.MeanSquaredError(reduction="sum"), metrics=[k.metrics.RootMeanSquaredError(name="rmse")]),
    "weighted": lambda k: dict(loss="mse", loss_weights=0.5, weighted_metrics=["mse"]),
    "none": dict(loss=None),
}


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("name", LOSSES)
def test_compiled(server, tmp_path, name, ending):
    import keras

    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    arguments = LOSSES[name](keras) if callable(LOSSES[name]) else LOSSES[name]
    model.compile(optimizer="sgd", **arguments)
    x, y = floats(8, 4), floats(8, 3, seed=1)
    path = tmp_path / f"compiled.{ending}"
    if name != "none":
        model.train_on_batch(x, y)
    model.save(path)
    if name == "none":
        assert load_here(server, path)["compiled"]
        return
    loaded = load_here(server, path, train={"batches": [encode([x, y])]})
    (ours,), (theirs,) = loaded["logs"], train(model, [(x, y)])
    assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
    assert sorted(ours) == sorted(theirs)


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_several_losses(server, tmp_path, ending):
    import keras

    model, x = made(MODELS["several_inputs_and_outputs"])
    model.compile(optimizer="adam", loss={"first": "mse", "second": keras.losses.BinaryCrossentropy()},
                  loss_weights={"first": 1.0, "second": 0.3}, metrics={"first": ["mae"], "second": ["accuracy"]})
    y = [floats(3, 2, seed=4), np.array([[0.0], [1.0], [1.0]], "f4")]
    model.train_on_batch(x, y)
    model.save(tmp_path / f"model.{ending}")
    loaded = load_here(server, tmp_path / f"model.{ending}", train={"batches": [encode([x, y])]})
    model.reset_metrics()
    theirs = model.train_on_batch(x, y, return_dict=True)
    assert loaded["logs"][0]["loss"] == pytest.approx(theirs["loss"], rel=1e-5)
    assert sorted(loaded["logs"][0]) == sorted(theirs)


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("is_registered", [True, False], ids=["registered", "given"])
def test_class_of_ones_own(server, tmp_path, is_registered, ending):
    import keras

    class Scale(keras.layers.Layer):
        def __init__(self, factor=1.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = factor

        def build(self, shape):
            self.gamma = self.add_weight(name="gamma", shape=(shape[-1],), initializer="ones")

        def call(self, x):
            return x * self.gamma * self.factor

        def get_config(self):
            return {**super().get_config(), "factor": self.factor}

    if is_registered:
        Scale = keras.saving.register_keras_serializable("oracle", "Scale")(Scale)
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), Scale(2.5, name="scale")])
    randomise(model)
    path = tmp_path / f"own.{ending}"
    model.save(path)
    with pytest.raises(Refused, match="Scale"):
        load_here(server, path)
    x = floats(2, 4)
    copies = [tmp_path / "again.keras", tmp_path / "again.h5"]
    loaded = load_here(server, path, x=x, custom=True, save=[str(copy) for copy in copies])
    check_equal(loaded.tensors("weights"), weights_of(model))
    check_close(loaded.tensors("outputs"), outputs_of(model, x), TOLERANCE)
    for copy in copies:
        again = keras.models.load_model(copy, custom_objects={"Scale": Scale, "oracle>Scale": Scale})
        check_equal(outputs_of(again, x), outputs_of(model, x))


@pytest.mark.parametrize("name", ["sequential", "nested", "recurrent", "attention", "spectral", "shared_model"])
def test_weights_alone(server, tmp_path, name):
    """Both ways, and out of whole models."""
    import keras

    model, x = made(MODELS[name])
    model.save(tmp_path / "first.keras")
    randomise(model, seed=8)
    theirs = weights_of(model)
    sources = [tmp_path / n for n in ("second.weights.h5", "second.h5", "second.keras")]
    model.save_weights(sources[0])
    for path in sources[1:]:
        model.save(path)
    for i, source in enumerate(sources):
        written = tmp_path / f"written{i}.weights.h5"
        loaded = load_here(server, tmp_path / "first.keras", load_weights={"path": str(source)},
                           save_weights=[str(written)])
        check_equal(loaded.tensors("weights"), theirs)
        randomise(model, seed=9)
        model.load_weights(written)
        check_equal(weights_of(model), theirs)


def body_and_head(keras, units, head="head"):
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(5, name="body"),
                             keras.layers.BatchNormalization(name="norm"), keras.layers.Dense(units, name=head)])


@pytest.mark.parametrize("options", [
    {"by_name": True}, {"skip_mismatch": True}, {"by_name": True, "skip_mismatch": True}], ids=lambda o: "-".join(o))
@pytest.mark.parametrize("head", ["head", "other"])
@pytest.mark.parametrize("units", [3, 2])
def test_some_weights(server, tmp_path, options, head, units):
    """By name, and leaving out what does not fit: what Keras does, or an error where it has one."""
    import keras

    source, target = body_and_head(keras, 3), body_and_head(keras, units, head)
    randomise(source, 5)
    randomise(target, 6)
    path = tmp_path / "source.h5"
    source.save(path)
    target.save(tmp_path / "target.keras")
    try:
        target.load_weights(path, **options)
    except (ValueError, TypeError):
        with pytest.raises(Refused, match="InvalidArgumentError"):
            load_here(server, tmp_path / "target.keras", load_weights={"path": str(path), **options})
        return
    loaded = load_here(server, tmp_path / "target.keras", load_weights={"path": str(path), **options})
    check_equal(loaded.tensors("weights"), weights_of(target))


def test_mismatch_in_weights_of_keras3(server, tmp_path):
    import keras

    source, target = body_and_head(keras, 3), body_and_head(keras, 2)
    randomise(source, 5)
    randomise(target, 6)
    source.save_weights(tmp_path / "source.weights.h5")
    target.save(tmp_path / "target.keras")
    request = {"path": str(tmp_path / "source.weights.h5")}
    with pytest.raises(Refused, match="InvalidArgumentError"):
        load_here(server, tmp_path / "target.keras", load_weights=request)
    target.load_weights(tmp_path / "source.weights.h5", skip_mismatch=True)
    loaded = load_here(server, tmp_path / "target.keras", load_weights=request | {"skip_mismatch": True})
    check_equal(loaded.tensors("weights"), weights_of(target))


def write_keras2(path, layers, weights, backend="tensorflow"):
    """A Sequential as Keras 2 wrote it: `layers` are (class, configuration), `weights` by name of the layer."""
    config = {"class_name": "Sequential", "config": {"name": "old", "layers": [
        {"class_name": kind, "config": config} for kind, config in layers]}}
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"] = b"2.2.4"
        file.attrs["backend"] = backend.encode()
        file.attrs["model_config"] = json.dumps(config).encode()
        group = file.create_group("model_weights")
        names = [config["name"] for kind, config in layers if kind != "InputLayer"]
        group.attrs["layer_names"] = [name.encode() for name in names]
        group.attrs["keras_version"] = b"2.2.4"
        for name in sorted(names):
            values = weights.get(name, [])
            paths = [f"{name}/{word}:0" for word, _ in values]
            inner = group.require_group(name)
            inner.attrs["weight_names"] = np.array([p.encode() for p in paths]) if paths else np.zeros(0, "f8")
            for p, (_, value) in zip(paths, values):
                inner[p] = value


def test_names_with_slashes(server, tmp_path):
    """As older Keras allowed them: groups within groups. Keras 3 does not take such names."""
    import keras

    kernel, bias = floats(4, 3), floats(3, seed=1)
    second = floats(3, 2, seed=2)
    write_keras2(tmp_path / "old.h5", [
        ("Dense", {"name": "block1/dense", "batch_input_shape": [None, 4], "dtype": "float32", "units": 3,
                   "activation": "relu", "use_bias": True}),
        ("Dropout", {"name": "block1", "rate": 0.5}),
        ("Dense", {"name": "block1/dense/out", "units": 2, "activation": "linear", "use_bias": False})],
        {"block1/dense": [("kernel", kernel), ("bias", bias)], "block1/dense/out": [("kernel", second)]})
    x = floats(5, 4, seed=3)
    copies = [tmp_path / "again.keras", tmp_path / "again.h5"]
    loaded = load_here(server, tmp_path / "old.h5", x=x, save=[str(copy) for copy in copies])
    check_equal(loaded.tensors("weights"), [kernel, bias, second])
    check_close(loaded.tensors("outputs"), [np.maximum(x @ kernel + bias, 0) @ second], TOLERANCE)
    for copy in copies:
        again = keras.models.load_model(copy)
        assert [layer.name for layer in again.layers] == ["block1_dense", "block1", "block1_dense_out"]
        check_equal(weights_of(again), [kernel, bias, second])


def test_inspect(server, tmp_path):
    model, _ = made(MODELS["nested"])
    model.compile("adam", "mse")
    x = floats(3, 5)
    model.train_on_batch(x, floats(3, 2))
    for ending in ("keras", "h5"):
        model.save(tmp_path / f"model.{ending}")
        info = server.ask("inspect", path=str(tmp_path / f"model.{ending}"))
        assert info["format"] == f".{ending}"
        assert info["keras_version"].startswith("3.")
        assert sorted(map(tuple, (w["shape"] for w in info["weights"]))) == sorted(w.shape for w in weights_of(model))
        assert info["weights_nbytes"] == sum(w.nbytes for w in weights_of(model))
        assert len(info["optimizer_weights"]) == len(model.optimizer.variables)
        assert info["config"] is not None and info["training_config"] is not None
    model.save_weights(tmp_path / "model.weights.h5")
    info = server.ask("inspect", path=str(tmp_path / "model.weights.h5"))
    assert info["format"] == ".weights.h5" and info["config"] is None


def test_without_weights(server, tmp_path):
    """A model far larger than the machine can be made, to be planned."""
    path = tmp_path / "huge.h5"
    config = {"name": "huge", "units": 1 << 20, "batch_input_shape": [None, 1 << 20], "use_bias": False}
    write_keras2(path, [("Dense", config)], {})
    reply = load_here(server, path, without_weights=True)
    assert len(reply["weight_paths"]) == 1
    with pytest.raises(Refused):
        load_here(server, path)


@pytest.mark.parametrize("name,content,message", [
    ("model.h5", b"", "model.h5"),
    ("model.h5", b"\x89HDF\r\n\x1a\n" + b"\0" * 64, "model.h5"),
    ("model.keras", b"PK\x03\x04 and no more", "model.keras"),
    ("model.keras", b"something else", "model.keras"),
    ("model.tflite", b"\x1c\0\0\0TFL3", "tflite"),
    ("model.pt", b"PK\x03\x04", "model.pt"),
    ("model.index", b"", "index"),
])
def test_files_that_are_none(server, tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Refused, match=message) as refused:
        load_here(server, path)
    assert refused.value.name in ("DataLossError", "UnimplementedError", "InvalidArgumentError")


def test_missing_file_and_saved_model(server, tmp_path):
    with pytest.raises(Refused, match="NotFoundError: .*nothing.keras"):
        load_here(server, tmp_path / "nothing.keras")
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"\x08\x01")
    with pytest.raises(Refused, match="UnimplementedError: .*SavedModel"):
        load_here(server, folder)


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_lambda_is_refused(server, tmp_path, ending):
    """Its configuration is code."""
    import keras

    model = keras.Sequential([keras.Input((3,)), keras.layers.Lambda(lambda x: x + 1)])
    model.save(tmp_path / f"model.{ending}")
    with pytest.raises(Refused, match="Lambda"):
        load_here(server, tmp_path / f"model.{ending}")


@full_only
@pytest.mark.parametrize("version", ["3.6.0", "3.10.0"])
@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("name", ["functional", "sequential", "recurrent", "nested"])
def test_older_keras_reads_it(server, tmp_path, name, ending, version):
    """Files from here hold nothing that Keras 3.6 does not know."""
    model, x = made(MODELS[name])
    model.save(tmp_path / "model.keras")
    again = tmp_path / f"again.{ending}"
    load_here(server, tmp_path / "model.keras", save=[str(again)])
    weights, outputs = load_in_keras(version, again, x, tmp_path)
    check_equal(weights, weights_of(model))
    check_close(outputs, outputs_of(model, x), 1e-6)
