"""python -m plimsoll script.py ...: runs a script in which `tensorflow` and `keras` are Plimsoll."""

import importlib.abc
import importlib.util
import sys

_ALIASES = {"tensorflow": "plimsoll", "keras": "plimsoll.keras"}


class _Loader(importlib.abc.Loader):
    def __init__(self, target):
        self._target = target

    def create_module(self, spec):
        module = importlib.import_module(self._target)
        self._spec = module.__spec__  # which the import machinery is about to replace
        return module

    def exec_module(self, module):
        module.__spec__ = self._spec


class AliasFinder(importlib.abc.MetaPathFinder):
    """Resolves tensorflow.x.y to plimsoll.x.y, as the same module."""

    def find_spec(self, fullname, path=None, target=None):
        head, dot, rest = fullname.partition(".")
        if head not in _ALIASES:
            return None
        # Where TensorFlow keeps things that programs import by their inner names.
        if head == "tensorflow" and rest.startswith("python."):
            rest = rest[len("python."):]
        name = _ALIASES[head] + dot + rest
        try:
            if importlib.util.find_spec(name) is None:
                return None
        except ModuleNotFoundError:
            return None
        return importlib.util.spec_from_loader(fullname, _Loader(name), is_package=True)


def install():
    """From now on `import tensorflow` and `import keras` give Plimsoll."""
    for name in [n for n in sys.modules if n.partition(".")[0] in _ALIASES]:
        raise RuntimeError(f"'{name}' was imported before it could be replaced by Plimsoll")
    if not any(isinstance(f, AliasFinder) for f in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())


def main():
    import os
    import runpy
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: python -m plimsoll (script.py | -m module) [argument...]\n\n"
              "Runs a program in which `tensorflow` and `keras` are Plimsoll.")
        sys.exit(0 if arguments else 2)
    install()
    if arguments[0] == "-m":
        if len(arguments) < 2:
            sys.exit("python -m plimsoll -m: which module?")
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")
