"""Every loss against Keras itself: configuration, values and gradients by y_pred, for each reduction, with
weights and masks, eagerly and as a function."""

import numpy as np
import pytest

from keras_peer import Refused, Server, config_of, decode, encode


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    running.close()


def floats(*shape, seed=0, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype("float32")


def classes(*shape, num, seed=1):
    return np.random.default_rng(seed).integers(0, num, shape).astype("int64")


def distributions(*shape, seed=2):
    x = floats(*shape, seed=seed, low=0.05)
    x = np.abs(x)
    return (x / x.sum(-1, keepdims=True)).astype("float32")


def one_hots(*shape, num, seed=3):
    return np.eye(num, dtype="float32")[classes(*shape, num=num, seed=seed)]


def bits(*shape, seed=4):
    return classes(*shape, num=2, seed=seed).astype("float32")


# name: (loss of the module keras.losses and further arguments, y_true, y_pred)
CASES = {
    "mse": (lambda k, **kw: k.MeanSquaredError(**kw), floats(4, 3), floats(4, 3, seed=1)),
    "mse_3d": (lambda k, **kw: k.MeanSquaredError(**kw), floats(4, 3, 2), floats(4, 3, 2, seed=1)),
    "mse_ranks": (lambda k, **kw: k.MeanSquaredError(**kw), floats(4), floats(4, 1, seed=1)),
    "mse_integers": (lambda k, **kw: k.MeanSquaredError(**kw), classes(4, 3, num=5), floats(4, 3, seed=1)),
    "mae": (lambda k, **kw: k.MeanAbsoluteError(**kw), floats(4, 3), floats(4, 3, seed=1)),
    "mape": (lambda k, **kw: k.MeanAbsolutePercentageError(**kw), floats(4, 3), floats(4, 3, seed=1)),
    "msle": (lambda k, **kw: k.MeanSquaredLogarithmicError(**kw), floats(4, 3), floats(4, 3, seed=1)),
    "cosine": (lambda k, **kw: k.CosineSimilarity(**kw), floats(4, 3), floats(4, 3, seed=1)),
    "huber": (lambda k, **kw: k.Huber(**kw), floats(4, 3, low=-2), floats(4, 3, seed=1, low=-2)),
    "log_cosh": (lambda k, **kw: k.LogCosh(**kw), floats(4, 3, low=-3), floats(4, 3, seed=1)),
    "hinge": (lambda k, **kw: k.Hinge(**kw), bits(4, 3), floats(4, 3, seed=1)),
    "hinge_signs": (lambda k, **kw: k.Hinge(**kw), 2 * bits(4, 3) - 1, floats(4, 3, seed=1)),
    "squared_hinge": (lambda k, **kw: k.SquaredHinge(**kw), bits(4, 3), floats(4, 3, seed=1)),
    "categorical_hinge": (lambda k, **kw: k.CategoricalHinge(**kw), one_hots(4, num=3), floats(4, 3, seed=1)),
    "kld": (lambda k, **kw: k.KLDivergence(**kw), distributions(4, 3), distributions(4, 3, seed=7)),
    "poisson": (lambda k, **kw: k.Poisson(**kw), floats(4, 3, low=0), floats(4, 3, seed=1, low=0.1)),
    "bce": (lambda k, **kw: k.BinaryCrossentropy(**kw), bits(4, 3), floats(4, 3, seed=1, low=0)),
    "bce_logits": (lambda k, **kw: k.BinaryCrossentropy(from_logits=True, **kw), bits(4, 3),
                   floats(4, 3, seed=1, low=-9, high=9)),
    "bce_smooth": (lambda k, **kw: k.BinaryCrossentropy(label_smoothing=0.2, axis=1, **kw), bits(4, 3, 2),
                   floats(4, 3, 2, seed=1, low=0)),
    "bce_ranks": (lambda k, **kw: k.BinaryCrossentropy(**kw), bits(4), floats(4, 1, seed=1, low=0)),
    "binary_focal": (lambda k, **kw: k.BinaryFocalCrossentropy(**kw), bits(4, 3),
                     floats(4, 3, seed=1, low=0.02, high=0.98)),
    "binary_focal_balanced": (
        lambda k, **kw: k.BinaryFocalCrossentropy(apply_class_balancing=True, alpha=0.4, gamma=1.5,
                                                  from_logits=True, label_smoothing=0.1, **kw),
        bits(4, 3), floats(4, 3, seed=1, low=-3, high=3)),
    "cce": (lambda k, **kw: k.CategoricalCrossentropy(**kw), one_hots(4, num=3), distributions(4, 3)),
    "cce_3d": (lambda k, **kw: k.CategoricalCrossentropy(**kw), one_hots(4, 2, num=3), distributions(4, 2, 3)),
    "cce_logits": (lambda k, **kw: k.CategoricalCrossentropy(from_logits=True, **kw), one_hots(4, num=3),
                   floats(4, 3, low=-9, high=9)),
    "cce_smooth": (lambda k, **kw: k.CategoricalCrossentropy(label_smoothing=0.1, from_logits=True, axis=1, **kw),
                   np.moveaxis(one_hots(4, 3, num=3), -1, 1).copy(), floats(4, 3, 3)),
    "categorical_focal": (lambda k, **kw: k.CategoricalFocalCrossentropy(**kw), one_hots(4, num=3),
                          distributions(4, 3)),
    "categorical_focal_logits": (
        lambda k, **kw: k.CategoricalFocalCrossentropy(alpha=0.5, gamma=1.5, from_logits=True,
                                                       label_smoothing=0.1, **kw),
        one_hots(4, num=3), floats(4, 3, low=-3, high=3)),
    "sparse": (lambda k, **kw: k.SparseCategoricalCrossentropy(**kw), classes(4, num=3), distributions(4, 3)),
    "sparse_column": (lambda k, **kw: k.SparseCategoricalCrossentropy(**kw), classes(4, 1, num=3),
                      distributions(4, 3)),
    "sparse_3d": (lambda k, **kw: k.SparseCategoricalCrossentropy(from_logits=True, **kw), classes(4, 2, num=3),
                  floats(4, 2, 3, low=-9, high=9)),
    "sparse_ignore": (lambda k, **kw: k.SparseCategoricalCrossentropy(ignore_class=1, from_logits=True, **kw),
                      classes(4, num=3), floats(4, 3)),
    "sparse_ignore_minus": (lambda k, **kw: k.SparseCategoricalCrossentropy(ignore_class=-1, **kw),
                            np.array([0, -1, 2, 1], "int32"), distributions(4, 3)),
    "dice": (lambda k, **kw: k.Dice(**kw), bits(4, 3), floats(4, 3, low=0)),
    "dice_axis": (lambda k, **kw: k.Dice(axis=(1, 2), **kw), bits(4, 3, 2), floats(4, 3, 2, low=0)),
    "tversky": (lambda k, **kw: k.Tversky(alpha=0.3, beta=0.6, **kw), bits(4, 3), floats(4, 3, low=0)),
    "tversky_axis": (lambda k, **kw: k.Tversky(axis=-1, **kw), bits(4, 3, 2), floats(4, 3, 2, low=0)),
    "circle": (lambda k, **kw: k.Circle(gamma=8.0, margin=0.3, **kw), np.array([0, 1, 0, 1], "int64"),
               floats(4, 3) / np.linalg.norm(floats(4, 3), axis=-1, keepdims=True)),
    "circle_diagonal": (lambda k, **kw: k.Circle(gamma=4.0, remove_diagonal=False, **kw),
                        np.array([0, 1, 2, 1], "int64"),
                        floats(4, 3) / np.linalg.norm(floats(4, 3), axis=-1, keepdims=True)),
    "ctc": (lambda k, **kw: k.CTC(**kw), np.array([[1, 2, 0], [2, 2, 1], [3, 0, 0], [0, 0, 0]]),
            floats(4, 6, 4, low=-3, high=3)),
    "ctc_long": (lambda k, **kw: k.CTC(**kw), classes(4, 9, num=6) + 1, floats(4, 40, 8, low=-3, high=3)),
    "generalized": (lambda k, **kw: k.CategoricalGeneralizedCrossEntropy(q=0.7, **kw), classes(4, num=3),
                    distributions(4, 3)),
}
REDUCTIONS = ["sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none"]


def keras_side(loss, y_true, y_pred, sample_weight, mask, activation):
    import keras
    import tensorflow as tf

    predicted = tf.constant(y_pred)
    with tf.GradientTape() as tape:
        tape.watch(predicted)
        given = getattr(keras.activations, activation)(predicted) if activation else predicted
        if mask is not None:
            given = tf.identity(given) if not activation else given
            keras.src.backend.set_keras_mask(given, tf.constant(mask))
        value = loss(y_true, given, sample_weight=sample_weight)
    gradient = tape.gradient(value, predicted)
    return value.numpy(), gradient.numpy()


def close(ours, theirs, what, tolerance=1e-5):
    assert list(ours.shape) == list(theirs.shape), f"{what}: {ours.shape} here, {theirs.shape} in Keras"
    assert np.all(np.isfinite(theirs)), f"{what}: nothing to compare with"
    scale = max(1.0, float(np.max(np.abs(theirs), initial=0)))
    np.testing.assert_allclose(ours.astype("float64"), theirs.astype("float64"), rtol=tolerance,
                               atol=tolerance * scale, err_msg=what)


def check(server, loss, y_true, y_pred, sample_weight=None, mask=None, activation=None):
    value, gradient = keras_side(loss, y_true, y_pred, sample_weight, mask, activation)
    reply = server.ask("loss", loss=config_of(loss), y_true=encode(y_true), y_pred=encode(y_pred),
                       sample_weight=encode(sample_weight), mask=encode(mask), activation=activation)
    assert reply["config"] == config_of(loss)["config"]
    close(decode(reply["value"]), value, "loss")
    close(decode(reply["gradient"]), gradient, "gradient by y_pred")
    traced = decode(reply["traced"])
    close(traced[0], decode(reply["value"]), "loss in a function", 1e-6)
    close(traced[1], decode(reply["gradient"]), "gradient in a function", 1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", CASES)
def test_loss(server, name, reduction):
    import keras
    make, y_true, y_pred = CASES[name]
    check(server, make(keras.losses, reduction=reduction), y_true, y_pred)


def loss_shape(make, y_true, y_pred):
    import keras
    return tuple(make(keras.losses, reduction="none")(y_true, y_pred).shape)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", CASES)
def test_sample_weight(server, name, reduction):
    import keras
    make, y_true, y_pred = CASES[name]
    loss = make(keras.losses, reduction=reduction)
    shape = loss_shape(make, y_true, y_pred)
    for weight_shape in {shape[:1], shape}:
        if len(shape) - len(weight_shape) > 0:
            weight_shape = weight_shape + (1,) * (len(shape) - len(weight_shape))
        check(server, loss, y_true, y_pred, sample_weight=floats(*weight_shape, seed=9, low=0))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", [n for n in CASES if n not in {"dice", "tversky"}])  # these are one number
def test_mask(server, name, reduction, weighted):
    import keras
    make, y_true, y_pred = CASES[name]
    shape = loss_shape(make, y_true, y_pred)
    mask = classes(*shape, num=3, seed=5) > 0
    check(server, make(keras.losses, reduction=reduction), y_true, y_pred, mask=mask,
          sample_weight=floats(*shape, seed=9, low=0) if weighted else None)


@pytest.mark.parametrize("name", ["bce", "bce_ranks", "bce_smooth", "binary_focal"])
def test_sigmoid_carries_logits(server, name):
    import keras
    make, y_true, y_pred = CASES[name]
    check(server, make(keras.losses), y_true, floats(*y_pred.shape, low=-4, high=4), activation="sigmoid")


@pytest.mark.parametrize("name", ["cce", "cce_3d", "sparse", "sparse_column"])
def test_softmax_carries_logits(server, name):
    import keras
    make, y_true, y_pred = CASES[name]
    check(server, make(keras.losses), y_true, floats(*y_pred.shape, low=-40, high=40), activation="softmax")


@pytest.mark.parametrize("alias", ["mse", "MSE", "mae", "MAE", "mape", "MAPE", "msle", "MSLE", "bce", "BCE", "kld",
                                   "KLD", "mean_squared_error", "MeanSquaredError", "huber", "poisson",
                                   "sparse_categorical_crossentropy", "CategoricalHinge", "log_cosh"])
def test_names(server, alias):
    import keras
    found = keras.losses.get(alias)
    name = found.__name__ if hasattr(found, "__name__") else type(found).__name__
    reply = server.ask("loss", loss=alias, y_true=encode(np.array([0, 1])), y_pred=encode(distributions(2, 3)) if
                       "sparse" in alias else encode(floats(2, low=0.1)))
    assert reply["name"].removesuffix("_loss").replace("_", "") == name.lower().replace("_", "")


def test_errors(server):
    labels = np.array([0, 5])
    with pytest.raises(Refused, match="5.*3|3.*5"):
        server.ask("loss", loss="sparse_categorical_crossentropy", y_true=encode(labels),
                   y_pred=encode(distributions(2, 3)))
    with pytest.raises(Refused, match="must have the same shape"):
        server.ask("loss", loss="binary_crossentropy", y_true=encode(bits(2, 3)), y_pred=encode(floats(2, 4, low=0)))
    with pytest.raises(Refused, match="same rank"):
        server.ask("loss", loss="categorical_crossentropy", y_true=encode(bits(2)), y_pred=encode(floats(2, 4, low=0)))
    with pytest.raises(Refused, match="up until the last dimension"):
        server.ask("loss", loss="sparse_categorical_crossentropy", y_true=encode(np.array([0, 1, 2])),
                   y_pred=encode(distributions(2, 3)))
    with pytest.raises(Refused, match="Did you mean 'mean_squared_error'"):
        server.ask("loss", loss="mean_squared_eror", y_true=encode(bits(2)), y_pred=encode(bits(2)))
    with pytest.raises(Refused, match="reduction=avg"):
        server.ask("loss", loss={"class_name": "MeanSquaredError", "config": {"reduction": "avg"}},
                   y_true=encode(bits(2)), y_pred=encode(bits(2)))
