"""compile, fit, evaluate, predict: arguments as Keras takes them."""

import itertools

from .. import _core
from . import _base
from ._base import wrap
from ._callback import Callback, History


class CompileMetrics:
    """The metrics of compile, all together."""

    name = "compile_metrics"

    def __init__(self, model):
        self._model = model

    @property
    def metrics(self):
        return self._model._compiled_metrics()

    def update_state(self, y_true, y_pred, sample_weight=None):
        _core.model_compute_metrics(self._model._c, None, y_true, y_pred, sample_weight)

    def result(self):
        return {metric.name: metric.result() for metric in self.metrics}

    def reset_state(self):
        for metric in self.metrics:
            metric.reset_state()

    @property
    def variables(self):
        return [v for metric in self.metrics for v in metric.variables]


def _structure(value, convert):
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {str(key): _structure(item, convert) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_structure(item, convert) for item in value]
    return convert(value)


def _as_array(value):
    """Tables of pandas and the like, as arrays."""
    if isinstance(value, dict):
        return {key: _as_array(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_as_array(item) for item in value) if type(value) in (list, tuple) else value
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
        return value.reshape(-1, 1) if value.ndim == 1 else value
    return value


def _is_batches(x):
    """Whether x gives batches, and is no array or structure of arrays."""
    if isinstance(x, (list, tuple, dict)) or x is None or hasattr(x, "shape") or hasattr(x, "to_numpy"):
        return False
    return hasattr(x, "__iter__") or hasattr(x, "__next__") or hasattr(x, "__getitem__")


def _run_maker(data):
    """A dataset of C++ that runs through batches."""
    if hasattr(data, "_c") and isinstance(data._c, _core.Dataset):
        return data._c
    if hasattr(data, "__next__"):
        return _core.batches_of(lambda: data, None, True)  # a generator goes on where it stands
    size = _num_batches(data)
    if size is not None and hasattr(data, "__getitem__"):
        def run():
            for i in range(len(data)):
                yield tuple(_batch(data[i]))
    else:
        def run():
            return iter(data) if size is None else itertools.islice(data, size)
    return _core.batches_of(run, size, False)


class _EpochEnd(Callback):
    """Tells data that it was gone through."""

    def __init__(self, data):
        super().__init__()
        self._data = data

    def on_epoch_end(self, epoch, logs=None):
        self._data.on_epoch_end()


def _batch(item):
    return item if isinstance(item, (list, tuple)) else (item,)


def _num_batches(data):
    try:
        return len(data)
    except TypeError:
        return None


def _callbacks(callbacks):
    found = []
    if callbacks is None:
        return found
    if isinstance(callbacks, Callback):
        callbacks = [callbacks]
    for callback in callbacks:
        if getattr(callback, "callbacks", None) is not None and not isinstance(callback, Callback):
            found += _callbacks(callback.callbacks)
        elif hasattr(callback, "_for_core"):
            found.append(callback._for_core())
        else:
            raise TypeError(f"a callback derives from keras.callbacks.Callback, got {callback!r}")
    return found


class Trainer:
    """The part of a model that trains it."""

    def compile(self, optimizer="rmsprop", loss=None, loss_weights=None, metrics=None, weighted_metrics=None,
                run_eagerly=False, steps_per_execution=1, jit_compile="auto", auto_scale_loss=True,
                memory_budget=None):
        """memory_budget: what the device may hold while the model is trained, as "512MiB"."""
        from . import _optimizer, losses
        from . import metrics as metrics_module
        if steps_per_execution not in (None, 1):
            from ..errors import UnimplementedError
            raise UnimplementedError(None, None, f"steps_per_execution={steps_per_execution} is not built: a step "
                                     "is one run of a plan")
        optimizer = _optimizer.get(optimizer)
        loss = _structure(loss, losses._get)
        metrics = _structure(metrics, metrics_module.get)
        weighted_metrics = _structure(weighted_metrics, metrics_module.get)
        if isinstance(metrics, str):
            metrics = [metrics]
        _core.model_compile(self._c, optimizer._c, loss, metrics, weighted_metrics, _plain_weights(loss_weights),
                            memory_budget or "", bool(run_eagerly), bool(auto_scale_loss))
        # Whoever made the objects may forget them.
        object.__setattr__(self, "_compiled", (optimizer, loss, metrics, weighted_metrics, loss_weights))

    compiled = property(lambda self: _core.model_compiled(self._c))
    optimizer = property(lambda self: wrap(_core.model_optimizer(self._c)))
    loss = property(lambda self: self.__dict__.get("_compiled", (None, None))[1])
    run_eagerly = False
    jit_compile = False

    @property
    def stop_training(self):
        return _core.model_stop_training(self._c)

    @stop_training.setter
    def stop_training(self, value):
        _core.model_set_stop_training(self._c, bool(value))

    def _compiled_metrics(self):
        own = {id(m) for m in _layer_metrics(self)}
        return [m for m in map(wrap, _core.model_metrics(self._c)[1:]) if id(m) not in own]

    @property
    def metrics(self):
        if not self.compiled:
            return _layer_metrics(self)
        found = [wrap(_core.model_metrics(self._c)[0])]
        if self.__dict__.get("_compiled", (None,) * 4)[2] or self._compiled_metrics():
            found.append(CompileMetrics(self))
        return found + _layer_metrics(self)

    @property
    def metrics_names(self):
        return [m.name for m in self.metrics]

    def reset_metrics(self):
        _core.model_reset_metrics(self._c)

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None,
            validation_split=0.0, validation_data=None, shuffle=True, class_weight=None, sample_weight=None,
            initial_epoch=0, steps_per_epoch=None, validation_steps=None, validation_batch_size=None,
            validation_freq=1):
        """Trains. Before the first step the peak of memory is known and printed."""
        options = self._fit_options(batch_size, epochs, verbose, callbacks, validation_split, validation_data,
                                    shuffle, class_weight, sample_weight, initial_epoch, steps_per_epoch,
                                    validation_steps, validation_batch_size, validation_freq)
        dataset = None
        x, y = _as_array(x), _as_array(y)
        if _is_batches(x):
            if y is not None:
                raise ValueError("`y` should not be passed when `x` gives batches with their labels")
            dataset = _run_maker(x)
            if hasattr(x, "on_epoch_end"):
                options["callbacks"] += _callbacks(_EpochEnd(x))
        epoch, rows, planned, measured = _core.model_fit(self._c, self, x, y, dataset, options)
        history = History()
        history.epoch, history.history = list(epoch), rows
        history.params = {"epochs": epochs, "verbose": verbose}
        history.planned_peak_bytes, history.measured_peak_bytes = planned, measured
        history.set_model(self)
        object.__setattr__(self, "history", history)
        return history

    def _fit_options(self, batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle,
                     class_weight, sample_weight, initial_epoch, steps_per_epoch, validation_steps,
                     validation_batch_size, validation_freq):
        validation, validation_dataset = None, None
        if _is_batches(validation_data):
            validation_dataset = _run_maker(validation_data)
        elif validation_data is not None:
            if len(validation_data) not in (2, 3):
                raise ValueError("validation_data is (x, y) or (x, y, sample_weight), got "
                                 f"{len(validation_data)} members")
            validation = [_as_array(part) for part in (*validation_data, None)][:3]
        return {
            "batch_size": 32 if batch_size is None else batch_size, "epochs": epochs, "verbose": verbose,
            "callbacks": _callbacks(callbacks), "validation_split": validation_split,
            "validation_data": validation, "validation_dataset": validation_dataset,
            "shuffle": bool(shuffle), "class_weight": dict(class_weight or {}),
            "sample_weight": _as_array(sample_weight), "initial_epoch": initial_epoch,
            "steps_per_epoch": steps_per_epoch, "validation_steps": validation_steps,
            "validation_batch_size": validation_batch_size, "validation_freq": validation_freq,
        }

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None, steps=None,
                 callbacks=None, return_dict=False, **kwargs):
        options = {"batch_size": 32 if batch_size is None else batch_size, "verbose": verbose,
                   "sample_weight": _as_array(sample_weight), "steps": steps, "callbacks": _callbacks(callbacks)}
        x, y = _as_array(x), _as_array(y)
        dataset = _run_maker(x) if _is_batches(x) else None
        logs = _core.model_evaluate(self._c, self, x, y, dataset, options)
        return logs if return_dict else _as_list(self, logs)

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        options = {"batch_size": 32 if batch_size is None else batch_size, "verbose": verbose, "steps": steps,
                   "callbacks": _callbacks(callbacks)}
        x = _as_array(x)
        dataset = _run_maker(x) if _is_batches(x) else None
        return _core.model_predict(self._c, self, x, dataset, options)

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None, return_dict=False):
        logs = _core.model_train_on_batch(self._c, _as_array(x), _as_array(y), sample_weight,
                                          dict(class_weight or {}))
        return logs if return_dict else _as_list(self, logs)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        logs = _core.model_test_on_batch(self._c, _as_array(x), _as_array(y), sample_weight)
        return logs if return_dict else _as_list(self, logs)

    def predict_on_batch(self, x):
        return _core.model_predict_on_batch(self._c, _as_array(x))

    def plan_fit(self, x, y=None, batch_size=None, **options):
        """What fit with such data would take; of a dataset the first batch is made, else nothing runs."""
        given = {"epochs": 1, "verbose": 0, "callbacks": None, "validation_split": 0.0, "validation_data": None,
                 "shuffle": True, "class_weight": None, "sample_weight": None, "initial_epoch": 0,
                 "steps_per_epoch": None, "validation_steps": None, "validation_batch_size": None,
                 "validation_freq": 1, **options}
        x, y = _as_array(x), _as_array(y)
        dataset = _run_maker(x) if _is_batches(x) else None
        return FitPlan(_core.model_plan_fit(self._c, self, x, y, dataset, self._fit_options(batch_size, **given)))

    def plan_train(self, batch_size=32, input_shapes=()):
        """What one step of training would take, from shapes alone."""
        return FitPlan(_core.model_plan(self._c, True, batch_size, input_shapes))

    def plan_predict(self, batch_size=32, input_shapes=()):
        """What one step of prediction would take, from shapes alone."""
        return FitPlan(_core.model_plan(self._c, False, batch_size, input_shapes))

    # Steps, which a class of one's own may have in its own way.

    def train_step(self, data):
        return _core.model_train_step(self._c, _as_data(data))

    def test_step(self, data):
        return _core.model_test_step(self._c, _as_data(data))

    def predict_step(self, data):
        return _core.model_predict_step(self._c, _as_data(data))

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        return _core.model_compute_loss(self._c, x, y, y_pred, sample_weight)

    def compute_metrics(self, x, y, y_pred, sample_weight=None):
        return _core.model_compute_metrics(self._c, x, y, y_pred, sample_weight)

    def get_metrics_result(self):
        found = {}
        for metric in self.metrics:
            result = metric.result()
            found.update(result if isinstance(result, dict) else {metric.name: result})
        return found

    def get_compile_config(self):
        optimizer, loss, metrics, weighted, weights = self._compiled
        return _base.plain({"optimizer": optimizer, "loss": loss, "metrics": metrics,
                            "weighted_metrics": weighted, "loss_weights": weights})


class FitPlan:
    """What a fit will take, known before its first step; bytes by what they are for."""

    def __init__(self, values):
        self._text = values.pop("text")
        self.__dict__.update(values)

    def __repr__(self):
        return self._text


def _layer_metrics(model):
    return [wrap(m) for m in _core.layer_metrics(model._c)]


def _plain_weights(weights):
    if isinstance(weights, dict):
        return {key: float(w) for key, w in weights.items()}
    if isinstance(weights, (list, tuple)):
        return [float(w) for w in weights]
    return weights


def _as_list(model, logs):
    """One number, or a list of them in the order of the metrics."""
    values = dict(logs)
    order = ["loss"] + [_core.metric_name(handle) for handle in _core.model_metrics(model._c)]
    found = [values.pop(name) for name in order if name in values]
    found += values.values()
    return found[0] if len(found) == 1 else found


def _as_data(data):
    if isinstance(data, (list, tuple)):
        return (*data, None, None, None)[:3]
    return data, None, None
