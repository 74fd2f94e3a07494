"""Keras's own classes, made from the tables that C++ has: names, arguments, defaults."""

import inspect

from .. import _core
from . import _base
from ._order import LAYER_OPTIONS, ORDER, natural, required

_made = {}  # by kind and name

# Keywords of Keras that mean nothing here, unless they are given a value that asks for something.
_IGNORED = {"use_cudnn": ("auto", None, True, False), "lora_rank": (None,), "lora_alpha": (None,),
            "gptq_unpacked_column_size": (None,), "dtype": (None, "float32")}


def names(kind):
    """The classes of a kind: "layers", "optimizers", "losses", ..."""
    return _core.callback_names() if kind == "callbacks" else _core.keras_names(kind)


def base_of(kind):
    if kind == "layers":
        from ._layer import Layer
        return Layer
    if kind == "callbacks":
        from ._callback import Callback
        return Callback
    if kind in ("losses", "metrics"):
        from . import _parts
        return _parts.Loss if kind == "losses" else _parts.Metric
    if kind in ("optimizers", "schedules"):
        from . import _optimizer
        return _optimizer.Optimizer if kind == "optimizers" else _optimizer.LearningRateSchedule
    from . import _parts
    return {"initializers": _parts.Initializer, "regularizers": _parts.Regularizer,
            "constraints": _parts.Constraint}[kind]


def get(kind, name):
    """The class of a name, or None."""
    found = _made.get((kind, name))
    if found is None and name in names(kind):
        if kind == "layers" and name in ("Functional", "Model", "Sequential"):
            from . import _model
            return getattr(_model, name)
        if kind == "layers" and name == "Lambda":
            from ._lambda import Lambda
            return Lambda
        found = _made[kind, name] = _make(kind, name)
    return found


def class_of(handle):
    """The class that stands for a C++ object."""
    module = handle.module
    for kind in ("schedules", "optimizers", "losses", "metrics", "initializers", "regularizers", "constraints"):
        if module.endswith(kind):
            return get(kind, handle.class_name) or _foreign(kind)
    if module.startswith("keras.src.ops"):
        return _foreign("layers")
    return get("layers", handle.class_name) or _foreign("layers")


def _foreign(kind):
    """A class for C++ objects that are in no table: ops in models, parts that C++ makes for itself."""
    found = _made.get((kind, None))
    if found is None:
        base = base_of(kind)
        found = type(base)(f"Core{base.__name__}", (base,), {"_is_own": True, "_class_name": None, "_names": ()})
        found._made_class = _made[kind, None] = found
    return found


def _shown(default):
    """A default as a signature shows it: names instead of configurations."""
    if isinstance(default, dict) and "class_name" in default:
        return _snake(default["class_name"]) if default["class_name"] != "DTypePolicy" else None
    return None if default == "" else default


def _snake(name):
    import re
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()


def _parameters(kind, name):
    """(parameters of the signature, in order)."""
    defaults = (_core.callback_defaults(name) if kind == "callbacks"
                else _core.keras_defaults(kind, name))
    options = LAYER_OPTIONS if kind == "layers" else ()
    order = ORDER.get(kind, {}).get(name, "").split()
    order += [n for n in natural(kind, list(defaults)) if n not in order]
    needed = required(kind, name)
    made = []
    for n in order:
        default = inspect.Parameter.empty if n in needed else _shown(defaults.get(n))
        made.append(inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    seen_default = False
    for i, parameter in enumerate(made):  # Python wants what is required first
        if parameter.default is not inspect.Parameter.empty:
            seen_default = True
        elif seen_default:
            made[i] = parameter.replace(default=None)
    for n in options:
        if n not in order:
            default = True if n in ("trainable", "autocast") else None
            made.append(inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=default))
    return made


def _make(kind, name):
    base = base_of(kind)
    parameters = _parameters(kind, name)
    body = {
        "__module__": f"plimsoll.keras.{'optimizers.schedules' if kind == 'schedules' else kind}",
        "__qualname__": name,
        "__doc__": f"Keras's {name}: {name}({', '.join(map(str, parameters))})",
        "__signature__": inspect.Signature(parameters),
        "_kind": kind,
        "_class_name": name,
        "_names": tuple(p.name for p in parameters),
        "_is_own": True,
    }
    made = type(base)(name, (base,), body)
    made._made_class = made
    return made


def read_arguments(cls, args, kwargs):
    """(configuration, objects in it) of a call of a class from the tables."""
    signature = cls._made_class.__signature__
    for name in [n for n in kwargs if n in _IGNORED and n not in signature.parameters]:
        value = kwargs.pop(name)
        if _base.dtype_name(value) not in _IGNORED[name] if name == "dtype" else value not in _IGNORED[name]:
            from ..errors import UnimplementedError
            raise UnimplementedError(None, None, f"{cls.__name__}: {name}={value!r} is not built")
    if cls._kind == "layers" and cls._made_class._class_name == "InputLayer":
        kwargs = _input_arguments(args, kwargs)
        args = ()
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        unknown = {n: v for n, v in kwargs.items() if n not in signature.parameters}
        if unknown and cls._kind in ("layers", "optimizers"):
            raise ValueError(f"Unrecognized keyword arguments passed to {cls.__name__}: {unknown}") from None
        raise TypeError(f"{cls.__name__}.__init__(): {error}") from None
    kept, config = [], {}
    for name, value in given.items():
        config[name] = _base.encode(value, name, kept)
    if config.get("name", 0) is None:
        del config["name"]
    if cls._kind == "layers":
        config.pop("autocast", None)
        for name in ("dtype", "activity_regularizer"):
            if config.get(name, 0) is None:
                config.pop(name, None)
    return config, kept


def _input_arguments(args, kwargs):
    """InputLayer(shape, batch_size, ...) as its configuration has it."""
    given = {**dict(zip(("shape", "batch_size", "dtype"), args)), **kwargs}
    shape = given.pop("shape", given.pop("input_shape", None))
    size = given.pop("batch_size", None)
    if given.get("batch_shape") is None:
        if shape is None:
            raise ValueError("You must pass a `shape` argument.")
        given["batch_shape"] = (size, *((shape,) if isinstance(shape, int) else shape))
    if given.get("dtype", 0) is None:
        del given["dtype"]
    return given


def module(module_name, kind, more=None, aliases=None):
    """__getattr__ and __dir__ of a module that shows the classes of a kind."""
    import sys
    aliases = aliases or {}

    def find(name):
        found = None if name.startswith("__") else get(kind, aliases.get(name, name))
        if found is None and more is not None and not name.startswith("__"):
            found = more(name)
        if found is None:
            raise AttributeError(f"module '{module_name}' has no attribute '{name}'")
        setattr(sys.modules[module_name], name, found)
        return found

    def listed():
        own = [n for n in vars(sys.modules[module_name]) if not n.startswith("_")]
        return sorted({*own, *names(kind), *aliases})

    return find, listed
