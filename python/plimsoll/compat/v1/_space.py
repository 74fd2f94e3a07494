"""Name spaces that have some functions of their own and take the others from elsewhere."""

import importlib
import sys


def space(module, *others, missing=()):
    """__getattr__ and __dir__ of a module that shows what others have, and says what is not built."""

    def find(name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in missing:
            from .._not_built import not_built
            return not_built(f"{module.replace('plimsoll', 'tf')}.{name}")
        for other in others:
            found = getattr(importlib.import_module(other), name, None)
            if found is not None:
                setattr(sys.modules[module], name, found)
                return found
        raise AttributeError(f"module '{module}' has no attribute '{name}'")

    def names():
        own = [n for n in vars(sys.modules[module]) if not n.startswith("_")]
        return sorted({*own, *(n for o in others for n in dir(importlib.import_module(o))
                               if not n.startswith("_"))})

    return find, names
