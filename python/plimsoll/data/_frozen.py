"""Functions as they are when a dataset is made of them.

TensorFlow traces a dataset's function when the step is made: names that it reads have the values of that moment, also
if they are bound anew later, as by `for k in (2, 3): d = d.map(lambda x: x * k)`. Here a function is traced, or called,
when elements come. So it is copied with those values; functions of the same module that it calls are copied with it.
"""

import dis
import functools
import types


# What a function's module is called, for imports inside of the function.
_MODULE = frozenset({"__builtins__", "__name__", "__package__", "__spec__", "__path__", "__file__"})


class _Globals(dict):
    """Some names of a module as they are now; the others as they are when they are asked for."""

    def __init__(self, module):
        super().__init__()
        self._module = module

    def __missing__(self, name):
        return self._module[name]


@functools.lru_cache(maxsize=256)
def _names(code):
    """(globals that it reads, whether it binds any, names of outer functions that it binds), with functions in it."""
    reads, binds, outer = set(), False, set()
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            reads.add(instruction.argval)
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            binds = True
        elif instruction.opname in ("STORE_DEREF", "DELETE_DEREF"):
            outer.add(instruction.argval)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            more_reads, more_binds, more_outer = _names(inner)
            reads |= more_reads
            binds |= more_binds
            outer |= more_outer
    return frozenset(reads), binds, frozenset(outer)


def _value(value, module, made):
    is_near = isinstance(value, types.FunctionType) and value.__globals__ is module
    return _copy(value, made) if is_near else value


def _copy(function, made):
    """made: copies by function, for those that call each other."""
    if function in made:
        return made[function]
    module, code = function.__globals__, function.__code__
    reads, binds, outer = _names(code)
    if binds or isinstance(module, _Globals):
        return function
    names = _Globals(module)
    cells = {name: cell if name in outer else types.CellType() for name, cell in zip(code.co_freevars,
                                                                                     function.__closure__ or ())}
    copy = types.FunctionType(code, names, function.__name__, function.__defaults__, tuple(cells.values()) or None)
    made[function] = copy
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    copy.__dict__ = function.__dict__
    for name in reads | _MODULE:
        if name in module:
            names[name] = _value(module[name], module, made)
    for (name, cell), old in zip(cells.items(), function.__closure__ or ()):
        if cell is old:
            continue
        try:
            cell.cell_contents = _value(old.cell_contents, module, made)
        except ValueError:  # not bound yet
            pass
    return copy


def frozen(function):
    """The function with what it reads now. Those that bind names of their module, and other callables, as they are."""
    if isinstance(function, functools.partial) and type(function) is functools.partial:
        return functools.partial(frozen(function.func), *function.args, **function.keywords)
    if not isinstance(function, types.FunctionType):
        return function
    return _copy(function, {})
