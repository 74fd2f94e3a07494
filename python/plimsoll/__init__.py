"""Plimsoll: TensorFlow's names on a runtime in which memory is a contract.

    import plimsoll as tf

    tf.memory.set_budget("2GiB")          # hard, on the CPU too

    @tf.function
    def step(x):
        return tf.reduce_sum(tf.matmul(x, x))

    print(tf.memory.plan(step, tf.TensorSpec([1024, 1024])))   # the peak, before anything runs
"""

import os as _os

from . import _core
from . import dtypes
from .dtypes import (DType, as_dtype, bfloat16, bool, double, float16, float32, float64, half, int8,
                     int16, int32, int64, string, uint16, uint8)
from .tensor_shape import TensorShape
from ._core import GradientTape, Tensor, Variable, device, init_scope

from .version import VERSION as __version__
newaxis = None

_core.watch_call_sites(_os.path.dirname(_os.path.abspath(__file__)))
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_core.after_fork_in_child)

# Submodules, which are imported when they are first used.
_MODULES = frozenset((
    "autograph", "bitwise", "compat", "config", "data", "debugging", "errors", "experimental", "image",
    "io", "keras", "linalg", "math", "memory", "nest", "nn", "ragged", "random", "sparse", "strings", "sysconfig",
    "test", "train", "types", "version"))
# Names, and the modules that have them.
_NAMES = {
    "Graph": "compat._graph", "Operation": "compat._graph",
    "function": "_function", "TensorSpec": "_function", "UnconnectedGradients": "_gradients",
    "IndexedSlices": "_gradients", "gradients": "_gradients", "custom_gradient": "_gradients",
    "grad_pass_through": "_gradients",
    "cond": "_control_flow", "case": "_control_flow", "while_loop": "_control_flow",
    "scan": "_control_flow", "map_fn": "_control_flow", "vectorized_map": "_control_flow",
    "foldl": "_control_flow", "group": "_control_flow", "no_op": "_control_flow",
    "name_scope": "_control_flow", "control_dependencies": "_control_flow",
    "Module": "_module", "print": "_functions", "einsum": "_functions", "meshgrid": "_functions",
    "is_tensor": "_functions", "executing_eagerly": "_functions", "clip_by_norm": "_functions",
    "clip_by_global_norm": "_functions", "get_logger": "_functions", "py_function": "_functions",
    "numpy_function": "_functions", "no_gradient": "_functions", "get_static_value": "_functions",
    "broadcast_static_shape": "_functions", "inside_function": "_functions",
    "broadcast_dynamic_shape": "_functions", "identity_n": "_functions",
    "enable_op_determinism": "_functions", "initializers": "keras", "losses": "keras", "metrics": "keras",
    "optimizers": "keras", "RaggedTensor": "_ragged", "SparseTensor": "_sparse",
}
# What the first version of TensorFlow had at the top, and stands elsewhere now.
_FIRST_VERSION = frozenset((
    "Session", "ConfigProto", "GPUOptions", "InteractiveSession", "placeholder", "get_variable",
    "global_variables_initializer", "variable_scope", "get_default_graph", "reset_default_graph",
    "disable_eager_execution", "enable_eager_execution", "log", "set_random_seed", "random_normal",
    "truncated_normal"))


def __getattr__(name):
    import importlib
    import sys
    if name in _MODULES:
        try:
            found = importlib.import_module("." + name, __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
            raise AttributeError(f"module 'plimsoll' has no attribute '{name}': tf.{name} is not "
                                 "built yet") from None
    elif name in _NAMES:
        found = getattr(importlib.import_module("." + _NAMES[name], __name__), name)
    else:
        found = _core.op(name)
        if found is None:
            raise AttributeError(_missing(name))
    setattr(sys.modules[__name__], name, found)
    return found


def _missing(name):
    if name in _FIRST_VERSION:
        return (f"module 'plimsoll' has no attribute '{name}': it is one of the first version's names. "
                f"tf.compat.v1.{name} is where it stands")
    return f"module 'plimsoll' has no attribute '{name}'"


def __dir__():
    shown = [name for name in globals() if not name.startswith("_")]
    return sorted({*shown, *_MODULES, *_NAMES, *_core.op_names("")} - {"print_list", "meshgrid_of_list"})
