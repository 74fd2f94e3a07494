"""python -m plimsoll script.py ...: runs a script in which `tensorflow` and `keras` are Plimsoll."""

import builtins
import importlib.abc
import importlib.util
import os
import runpy
import sys
import types
import zipfile

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


class _Install:
    """Among the data that multiprocessing sends to a process that it starts: installs where it is unpickled."""

    def __reduce__(self):
        return install, ()


def _install_in_children():
    """Processes of multiprocessing that are started anew ("spawn", "forkserver") have the names, too."""
    from multiprocessing import spawn
    inner = spawn.get_preparation_data
    spawn.get_preparation_data = lambda name: {"plimsoll": _Install(), **inner(name)}


def _show_error(kind, error, traceback):
    """sys.excepthook that leaves out what stands above the program."""
    above = (__file__, os.path.join(os.path.dirname(__file__), "__main__.py"), "<frozen runpy>", runpy.__file__)
    while traceback is not None and traceback.tb_frame.f_code.co_filename in above:
        traceback = traceback.tb_next
    sys.__excepthook__(kind, error.with_traceback(traceback), traceback)


def _run_text(text, file, **names):
    """Runs a program as the module __main__, which stays until the end of the process."""
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    vars(module).update(names, __builtins__=builtins)
    exec(compile(text, file, "exec", dont_inherit=True), vars(module))


def _run_file(path):
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] {error.strerror}",
              file=sys.stderr)
        sys.exit(2)
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    path = os.path.abspath(path)
    _run_text(text, path, __file__=path, __cached__=None)


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print("usage: python -m plimsoll (script.py | -m module | -c code | -) [argument...]\n\n"
              "Runs a program in which `tensorflow` and `keras` are Plimsoll.")
        sys.exit(0 if arguments else 2)
    if arguments[0] in ("-m", "-c") and len(arguments) < 2:
        sys.exit(f"python -m plimsoll {arguments[0]}: which {'module' if arguments[0] == '-m' else 'code'}?")
    install()
    _install_in_children()
    sys.excepthook = _show_error
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path[0] = ""
        _run_text(arguments[1], "<string>")
    elif arguments[0] == "-":
        sys.argv = arguments
        sys.path[0] = ""
        _run_text(sys.stdin.read(), "<stdin>")
    else:
        sys.argv = arguments
        _run_file(arguments[0])
