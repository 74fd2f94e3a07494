"""Switches, collections and submodules of tf.compat.v1; everything else is the package's."""

from ... import _core
from .. import _graph, _shape

__all__ = [
    "GraphKeys", "add_to_collection", "add_to_collections", "get_collection", "get_collection_ref",
    "set_random_seed", "get_seed", "disable_v2_behavior", "enable_v2_behavior",
    "enable_resource_variables", "disable_resource_variables", "resource_variables_enabled",
    "disable_tensor_equality", "enable_tensor_equality", "disable_control_flow_v2",
    "enable_control_flow_v2", "executing_eagerly_outside_functions", "initialize_all_variables",
    "all_variables", "initialize_local_variables", "initialize_variables", "container",
    "control_flow_v2_enabled", "op_scope", "convert_to_tensor_or_sparse_tensor", "name_scope",
    "control_dependencies", "is_dense_tensor_like",
]

_MODULES = frozenset((
    "app", "data", "debugging", "estimator", "flags", "gfile", "image", "initializers", "linalg",
    "keras", "layers", "logging", "losses", "math", "metrics", "nn", "python_io", "random", "saved_model", "summary",
    "test", "train"))


class GraphKeys:
    """Names of collections."""

    GLOBAL_VARIABLES = "variables"
    VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"


def add_to_collection(name, value):
    _graph.get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    _graph.get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    return _graph.get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    return _graph.get_default_graph().get_collection_ref(key)


def set_random_seed(seed):
    """Random operations of the default graph draw the same numbers in every process."""
    if executing_eagerly_outside_functions():
        _core.op("random.set_seed")(seed)
    else:
        _graph.get_default_graph().seed = seed


def get_seed(op_seed):
    seed = _graph.get_default_graph().seed
    if seed is None and op_seed is None:
        return None, None
    return (87654321 if seed is None else seed), (
        len(_graph.get_default_graph()._operations) if op_seed is None else op_seed)


def disable_v2_behavior():
    """Graphs, and shapes of Dimensions."""
    _graph.disable_eager_execution()
    _shape.disable_v2_tensorshape()


def enable_v2_behavior():
    _graph.enable_eager_execution()
    _shape.enable_v2_tensorshape()


def enable_resource_variables():
    """Variables are read where the program reads them, in either case."""


def disable_resource_variables():
    """Variables are read where the program reads them, in either case."""


def resource_variables_enabled():
    return True


def disable_tensor_equality():
    """== compares tensors of a graph by identity already."""


def enable_tensor_equality():
    """== compares tensors of a graph by identity; tf.equal their values."""


def disable_control_flow_v2():
    """There is one kind of control flow."""


enable_control_flow_v2 = disable_control_flow_v2


def control_flow_v2_enabled():
    return True


def executing_eagerly_outside_functions():
    return not _core.is_building()


class name_scope:
    """Names of what is made inside begin with it."""

    def __init__(self, name, default_name=None, values=None):
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` for name_scope must be a string. Received: {name}")
        self._name = default_name if name is None else name
        self._scopes = []

    @property
    def name(self):
        return self._name

    def __enter__(self):
        if _core.is_building():
            scope = _graph.get_default_graph().name_scope(self._name)
        else:
            from ..._control_flow import name_scope as eager
            scope = eager(self._name or "")
        self._scopes.append(scope)
        return scope.__enter__()

    def __exit__(self, *error):
        return self._scopes.pop().__exit__(*error)


def op_scope(values, name, default_name=None):
    return name_scope(name, default_name, values)


def control_dependencies(control_inputs):
    if _core.is_building():
        return _graph.get_default_graph().control_dependencies(control_inputs)
    from ..._control_flow import control_dependencies as eager
    return eager(control_inputs)


def container(name):
    import contextlib
    return contextlib.nullcontext()


def initialize_all_variables():
    from .._variable import global_variables_initializer
    return global_variables_initializer()


def initialize_local_variables():
    from .._variable import local_variables_initializer
    return local_variables_initializer()


def initialize_variables(var_list, name="init"):
    from .._variable import variables_initializer
    return variables_initializer(var_list, name)


def all_variables():
    from .._variable import global_variables
    return global_variables()


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    return _core.op("convert_to_tensor")(value, dtype)


def is_dense_tensor_like(value):
    from ..._functions import is_tensor
    return is_tensor(value)


def __getattr__(name):
    import importlib
    import plimsoll
    if name in _MODULES:
        try:
            return importlib.import_module("plimsoll.compat.v1." + name)
        except ModuleNotFoundError as error:
            if error.name != "plimsoll.compat.v1." + name:
                raise
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return getattr(plimsoll, name)
    except AttributeError:
        from . import _other_names
        return _other_names.find(name)


def __dir__():
    import plimsoll
    from plimsoll.compat import v1
    return sorted({*(n for n in vars(v1) if not n.startswith("_")), *_MODULES, *dir(plimsoll)})
