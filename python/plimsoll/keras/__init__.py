"""Keras's names on Plimsoll. Classes are made from C++'s tables when they are first asked for."""

from .. import _core as _core
from . import _tensor
from ._tensor import Input
from .._core import KerasTensor
from .._core import KerasVariable as _KerasVariable

__version__ = "3.15.1"  # the Keras whose behaviour this follows

_MODULES = frozenset((
    "activations", "applications", "backend", "callbacks", "config", "constraints", "datasets",
    "dtype_policies", "initializers", "layers", "losses", "metrics", "mixed_precision", "models", "ops",
    "optimizers", "preprocessing", "random", "regularizers", "saving", "utils"))
_NAMES = {
    "Model": "_model", "Sequential": "_model", "Functional": "_model", "Layer": "_layer",
    "InputSpec": "_layer", "Loss": "_parts", "Metric": "_parts", "Initializer": "_parts",
    "Regularizer": "_parts", "Optimizer": "_optimizer", "DTypePolicy": "mixed_precision",
    "Variable": "_variable", "name_scope": "utils", "device": "utils", "version": "utils",
}

_core.keras_print_in_python()


def __getattr__(name):
    import importlib
    import sys
    if name in _MODULES:
        found = importlib.import_module("." + name, __name__)
    elif name in _NAMES:
        found = getattr(importlib.import_module("." + _NAMES[name], __name__), name)
    else:
        raise AttributeError(f"module 'plimsoll.keras' has no attribute '{name}'")
    setattr(sys.modules[__name__], name, found)
    return found


def __dir__():
    return sorted({*_MODULES, *_NAMES, "Input", "KerasTensor"})
