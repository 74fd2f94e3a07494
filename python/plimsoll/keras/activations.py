"""keras.activations: functions by name."""

from .. import _core
from . import _base

# Arguments of a function, and the layer that has them.
_LAYERS = {"relu": "ReLU", "softmax": "Softmax", "elu": "ELU", "leaky_relu": "LeakyReLU"}
_NAMES = frozenset(_core.activation_names())


def _make(name):
    def function(x, *args, **kwargs):
        from . import layers
        if args or kwargs:
            if name == "gelu":
                return _core.op("nn.gelu")(x, *args, **kwargs)
            if name not in _LAYERS:
                raise TypeError(f"activations.{name} takes a tensor alone, got {args} {kwargs}")
            return getattr(layers, _LAYERS[name])(*args, **kwargs)(x)
        if isinstance(x, _core.KerasTensor):
            return layers.Activation(name)(x)
        return _core.activation_call(name, x)

    function.__name__ = function.__qualname__ = function._keras_name = name
    function.__doc__ = f"Keras's activation '{name}'."
    return function


def get(identifier):
    """A function of a name, a layer or a function."""
    if identifier is None:
        return __getattr__("linear")
    if isinstance(identifier, str) and identifier in _NAMES:
        return __getattr__(identifier)
    if isinstance(identifier, dict) and identifier.get("class_name") == "function":
        return get(identifier["config"])
    if isinstance(identifier, (str, dict)):
        from .saving import custom_object
        found = custom_object(identifier) if isinstance(identifier, str) else None
        if found is not None:
            return found
        if isinstance(identifier, dict):
            from .saving import deserialize_keras_object
            return deserialize_keras_object(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret activation function identifier: {identifier}")


def serialize(activation):
    return _base.serialize_function(activation)


deserialize = get


def __getattr__(name):
    import sys
    if name not in _NAMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    found = _make(name)
    setattr(sys.modules[__name__], name, found)
    return found


def __dir__():
    return sorted({*_NAMES, "get", "serialize", "deserialize"})
