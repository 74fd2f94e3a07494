"""Functions that take any number of arguments, or are made of others."""

import contextlib
import functools
import threading

from . import _core


def print(*inputs, **kwargs):
    """Writes values to stderr, in a function in every run."""
    stream = kwargs.pop("output_stream", None)
    kwargs.pop("name", None)
    if stream is not None and getattr(stream, "name", stream) not in ("<stderr>", "stderr"):
        from .errors import UnimplementedError
        raise UnimplementedError(None, None, f"tf.print writes to stderr; output_stream={stream!r}")
    return _core.op("print_list")(inputs, **kwargs)  # None; an operation of the graph that is built


def einsum(equation, *inputs, **kwargs):
    """Sums of products, as "ij,jk->ik"."""
    kwargs.pop("optimize", None)
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for einsum: {', '.join(kwargs)}")
    return _core.op("linalg.einsum_of_list")(equation, list(inputs))


def meshgrid(*args, **kwargs):
    """Coordinates of a grid."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"meshgrid() got an unexpected keyword argument '{next(iter(kwargs))}'")
    return _core.op("meshgrid_of_list")(list(args), indexing)


def is_tensor(x):
    """Whether x is a tensor or a variable."""
    return isinstance(x, (_core.Tensor, _core.Variable)) or hasattr(x, "_is_graph_tensor")


def executing_eagerly():
    """Whether calls compute at once, not into a trace."""
    return not _core.is_tracing() and not _core.is_building()


def inside_function():
    return _core.is_tracing()


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """t, scaled down to a norm of clip_norm if it has more."""
    from . import convert_to_tensor, maximum, reduce_sum, sqrt
    t = convert_to_tensor(t)
    norm = sqrt(reduce_sum(t * t, axes, keepdims=True))
    return t * clip_norm / maximum(norm, clip_norm)


def global_norm(t_list, name=None):
    """The norm of all tensors together."""
    from . import add_n, reduce_sum, sqrt
    return sqrt(add_n([reduce_sum(t * t) for t in t_list if t is not None]))


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Tensors, scaled down to a common norm of clip_norm if they have more; and the norm."""
    from . import maximum
    norm = global_norm(t_list) if use_norm is None else use_norm
    scale = clip_norm / maximum(norm, clip_norm)
    return [None if t is None else t * scale for t in t_list], norm


def get_logger():
    import logging
    return logging.getLogger("plimsoll")


def py_function(func=None, inp=None, Tout=None, name=None):
    """func(*inp), outside of functions that are traced."""
    if _core.is_building():
        from .compat._control import py_function as of_graph
        return of_graph(func, inp, Tout, name)
    if _core.is_tracing():
        from .errors import UnimplementedError
        raise UnimplementedError(None, None, "py_function cannot be part of a function that is traced: "
                                 "its memory would be in no plan")
    from . import cast, convert_to_tensor
    is_list = isinstance(Tout, (list, tuple))
    with _eager():
        made = func(*[convert_to_tensor(x) for x in inp])
    if Tout is None:
        return made
    types = Tout if is_list else [Tout]
    made = [cast(m, t) for m, t in zip(returned_values(made, len(types)), types)]
    return made if is_list else made[0]


def returned_values(made, count, is_exact=False):
    """The first values of what a function has returned: one that is not in a list is one value, with all its rows."""
    values = list(made) if isinstance(made, (list, tuple)) else [] if made is None else [made]
    if len(values) < count or (is_exact and len(values) > count):
        from .errors import InvalidArgumentError
        raise InvalidArgumentError(None, None, f"pyfunc returns {len(values)} values, but expects to see {count} values.")
    return values[:count]


_local = threading.local()  # in_dataset: a function of a dataset runs, which TensorFlow would have traced


def of_dataset(function):
    """function, with numpy_function in it as it is in functions that are traced."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        outer = getattr(_local, "in_dataset", False)
        _local.in_dataset = True
        try:
            return function(*args, **kwargs)
        finally:
            _local.in_dataset = outer

    return call


@contextlib.contextmanager
def _eager():
    """What py_function calls is not part of the function around it."""
    outer = getattr(_local, "in_dataset", False)
    _local.in_dataset = False
    try:
        yield
    finally:
        _local.in_dataset = outer


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """func of numpy arrays, outside of functions that are traced."""
    if _core.is_building():
        from .compat._control import py_func
        return py_func(func, inp, Tout, stateful, name)
    if _core.is_tracing() or getattr(_local, "in_dataset", False):
        return py_function(lambda *args: func(*[a.numpy() for a in args]), inp, Tout)
    # Called at once it does as TensorFlow does: Tout is not looked at, and one value comes without its list.
    import numpy

    from . import convert_to_tensor, nest
    made = func(*[numpy.array(convert_to_tensor(x).numpy()) for x in inp])
    made = [m if m is None else convert_to_tensor(m) for m in ([None] if made is None else nest.flatten(made))]
    return made[0] if len(made) == 1 else made


def no_gradient(op_type):
    pass


def get_static_value(tensor, partial=False):
    """The value as numpy, None if it is not known while a function is traced."""
    if hasattr(tensor, "_is_graph_tensor"):
        held = getattr(tensor.op, "notes", {}).get("value")
        return None if held is None else held.numpy()
    if not isinstance(tensor, _core.Tensor):
        return tensor
    return None if tensor._is_symbolic else tensor.numpy()


def broadcast_static_shape(shape_x, shape_y):
    import numpy
    from .tensor_shape import TensorShape
    return TensorShape(numpy.broadcast_shapes(tuple(shape_x), tuple(shape_y)))


def broadcast_dynamic_shape(shape_x, shape_y):
    from . import constant
    return constant(list(broadcast_static_shape([int(d) for d in shape_x], [int(d) for d in shape_y])))


def identity_n(input, name=None):
    from . import identity
    return [identity(t) for t in input]


def enable_op_determinism():
    """Runs are the same already, at a fixed number of threads."""
