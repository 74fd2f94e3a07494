"""keras.initializers."""

from . import _classes
from ._parts import Initializer, getter
from .saving import deserialize_keras_object as deserialize
from .saving import serialize_keras_object as serialize

get = getter("initializers", Initializer._of_function)


def _more(name):
    """Keras's older names: in snake_case."""
    for cls_name in _classes.names("initializers"):
        if name in (_classes._snake(cls_name), _alias(cls_name)):
            return _classes.get("initializers", cls_name)
    return None


def _alias(cls_name):
    from .. import _core
    return _core.keras_alias("initializers", cls_name)


__getattr__, __dir__ = _classes.module(__name__, "initializers", _more)
