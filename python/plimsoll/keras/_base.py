"""What all classes of plimsoll.keras share: handles, arguments that become configurations, errors."""

import contextlib
import errno
import os
import threading
import weakref

from .. import _core, errors


class _OfMessage:
    """Errors that are made of a message alone, also where they are unpickled."""

    def __reduce__(self):
        return type(self), (self.message,)


class KerasValueError(_OfMessage, errors.InvalidArgumentError, ValueError):
    """What was given does not fit: a ValueError, as Keras raises it."""

    def __init__(self, message):
        super().__init__(None, None, message)


class KerasStateError(_OfMessage, errors.FailedPreconditionError, ValueError, RuntimeError):
    """Something has to be done first: compile, build."""

    def __init__(self, message):
        super().__init__(None, None, message)


class KerasNotFoundError(_OfMessage, errors.NotFoundError, ValueError):
    """A file or a name that is not there."""

    def __init__(self, message):
        super().__init__(None, None, message)


class KerasFileNotFoundError(KerasNotFoundError, FileNotFoundError):
    """A file that is not there: Keras raises ValueError for .keras and FileNotFoundError for .h5."""

    def __init__(self, message, filename=None):
        super().__init__(message)
        self.errno, self.strerror, self.filename = errno.ENOENT, os.strerror(errno.ENOENT), filename

    def __reduce__(self):
        return type(self), (self.message, self.filename)


@contextlib.contextmanager
def reading(path):
    """While a file is read: that it is not there is an error of files, too."""
    try:
        yield
    except KerasNotFoundError as error:
        if os.path.exists(path):
            raise
        raise KerasFileNotFoundError(str(error), path) from None


_known = weakref.WeakValueDictionary()  # Python objects, by the address of what they stand for
_local = threading.local()


class Base:
    """Stands for a C++ object, which it holds in _c."""

    _kind = None  # the table that the class is in

    def _adopt(self, handle):
        object.__setattr__(self, "_c", handle)
        _known[handle.address] = self

    def get_config(self):
        return self._c.get_config()

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def _config_for_core(self):
        """get_config of a class in Python, as JSON."""
        return plain(self.get_config())


def wrap(handle):
    """The Python object of a handle: the one that is there, or a new one of the class of that name."""
    if handle is None:
        return None
    found = _known.get(handle.address)
    if found is None:
        from ._classes import class_of
        cls = class_of(handle)
        found = cls.__new__(cls)
        found._adopt(handle)
        found._adopted()
    return found


def described(cls):
    """What files say of a class in Python: its name, its module, the name it is registered under."""
    return cls.__name__, cls.__module__, getattr(cls, "_registered_name", None) or cls.__name__


def overridden(cls, base, names):
    """Which of the methods a class has of its own."""
    return {name for name in names if getattr(cls, name, None) is not getattr(base, name, None)}


@contextlib.contextmanager
def collecting():
    """A list of the Python objects that C++ has made by name meanwhile: somebody has to hold them."""
    outer = getattr(_local, "made", None)
    _local.made = made = []
    try:
        yield made
    finally:
        _local.made = outer


def note_made(made):
    """Keeps an object that C++ is about to get, until whoever asked for it has it."""
    if getattr(_local, "made", None) is not None:
        _local.made.append(made)
    return made


def plain(value):
    """value as Python's json module takes it; objects of Keras become their configurations."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if isinstance(value, Base):
        return plain(serialize(value))
    found = _as_plain(value)
    if found is NotImplemented:
        if callable(value):
            return serialize_function(value)
        raise TypeError(f"{value!r} cannot stand in a configuration: it is of {type(value)}")
    return found


def serialize(thing):
    """An object of Keras as the dictionary that files have."""
    if not hasattr(thing, "_c"):
        raise TypeError(f"{thing!r} has no configuration")
    return thing._c.serialize()


def serialize_function(function):
    name = getattr(function, "_keras_name", None)
    if name is not None:
        return name
    registered = getattr(function, "_registered_name", None) or function.__name__
    return {"module": "builtins", "class_name": "function", "config": function.__name__,
            "registered_name": registered}


def _as_plain(value):
    from ..dtypes import DType
    from ..tensor_shape import TensorShape
    if isinstance(value, DType):
        return value.name
    if isinstance(value, TensorShape):
        return list(value)
    if hasattr(value, "_policy_name"):
        return value._policy_name
    if hasattr(value, "_seed_value"):
        return value._seed_value
    if isinstance(value, type):  # numpy.float32 and the like
        return dtype_name(value)
    if hasattr(value, "numpy") and not isinstance(value, _core.KerasTensor):
        value = value.numpy()
    if hasattr(value, "tolist"):
        return value.tolist()
    if type(value).__module__ == "numpy" and hasattr(value, "name"):
        return value.name
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    return NotImplemented


def dtype_name(dtype):
    """"float32" of whatever names a type."""
    if dtype is None or isinstance(dtype, str):
        return dtype
    if isinstance(dtype, dict):  # a policy, as files have it
        return dtype.get("config", dtype).get("name")
    if hasattr(dtype, "_policy_name"):
        return dtype._policy_name
    from ..dtypes import as_dtype
    return as_dtype(dtype).name


def encode(value, name, kept):
    """An argument as it stands in a configuration. Objects stay what they are, and go into kept."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Base):
        kept.append(value)
        return as_cell(value) if name in ("cell", "cells") else value
    if isinstance(value, dict):
        return {str(key): encode(item, name, kept) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item, name, kept) for item in value]
    found = _as_plain(value)
    if found is not NotImplemented:
        return found
    if callable(value):
        return encode(as_object(value, name), name, kept)
    raise TypeError(f"{name}={value!r}: not what a layer or another object of Keras is made of")


def as_cell(layer):
    """A layer of a class in Python with `state_size`, as recurrent layers take it; others as they are."""
    if getattr(layer, "_is_own", True) or not hasattr(layer, "state_size"):
        return layer
    handle = layer.__dict__.get("_cell")
    if handle is None:
        sizes = layer.state_size if isinstance(layer.state_size, (list, tuple)) else [layer.state_size]
        sizes = [int(size[-1]) if hasattr(size, "__len__") else int(size) for size in sizes]
        handle = _core.keras_py_cell(layer._c, sizes, int(getattr(layer, "output_size", sizes[0])))
        layer.__dict__["_cell"] = handle
        _known[handle.address] = layer
    return handle


def as_object(function, name):
    """A Python function in the place of the argument `name`."""
    own = getattr(function, "_keras_name", None)
    if own is not None:
        return own
    from ._functions import FunctionLayer
    if "activation" in name:
        return FunctionLayer(function)
    if "initializer" in name:
        from ._parts import Initializer
        return Initializer._of_function(function)
    if "regularizer" in name:
        from ._parts import Regularizer
        return Regularizer._of_function(function)
    if "constraint" in name:
        from ._parts import Constraint
        return Constraint._of_function(function)
    if name == "learning_rate":
        from ._optimizer import LearningRateSchedule
        return LearningRateSchedule._of_function(function)
    raise TypeError(f"{name} cannot be a function here: {function!r}")


def repr_of_variable(variable):
    shape, value = tuple(variable.shape), ""
    if not _core.is_tracing():
        from .._tensor import _text
        value = f", value={_text(variable.numpy(), True)}"
    return f"<Variable path={variable.path}, shape={shape}, dtype={variable.dtype}{value}>"


def is_tensor_like(value):
    """Whether an argument of a call is a tensor, or a structure in which there is one."""
    if isinstance(value, (list, tuple)):
        return any(is_tensor_like(item) for item in value)
    if isinstance(value, dict):
        return any(is_tensor_like(item) for item in value.values())
    return (isinstance(value, (_core.Tensor, _core.Variable, _core.KerasVariable, _core.KerasTensor))
            or (hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0))


def leaves(structure):
    """The leaves of lists, tuples and dictionaries, in the order in which they stand."""
    if isinstance(structure, dict):
        for item in structure.values():
            yield from leaves(item)
    elif isinstance(structure, (list, tuple)):
        for item in structure:
            yield from leaves(item)
    else:
        yield structure
