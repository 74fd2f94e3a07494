"""keras.losses: classes, and the same as functions."""

from . import _classes
from ._parts import Loss, LossFunctionWrapper, getter
from .saving import deserialize_keras_object as deserialize
from .saving import serialize_keras_object as serialize

_get = getter("losses", LossFunctionWrapper)


def get(identifier):
    """A loss: by the name of a class an object, by that of a function the function."""
    if isinstance(identifier, str) and identifier not in _classes.names("losses"):
        found = _more(identifier)
        if found is not None:
            return found
    return _get(identifier)

_SHORT = {"mse": "MeanSquaredError", "MSE": "MeanSquaredError", "mae": "MeanAbsoluteError",
          "MAE": "MeanAbsoluteError", "mape": "MeanAbsolutePercentageError",
          "MAPE": "MeanAbsolutePercentageError", "msle": "MeanSquaredLogarithmicError",
          "MSLE": "MeanSquaredLogarithmicError", "kld": "KLDivergence", "KLD": "KLDivergence",
          "kl_divergence": "KLDivergence", "logcosh": "LogCosh", "bce": "BinaryCrossentropy",
          "BCE": "BinaryCrossentropy"}


def _more(name):
    """mean_squared_error(y_true, y_pred): a number for each sample."""
    for cls_name in _classes.names("losses"):
        if cls_name == _SHORT.get(name) or _classes._snake(cls_name) == name:
            cls = _classes.get("losses", cls_name)

            def function(y_true, y_pred, **kwargs):
                return cls(**kwargs).call(y_true, y_pred)

            function.__name__ = function._keras_name = _classes._snake(cls_name)
            return function
    return None


__getattr__, __dir__ = _classes.module(__name__, "losses", _more)
