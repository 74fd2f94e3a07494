"""Python functions where Keras takes objects."""

from ._layer import Layer


class FunctionLayer(Layer):
    """A function of a tensor, as an activation."""

    def __init__(self, function):
        self._function = function
        super().__init__()

    def _described(self):
        name = self._function.__name__
        return "function", "builtins", getattr(self._function, "_registered_name", name)

    def call(self, x):
        return self._function(x)

    def _config_for_core(self):
        return self._function.__name__


def object_of(function, kind):
    """A function that C++ wants as a loss, a metric, an activation, ..."""
    from . import _optimizer, _parts
    if kind == "loss":
        return _parts.LossFunctionWrapper(function)
    if kind == "metric":
        return _parts.MeanMetricWrapper(function)
    if kind == "initializer":
        return _parts.Initializer._of_function(function)
    if kind == "regularizer":
        return _parts.Regularizer._of_function(function)
    if kind == "constraint":
        return _parts.Constraint._of_function(function)
    if kind == "learning rate schedule":
        return _optimizer.LearningRateSchedule._of_function(function)
    return FunctionLayer(function)
