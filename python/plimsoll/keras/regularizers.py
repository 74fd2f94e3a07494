"""keras.regularizers."""

from . import _classes
from ._parts import Regularizer, getter
from .saving import deserialize_keras_object as deserialize
from .saving import serialize_keras_object as serialize

get = getter("regularizers", Regularizer._of_function)


def _more(name):
    """Keras's older names: in snake_case."""
    for cls_name in _classes.names("regularizers"):
        if name in (_classes._snake(cls_name), _alias(cls_name)):
            return _classes.get("regularizers", cls_name)
    return None


def _alias(cls_name):
    from .. import _core
    return _core.keras_alias("regularizers", cls_name)


__getattr__, __dir__ = _classes.module(__name__, "regularizers", _more)
