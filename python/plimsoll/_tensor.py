"""What tensors do that is about Python alone: how they print, iterate and are pickled."""

import collections

from . import _core

TopKV2 = collections.namedtuple("TopKV2", ["values", "indices"])
MAX_UNROLL = 256  # rows of a symbolic tensor that a Python loop may go through


def _text(array, is_repr):
    import numpy
    if is_repr:
        if numpy.isscalar(array) and not isinstance(array, bytes):
            text = repr(array.item() if hasattr(array, "item") else array)
        else:
            text = repr(array)
    else:
        text = str(array)
    return "\n" + text if "\n" in text else text


def repr_of(tensor):
    shape = tuple(tensor.shape)
    if tensor._is_symbolic:
        return f"<tf.Tensor '{tensor.name}' shape={shape} dtype={tensor.dtype.name}>"
    return (f"<tf.Tensor: shape={shape}, dtype={tensor.dtype.name}, "
            f"numpy={_text(tensor.numpy(), True)}>")


def str_of(tensor):
    shape = tuple(tensor.shape)
    if tensor._is_symbolic:
        return f'Tensor("{tensor.name}", shape={shape}, dtype={tensor.dtype.name})'
    return f"tf.Tensor({_text(tensor.numpy(), False)}, shape={shape}, dtype={tensor.dtype.name})"


def format_of(tensor, spec):
    """f"{loss:.4f}": as numpy writes the value."""
    return str_of(tensor) if tensor._is_symbolic else tensor.numpy().__format__(spec)


def repr_of_variable(variable):
    shape = tuple(variable.shape)
    if _core.is_tracing():
        return f"<tf.Variable '{variable.name}' shape={shape} dtype={variable.dtype.name}>"
    return (f"<tf.Variable '{variable.name}' shape={shape} dtype={variable.dtype.name}, "
            f"numpy={_text(variable.numpy(), True)}>")


def iterate(tensor):
    if tensor.ndim == 0:
        raise TypeError("Cannot iterate over a scalar tensor.")
    count = len(tensor)
    if tensor._is_symbolic and count > MAX_UNROLL:
        from .errors import UnimplementedError
        raise UnimplementedError(
            None, None,
            f"a Python loop over the {count} rows of a symbolic tensor would be unrolled in the trace, "
            f"which is done for up to {MAX_UNROLL}. Use tf.while_loop, tf.scan or tf.map_fn: these are "
            "traced once")
    return _rows(tensor, count)


def _rows(tensor, count):
    if count > MAX_UNROLL and _core.is_tracing():
        from .errors import UnimplementedError
        raise UnimplementedError(
            None, None,
            f"a Python loop of {count} steps in a function that is traced would be unrolled, which is "
            f"done for up to {MAX_UNROLL}. Use tf.while_loop, tf.scan or tf.map_fn: these are traced "
            "once")
    for i in range(count):
        yield tensor[i]


class Reference:
    """A tensor or a variable as a key: equal only to itself."""

    __slots__ = ("_object",)

    def __init__(self, what):
        self._object = what

    def deref(self):
        return self._object

    def __eq__(self, other):
        return isinstance(other, Reference) and self._object is other._object

    def __hash__(self):
        return id(self._object)

    def __repr__(self):
        return f"<Reference wrapping {self._object!r}>"


def ref(tensor):
    return Reference(tensor)


def get_shape(tensor):
    return tensor.shape


def set_shape(tensor, shape):
    if not tensor.shape.is_compatible_with(shape):
        raise ValueError(f"Tensor's shape {tensor.shape} is not compatible with supplied shape {shape}.")


def reduce(tensor):
    import numpy
    return rebuild, (numpy.array(tensor.numpy()), tensor.dtype.name)


def rebuild(array, dtype):
    return _core.op("constant")(array, dtype)


def deep_copy(tensor, memo=None):
    return tensor  # tensors do not change


def dlpack(tensor, **unused):
    return _core.to_dlpack(tensor)


def dlpack_device(tensor):
    return 1, 0  # the CPU
