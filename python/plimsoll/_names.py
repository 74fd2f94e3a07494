"""Name spaces whose functions come from the table of ops, when they are first asked for."""

import sys
import types

from . import _core


def _inner(module, space, name):
    """A name space inside another: tf.random.experimental."""
    made = types.ModuleType(f"{module}.{name}")
    for inner in _core.op_names(f"{space}.{name}"):
        setattr(made, inner, _core.op(f"{space}.{name}.{inner}"))
    return made


def namespace(module, space, hidden=()):
    """__getattr__ and __dir__ of a module that shows the ops of `space`."""

    def find(name):
        found = None if name.startswith("__") else _core.op(f"{space}.{name}")
        if found is None and _core.op_names(f"{space}.{name}"):
            found = _inner(module, space, name)
        if found is None:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        setattr(sys.modules[module], name, found)
        return found

    def names():
        own = [n for n in vars(sys.modules[module]) if not n.startswith("_")]
        return sorted({*own, *_core.op_names(space)} - set(hidden))

    return find, names
