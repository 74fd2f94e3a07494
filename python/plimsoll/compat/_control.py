"""Order and branches in graphs: group, control_dependencies, cond, while_loop, functions of Python."""

from .. import _core
from .._function import TensorSpec
from . import _calls, _graph, _infer


def _nothing():
    return None


def no_op(name=None):
    return _graph.get_default_graph().add(_nothing, kind="NoOp", name=name, outputs=[])


def group(*inputs, **kwargs):
    """An operation that is done when all of these are."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}.")
    from ..nest import flatten
    items = [item for item in flatten(list(inputs)) if item is not None]
    graph = next((item.graph for item in items), None) or _graph.get_default_graph()
    with graph.control_dependencies(items):
        return graph.add(_nothing, kind="NoOp", name=name or "group_deps", outputs=[])


def tuple_of(tensors, name=None, control_inputs=None):
    """The tensors, none of which is there before all are."""
    made = [t for t in tensors if t is not None] + list(control_inputs or [])
    graph = _calls.graph_of(made)
    with graph.control_dependencies(made):
        return [None if t is None else
                t if isinstance(t, _graph.Operation) else _core.op("identity")(t) for t in tensors]


def with_dependencies(dependencies, output_tensor, name=None):
    with _graph.get_default_graph().control_dependencies(dependencies):
        return _core.op("identity")(output_tensor, name=name)


def print_tensor(input_, data, message=None, first_n=None, summarize=None, name=None):
    """input_, and whenever it is computed data is written to stderr."""
    from .._functions import print as write
    seen = {"num": 0}
    if first_n is not None and first_n > 0:
        def show(*values):
            if seen["num"] < first_n:
                seen["num"] += 1
                write(message or "", *values, sep="", summarize=summarize or 3)
            return values[0]

        if _core.is_building():
            shown = _calls.graph_of(data).add(show, tuple(data), kind="Print", is_host=True,
                                              outputs=[], name=name)
            return with_dependencies([shown], input_)
        show(*data)
        return input_
    parts = [message] if message else []
    for item in data:
        parts += ["[", item, "]"] if getattr(getattr(item, "shape", None), "rank", 1) == 0 else [item]
    written = write(*parts, sep="", summarize=3 if summarize is None else summarize)
    if not _core.is_building():
        return input_
    return with_dependencies([_last_print()] if written is None else [written], input_, name)


def _last_print():
    return next(op for op in reversed(_graph.get_default_graph()._operations)
                if op.function is _core.op("print_list"))


class Part:
    """A branch or a body: operations that run only inside of another one."""

    def __init__(self, graph):
        self.graph = graph
        self.parameters = []
        self.structure = None
        self.outputs = []
        self.operations = []
        self.captures = []

    def build(self, function, *specs):
        """Calls a Python function; what it makes belongs to this part."""
        from ..nest import flatten
        with self.graph.building_inside(self):
            self.parameters = [self.graph.add(_nothing, kind="Parameter", outputs=spec).result
                               for spec in specs]
            made = function(*self.parameters)
            self.structure = made
            self.outputs = [None if item is None else
                            item if isinstance(item, _graph.Operation) else
                            _calls.convert_to_tensor(item) for item in ([None] if made is None else flatten(made))]
        self._collect()
        return self

    def _collect(self):
        found, todo = set(), [_op_of(item) for item in self.outputs if item is not None]
        while todo:
            op = todo.pop()
            if op in found or op.inside is not self:
                continue
            found.add(op)
            if op.is_host:
                from ..errors import UnimplementedError
                raise UnimplementedError(None, None, f"'{op.name}' ({op.type}) runs outside of traced "
                                         "functions and cannot be part of a branch or a loop")
            todo += [t.op for t in op.inputs] + op.control_inputs
        self.operations = sorted(found, key=lambda op: op.number)
        captured = {}
        for op in self.operations:
            for leaf in [*op.inputs, *op.variables]:
                if getattr(leaf, "op", None) is not None and leaf.op.inside is not self:
                    captured[id(leaf)] = leaf
        for item in self.outputs:
            if item is not None and not isinstance(item, _graph.Operation) and item.op.inside is not self:
                captured[id(item)] = item
        self.captures = list(captured.values())

    def run(self, run, values=()):
        """The outputs, as tensors of the trace that is made."""
        inner = run.inner()
        for parameter, value in zip(self.parameters, values):
            inner.values[id(parameter)] = value
        for op in self.operations:
            if op.type != "Parameter":
                inner.execute(op)
        return [None if item is None or isinstance(item, _graph.Operation) else inner.value(item)
                for item in self.outputs]


# What branches and loops in a trace say of shapes that differ.
_CHANGES = ("must return tensors of the same shapes", "must keep its shape")


def _op_of(item):
    return item if isinstance(item, _graph.Operation) else item.op


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """true_fn() if pred holds, else false_fn(); only one of them runs."""
    from ..nest import pack_sequence_as
    true_fn, false_fn = true_fn or fn1, false_fn or fn2
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("true_fn and false_fn must be callable.")
    if isinstance(pred, bool):
        return true_fn() if pred else false_fn()
    graph = _calls.graph_of(pred)
    with graph.name_scope(name or "cond"):
        pred = _calls.convert_to_tensor(pred)
        parts = [Part(graph).build(true_fn), Part(graph).build(false_fn)]
        first, second = ([t for t in p.outputs if not _is_plain(t)] for p in parts)
        if len(first) != len(second):
            raise ValueError("true_fn and false_fn must return the same structure: "
                             f"{parts[0].structure} and {parts[1].structure}")
        for a, b in zip(first, second):
            if a.dtype is not b.dtype:
                raise TypeError(f"Outputs of true_fn and false_fn must have the same type(s). Received "
                                f"{a.dtype.name} from true_fn and {b.dtype.name} from false_fn.")
        specs = [TensorSpec(_infer._common_shape([a._shape, b._shape]), a.dtype)
                 for a, b in zip(first, second)]

        def choose(run, pred, captures):
            from ..errors import InvalidArgumentError

            def branch(part):
                def call():
                    made = [t for t in part.run(run) if t is not None]
                    return made or [_core.op("constant")(0)]

                return call

            try:
                made = _core.cond(pred, branch(parts[0]), branch(parts[1]))
            except InvalidArgumentError as error:
                if _CHANGES[0] not in str(error):
                    raise
                # Branches of several shapes: a trace is asked for the value, and so runs op by op.
                made = branch(parts[0] if bool(pred) else parts[1])()
            return made if specs else []

        captures = {id(t): t for p in parts for t in p.captures}
        op = graph.add(choose, (pred, list(captures.values())), kind="If", name="cond", outputs=specs,
                       needs_run=True)
    op.notes["parts"] = parts
    if parts[0].structure is None:
        return None
    rest = iter(op.outputs)
    flat = [None if t is None else op if isinstance(t, _graph.Operation) else next(rest)
            for t in parts[0].outputs]
    return pack_sequence_as(parts[0].structure, flat)


def _is_plain(item):
    return item is None or isinstance(item, _graph.Operation)


def _loop_shapes(first, invariants):
    """The shapes of loop variables, whether they may change from one turn to the next, and whether they do."""
    from ..nest import flatten
    from ..tensor_shape import TensorShape
    if invariants is None:
        return [t._shape for t in first], False, False
    found = [TensorShape(s) if isinstance(s, TensorShape) or s is None else TensorShape(s.shape)
             for s in flatten(invariants)]
    if len(found) != len(first):
        raise ValueError(f"`shape_invariants` has {len(found)} shapes for {len(first)} loop variables")
    for tensor, shape in zip(first, found):
        if not shape.is_compatible_with(tensor._shape):
            raise ValueError(f"The shape invariant specified for {tensor.name} is not compatible with the initial "
                             f"shape of the loop variable. It enters the loop with shape {tensor._shape}, but the "
                             f"specified shape invariant is {shape}.")
    is_open = [not s.is_fully_defined() for s in found]
    return found, any(is_open), any(o and t._shape.is_fully_defined() for o, t in zip(is_open, first))


def _loop_by_values(run, asks, step, states, maximum_iterations):
    """A loop whose shapes change: in a trace it asks for a value, and so runs op by op."""
    states, num_done = list(states), 0
    while (maximum_iterations is None or num_done < maximum_iterations) and bool(asks.run(run, states)[0]):
        states, num_done = list(step.run(run, states)), num_done + 1
    return states


def while_loop(cond, body, loop_vars, maximum_iterations=None, shape_invariants=None, name=None,
               return_same_structure=False):
    """body(*loop_vars) as long as cond(*loop_vars) holds."""
    from ..nest import flatten, pack_sequence_as
    from ..errors import InvalidArgumentError
    is_list = isinstance(loop_vars, (list, tuple))
    given = loop_vars if is_list else [loop_vars]
    loop_vars = list(given)
    first = [_calls.convert_to_tensor(v) for v in flatten(loop_vars)]
    graph = _calls.graph_of(first)
    shapes, is_open, is_loose = _loop_shapes(first, shape_invariants)
    specs = [TensorSpec(shape, t.dtype) for shape, t in zip(shapes, first)]

    def packed(function):
        return lambda *values: function(*pack_sequence_as(loop_vars, list(values)))

    with graph.name_scope(name or "while"):
        asks = Part(graph).build(packed(cond), *specs)
        step = Part(graph).build(packed(body), *specs)
        if len(step.outputs) != len(first) or any(_is_plain(t) for t in step.outputs):
            raise ValueError("The two structures don't have the same nested structure: there are "
                             f"{len(first)} loop variables, and the body returned {len(step.outputs)}")
        captures = {id(t): t for p in (asks, step) for t in p.captures}

        def loop(run, states, captures):
            if is_loose or is_open and not any(s._is_symbolic for s in states):
                return _loop_by_values(run, asks, step, states, maximum_iterations)
            try:
                return list(_core.while_loop(lambda *now: asks.run(run, now)[0],
                                             lambda *now: step.run(run, now), states, maximum_iterations))
            except InvalidArgumentError as error:
                if not is_open or _CHANGES[1] not in str(error):
                    raise
                return _loop_by_values(run, asks, step, states, maximum_iterations)

        op = graph.add(loop, (first, list(captures.values())), kind="While", name="while",
                       outputs=specs, needs_run=True)
    op.notes["parts"] = [asks, step]
    made = pack_sequence_as(given, op.outputs)
    return made if is_list and (len(made) > 1 or return_same_structure) else made[0]


def py_func(func, inp, Tout, stateful=True, name=None):
    """func of numpy arrays, called between traced functions."""
    import numpy
    if not _core.is_building():
        from .._functions import numpy_function
        return numpy_function(func, inp, Tout)
    return _called(lambda *values: func(*[numpy.array(v.numpy()) for v in values]), inp, Tout, name)


def py_function(func, inp, Tout, name=None):
    """func of tensors that have values, called between traced functions."""
    return _called(func, inp, Tout, name)


def _called(func, inp, Tout, name):
    import numpy
    from .._functions import returned_values
    from ..dtypes import as_dtype
    is_list = isinstance(Tout, (list, tuple))
    types = [as_dtype(t) for t in (Tout if is_list else [Tout])]

    def call(*values):
        made = returned_values(func(*values), len(types), is_exact=True)
        tensors = [_core.op("convert_to_tensor")(numpy.asarray(m, t.as_numpy_dtype))
                   for m, t in zip(made, types)]
        return tensors if is_list else tensors[0]

    specs = [TensorSpec(None, t) for t in types]
    inputs = tuple(_calls.convert_to_tensor(i) for i in inp)
    return _graph.get_default_graph().add(call, inputs, kind="PyFunc", name=name, is_host=True,
                                          outputs=specs if is_list else specs[0]).result


def _row(tensor):
    shape = tensor._shape
    return TensorSpec(shape[1:] if shape.rank is not None else None, tensor.dtype)


def map_fn(fn, elems, name=None):
    """fn of each element along the first axis, stacked."""
    from ..nest import flatten, pack_sequence_as
    given = [_calls.convert_to_tensor(e) for e in flatten(elems)]
    graph = _calls.graph_of(given)
    with graph.name_scope(name or "map"):
        part = Part(graph).build(lambda *rows: fn(pack_sequence_as(elems, list(rows))),
                                 *[_row(t) for t in given])
        length = given[0]._shape[:1] if given[0]._shape.rank else None
        specs = [TensorSpec(None if length is None else length.concatenate(t._shape), t.dtype)
                 for t in part.outputs]

        def apply(run, rows, captures):
            return _core.map_fn(lambda now: part.run(run, now), list(rows))

        op = graph.add(apply, (given, part.captures), kind="Map", outputs=specs, needs_run=True)
    op.notes["parts"] = [part]
    return pack_sequence_as(part.structure, op.outputs)


def scan(fn, elems, initializer=None, reverse=False, name=None):
    """fn(accumulator, element) for each element along the first axis; all accumulators, stacked."""
    from ..nest import flatten, pack_sequence_as
    given = [_calls.convert_to_tensor(e) for e in flatten(elems)]
    graph = _calls.graph_of(given)
    structure = elems if initializer is None else initializer
    first = None if initializer is None else [_calls.convert_to_tensor(i) for i in flatten(initializer)]
    states = [_row(t) for t in given] if first is None else [TensorSpec(t._shape, t.dtype) for t in first]
    num = len(states)
    with graph.name_scope(name or "scan"):
        part = Part(graph).build(
            lambda *now: fn(pack_sequence_as(structure, list(now[:num])),
                            pack_sequence_as(elems, list(now[num:]))),
            *states, *[_row(t) for t in given])
        length = given[0]._shape[:1] if given[0]._shape.rank else None
        specs = [TensorSpec(None if length is None else length.concatenate(s.shape), s.dtype)
                 for s in states]

        def apply(run, rows, first, captures):
            return _core.scan(lambda a, x: part.run(run, [*a, *x]), list(rows), first, reverse)

        op = graph.add(apply, (given, first, part.captures), kind="Scan", outputs=specs, needs_run=True)
    op.notes["parts"] = [part]
    return pack_sequence_as(structure, op.outputs)
