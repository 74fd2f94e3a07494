"""Variables of a graph: each session holds their values."""

from .. import _core
from .._function import TensorSpec
from ..dtypes import as_dtype
from ..tensor_shape import TensorShape, as_shape
from . import _calls, _graph, _infer
from ._tensor import GraphValue


def _read(run, variable):
    return _core.op("identity")(run.variable(variable))


def _assign(run, variable, value):
    return run.assign(variable, value)


def _assign_add(run, variable, value):
    return run.change(variable, "assign_add", value)


def _assign_sub(run, variable, value):
    return run.change(variable, "assign_sub", value)


def _create(run, variable, value):
    """The first value of a variable whose shape only it knows."""
    run.session._create(variable, value)
    return value


def _is_initialized(run, variable):
    return _core.op("constant")(run.session._has(variable))


def _initialized_value(run, variable, initial_value):
    if run.session._has(variable):
        return _core.op("identity")(run.variable(variable))
    return initial_value


def _scatter(kind):
    def scatter(run, variable, indices, updates):
        from .._gradients import IndexedSlices
        held = run.variable(variable)
        getattr(held, "scatter_" + kind)(IndexedSlices(updates, indices))
        return _core.op("identity")(held)

    return scatter


class GraphVariable(GraphValue):
    """A tensor that can change, by name; sessions hold the values."""

    def __init__(self, initial_value=None, trainable=None, collections=None, validate_shape=True,
                 caching_device=None, name=None, variable_def=None, dtype=None, expected_shape=None,
                 import_scope=None, constraint=None, use_resource=None, synchronization=None,
                 aggregation=None, shape=None):
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        self.graph = graph = _graph.get_default_graph()
        self.trainable = trainable is None or bool(trainable)
        self.constraint = constraint
        self.synchronization, self.aggregation = synchronization, aggregation
        self._save_slice_info = None
        # A default name is made unique, and a given one too.
        with graph.control_dependencies(None), graph.name_scope(name or "Variable") as scope:
            with graph.name_scope("Initializer"):
                value = initial_value() if callable(initial_value) and not hasattr(
                    initial_value, "_is_graph_tensor") else initial_value
                self.initial_value = _calls.convert_to_tensor(value, dtype, name="initial_value")
            self.dtype = self.initial_value.dtype
            self._shape = self.initial_value._shape if shape is None else as_shape(shape)
            if not validate_shape:
                self._shape = TensorShape(None)
            self._stands = _infer.stands_of(self.dtype, self._shape)
            self.op = graph.add(_read, (self,), kind="VariableV2", name=scope, needs_run=True,
                                outputs=self._spec())
            self._is_sized = self._shape.is_fully_defined()
            self.initializer = graph.add(
                _assign if self._is_sized else _create, (self, self.initial_value), kind="Assign",
                name="Assign", outputs=self._spec(), needs_run=True, is_host=not self._is_sized)
        if collections is None:
            collections = ["variables"]
        if self.trainable and "trainable_variables" not in collections:
            collections = [*collections, "trainable_variables"]
        graph.add_to_collections(collections, self)

    @classmethod
    def __plimsoll_call__(cls, function, args, kwargs):
        return _calls.build(function, args, kwargs)

    def _spec(self):
        return TensorSpec(self._shape, self.dtype)

    def _graph_element(self):
        return self.op.outputs[0]

    @property
    def name(self):
        return self.op.name + ":0"

    @property
    def _shared_name(self):
        return self.op.name

    def set_shape(self, shape):
        self._shape = self._shape.merge_with(as_shape(shape))

    def read_value(self):
        """Its value at this place of the graph."""
        with self.graph.name_scope(self.op.name + "/"):
            return self.graph.add(_read, (self,), kind="ReadVariableOp", name="Read",
                                  outputs=self._spec(), needs_run=True).result

    def value(self):
        return self.read_value()

    def initialized_value(self):
        """Its value, or its first one if it has none yet."""
        return self.graph.add(_initialized_value, (self, self.initial_value), kind="Merge",
                              outputs=self._spec(), needs_run=True, is_host=True).result

    def is_initialized(self, name=None):
        return self.graph.add(_is_initialized, (self,), kind="IsVariableInitialized", name=name,
                              outputs=TensorSpec([], "bool"), needs_run=True, is_host=True).result

    def _changed(self, function, value, kind, name):
        value = _calls.convert_to_tensor(value, self.dtype)
        if not value._shape.is_compatible_with(self._shape):
            raise ValueError(f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable "
                             f"shape {self._shape}, and the assigned value shape {value._shape} are "
                             "incompatible.")
        return self.graph.add(function, (self, value), kind=kind, name=name or kind,
                              outputs=self._spec(), needs_run=True,
                              is_host=function is _create).result

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._changed(_assign if self._is_sized else _create, value, "Assign", name)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._changed(_assign_add, delta, "AssignAdd", name)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._changed(_assign_sub, delta, "AssignSub", name)

    def _scattered(self, kind, slices, name):
        indices = _calls.convert_to_tensor(slices.indices)
        updates = _calls.convert_to_tensor(slices.values, self.dtype)
        return self.graph.add(_SCATTERS[kind], (self, indices, updates),
                              kind="Scatter" + kind.capitalize(), name=name, outputs=self._spec(),
                              needs_run=True).result

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        return self._scattered("add", sparse_delta, name)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        return self._scattered("sub", sparse_delta, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        return self._scattered("update", sparse_delta, name)

    def eval(self, session=None):
        """Its value in the session, or in the default one."""
        return self._graph_element().eval(session=session)

    def load(self, value, session=None):
        """Sets its value in the session at once."""
        _graph._session_for(session, self, "eval()").run(self.initializer, {self.initial_value: value})

    def __bool__(self):
        return bool(self._graph_element())

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __repr__(self):
        return f"<tf.Variable '{self.name}' shape={self._shape} dtype={self.dtype.name}>"


_SCATTERS = {kind: _scatter(kind) for kind in ("add", "sub", "update")}


class _Either(type):
    """tf.Variable: of the graph while one is built, else one that has a value."""

    def __call__(cls, *args, **kwargs):
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        if _core.is_building():
            return GraphVariable(*args, **kwargs)
        kwargs.pop("collections", None)
        kwargs.pop("use_resource", None)
        if "expected_shape" in kwargs:
            kwargs["shape"] = kwargs.pop("expected_shape")
        if args[2:] and not isinstance(args[2], bool):
            args = args[:2] + args[3:]  # collections stand third in the first version
        return _core.Variable(*args, **kwargs)

    def __instancecheck__(cls, value):
        return isinstance(value, (_core.Variable, GraphVariable))


class Variable(metaclass=_Either):
    """A tensor that can change."""


class _AnyTensor(type):
    def __instancecheck__(cls, value):
        from ._tensor import Tensor as OfGraph
        return isinstance(value, (_core.Tensor, OfGraph))


class Tensor(metaclass=_AnyTensor):
    """A tensor, with a value or of a graph."""


def device(device_name):
    """What is made inside stands and runs there."""
    if _core.is_building():
        return _graph.get_default_graph().device(device_name)
    return _core.device(device_name)


def install():
    """From now on tf.Variable and tf.Tensor are either kind, and tf.device is for both."""
    import plimsoll
    plimsoll.device = device
    plimsoll.Variable = Variable
    plimsoll.Tensor = Tensor


def _changing(kind):
    def change(ref, value, validate_shape=None, use_locking=None, name=None):
        return getattr(ref, kind)(value, name=name)

    change.__name__ = kind
    return change


assign, assign_add, assign_sub = _changing("assign"), _changing("assign_add"), _changing("assign_sub")


def _scattering(kind):
    def change(ref, indices, updates, use_locking=True, name=None):
        from .._gradients import IndexedSlices
        return getattr(ref, kind)(IndexedSlices(updates, indices))

    change.__name__ = kind
    return change


scatter_add, scatter_sub = _scattering("scatter_add"), _scattering("scatter_sub")
scatter_update = _scattering("scatter_update")


def variables_initializer(var_list, name="init"):
    """An operation that gives variables their first values."""
    if not _core.is_building() and not any(isinstance(v, GraphVariable) for v in var_list):
        return None
    from ._control import group
    return group(*[v.initializer for v in var_list], name=name)


def _of(collection):
    def variables(scope=None):
        return _graph.get_default_graph().get_collection(collection, scope)

    return variables


global_variables, local_variables = _of("variables"), _of("local_variables")
trainable_variables, model_variables = _of("trainable_variables"), _of("model_variables")
moving_average_variables = _of("moving_average_variables")


def global_variables_initializer():
    return variables_initializer(global_variables())


def local_variables_initializer():
    return variables_initializer(local_variables())


def is_variable_initialized(variable):
    return variable.is_initialized()


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """The names of variables that have no value yet."""
    if var_list is None:
        var_list = global_variables() + local_variables()

    def report(run):
        import numpy
        names = [v.op.name.encode() for v in var_list if not run.session._has(v)]
        return _core.op("constant")(numpy.array(names, object) if names else numpy.zeros([0], object),
                                    "string")

    return _graph.get_default_graph().add(report, kind="Report", name=name, is_host=True, needs_run=True,
                                          outputs=TensorSpec([None], as_dtype("string"))).result


def assert_variables_initialized(var_list=None):
    names = report_uninitialized_variables(var_list)
    return names.op
