"""variable_scope and get_variable: variables by their full names."""

import contextlib

from .. import _core
from ..dtypes import as_dtype, float32
from ..tensor_shape import as_shape
from . import _graph, _initializers
from ._variable import GraphVariable, Variable


class _ReuseMode:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<_ReuseMode.{self.name}: 1>"


AUTO_REUSE = _ReuseMode("AUTO_REUSE")


class VariableScope:
    """What get_variable takes for granted inside of a scope."""

    def __init__(self, reuse, name="", initializer=None, regularizer=None, caching_device=None,
                 partitioner=None, custom_getter=None, name_scope="", dtype=float32,
                 use_resource=None, constraint=None):
        self.reuse, self.name, self.initializer, self.regularizer = reuse, name, initializer, regularizer
        self.caching_device, self.partitioner, self.custom_getter = (caching_device, partitioner,
                                                                     custom_getter)
        self.original_name_scope, self.dtype = name_scope, dtype
        self.use_resource, self.constraint = use_resource, constraint

    def reuse_variables(self):
        """From now on get_variable gives what is there."""
        self.reuse = True

    def set_initializer(self, initializer):
        self.initializer = initializer

    def set_regularizer(self, regularizer):
        self.regularizer = regularizer

    def set_dtype(self, dtype):
        self.dtype = dtype

    def set_custom_getter(self, custom_getter):
        self.custom_getter = custom_getter

    def set_use_resource(self, use_resource):
        self.use_resource = use_resource

    def set_partitioner(self, partitioner):
        self.partitioner = partitioner

    def set_caching_device(self, caching_device):
        self.caching_device = caching_device

    def get_collection(self, name):
        return _graph.get_default_graph().get_collection(name, self.name + "/" if self.name else None)

    def trainable_variables(self):
        return self.get_collection("trainable_variables")

    def global_variables(self):
        return self.get_collection("variables")

    def local_variables(self):
        return self.get_collection("local_variables")

    def get_variable(self, var_store, name, **kwargs):
        return get_variable(name, **kwargs)


def get_variable_scope():
    """The scope that get_variable is in."""
    graph = _graph.get_default_graph()
    if graph.variable_scope is None:
        graph.variable_scope = VariableScope(False)
    return graph.variable_scope


def _unique(graph, outer, prefix):
    """A name that no scope in this one has yet."""
    name = f"{outer}/{prefix}" if outer else prefix
    if not graph.open_scopes.get(name):
        return prefix
    num = 1
    while graph.open_scopes.get(f"{name}_{num}"):
        num += 1
    return f"{prefix}_{num}"


def _forget_inside(graph, name):
    for key in graph.open_scopes:
        if not name or key.startswith(name + "/"):
            graph.open_scopes[key] = 0


class variable_scope:
    """Names and options for get_variable inside of `with`."""

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None,
                 regularizer=None, caching_device=None, partitioner=None, custom_getter=None,
                 reuse=None, dtype=None, use_resource=None, constraint=None,
                 auxiliary_name_scope=True):
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if reuse not in (None, False, True) and reuse is not AUTO_REUSE:
            raise ValueError("The reuse parameter must be True or False or None.")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        self._name, self._default, self._reuse = name_or_scope, default_name, reuse
        self._options = {"initializer": initializer, "regularizer": regularizer,
                         "caching_device": caching_device, "partitioner": partitioner,
                         "custom_getter": custom_getter, "dtype": dtype,
                         "use_resource": use_resource, "constraint": constraint}
        self._has_names = auxiliary_name_scope
        self._left = []

    def __enter__(self):
        scopes = contextlib.ExitStack()
        made = scopes.enter_context(self._entered())
        self._left.append(scopes)
        return made

    def __exit__(self, *error):
        self._left.pop().__exit__(*error)

    @contextlib.contextmanager
    def _entered(self):
        graph = _graph.get_default_graph()
        outer = get_variable_scope()
        is_object = isinstance(self._name, VariableScope)
        if self._name is None:
            short = _unique(graph, outer.name, self._default)
            if self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
        else:
            short = self._name.name if is_object else self._name
        full = short if is_object or not outer.name else f"{outer.name}/{short}" if short else outer.name
        base = self._name if is_object else outer
        label = full.split("/")[-1] if is_object else short
        names = graph.name_scope(label) if self._has_names and label else contextlib.nullcontext(
            graph.get_name_scope() + "/" if graph.get_name_scope() else "")
        with names as name_scope:
            original = self._name.original_name_scope if is_object else name_scope
            made = VariableScope(self._reuse or base.reuse or outer.reuse, full, base.initializer,
                                 base.regularizer, base.caching_device, base.partitioner,
                                 base.custom_getter, original, base.dtype, base.use_resource,
                                 base.constraint)
            for key, value in self._options.items():
                if value is not None:
                    setattr(made, key, value)
            graph.open_scopes[full] = graph.open_scopes.get(full, 0) + 1
            kept = None
            if not is_object:
                _forget_inside(graph, full)
            else:
                kept = dict(graph.open_scopes)
                _forget_inside(graph, full)
            graph.variable_scope = made
            try:
                yield made
            finally:
                _forget_inside(graph, full)
                if kept is not None:
                    graph.open_scopes.update(kept)
                graph.variable_scope = outer


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None, **kwargs):
    with variable_scope(name_or_scope, default_name, values, **kwargs) as scope:
        yield scope


def _default_initializer(dtype):
    return _initializers.GlorotUniform() if dtype.is_floating else _initializers.Zeros()


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None,
                 collections=None, caching_device=None, partitioner=None, validate_shape=True,
                 use_resource=None, custom_getter=None, constraint=None, synchronization=None,
                 aggregation=None):
    """The variable of this name in the scope: a new one, or the one that is there if it may be reused."""
    scope = get_variable_scope()
    getter = custom_getter or scope.custom_getter
    options = {"shape": shape, "dtype": dtype or scope.dtype, "initializer": initializer,
               "regularizer": regularizer, "trainable": trainable, "collections": collections,
               "validate_shape": validate_shape, "constraint": constraint,
               "has_dtype": dtype is not None}
    full = f"{scope.name}/{name}" if scope.name else name
    if getter is not None:
        options.pop("has_dtype")
        return getter(_plain_getter, full, **options)
    return _get(scope, full, **options)


def _plain_getter(name, *args, **kwargs):
    return _get(get_variable_scope(), name, *args, **kwargs)


def _get(scope, name, shape=None, dtype=float32, initializer=None, regularizer=None, trainable=None,
         collections=None, validate_shape=True, constraint=None, has_dtype=True, **unused):
    graph = _graph.get_default_graph()
    if _core.is_building() and name in graph.variable_store:
        return _reused(scope, graph.variable_store[name], name, shape, dtype, has_dtype)
    if scope.reuse is True and _core.is_building():
        raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable(). Did "
                         "you mean to set reuse=tf.AUTO_REUSE in VarScope?")
    dtype = as_dtype(dtype)
    value, dtype = _initial(name, shape, dtype,
                            scope.initializer if initializer is None else initializer, has_dtype)
    outer = graph.variable_scope
    with graph.name_scope(None), graph.control_dependencies(None):
        graph.variable_scope = outer
        made = Variable(value, trainable=trainable, collections=collections, name=name, dtype=dtype,
                        validate_shape=validate_shape, constraint=constraint or scope.constraint)
    if not isinstance(made, GraphVariable):
        return made
    graph.variable_store[name] = made
    regularizer = regularizer or scope.regularizer
    if regularizer:
        with graph.name_scope(name + "/Regularizer/"):
            loss = regularizer(made)
        if loss is not None:
            graph.add_to_collection("regularization_losses", loss)
    return made


def _reused(scope, found, name, shape, dtype, has_dtype):
    if scope.reuse is False or scope.reuse is None:
        raise ValueError(f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                         "reuse=tf.AUTO_REUSE in VarScope?")
    if shape is not None and not as_shape(shape).is_compatible_with(found._shape):
        raise ValueError(f"Trying to share variable {name}, but specified shape {as_shape(shape)} and found "
                         f"shape {found._shape}.")
    if has_dtype and as_dtype(dtype) is not found.dtype:
        raise ValueError(f"Trying to share variable {name}, but specified dtype {as_dtype(dtype).name} and "
                         f"found dtype {found.dtype.name}.")
    return found


def _initial(name, shape, dtype, initializer, has_dtype):
    """A value or a function that gives it, and its type."""
    if initializer is None:
        initializer = _default_initializer(dtype)
    if isinstance(initializer, type):
        initializer = initializer(dtype=dtype) if issubclass(
            initializer, _initializers.Initializer) else initializer()
    if not callable(initializer) or hasattr(initializer, "_is_graph_tensor"):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer, dtype if has_dtype else getattr(initializer, "dtype", None)
    if shape is None or not as_shape(shape).is_fully_defined():
        if shape is None and not _arguments_of(initializer)[1]:
            return initializer, None  # a function that needs no shape, and says the type
        raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was "
                         f"{as_shape(shape) if shape is not None else '<unknown>'}.")
    dims = as_shape(shape).as_list()

    names, _, takes_all = _arguments_of(initializer)
    options = {"dtype": dtype} if takes_all or "dtype" in names else {}
    if "partition_info" in names:
        options["partition_info"] = None
    return lambda: initializer(dims, **options), dtype


def _arguments_of(function):
    """Names of arguments, of those that have to be given, and whether it takes others too."""
    import inspect
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # not of Python
        return ["shape", "dtype"], ["shape"], False
    plain = [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return ([p.name for p in plain], [p.name for p in plain if p.default is p.empty],
            any(p.kind == p.VAR_KEYWORD for p in found))


def get_local_variable(name, *args, **kwargs):
    """get_variable of what is neither saved nor trained."""
    kwargs["collections"] = ["local_variables"] if not kwargs.get("collections") else [
        *kwargs["collections"], "local_variables"]
    kwargs["trainable"] = False
    return get_variable(name, *args, **kwargs)


def no_regularizer(_):
    return None


class make_template:
    """A function whose variables are made in its first call and shared by all others."""

    def __init__(self, name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None,
                 **kwargs):
        self._name, self._func, self._kwargs = name_, func_, kwargs
        self._unique = unique_name_
        self._scope = None
        self._made = False

    def __call__(self, *args, **kwargs):
        if self._scope is None:
            with variable_scope(self._unique, default_name=self._name) as scope:
                self._scope = scope
        with variable_scope(self._scope, reuse=True if self._made else None):
            made = self._func(*args, **{**self._kwargs, **kwargs})
        self._made = True
        return made
