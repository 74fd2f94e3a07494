"""Types and shapes of operations: each is traced with stand-ins for its inputs.

A shape that is known in parts is looked at in three worlds, in which the unknown sizes have other
values: what differs from world to world is not known. Small integers, as tf.shape gives them, have
values in each world, so that shapes may depend on them.
"""

from .. import _core
from .._function import Function, TensorSpec
from ..dtypes import string
from ..tensor_shape import TensorShape, as_shape

# An unknown size, and the rank of what has none.
_WORLDS = ((240, 2), (480, 3), (1, 1))
_MAX_KNOWN = 64


class _Done(Exception):
    """The trace has gone far enough."""


class _Failed:
    def __init__(self, error):
        self.error = error


def leaves_of(value, found):
    """Graph tensors and variables in arguments, in order."""
    if hasattr(value, "_is_graph_tensor"):
        found.append(value)
    elif isinstance(value, dict):
        for item in value.values():
            leaves_of(item, found)
    elif isinstance(value, (list, tuple)):
        for item in value:
            leaves_of(item, found)
    elif isinstance(value, slice):
        for item in (value.start, value.stop, value.step):
            leaves_of(item, found)
    elif hasattr(value, "_graph_parts"):
        leaves_of(value._graph_parts(), found)
    return found


def substitute(value, replace):
    """Arguments with something else in the places of graph tensors and variables."""
    if hasattr(value, "_is_graph_tensor"):
        return replace(value)
    if isinstance(value, dict):
        return {key: substitute(item, replace) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [substitute(item, replace) for item in value]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, slice):
        return slice(*(substitute(v, replace) for v in (value.start, value.stop, value.step)))
    return value


def note_inputs(op):
    from ._variable import GraphVariable
    for leaf in leaves_of((op.args, op.kwargs), []):
        if isinstance(leaf, GraphVariable):
            if leaf not in op.variables:
                op.variables.append(leaf)
        elif leaf not in op.inputs:
            if leaf.graph is not op.graph:
                raise ValueError(f"{leaf} must be from the same graph as the operation '{op.name}' that "
                                 "it is an input of.")
            op.inputs.append(leaf)


def stand(dtype, shape, world, known=False):
    """What stands for a tensor in a world."""
    size, rank = _WORLDS[world]
    dims = [size] * rank if shape.rank is None else [size if d is None else d for d in shape]
    if known and dtype.is_integer and shape.num_elements() is not None and (
            shape.num_elements() <= _MAX_KNOWN):
        import numpy
        return _core.op("constant")(numpy.full(dims, min(size, dtype.max), dtype.as_numpy_dtype))
    return TensorSpec(dims, dtype)


def stands_of(dtype, shape, known=False):
    """One if all worlds would have the same."""
    shape = as_shape(shape)
    known = known and dtype.is_integer
    _core.push_mode(False)
    try:
        if shape.is_fully_defined() and not known:
            return (stand(dtype, shape, 0),)
        return tuple(stand(dtype, shape, world, known) for world in range(len(_WORLDS)))
    finally:
        _core.pop_mode()


def narrowed(stands, dtype, shape):
    """The same after more of the shape has become known."""
    if all(isinstance(s, TensorSpec) for s in stands):
        return stands_of(dtype, shape)
    return stands


def _in_world(leaf, world):
    stands = leaf._stands
    return stands[world] if len(stands) > 1 else stands[0]


def _as_spec(stands):
    return stands if isinstance(stands, TensorSpec) else TensorSpec(stands.shape, stands.dtype)


def _trace(op, leaves, given):
    """What the call gives: a structure with a spec, or a known tensor, for each tensor."""
    from ..nest import flatten, pack_sequence_as
    symbolic = [i for i, g in enumerate(given) if isinstance(g, TensorSpec)]
    found = []

    def body(*inputs):
        values = dict(zip(symbolic, inputs))
        by_leaf = {id(leaf): values.get(i, given[i]) for i, leaf in enumerate(leaves)}
        args, kwargs = substitute((op.args, op.kwargs), lambda leaf: by_leaf[id(leaf)])
        made = op.function(*args, **kwargs)
        parts = [None if part is None else
                 TensorSpec(part.shape, part.dtype) if part._is_symbolic or not _is_small(part) else part
                 for part in flatten(made)]
        found.append(pack_sequence_as(made, parts))
        raise _Done

    try:
        Function(body, name=op.name).plan(*[given[i] for i in symbolic])
    except _Done:
        return found[0]
    except Exception as error:  # the program's mistake, or a size that does not fit this world
        return _Failed(error)
    return _Failed(None)


def needs_values(error):
    """Whether a trace failed for what it cannot do and single calls can.

    Shapes that depend on values, loops of any length under a gradient, variables on several devices.
    """
    from ..errors import (FailedPreconditionError, OperatorNotAllowedInGraphError, UnimplementedError)
    if isinstance(error, OperatorNotAllowedInGraphError):
        return True
    if isinstance(error, UnimplementedError):
        return "a function runs on one device" in str(error)
    return isinstance(error, FailedPreconditionError) and "while a function is traced" in str(error) or (
        isinstance(error, ValueError) and "is differentiated in a function" in str(error))


def _is_small(tensor):
    return tensor.dtype.is_integer and tensor.shape.num_elements() <= _MAX_KNOWN


def infer(op):
    """Finds the outputs of an operation."""
    leaves = op.inputs + op.variables
    if any(leaf.dtype is string for leaf in leaves):
        op.is_host = True
        declare(op, TensorSpec(None, string))
        return
    num = len(_WORLDS) if any(len(leaf._stands) > 1 for leaf in leaves) else 1
    _core.push_mode(False)
    try:
        worlds = []
        for world in range(num):
            given = [_in_world(leaf, world) for leaf in leaves]
            made = _trace(op, leaves, given)
            if isinstance(made, _Failed) and not all(isinstance(g, TensorSpec) for g in given):
                made = _trace(op, leaves, [_as_spec(g) for g in given])
            worlds.append(made)
    finally:
        _core.pop_mode()
    _merge(op, worlds)


def _raise(op, error):
    from ..errors import OpError
    if isinstance(error, OpError) and error.error_code == 3:
        raise ValueError(f"{error.message} for '{op.name}' (op: '{op.type}') with input shapes: "
                         f"{', '.join(str(t._shape) for t in op.inputs)}.") from None
    raise error


def _merge(op, worlds):
    from ..nest import flatten
    good = [w for w in worlds if not isinstance(w, _Failed)]
    if not good:
        if len(worlds) == 1 and not needs_values(worlds[0].error):
            _raise(op, worlds[0].error)
        first = next((leaf for leaf in op.inputs + op.variables), None)
        declare(op, _guess(op, first))
        return
    parts = [flatten(w) for w in good]
    only = next(i for i, w in enumerate(worlds) if w is good[0]) if len(good) == 1 < len(worlds) else None
    specs, stands = [], []
    for same in zip(*parts):
        if same[0] is None:
            continue
        shape = _common_shape([TensorShape(s.shape) for s in same])
        if only is not None:
            shape = _surely(op, shape, _WORLDS[only][0])
        dtype = same[0].dtype
        specs.append(TensorSpec(shape, dtype))
        if len(good) == len(worlds):
            alike = len(same) == 1 or (shape.is_fully_defined()
                                       and all(isinstance(s, TensorSpec) for s in same))
            stands.append(tuple(same[:1]) if alike else tuple(same))
        else:
            stands.append(stands_of(dtype, shape))
    _make_outputs(op, good[0], specs, stands)


def _common_shape(shapes):
    if any(s.rank != shapes[0].rank for s in shapes):
        return TensorShape(None)
    return TensorShape([dims[0] if all(d == dims[0] for d in dims) else None
                        for dims in zip(*(s.as_list() for s in shapes))] if shapes[0].rank else [])


def _surely(op, shape, size):
    """What is certain of a shape that was found in one world alone, where unknown sizes have this value."""
    leaves = op.inputs + op.variables
    if shape.rank is None or any(leaf._shape.rank is None for leaf in leaves):
        return TensorShape(None)
    said = {d for leaf in leaves for d in leaf._shape}
    _numbers_of((op.args, op.kwargs), said)
    return TensorShape([d if d != size and d in said else None for d in shape])


def _numbers_of(value, found):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            _numbers_of(item, found)
    elif isinstance(value, int):
        found.add(value)


def _guess(op, first):
    """What fits no world: of the first input's type, and of the shape that a reshape names."""
    name = getattr(op.function, "__name__", "")
    shape = None
    if name == "where" and not [a for a in [*op.args[1:], *op.kwargs.values()] if a is not None]:
        from ..dtypes import int64
        return TensorSpec([None, first._shape.rank], int64)
    if name == "boolean_mask" and len(op.inputs) == 2 and None not in (t._shape.rank for t in op.inputs):
        tensor, mask = op.inputs
        if op.kwargs.get("axis", op.args[2] if len(op.args) > 2 else None) in (None, 0):
            return TensorSpec([None, *tensor._shape[mask._shape.rank:]], first.dtype)
    if name in ("reshape", "broadcast_to"):
        wanted = op.kwargs.get("shape", op.args[1] if len(op.args) > 1 else None)
        if isinstance(wanted, (list, tuple)):
            shape = [w if isinstance(w, int) and w >= 0 else None for w in wanted]
    elif name in ("matmul", "add", "multiply", "subtract", "concat"):
        rank = first._shape.rank if first is not None else None
        shape = None if rank is None else [None] * rank
    return TensorSpec(shape, first.dtype)


def declare(op, outputs):
    """Takes the outputs as they are said to be: a structure of TensorSpecs."""
    from ..nest import flatten
    specs = [s for s in flatten(outputs) if s is not None]
    known = op.type == "Placeholder"
    _make_outputs(op, outputs, specs, [stands_of(s.dtype, s.shape, known) for s in specs])


def _make_outputs(op, structure, specs, stands):
    from ..nest import flatten, pack_sequence_as
    from ._tensor import Tensor
    op.outputs = [Tensor(op, i, spec.dtype, spec.shape, s)
                  for i, (spec, s) in enumerate(zip(specs, stands))]
    rest = iter(op.outputs)
    flat = [None if part is None else next(rest) for part in flatten(structure)]
    op.result = pack_sequence_as(structure, flat) if op.outputs else op
