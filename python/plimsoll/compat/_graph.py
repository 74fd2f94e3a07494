"""Graphs of the first version: ops that are noted down when they are called and run by a session.

An operation is a Python function with its arguments, in which graph tensors stand for values that
come later. What a call gives, its types and shapes, comes from tracing it with stand-ins (_infer);
a session makes one traced function of what its fetches need (_run).
"""

import contextlib
import threading

from .. import _core
from . import _names

GLOBAL_VARIABLES = "variables"


class _Stack(threading.local):
    """What this thread has made its default: graphs, sessions."""

    def __init__(self):
        self.graphs = []
        self.sessions = []


stack = _Stack()
_state = {"root": None}


class Operation:
    """A node: what is called, on what, and after what else."""

    def __init__(self, graph, name, kind, function, args, kwargs, is_host=False, needs_run=False):
        self.graph = graph
        self.name = name
        self.type = kind
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.is_host = is_host  # runs between traced functions, not in one
        self.needs_run = needs_run  # its function is given the run it is part of
        self.inputs = []  # graph tensors
        self.variables = []  # that its arguments name
        self.control_inputs = graph._current_controls()
        self.outputs = []
        self.result = None  # a structure of its outputs
        self.device = graph._current_device()
        self.inside = graph._inside  # the branch or the body that it belongs to
        self.number = len(graph._operations)
        self.notes = {}

    def values(self):
        return tuple(self.outputs)

    def run(self, feed_dict=None, session=None):
        """Runs it in the session, or in the default one."""
        _session_for(session, self, "Operation.run()").run(self, feed_dict)

    def get_attr(self, name):
        if name in self.notes:
            return self.notes[name]
        raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")

    @property
    def op_def(self):
        return None

    @property
    def node_def(self):
        return _NodeDef(self)

    def colocation_groups(self):
        return [b"loc:@" + self.name.encode()]

    def __repr__(self):
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def __str__(self):
        inputs = "".join(f'\ninput: "{t.op.name}"' for t in self.inputs)
        return f'name: "{self.name}"\nop: "{self.type}"{inputs}\n'


class _NodeDef:
    """What error messages and debuggers read of an operation."""

    def __init__(self, operation):
        self.name, self.op, self.device = operation.name, operation.type, operation.device
        self.input = [t.name for t in operation.inputs]


class Graph:
    """Operations, their names, and collections of what belongs to them."""

    def __init__(self):
        self.seed = None
        self._operations = []
        self._by_name = {}
        self._used = {}  # names in lower case, and how often they were asked for
        self._scope = ""
        self._controls = []
        self._devices = []
        self._inside = None
        self._collections = {}
        self._finalized = False
        self.variable_store = {}
        self.variable_scope = None
        self.open_scopes = {}
        self.iterators = {}  # by their handles
        self._lock = threading.RLock()

    # Being the default.

    @contextlib.contextmanager
    def as_default(self):
        """Calls inside become operations of this graph."""
        stack.graphs.append(self)
        _core.push_mode(True)
        try:
            yield self
        finally:
            _core.pop_mode()
            stack.graphs.remove(self)

    # Names.

    def unique_name(self, name, mark_as_used=True):
        if self._scope:
            name = f"{self._scope}/{name}"
        key = name.lower()
        num = self._used.get(key, 0)
        if mark_as_used:
            self._used[key] = num + 1
        if num:
            base = key
            while key in self._used:
                key = f"{base}_{num}"
                num += 1
            if mark_as_used:
                self._used[key] = 1
            name = f"{name}_{num - 1}"
        return name

    @contextlib.contextmanager
    def name_scope(self, name):
        """Names inside begin with it; "x/" enters a scope again."""
        outer = self._scope
        if not name:
            self._scope = ""
        elif name.endswith("/"):
            self._scope = name[:-1]
        else:
            self._scope = self.unique_name(name)
        try:
            yield self._scope + "/" if self._scope else ""
        finally:
            self._scope = outer

    def get_name_scope(self):
        return self._scope

    # Order, devices, branches.

    def _current_controls(self):
        found = []
        for group in self._controls:
            found += [op for op in group if op not in found]
        return found

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs):
        """What is made inside runs after these."""
        outer = self._controls
        if control_inputs is None:
            self._controls = []
        else:
            self._controls = outer + [[_operation_of(self, item) for item in control_inputs]]
        try:
            yield
        finally:
            self._controls = outer

    def _current_device(self):
        for name in reversed(self._devices):
            if callable(name):
                continue
            return name or ""
        return ""

    @contextlib.contextmanager
    def device(self, device_name_or_function):
        if isinstance(device_name_or_function, str):
            _core.device(device_name_or_function)  # what cannot be read is said at once
        self._devices.append(device_name_or_function)
        try:
            yield
        finally:
            self._devices.pop()

    @contextlib.contextmanager
    def building_inside(self, part):
        """Operations made here belong to a branch or a body."""
        outer, self._inside = self._inside, part
        controls, self._controls = self._controls, []
        try:
            yield part
        finally:
            self._inside, self._controls = outer, controls

    # Operations.

    def add(self, function, args=(), kwargs=None, name=None, kind=None, outputs=None, **options):
        """Notes a call down; returns its operation. outputs: a structure of specs, if it is known."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        from . import _infer
        with self._lock:
            kind = kind or _names.kind_of(function)
            name = name or _names.default_name(function, kind)
            name = name[:-1] if name.endswith("/") else self.unique_name(name)
            made = Operation(self, name, kind, function, args, kwargs or {}, **options)
            _infer.note_inputs(made)
            if outputs is None:
                _infer.infer(made)
            else:
                _infer.declare(made, outputs)
            self._operations.append(made)
            self._by_name[name] = made
        return made

    def get_operations(self):
        return list(self._operations)

    def get_operation_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name):
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The tensor or the operation that a name or an object stands for."""
        from ._tensor import Tensor
        from ._variable import GraphVariable
        if isinstance(obj, GraphVariable):
            obj = obj._graph_element() if allow_tensor else obj.op
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        kinds = " or ".join(kind for kind, allowed in (("Tensor", allow_tensor),
                                                       ("Operation", allow_operation)) if allowed)
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")

    def _element_by_name(self, name, allow_tensor, allow_operation):
        if ":" in name:
            if not allow_tensor:
                raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
            op_name, _, num = name.partition(":")
            found = self._by_name.get(op_name)
            if not num.isdigit():
                raise ValueError(f"The name {name!r} looks a like a Tensor name, but is not a valid one. "
                                 'Tensor names must be of the form "<op_name>:<output_index>".')
            if found is None:
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The "
                               f"operation, {op_name!r}, does not exist in the graph.")
            if int(num) >= len(found.outputs):
                raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The "
                               f"operation, {op_name!r}, exists but only has {len(found.outputs)} "
                               "outputs.")
            return found.outputs[int(num)]
        found = self._by_name.get(name)
        if found is None or not allow_operation:
            if found is not None:
                raise ValueError(f"The name {name!r} looks like an (invalid) Operation name, not a "
                                 'Tensor. Tensor names must be of the form "<op_name>:<output_index>".')
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return found

    # Collections.

    def add_to_collection(self, name, value):
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name):
        return self._collections.setdefault(name, [])

    def get_collection(self, name, scope=None):
        import re
        found = self._collections.get(name, [])
        if scope is None:
            return list(found)
        wanted = re.compile(scope)
        return [item for item in found if hasattr(item, "name") and wanted.match(item.name)]

    def get_all_collection_keys(self):
        return [key for key in self._collections if isinstance(key, str)]

    @property
    def collections(self):
        return self.get_all_collection_keys()

    def clear_collection(self, name):
        self._collections.pop(name, None)

    # Odds and ends.

    def finalize(self):
        """Nothing can be added from now on."""
        self._finalized = True

    @property
    def finalized(self):
        return self._finalized

    @property
    def version(self):
        return len(self._operations)

    @property
    def building_function(self):
        return False

    def is_feedable(self, tensor):
        return True

    def is_fetchable(self, tensor_or_op):
        op = getattr(tensor_or_op, "op", tensor_or_op)
        return op.inside is None

    def as_graph_def(self, from_version=None, add_shapes=False):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, "Graph.as_graph_def: graphs of this runtime are Python's "
                                 "functions and have no GraphDef. A Saver keeps the variables; the "
                                 "program that made the graph makes it again")


def _operation_of(graph, item):
    op = getattr(item, "_control_op", None) or graph.as_graph_element(item)
    return op if isinstance(op, Operation) else op.op


def _session_for(session, element, what):
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(f"Cannot evaluate tensor using `eval()`: No default session is registered. "
                             "Use `with sess.as_default()` or pass an explicit session to "
                             "`eval(session=sess)`" if what == "eval()" else
                             "Cannot execute operation using `run()`: No default session is "
                             "registered. Use `with sess.as_default():` or pass an explicit session "
                             "to `run(session=sess)`")
    if session.graph is not element.graph:
        raise ValueError(f"Cannot use the given session to {what}: the tensor's graph is different from "
                         "the session's graph.")
    return session


def get_default_graph():
    """The graph that calls are noted in."""
    if stack.graphs:
        return stack.graphs[-1]
    if _state["root"] is None:
        _state["root"] = Graph()
    return _state["root"]


def reset_default_graph():
    """Begins with an empty graph."""
    if stack.graphs:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a "
                             "cleared graph, exit the nesting and create a new graph.")
    _state["root"] = None


def get_default_session():
    return stack.sessions[-1] if stack.sessions else None


def disable_eager_execution():
    """From now on calls become operations of the default graph."""
    _core.build_by_default(True)


def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Calls compute at once: the default."""
    root = _state["root"]
    if root is not None and root._operations and not executing_eagerly():
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    _core.build_by_default(False)


def executing_eagerly():
    """Whether calls compute at once."""
    return not _core.is_building() and not _core.is_tracing()


def _build(function, args, kwargs):
    """Every call of the table of ops comes here while a graph is built."""
    from . import _calls
    return _calls.build(function, args, kwargs)


_core.set_builder(_build)
