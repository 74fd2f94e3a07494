"""Derivatives of a graph's tensors: operations that a tape answers when they run."""

from .. import _core
from .._function import TensorSpec
from .._gradients import UnconnectedGradients
from . import _calls
from ._variable import GraphVariable

# No gradient flows back through these.
_BLOCKED = frozenset(("stop_gradient", "floor", "ceil", "round", "rint", "zeros_like", "ones_like", "shape",
                      "size", "rank"))
_BLOCKED_KINDS = frozenset(("Assign", "AssignAdd", "AssignSub", "ScatterAdd", "ScatterSub",
                            "ScatterUpdate", "PyFunc"))


def _differentiate(run, ys, xs, grad_ys, level):
    sources = [run.variable(x) if isinstance(x, GraphVariable) else x for x in xs]
    given = None if all(g is None for g in grad_ys) else grad_ys
    found = run.tapes[level - 1].gradient(ys, sources, output_gradients=given)
    return [_core.op("zeros_like")(x) if g is None else g for g, x in zip(found, sources)]


def _reach(ys, xs):
    """For each x whether the ys depend on it, and the operations between them."""
    from ._run import needed
    numbers = {id(x): i for i, x in enumerate(xs)}
    of_op = {}

    def of_tensor(tensor):
        own = {numbers[id(tensor)]} if id(tensor) in numbers else set()
        return own | of_op.get(tensor.op, set()) if tensor.dtype.is_floating else own

    for op in needed(ys, {}):
        found = {numbers[id(v)] for v in op.variables if id(v) in numbers}
        for tensor in op.inputs:
            found |= of_tensor(tensor)
        name = getattr(op.function, "__name__", "")
        of_op[op] = set() if name in _BLOCKED or op.type in _BLOCKED_KINDS else found
    connected = set().union(*(of_tensor(y) for y in ys))
    leading = {y.op for y in ys}
    for op in reversed(of_op):
        if op in leading and of_op[op]:
            leading |= {t.op for t in op.inputs if t.dtype.is_floating}
    return connected, [op for op, found in of_op.items() if found and op in leading]


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False,
              gate_gradients=False, aggregation_method=None, stop_gradients=None,
              unconnected_gradients=UnconnectedGradients.NONE):
    """The sum of derivatives of ys by each of xs; None for what ys do not depend on."""
    if not _core.is_building() and not any(hasattr(t, "_is_graph_tensor") for t in _listed(xs)):
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use "
                           "tf.GradientTape instead.")
    ys = [_calls.convert_to_tensor(y) for y in _listed(ys)]
    xs = [x if isinstance(x, GraphVariable) else _calls.convert_to_tensor(x) for x in _listed(xs)]
    given = [None] * len(ys) if grad_ys is None else [
        None if g is None else _calls.convert_to_tensor(g, y.dtype)
        for g, y in zip(_listed(grad_ys), ys)]
    if len(given) != len(ys):
        raise ValueError(f"Argument `grad_ys` must have as many elements as `ys`: {len(given)} and "
                         f"{len(ys)}")
    if stop_gradients:
        ys, xs = _cut(ys, xs, [_calls.convert_to_tensor(s) for s in _listed(stop_gradients)])
    connected, path = _reach(ys, xs)
    graph = _calls.graph_of(ys)
    wanted = [x for i, x in enumerate(xs) if i in connected]
    made = iter(_add(graph, ys, wanted, given, path, name).outputs if wanted else [])
    if getattr(unconnected_gradients, "value", unconnected_gradients) == "zero":
        return [next(made) if i in connected else _core.op("zeros_like")(x) for i, x in enumerate(xs)]
    return [next(made) if i in connected else None for i in range(len(xs))]


def _cut(ys, xs, stops):
    """ys and xs in a copy of the graph behind `stops`, in which these are constants."""
    from ..errors import UnimplementedError
    from ._infer import substitute
    from ._run import needed
    made = {id(s): _core.op("identity")(_core.op("stop_gradient")(s)) for s in stops}
    for op in needed(ys, made):
        if not any(id(t) in made for t in op.inputs):
            continue
        if op.notes.get("draws") or op.notes.get("parts") or op.type == "SymbolicGradient":
            raise UnimplementedError(None, op, f"tf.gradients: stop_gradients with '{op.name}' ({op.type}) behind "
                                     "them is not built; tf.stop_gradient(x) in the program stops them")
        args, kwargs = substitute((op.args, op.kwargs), lambda leaf: made.get(id(leaf), leaf))
        copy = op.graph.add(op.function, args, kwargs, kind=op.type, is_host=op.is_host,
                            needs_run=op.needs_run,
                            outputs=[TensorSpec(t._shape, t.dtype) for t in op.outputs])
        made.update((id(old), new) for old, new in zip(op.outputs, copy.outputs))
    return [made.get(id(y), y) for y in ys], [made.get(id(x), x) for x in xs]


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _add(graph, ys, xs, given, path, name):
    level = 1 + max((op.notes["level"] for op in path if op.type == "SymbolicGradient"), default=0)
    op = graph.add(_differentiate, (ys, xs, given, level), kind="SymbolicGradient", name=name,
                   needs_run=True, outputs=[TensorSpec(x._shape, x.dtype) for x in xs])
    op.notes.update(level=level, xs=xs, path=set(path))
    return op


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False,
             aggregation_method=None):
    from ..errors import UnimplementedError
    raise UnimplementedError(None, None, "tf.hessians is not built; tf.gradients of tf.gradients gives "
                             "products with them")
