"""keras.metrics: classes, and the losses among them as functions."""

from . import _classes
from ._parts import MeanMetricWrapper, Metric, getter
from .saving import deserialize_keras_object as deserialize
from .saving import serialize_keras_object as serialize

_get = getter("metrics", MeanMetricWrapper)


def get(identifier):
    """A metric of a name, a configuration, a function or an object."""
    return _get(identifier)


def _more(name):
    from . import losses
    for cls_name in _classes.names("metrics"):
        if _classes._snake(cls_name) == name and cls_name in _ACCURACIES:
            cls = _classes.get("metrics", cls_name)

            def function(y_true, y_pred, **kwargs):
                return _by_row(cls, y_true, y_pred, kwargs)

            function.__name__ = function._keras_name = name
            return function
    return losses._more(name)


_ACCURACIES = ("BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy",
               "TopKCategoricalAccuracy", "SparseTopKCategoricalAccuracy")


def _by_row(cls, y_true, y_pred, kwargs):
    """The metric of each row by itself."""
    from .. import _core
    metric = cls(**kwargs)
    stack, convert = _core.op("stack"), _core.op("convert_to_tensor")
    y_true, y_pred = convert(y_true), convert(y_pred)
    rows = []
    for i in range(len(y_pred)):
        metric.reset_state()
        metric.update_state(y_true[i:i + 1], y_pred[i:i + 1])
        rows.append(metric.result())
    return stack(rows)


__getattr__, __dir__ = _classes.module(__name__, "metrics", _more)
