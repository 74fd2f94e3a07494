"""Sessions: the values of a graph's variables, and runs of parts of the graph."""

import threading

from .. import _core
from . import _config, _graph, _run
from ._graph import Operation


class _Fetched:
    """What was asked for: its leaves, and how results go together again."""

    def __init__(self, graph, fetches):
        self.elements = []
        self.pack = self._take(graph, fetches)

    def _take(self, graph, fetch):
        if fetch is None:
            raise TypeError("Argument `fetch` = None has invalid type \"NoneType\". Cannot be None")
        if isinstance(fetch, (list, tuple)):
            parts = [self._take(graph, item) for item in fetch]
            if hasattr(fetch, "_fields"):
                return lambda values: type(fetch)(*[p(values) for p in parts])
            kind = list if isinstance(fetch, list) else tuple
            return lambda values: kind(p(values) for p in parts)
        if isinstance(fetch, dict):
            parts = {key: self._take(graph, item) for key, item in fetch.items()}
            return lambda values: type(fetch)((key, p(values)) for key, p in parts.items())
        element = self._element(graph, fetch)
        at = len(self.elements)
        self.elements.append(element)
        return lambda values: values[at]

    def _element(self, graph, fetch):
        fetch = getattr(fetch, "_fetched_as", fetch)
        try:
            element = graph.as_graph_element(fetch)
        except TypeError as error:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or "
                            f"Tensor. ({error})") from None
        except ValueError as error:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. "
                             f"({error})") from None
        except KeyError as error:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. "
                             f"({error})") from None
        if not graph.is_fetchable(element):
            raise ValueError(f"Operation '{getattr(element, 'op', element).name}' has been marked as not "
                             "fetchable.")
        return element


class BaseSession:
    """Runs operations of a graph."""

    def __init__(self, target="", graph=None, config=None):
        if target not in ("", b"", None, "local"):
            from ..errors import UnimplementedError
            raise UnimplementedError(None, None, f"sessions run in this process; target={target!r}")
        if graph is not None and not isinstance(graph, _graph.Graph):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got \"{type(graph).__name__}\"")
        if config is not None and not isinstance(config, _config.ConfigProto):
            raise TypeError(f"Argument `config` must be a tf.ConfigProto, but got "
                            f"\"{type(config).__name__}\"")
        self._graph = _graph.get_default_graph() if graph is None else graph
        self._config = config
        self._variables = {}
        self._pending = set()
        self._plans = {}
        self._closed = False
        self._lock = threading.RLock()
        self._entered = []
        self._states = {}
        # No GPU for this session, though the runtime has some.
        self._device = "/device:CPU:0" if config is not None and config.hides_gpus() else None
        if config is not None:
            config.apply()

    @property
    def graph(self):
        return self._graph

    @property
    def graph_def(self):
        return self._graph.as_graph_def()

    @property
    def sess_str(self):
        return ""

    def list_devices(self):
        """Devices that the session runs on."""
        return [d for d in _config.devices() if self._device is None or d.device_type == "CPU"]

    def close(self):
        """Gives back variables and plans."""
        with self._lock:
            self._closed = True
            self._plans.clear()
            self._variables.clear()
            self._states.clear()

    # Variables.

    def _has(self, variable):
        return variable in self._variables and variable not in self._pending

    def _variable(self, variable, to_write=False):
        found = self._variables.get(variable)
        if found is None or (variable in self._pending and not to_write):
            from ..errors import FailedPreconditionError
            raise FailedPreconditionError(
                None, variable.op, "Could not find variable "
                f"{variable.op.name}. This could mean that the variable has been deleted. In TF1, it can "
                "also mean the variable is uninitialized. Run its initializer first, for one with "
                "tf.compat.v1.global_variables_initializer()")
        if to_write:
            self._pending.discard(variable)
        return found

    def _device_of(self, variable):
        """Where the program wants it, else beside all others: counters too, which would stay on the CPU."""
        name = self._device or variable.op.device
        if not name:
            from ..config import list_logical_devices
            name = "/device:GPU:0" if list_logical_devices("GPU") else "/device:CPU:0"
        return _core.device(name)

    def _create(self, variable, value):
        """A variable of the value's shape."""
        had = variable in self._variables
        with self._device_of(variable):
            self._variables[variable] = _core.Variable(value, name=variable.op.name,
                                                       trainable=variable.trainable)
        if had:
            self._plans.clear()  # traces hold the variable that was

    def _restore(self, variable, value):
        """The value of a file, whether there was one before or not."""
        found = self._variables.get(variable)
        if found is not None and tuple(found.shape) == tuple(value.shape):
            found.assign(value)
        else:
            self._create(variable, value)

    def _make_room(self, variables):
        """Memory for variables that are about to get their first values."""
        made = []
        for variable in variables:
            if variable not in self._variables:
                with self._device_of(variable):
                    zeros = _core.op("zeros")(variable._shape.as_list(), variable.dtype)
                    self._variables[variable] = _core.Variable(
                        zeros, name=variable.op.name, trainable=variable.trainable)
                self._pending.add(variable)
                made.append(variable)
        return made

    # Runs.

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """The values of fetches: tensors, operations, names, or a structure of them."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self._graph._operations:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling "
                               "run().")
        _core.push_mode(False)
        try:
            with self._lock:
                return self._run(_Fetched(self._graph, fetches), self._feeds(feed_dict))
        finally:
            _core.pop_mode()

    def memory_plan(self, fetches, feed_dict=None):
        """What such a run would take; nothing runs. For runs that are one traced function."""
        _core.push_mode(False)
        try:
            with self._lock:
                fetched, feeds = _Fetched(self._graph, fetches), self._feeds(feed_dict)
                _, plan = self._plan(fetched, feeds)
                return plan.memory_plan({id(t): value for t, value in feeds})
        finally:
            _core.pop_mode()

    def _plan(self, fetched, feeds):
        key = (tuple(map(id, fetched.elements)), tuple(id(t) for t, _ in feeds))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = _run.Plan(self, fetched.elements, [t for t, _ in feeds])
        return key, plan

    def _run(self, fetched, feeds):
        key, plan = self._plan(fetched, feeds)
        made = self._make_room(plan.assigned)
        try:
            values = plan.run({id(t): value for t, value in feeds})
        except BaseException:
            for variable in made:
                self._variables.pop(variable, None)
                self._pending.discard(variable)
            if made:
                self._plans.pop(key, None)  # traces hold what was made for them
            raise
        for variable in made:
            self._pending.discard(variable)
        rest = iter(values)
        return fetched.pack([None if isinstance(e, Operation) else _to_array(next(rest))
                             for e in fetched.elements])

    def _feeds(self, feed_dict):
        if feed_dict is None:
            return []
        if not hasattr(feed_dict, "items"):
            raise TypeError(f"Argument `feed_dict` must be a dictionary, got {feed_dict!r}")
        found = {}
        for key, value in feed_dict.items():
            for tensor, part in _feed_pairs(key, value):
                found[id(self._feed_tensor(tensor))] = self._feed(tensor, part)
        return [found[k] for k in sorted(found)]

    def _feed_tensor(self, key):
        try:
            return self._graph.as_graph_element(key, allow_operation=False)
        except Exception as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error.args[0]}") from None

    def _feed(self, key, value):
        import numpy
        tensor = self._feed_tensor(key)
        if isinstance(value, _core.Tensor) or hasattr(value, "_is_graph_tensor"):
            raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values "
                            "include Python scalars, strings, lists, numpy ndarrays, or TensorHandles. "
                            f"For reference, the tensor object was {value} which was passed to the "
                            f"argument `feed_dict` with key {key}.")
        wanted = tensor.dtype.as_numpy_dtype
        if isinstance(value, int) and numpy.dtype(wanted).kind in "iu" and int(wanted(value)) != value:
            raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with "
                            f"Tensor type {wanted}. Try explicitly setting the type of the feed tensor to "
                            "a larger type (e.g. int64).")
        array = numpy.asarray(value, dtype=wanted)
        if not tensor._shape.is_compatible_with(array.shape):
            raise ValueError(f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which "
                             f"has shape {tensor._shape}")
        return tensor, array

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function of the values of feed_list."""
        feed_list = list(feed_list or [])

        def call(*values):
            if len(values) != len(feed_list):
                raise ValueError(f"Expected {len(feed_list)} feed values, got {len(values)}")
            return self.run(fetches, dict(zip(feed_list, values)))

        return call

    def partial_run_setup(self, fetches, feeds=None):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, "partial_run is not built: a run is planned as a whole")

    partial_run = partial_run_setup

    def as_default(self):
        """Makes it the session that eval() and run() use."""
        return _AsDefault(self)


class _AsDefault:
    def __init__(self, session):
        self._session = session

    def __enter__(self):
        _graph.stack.sessions.append(self._session)
        return self._session

    def __exit__(self, *error):
        _graph.stack.sessions.remove(self._session)


class Session(BaseSession):
    """A session that `with` makes the default, with its graph, and closes."""

    def __enter__(self):
        as_graph, as_session = self._graph.as_default(), self.as_default()
        as_graph.__enter__()
        as_session.__enter__()
        self._entered.append((as_graph, as_session))
        return self

    def __exit__(self, *error):
        as_graph, as_session = self._entered.pop()
        as_session.__exit__(*error)
        as_graph.__exit__(*error)
        self.close()

    @staticmethod
    def reset(target, containers=None, config=None):
        """Nothing outlives a session here."""


class InteractiveSession(BaseSession):
    """A session that is the default from its making to close()."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._scopes = [self.as_default()]
        if graph is not None:
            self._scopes.append(graph.as_default())
        for scope in self._scopes:
            scope.__enter__()

    def close(self):
        super().close()
        while self._scopes:
            self._scopes.pop().__exit__(None, None, None)


def _feed_pairs(key, value):
    if isinstance(key, (list, tuple)):
        return [pair for k, v in zip(key, value) for pair in _feed_pairs(k, v)]
    return [(key, value)]


def _to_array(value):
    """An array of its own, which may be written to."""
    import numpy
    if isinstance(value, numpy.ndarray):
        return value.copy() if value.ndim else value[()]
    array = numpy.asarray(value)
    return numpy.array(array) if array.ndim else array[()]
