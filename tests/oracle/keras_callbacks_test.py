"""What callbacks decide, against Keras itself: both are told of the same epochs, which never were."""

import functools
import math

import numpy as np
import pytest

from keras_peer import Refused, Server

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def server():
    running = Server()
    yield running
    running.close()


def epochs(batches=None, **series):
    """One log for each epoch, of lists of values; None is a value that is not there."""
    logs = []
    for values in zip(*series.values()):
        logs.append({"logs": {name: v for name, v in zip(series, values) if v is not None}})
    for item in logs if batches else []:
        item["batches"] = batches
    return logs


def for_json(value):
    if isinstance(value, dict):
        return {key: for_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [for_json(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@functools.cache
def trained_model(metrics):
    import keras

    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=list(metrics))
    model.train_on_batch(np.zeros((2, 1)), np.zeros((2, 1)))
    return model


class KerasRun:
    """The same as the handler does."""

    def __init__(self, name, config, script, learning_rate, metrics):
        import keras

        self.paths = []
        config = dict(config)
        if name == "LearningRateScheduler":
            by, start = config["by"], config.get("from", 0)
            config = {"schedule": lambda epoch, rate: rate if epoch < start else rate * by}
        callback = getattr(keras.callbacks, name)(**config)
        model = trained_model(tuple(metrics))
        model.optimizer.learning_rate = learning_rate
        model.save = lambda path, **_: self.paths.append(path)
        model.save_weights = lambda path, **_: self.paths.append(path)
        model.stop_training = False
        callback.set_model(model)
        callback.set_params({})
        callback.on_train_begin()
        self.epochs = []
        for epoch, item in enumerate(script):
            model.set_weights([np.full((1, 1), epoch, "float32")])
            callback.on_epoch_begin(epoch)
            for batch, logs in enumerate(item.get("batches", [])):
                callback.on_train_batch_begin(batch)
                callback.on_train_batch_end(batch, dict(logs))
            logs = dict(item["logs"])
            callback.on_epoch_end(epoch, logs)
            self.epochs.append({"stop": model.stop_training, "learning_rate": float(model.optimizer.learning_rate),
                                "names": list(logs)})
            if model.stop_training:
                break
        callback.on_train_end()
        self.weight = float(model.get_weights()[0][0, 0])
        self.callback = callback


def compare(server, name, config, script, learning_rate=0.1, metrics=()):
    theirs = KerasRun(name, config, script, learning_rate, metrics)
    ours = server.ask("callback", **{"class": name}, config=config, epochs=for_json(script),
                      learning_rate=learning_rate, metrics=list(metrics))
    assert [e["stop"] for e in ours["epochs"]] == [e["stop"] for e in theirs.epochs]
    assert [e["names"] for e in ours["epochs"]] == [e["names"] for e in theirs.epochs]
    np.testing.assert_allclose([e["learning_rate"] for e in ours["epochs"]],
                               [e["learning_rate"] for e in theirs.epochs], rtol=1e-6)
    assert ours["weight"] == theirs.weight
    for key in ["stopped_epoch", "best_epoch", "wait"]:
        if key in ours:
            assert ours[key] == getattr(theirs.callback, key), key
    if "paths" in ours:
        assert ours["paths"] == theirs.paths
    return ours


def both_refuse(server, name, config, script=(), metrics=()):
    with pytest.raises(Exception) as theirs:
        KerasRun(name, config, script, 0.1, metrics)
    assert isinstance(theirs.value, (ValueError, KeyError, RuntimeError))
    with pytest.raises(Refused):
        server.ask("callback", **{"class": name}, config=config, epochs=for_json(list(script)), learning_rate=0.1,
                   metrics=list(metrics))


DOWN_AND_UP = [1.0, 0.8, 0.7, 0.75, 0.72, 0.71, 0.69, 0.9, 0.91, 0.92, 0.93, 0.94]
FLAT = [0.5] * 8
CLOSE = [0.5, 0.4999, 0.4998, 0.4997, 0.49969999999, 0.4996, 0.4, 0.4, 0.4]
NANS = [0.5, NAN, 0.4, NAN, NAN, NAN, 0.1]
SERIES = {"down_and_up": DOWN_AND_UP, "flat": FLAT, "close": CLOSE, "nans": NANS, "up": list(reversed(DOWN_AND_UP)),
          "inf": [INF, 3.0, -INF, 1.0, 1.0, 1.0]}


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("config", [
    {}, {"patience": 1}, {"patience": 3}, {"patience": 2, "min_delta": 0.05}, {"patience": 2, "min_delta": -0.05},
    {"patience": 2, "mode": "max"}, {"patience": 2, "mode": "min"}, {"patience": 2, "baseline": 0.72},
    {"patience": 1, "baseline": 0.1}, {"patience": 2, "start_from_epoch": 3},
    {"patience": 2, "restore_best_weights": True}, {"patience": 4, "restore_best_weights": True},
    {"patience": 1, "restore_best_weights": True, "baseline": 0.6},
    {"patience": 2, "restore_best_weights": True, "start_from_epoch": 2, "mode": "max"},
    {"patience": 1, "mode": "best"}, {"patience": 1, "monitor": "loss"},
    {"patience": 1, "monitor": "accuracy"}, {"patience": 1, "monitor": "val_mae"},
], ids=str)
def test_early_stopping(server, config, series):
    values = SERIES[series]
    script = epochs(loss=list(reversed(values)), accuracy=values, val_loss=values, val_mae=values)
    compare(server, "EarlyStopping", config, script, metrics=["accuracy", "mae"])


def test_early_stopping_without_the_value(server):
    script = epochs(loss=[1.0] * 4, val_loss=[None, 1.0, None, 2.0])
    compare(server, "EarlyStopping", {"patience": 1}, script)
    compare(server, "EarlyStopping", {"monitor": "val_loss", "restore_best_weights": True}, epochs(loss=[1.0, 2.0]))


@pytest.mark.parametrize("series", SERIES)
@pytest.mark.parametrize("config", [
    {}, {"patience": 1}, {"patience": 2, "factor": 0.5}, {"patience": 0}, {"patience": 1, "cooldown": 2},
    {"patience": 2, "cooldown": 1, "min_delta": 0.05}, {"patience": 1, "min_lr": 0.03, "factor": 0.5},
    {"patience": 1, "mode": "max"}, {"patience": 1, "monitor": "accuracy", "factor": 0.3},
    {"patience": 1, "min_delta": 0}, {"patience": 1, "min_lr": 0.1},
], ids=str)
def test_reduce_lr_on_plateau(server, config, series):
    values = SERIES[series]
    compare(server, "ReduceLROnPlateau", config, epochs(loss=values, accuracy=values, val_loss=values),
            metrics=["accuracy"])


def test_reduce_lr_on_plateau_without_the_value(server):
    compare(server, "ReduceLROnPlateau", {"patience": 1}, epochs(loss=[1.0] * 4, val_loss=[1.0, None, 1.0, 1.0]))


@pytest.mark.parametrize("config", [
    {}, {"save_best_only": True}, {"save_best_only": True, "mode": "max"},
    {"save_best_only": True, "monitor": "accuracy"}, {"save_best_only": True, "initial_value_threshold": 0.72},
    {"save_freq": 3}, {"save_freq": 5}, {"save_freq": 1}, {"save_freq": 4, "save_best_only": True, "monitor": "loss",
                                                           "mode": "min"},
    {"save_weights_only": True, "filepath": "w{epoch:03d}.weights.h5"},
    {"filepath": "{epoch:02d}-{val_loss:.2f}.keras"}, {"filepath": "{epoch}_{loss}_{accuracy:.3e}.keras"},
    {"filepath": "{epoch:5d}{val_loss:8.4f}.h5"}, {"filepath": "e{epoch:02d}b{batch:04d}.keras", "save_freq": 2},
    {"filepath": "b{batch}-{loss:.1f}.keras", "save_freq": 4}, {"filepath": "{{{epoch}}}.keras"},
    {"save_best_only": True, "monitor": "nothing", "mode": "min"},
], ids=str)
@pytest.mark.parametrize("series", ["down_and_up", "close", "nans"])
def test_model_checkpoint(server, config, series, tmp_path):
    config = {**config, "filepath": str(tmp_path / config.get("filepath", "model.keras"))}
    values = SERIES[series]
    batches = [{"loss": 0.5}, {"loss": 0.25}, {"loss": 1.0}, {"loss": 0.1}]
    script = epochs(batches, loss=[0.1 * i for i in range(len(values))], accuracy=values, val_loss=values)
    compare(server, "ModelCheckpoint", config, script, metrics=["accuracy"])


def test_refusals(server, tmp_path):
    script = epochs(loss=[1.0, 2.0], mean=[1.0, 2.0])
    both_refuse(server, "ModelCheckpoint", {"filepath": "model"})
    both_refuse(server, "ModelCheckpoint", {"filepath": "model.h5", "save_weights_only": True})
    both_refuse(server, "ModelCheckpoint", {"filepath": "model.keras", "save_freq": "batch"})
    both_refuse(server, "ModelCheckpoint", {"filepath": str(tmp_path / "{nothing}.keras"), "mode": "min"}, script)
    both_refuse(server, "EarlyStopping", {"monitor": "mean"}, script)
    both_refuse(server, "ReduceLROnPlateau", {"monitor": "loss", "factor": 1.0}, script)
    both_refuse(server, "TerminateOnNaN", {"raise_error": True}, epochs([{"loss": NAN}], loss=[1.0]))


METRICS = ["accuracy", "binary_accuracy", "mae", "mse", "mape", "msle", "cosine_similarity", "hinge", "poisson",
           "kl_divergence", "binary_crossentropy", "squared_hinge"]


@pytest.mark.parametrize("metric", METRICS)
def test_direction_of_metrics(server, metric):
    import keras

    name = keras.metrics.get(metric).name if metric != "accuracy" else metric
    script = epochs(**{"loss": [1.0] * 5, metric: [1.0, 2.0, 0.5, 3.0, 0.2], name: [1.0, 2.0, 0.5, 3.0, 0.2]})
    try:
        KerasRun("EarlyStopping", {"monitor": metric, "patience": 1}, script, 0.1, [metric])
    except ValueError:
        both_refuse(server, "EarlyStopping", {"monitor": metric, "patience": 1}, script, [metric])
        return
    compare(server, "EarlyStopping", {"monitor": metric, "patience": 1}, script, metrics=[metric])


@pytest.mark.parametrize("config", [{"by": 0.5}, {"by": 0.9, "from": 2}, {"by": 1.0}], ids=str)
def test_learning_rate_scheduler(server, config):
    compare(server, "LearningRateScheduler", config, epochs(loss=[1.0] * 5))


@pytest.mark.parametrize("config", [{}, {"separator": ";"}, {"separator": "\t"}], ids=str)
@pytest.mark.parametrize("logs", [
    epochs(loss=[0.5, 0.25, 1 / 3], accuracy=[0.1, 1.0, 1e-7]),
    epochs(loss=[0.5, 0.25], val_loss=[1.5, 1e20], accuracy=[1e16, 123456789.123]),
    epochs(loss=[1.0, 2.0, NAN, INF, -INF], accuracy=[None, 1.0, None, 2.0, 3.0]),
    epochs(loss=[0.0001, 0.00001, 1e15, 1e16, -0.0]),
], ids=["plain", "validation", "gaps", "small"])
def test_csv_logger(server, config, logs, tmp_path):
    theirs, ours = str(tmp_path / "keras.csv"), str(tmp_path / "ours.csv")
    for append in [False, True, True]:
        more = {**config, "append": append}
        KerasRun("CSVLogger", {**more, "filename": theirs}, logs, 0.1, ())
        server.ask("callback", **{"class": "CSVLogger"}, config={**more, "filename": ours}, epochs=for_json(logs),
                   learning_rate=0.1, metrics=[])
        with open(ours, "rb") as a, open(theirs, "rb") as b:
            assert a.read() == b.read()


@pytest.mark.parametrize("losses", [[1.0, 2.0], [1.0, NAN, 2.0], [INF], [1.0, -INF], []], ids=str)
def test_terminate_on_nan(server, losses):
    script = [{"logs": {"loss": 1.0}, "batches": [{"loss": 0.5}]},
              {"logs": {"loss": 1.0}, "batches": [{"loss": v} for v in losses] + [{"accuracy": NAN}]},
              {"logs": {"loss": 1.0}}]
    compare(server, "TerminateOnNaN", {}, script)
