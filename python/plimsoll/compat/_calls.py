"""Calls of the table of ops while a graph is built."""

import contextlib

from .. import _core
from . import _graph, _infer

_EFFECTS = frozenset(("print_list", "Assert", "assert_equal", "assert_none_equal", "assert_less",
                      "assert_less_equal", "assert_greater", "assert_greater_equal",
                      "assert_positive", "assert_negative", "assert_non_negative",
                      "assert_non_positive", "assert_near"))
_DRAWS = frozenset(("uniform", "normal", "truncated_normal", "shuffle", "categorical", "gamma",
                    "poisson", "bernoulli", "dropout"))


@contextlib.contextmanager
def eagerly():
    """Calls inside compute at once."""
    _core.push_mode(False)
    try:
        yield
    finally:
        _core.pop_mode()


def graph_of(*values):
    """The graph of what is given, else the default one."""
    for leaf in _infer.leaves_of(values, []):
        return leaf.graph
    return _graph.get_default_graph()


def build(function, args, kwargs):
    """A call as an operation; what it returns stands for its results."""
    kwargs = dict(kwargs)
    name = kwargs.pop("name", None)
    label = function.__name__
    if label == "constant":
        return constant(*args, name=name, **kwargs)
    if label == "convert_to_tensor":
        return convert_to_tensor(*args, name=name, **kwargs)
    if label == "set_seed":
        _graph.get_default_graph().seed = args[0] if args else kwargs["seed"]
        return None
    graph = graph_of(args, kwargs)
    if label in _EFFECTS:
        return graph.add(function, args, kwargs, name, outputs=[])
    if label in _DRAWS:
        from ._random import with_seeds
        return with_seeds(graph, function, args, kwargs, name)
    return graph.add(function, args, kwargs, name).result


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A value that is kept by the graph, copied once."""
    if _infer.leaves_of(value, []):
        return convert_to_tensor(value, dtype, name=name)
    import numpy
    with eagerly():
        if shape is not None and isinstance(value, (list, tuple, numpy.ndarray)):
            value = _filled(value, shape, dtype)
        kept = _core.op("constant")(value, dtype, shape)
    return _kept(kept, name or "Const")


def _filled(value, shape, dtype):
    """The first version repeats the last element where a shape asks for more."""
    import numpy
    given = numpy.asarray(value)
    wanted = [int(d) for d in ([shape] if isinstance(shape, int) else shape)]
    size = int(numpy.prod(wanted, dtype=numpy.int64))
    if given.size >= size or given.size == 0:
        return value
    if dtype is None and given.dtype.kind == "f" and not isinstance(value, numpy.ndarray):
        given = given.astype(numpy.float32)
    if dtype is None and given.dtype.kind == "i" and not isinstance(value, numpy.ndarray):
        given = given.astype(numpy.int32)
    flat = numpy.concatenate([given.ravel(), numpy.full(size - given.size, given.ravel()[-1],
                                                        given.dtype)])
    return flat.reshape(wanted)


def _kept(tensor, name):
    from .._function import TensorSpec
    spec = TensorSpec(tensor.shape, tensor.dtype)
    op = _graph.get_default_graph().add(lambda: tensor, kind="Const", name=name, outputs=spec,
                                        is_host=tensor.dtype.name == "string")
    op.notes["value"] = tensor
    if tensor.dtype.is_integer and tensor.shape.num_elements() <= _infer._MAX_KNOWN:
        op.result._stands = (tensor,)
    return op.result


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None, preferred_dtype=None):
    """The graph tensor that a value is, or stands for."""
    from ..dtypes import as_dtype
    from ._tensor import Tensor
    from ._variable import GraphVariable
    if isinstance(value, GraphVariable):
        value = value.read_value()
    if isinstance(value, Tensor):
        if dtype is not None and as_dtype(dtype) is not value.dtype:
            raise ValueError(f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with "
                             f"dtype {value.dtype.name}: {value!r}")
        return value
    if hasattr(value, "__tf_tensor__"):
        return value.__tf_tensor__(dtype, name)
    if isinstance(value, (list, tuple)) and _infer.leaves_of(value, []):
        common = dtype or next(leaf.dtype for leaf in _infer.leaves_of(value, []))
        parts = [convert_to_tensor(item, common) for item in value]
        return graph_of(parts).add(_core.op("stack"), (parts,), name=name or "packed").result
    with eagerly():
        kept = _core.op("convert_to_tensor")(value, dtype,
                                             dtype_hint if dtype_hint is not None else preferred_dtype)
    return _kept(kept, name or "Const")
