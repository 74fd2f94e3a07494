"""keras.constraints."""

from . import _classes
from ._parts import Constraint, getter
from .saving import deserialize_keras_object as deserialize
from .saving import serialize_keras_object as serialize

get = getter("constraints", Constraint._of_function)


def _more(name):
    """Keras's older names: in snake_case."""
    for cls_name in _classes.names("constraints"):
        if name in (_classes._snake(cls_name), _alias(cls_name)):
            return _classes.get("constraints", cls_name)
    return None


def _alias(cls_name):
    from .. import _core
    return _core.keras_alias("constraints", cls_name)


__getattr__, __dir__ = _classes.module(__name__, "constraints", _more)
