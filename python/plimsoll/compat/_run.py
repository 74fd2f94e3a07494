"""How a session runs what was asked for: a plan of stages, made once for its fetches and feeds.

Operations go into traced functions, one for each stage; those that cannot be traced (functions of
Python, iterators, files) run between them. A stage in which shapes depend on values runs op by op.
Inside a stage operations run in the order in which the program made them, so that whatever changes
a variable has its place.
"""

import contextlib

from .. import _core
from .._function import Function
from . import _infer

_BORROWED = 1 << 20  # bytes of arrays that are not copied into datasets
_MAX_BAKED = 64  # elements of a feed that may stand in a trace as a value


class Run:
    """The values of operations while they are traced, or run between traces."""

    def __init__(self, session, watched=(), num_tapes=0, fed_variables=None):
        self.session = session
        self.values = {}
        self.watched = watched
        self.num_tapes = num_tapes
        self.tapes = []
        self.outer = None
        self.fed_variables = fed_variables or {}

    def inner(self):
        """Of a branch or a body: sees what is outside."""
        made = Run(self.session, self.watched, 0, self.fed_variables)
        made.tapes, made.outer = self.tapes, self
        return made

    def value(self, tensor):
        key, run = id(tensor), self
        while run is not None:
            found = run.values.get(key)
            if found is not None:
                return found
            run = run.outer
        raise KeyError(tensor.name)

    def variable(self, variable):
        fed = self.fed_variables.get(id(variable))
        return self.value(fed) if fed is not None else self.session._variable(variable)

    def assign(self, variable, value):
        held = self.session._variable(variable, to_write=True)
        held.assign(value)
        return _core.op("identity")(held)

    def change(self, variable, how, value):
        held = self.session._variable(variable)
        getattr(held, how)(value)
        return _core.op("identity")(held)

    def replace(self, leaf):
        return self.variable(leaf) if hasattr(leaf, "initializer") else self.value(leaf)

    def execute(self, op):
        from ..nest import flatten
        first = (self,) if op.needs_run else ()
        try:
            if op.needs_run:  # it may name a variable that it changes
                args, kwargs = _infer.substitute(
                    (op.args, op.kwargs),
                    lambda leaf: leaf if hasattr(leaf, "initializer") else self.value(leaf))
            else:
                args, kwargs = _infer.substitute((op.args, op.kwargs), self.replace)
            with _core.NameScope(op.name):
                made = op.function(*first, *args, **kwargs)
        except Exception as error:
            if hasattr(error, "add_note") and not getattr(error, "__notes__", None):
                error.add_note(f"in operation '{op.name}' ({op.type})")
            raise
        if not op.outputs:
            return
        parts = [p for p in flatten(made) if p is not None]
        for tensor, value in zip(op.outputs, parts):
            self.values[id(tensor)] = value
            if self.tapes:
                self.watch(tensor, value)

    def watch(self, tensor, value):
        if id(tensor) in self.watched and tensor.dtype.is_floating:
            for tape in self.tapes:
                tape.watch(value)

    def watch_variables(self, variables):
        for variable in variables:
            for tape in self.tapes:
                tape.watch(self.variable(variable))


def needed(elements, fed):
    """The operations that these depend on, in the order in which they were made."""
    from ._graph import Operation
    found, todo = set(), []

    def want(tensor):
        if id(tensor) not in fed:
            todo.append(tensor.op)

    for item in elements:
        todo.append(item) if isinstance(item, Operation) else want(item)
    while todo:
        op = todo.pop()
        if op in found:
            continue
        found.add(op)
        for tensor in op.inputs:
            want(tensor)
        todo += op.control_inputs
    return sorted(found, key=lambda op: op.number)


class Stage:
    """Operations that run together: traced, or one by one."""

    def __init__(self, session, operations, is_host):
        self.session = session
        self.operations = operations
        self.is_host = is_host
        self.inputs = []  # tensors from feeds and earlier stages
        self.outputs = []  # tensors for later stages and the caller
        self.fed_variables = {}
        self.gradients = [op for op in all_inside(operations) if op.type == "SymbolicGradient"]
        self.watched = {id(x) for op in self.gradients for x in op.notes["xs"]}
        # Tapes see to those that are trained by themselves.
        self.watched_variables = list({id(x): x for op in self.gradients for x in op.notes["xs"]
                                       if hasattr(x, "initializer") and not x.trainable}.values())
        self.num_tapes = max((op.notes["level"] for op in self.gradients), default=0)
        self.functions = {}  # by the values of inputs that stand in the trace
        self.bake = 0
        self.is_eager = False  # shapes depend on values: op by op
        devices = {op.device for op in operations}
        self.device = session._device or (devices.pop() if len(devices) == 1 else None)

    def run(self, values):
        given = [values[id(t)] for t in self.inputs]
        with _core.device(self.device) if self.device else contextlib.nullcontext():
            made = self._run_host(given) if self.is_host else self._run_traced(given)
        for tensor, value in zip(self.outputs, made):
            values[id(tensor)] = value

    def _run_host(self, given):
        run = Run(self.session)
        # Datasets read large arrays where they stand.
        others = {id(t) for op in self.operations if op.type != "MakeIterator" for t in op.inputs}
        for tensor, value in zip(self.inputs, given):
            stays = id(tensor) not in others and getattr(value, "nbytes", 0) >= _BORROWED
            run.values[id(tensor)] = value if stays else _core.op("convert_to_tensor")(value)
        for op in self.operations:
            run.execute(op)
        return [run.value(t) for t in self.outputs]

    def _run_traced(self, given):
        while not self.is_eager:
            function, rest = self._function(given)
            try:
                return function(*rest)
            except Exception as error:
                is_bound = _infer.needs_values(error)
                if not is_bound and not isinstance(error, TypeError):
                    raise
                # A shape or an option depends on a feed: its value becomes part of the trace.
                if self.bake < 2 and any(self._is_baked(v, 2) for v in given):
                    self.bake += 1
                elif is_bound:
                    self.is_eager = True
                    self.functions.clear()
                else:
                    raise
        values = [_core.op("convert_to_tensor")(v) for v in given]
        return self._body(range(len(given)), {})(*values)

    def _is_baked(self, value, level):
        if value.size > _MAX_BAKED if hasattr(value, "size") else (
                value.shape.num_elements() > _MAX_BAKED):
            return False
        kind = value.dtype.kind if hasattr(value.dtype, "kind") else (
            "f" if value.dtype.is_floating else "i")
        return kind in "iub" and level >= 1 or level >= 2 and len(value.shape) == 0

    def _function(self, given):
        if not self.bake:
            found = self.functions.get(None)
            if found is None:
                found = self.functions[None] = self._make(range(len(given)), {})
            return found, given
        import numpy
        baked = {i: v for i, v in enumerate(given) if self._is_baked(v, self.bake)}
        key = tuple((i, numpy.asarray(v).tobytes(), tuple(v.shape)) for i, v in baked.items())
        free = [i for i in range(len(given)) if i not in baked]
        found = self.functions.get(key)
        if found is None:
            while len(self.functions) >= 64:
                self.functions.pop(next(iter(self.functions)))
            kept = {i: _core.op("constant")(v) for i, v in baked.items()}
            found = self.functions[key] = self._make(free, kept)
        return found, [given[i] for i in free]

    def _make(self, free, kept):
        return Function(self._body(free, kept), name="session_run")

    def _body(self, free, kept):
        def body(*inputs):
            run = Run(self.session, self.watched, self.num_tapes, self.fed_variables)
            self._begin(run)
            with contextlib.ExitStack() as scopes:
                for _ in range(self.num_tapes):  # the last belongs to the first derivatives
                    run.tapes.insert(0, scopes.enter_context(_core.GradientTape(persistent=True)))
                for i, value in [*zip(free, inputs), *kept.items()]:
                    run.values[id(self.inputs[i])] = value
                    run.watch(self.inputs[i], value)
                run.watch_variables(self.watched_variables)
                for op in self.operations:
                    run.execute(op)
            return [run.value(t) for t in self.outputs]

        return body

    def _begin(self, run):
        seeds = {op.graph.seed for op in all_inside(self.operations) if op.notes.get("draws")}
        if seeds - {None}:
            with _core.init_scope():
                _core.op("random.set_seed")(seeds.pop())


def all_inside(operations):
    """These and the operations of their branches and bodies."""
    for op in operations:
        yield op
        for part in op.notes.get("parts", ()):
            yield from all_inside(part.operations)


class Plan:
    """What a session does for fetches and feeds."""

    def __init__(self, session, elements, fed):
        from ._graph import Operation
        self.session = session
        self.tensors = [e for e in elements if not isinstance(e, Operation)]
        by_id = {id(t): t for t in fed}
        operations = needed(elements, by_id)
        self._check(operations, by_id)
        levels = self._levels(operations, by_id)
        self.assigned = [op.args[0] for op in operations
                         if op.type == "Assign" and not op.is_host]
        self.stages = []
        for level in sorted(set(levels.values())):
            self.stages.append(Stage(session, [op for op in operations if levels[op] == level],
                                     level % 2 == 0))
        self._connect(by_id)
        for stage in self.stages:
            for op in stage.gradients:
                _check_path(op, stage, levels)

    def _check(self, operations, fed):
        from ..errors import InvalidArgumentError
        for op in operations:
            if op.type == "Placeholder":
                tensor = op.outputs[0]
                shape = "<unknown>" if tensor._shape.rank is None else (
                    "[" + ",".join("?" if d is None else str(d) for d in tensor._shape) + "]")
                name = {"float32": "float", "float64": "double"}.get(tensor.dtype.name, tensor.dtype.name)
                raise InvalidArgumentError(
                    None, op, f"You must feed a value for placeholder tensor '{op.name}' with dtype "
                    f"{name}" + ("" if tensor._shape.rank is None else f" and shape {shape}")
                    + f"\n\t [[{{{{node {op.name}}}}}]]")

    def _levels(self, operations, fed):
        """Host operations at even levels, traced ones at odd levels, as early as they can."""
        levels = {}
        for op in operations:
            before = [t.op for t in op.inputs if id(t) not in fed] + op.control_inputs
            least = max((levels[b] for b in before), default=0)
            wanted = 0 if op.is_host else 1
            levels[op] = least if least % 2 == wanted else least + 1
        return levels

    def _connect(self, fed):
        made_at = {id(t): i for i, s in enumerate(self.stages) for op in s.operations
                   for t in op.outputs if id(t) not in fed}
        for i, stage in enumerate(self.stages):
            seen = {}
            for op in stage.operations:
                for t in op.inputs:
                    if made_at.get(id(t), -1) != i:
                        seen[id(t)] = t
                for v in op.variables:
                    if id(v._graph_element()) in fed:
                        seen[id(v._graph_element())] = v._graph_element()
                        stage.fed_variables[id(v)] = v._graph_element()
            stage.inputs = list(seen.values())
            for key, tensor in seen.items():
                if key in made_at:
                    outputs = self.stages[made_at[key]].outputs
                    if not any(t is tensor for t in outputs):
                        outputs.append(tensor)
        for tensor in self.tensors:
            if id(tensor) in made_at:
                outputs = self.stages[made_at[id(tensor)]].outputs
                if not any(t is tensor for t in outputs):
                    outputs.append(tensor)

    def memory_plan(self, feeds):
        if len(self.stages) != 1 or self.stages[0].is_host or self.stages[0].is_eager:
            from ..errors import UnimplementedError
            raise UnimplementedError(None, None, "a run in several parts, with functions of Python, iterators or "
                                     "single operations between them, has no plan as a whole")
        (stage,) = self.stages
        function, rest = stage._function([feeds[id(t)] for t in stage.inputs])
        with _core.device(stage.device) if stage.device else contextlib.nullcontext():
            return function.plan(*rest)

    def run(self, feeds):
        """The values of the tensors among the fetches, as tensors or what was fed."""
        values = dict(feeds)
        for stage in self.stages:
            stage.run(values)
        return [values[id(t)] for t in self.tensors]


def _check_path(gradient, stage, planned):
    """The tape of a stage sees the operations of that stage."""
    here = set(stage.operations)
    for op in gradient.notes["path"]:
        if op not in here and op in planned:
            from ..errors import UnimplementedError
            raise UnimplementedError(None, gradient, f"the gradient '{gradient.name}' goes through "
                                     f"'{op.name}', which has to run before a function of Python or "
                                     "another operation that cannot be traced")
