"""Branches and loops on values, and scopes."""

from . import _core


def _graphs():
    """What does the same while a graph of the first version is built."""
    from .compat import _control
    return _control


def cond(pred, true_fn=None, false_fn=None, name=None):
    """true_fn() if pred holds, else false_fn(). In a function both are traced, and must agree."""
    if _core.is_building():
        return _graphs().cond(pred, true_fn, false_fn, name=name)
    return _core.cond(pred, true_fn, false_fn)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The function of the first predicate that holds."""
    pairs = list(pred_fn_pairs)
    if not pairs:
        raise TypeError("pred_fn_pairs must be a list of (predicate, function) pairs")
    (pred, fn), rest = pairs[0], pairs[1:]
    if not rest:
        return cond(pred, fn, default or fn)
    return cond(pred, fn, lambda: case(rest, default))


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10,
               back_prop=True, swap_memory=False, maximum_iterations=None, name=None):
    """body(*loop_vars) as long as cond(*loop_vars) holds; loop variables keep their shapes and types."""
    if _core.is_building():
        return _graphs().while_loop(cond, body, loop_vars, maximum_iterations, shape_invariants, name, True)
    if not isinstance(loop_vars, (list, tuple, dict)):
        loop_vars = [loop_vars]
    return _core.while_loop(cond, body, loop_vars, maximum_iterations)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False,
         infer_shape=True, reverse=False, name=None):
    """fn(accumulator, element) for each element along the first axis; all accumulators, stacked."""
    if _core.is_building():
        return _graphs().scan(fn, elems, initializer, reverse, name)
    return _core.scan(fn, elems, initializer, reverse)


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False,
           infer_shape=True, name=None, fn_output_signature=None):
    """fn of each element along the first axis, stacked."""
    if _core.is_building():
        return _graphs().map_fn(fn, elems, name)
    return _core.map_fn(fn, elems)


def vectorized_map(fn, elems, fallback_to_while_loop=True, warn=True):
    """map_fn: element by element."""
    return map_fn(fn, elems)


def foldl(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False,
          name=None):
    """The last accumulator of scan."""
    from .nest import map_structure
    return map_structure(lambda stack: stack[-1], scan(fn, elems, initializer))


def group(*inputs, **kwargs):
    """Everything has run already; in a graph, an operation that is done when all of these are."""
    return _graphs().group(*inputs, **kwargs) if _core.is_building() else None


def no_op(name=None):
    """Nothing."""
    return _graphs().no_op(name) if _core.is_building() else None


class name_scope:
    """Names what is made inside, for plans and reports."""

    def __init__(self, name, default_name=None, values=None):
        self.name = name or default_name or ""
        self._scope = _core.NameScope(self.name)
        if _core.is_building():
            from .compat._graph import get_default_graph
            self._scope = get_default_graph().name_scope(self.name)

    def __enter__(self):
        entered = self._scope.__enter__()
        return entered if isinstance(entered, str) else self.name + "/"

    def __exit__(self, *error):
        self._scope.__exit__(*error)


class control_dependencies:
    """Calls run in the order in which they are written; in a graph, those inside after these."""

    def __init__(self, control_inputs):
        self._scope = None
        if _core.is_building():
            from .compat._graph import get_default_graph
            self._scope = get_default_graph().control_dependencies(control_inputs)

    def __enter__(self):
        if self._scope is not None:
            self._scope.__enter__()
        return self

    def __exit__(self, *error):
        if self._scope is not None:
            self._scope.__exit__(*error)
