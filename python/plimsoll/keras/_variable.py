"""keras.Variable."""

from .. import _core
from ._base import dtype_name


class _Made(type):
    """Variables are C++'s objects: this class makes them, and knows them."""

    def __call__(cls, initializer, shape=None, dtype=None, trainable=True, autocast=True, aggregation=None,
                 name=None):
        if isinstance(initializer, str):
            from . import initializers
            initializer = initializers.get(initializer)
        elif callable(initializer) and not hasattr(initializer, "_c") and not hasattr(initializer, "numpy"):
            initializer = initializer(shape, dtype=dtype_name(dtype) or "float32")
        if hasattr(initializer, "_c") and shape is None:
            raise ValueError("When creating a Variable from an initializer, the `shape` argument should be "
                             f"specified. Received: initializer={initializer} and shape={shape}")
        return _core.KerasVariable(initializer, shape, dtype_name(dtype), trainable, autocast, name or "")

    def __instancecheck__(cls, instance):
        return isinstance(instance, _core.KerasVariable)


class Variable(metaclass=_Made):
    """A variable of a layer, an optimizer or a metric."""
