"""keras.optimizers."""

from .. import _classes
from .._optimizer import Optimizer, get
from ..saving import deserialize_keras_object as deserialize
from ..saving import serialize_keras_object as serialize


def _more(name):
    if name in ("schedules", "legacy"):
        import importlib
        return importlib.import_module("." + name, __name__)
    return None


__getattr__, __dir__ = _classes.module(__name__, "optimizers", _more)
