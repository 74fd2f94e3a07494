"""Layers, metrics and variables among the attributes of a layer, also in lists and dictionaries."""

import weakref

from .. import _core


class TrackedList(list):
    """A list whose owner looks at it again when it changes."""

    def __init__(self, values, owner):
        super().__init__(values)
        self._owner = weakref.ref(owner)

    def __reduce__(self):
        return list, (list(self),)


class TrackedDict(dict):
    """A dictionary whose owner looks at it again when it changes."""

    def __init__(self, values, owner):
        super().__init__(values)
        self._owner = weakref.ref(owner)

    def __reduce__(self):
        return dict, (dict(self),)


def _noting(name, base):
    method = getattr(base, name)

    def changed(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        owner = self._owner()
        if owner is not None:
            retrack(owner)
        return result

    changed.__name__ = name
    return changed


for _name in ("append", "extend", "insert", "remove", "pop", "clear", "__setitem__", "__delitem__", "__iadd__"):
    setattr(TrackedList, _name, _noting(_name, list))
for _name in ("__setitem__", "__delitem__", "update", "pop", "popitem", "clear", "setdefault"):
    setattr(TrackedDict, _name, _noting(_name, dict))


def _is_trackable(value):
    from ._layer import Layer
    from ._parts import Metric
    return isinstance(value, (Layer, Metric, _core.KerasVariable))


def _wrapped(owner, value):
    if type(value) is list:
        return TrackedList([_wrapped(owner, item) for item in value], owner)
    if type(value) is dict:
        return TrackedDict({k: _wrapped(owner, item) for k, item in value.items()}, owner)
    return value


def set_attribute(layer, name, value):
    from ._layer import _SETTERS
    setter = _SETTERS.get(name)
    if setter is not None:
        setter(layer, value)
        return
    if isinstance(getattr(type(layer), name, None), property):
        object.__setattr__(layer, name, value)
        return
    is_part = _is_trackable(value)
    if is_part or type(value) in (list, dict, tuple):
        old = layer.__dict__.get(name)
        value = _wrapped(layer, value)
        object.__setattr__(layer, name, value)
        if is_part or _is_trackable(old) or type(value) in (TrackedList, TrackedDict, tuple):
            retrack(layer)
    else:
        old = layer.__dict__.get(name)
        object.__setattr__(layer, name, value)
        if old is not None and _is_trackable(old):
            retrack(layer)


def _walk(value, name, rows, metrics, variables):
    from ._layer import Layer
    from ._parts import Metric
    if isinstance(value, Layer):
        rows.append((name, value))
    elif isinstance(value, Metric):
        metrics.append(value)
    elif isinstance(value, _core.KerasVariable):
        variables.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _walk(item, name.rstrip("/") + "/", rows, metrics, variables)
    elif isinstance(value, dict):
        for item in value.values():
            _walk(item, name.rstrip("/") + "/", rows, metrics, variables)


# What belongs to the layer, and is no part of the model.
_HIDDEN = frozenset(("_init_arguments", "_kept", "_extras", "_weight_parts", "_compiled", "_held",
                     "_regularizer", "_last_data"))


def retrack(layer):
    """Tells C++ anew what a layer of a class in Python consists of."""
    rows, metrics, variables = [], [], []
    for name, value in list(layer.__dict__.items()):
        if name not in _HIDDEN:
            _walk(value, name, rows, metrics, variables)
    if "_c" not in layer.__dict__:
        layer.__dict__["_was_early"] = True
        return
    if not _core.keras_is_python(layer._c):
        return
    seen, unique = set(), []
    for name, part in rows:
        if id(part) not in seen and part is not layer:
            seen.add(id(part))
            unique.append((name, part))
    _core.keras_retrack(layer._c, unique, metrics)
    for variable in variables:
        _core.keras_track_variable(layer._c, variable)
