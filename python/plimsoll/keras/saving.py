"""keras.saving: model files, and classes of one's own by name."""

from .. import _core
from . import _base
from ._base import note_made, wrap

_registered = {}  # by "package>name", and by name while a scope is open


def _maker(thing):
    """How C++ gets an object of a class or a function of one's own."""
    if isinstance(thing, type):
        def make(config):
            return _base.as_cell(note_made(thing.from_config(config)))
    else:
        def make(config):
            from ._functions import object_of
            return note_made(object_of(thing, _core.keras_wanted_kind()))
    return make


def register_keras_serializable(package="Custom", name=None):
    """A decorator that makes a class or a function known by name to everything that reads files."""

    def decorate(thing):
        known = name if name is not None else thing.__name__
        full = f"{package}>{known}"
        if isinstance(thing, type) and not hasattr(thing, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        if full in _registered:  # a cell that is run again: the last one counts
            _registered[full] = thing
        else:
            _registered[full] = thing
            _core.keras_register(package, known, lambda config: _maker(_registered[full])(config))
        thing._registered_name = full
        return thing

    return decorate


class CustomObjectScope:
    """Names of classes and functions that are known while it is entered."""

    def __init__(self, custom_objects):
        self._objects = dict(custom_objects or {})
        self._outer = None
        self._scope = _core.KerasScope({name: _maker(thing) for name, thing in self._objects.items()})

    def __enter__(self):
        self._outer = dict(_registered)
        _registered.update(self._objects)
        self._scope.enter()
        return self

    def __exit__(self, *error):
        self._scope.exit()
        for name in self._objects:
            _registered.pop(name, None)
            if name in self._outer:
                _registered[name] = self._outer[name]


custom_object_scope = CustomObjectScope


def get_custom_objects():
    return _registered


def custom_object(name):
    """The class or function of a name, or None."""
    found = _registered.get(name)
    if found is None:
        for full, thing in _registered.items():
            if full.rpartition(">")[2] == name:
                return thing
    return found


def get_registered_name(thing):
    return getattr(thing, "_registered_name", None) or thing.__name__


def get_registered_object(name, custom_objects=None, module_objects=None):
    for known in (custom_objects or {}, _registered, module_objects or {}):
        if name in known:
            return known[name]
    return custom_object(name)


def serialize_keras_object(thing):
    """What files have of an object."""
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, (list, tuple)):
        return [serialize_keras_object(item) for item in thing]
    if isinstance(thing, dict):
        return {key: serialize_keras_object(item) for key, item in thing.items()}
    if isinstance(thing, _base.Base):
        return _base.serialize(thing)
    if callable(thing):
        return _base.serialize_function(thing)
    return _base.plain(thing)


def deserialize_keras_object(config, custom_objects=None, safe_mode=True, **kwargs):
    """The object of what files have."""
    if custom_objects:
        with CustomObjectScope(custom_objects):
            return deserialize_keras_object(config)
    if isinstance(config, list):
        return [deserialize_keras_object(item) for item in config]
    if not isinstance(config, (dict, str)):
        return config
    if isinstance(config, dict) and "class_name" not in config:
        return {key: deserialize_keras_object(item) for key, item in config.items()}
    name = config if isinstance(config, str) else config.get("registered_name") or config["class_name"]
    found = custom_object(name) or (custom_object(config["class_name"]) if isinstance(config, dict) else None)
    if isinstance(config, dict) and config["class_name"] == "function":
        from . import activations
        return custom_object(config["config"]) or activations.get(config["config"])
    if found is not None:
        return found.from_config(config["config"]) if isinstance(found, type) else found
    if isinstance(config, str):
        return config
    return _make(config)


def _make(config):
    module = config.get("module") or ""
    kinds = ("layers", "optimizers", "losses", "metrics", "initializers", "regularizers", "constraints")
    if "schedules" in module:
        kinds = ("schedules",)
    wanted = [kind for kind in kinds if kind in module] or kinds
    from . import _classes
    for kind in wanted:
        if config["class_name"] in _classes.names(kind):
            with _base.collecting() as kept:
                made = wrap(_core.keras_get(kind, _base.plain(config)))
            made.__dict__.setdefault("_kept", []).extend(kept)
            return made
    raise TypeError(f"Could not locate class '{config['class_name']}'. Make sure custom classes are decorated with "
                    f"`@keras.saving.register_keras_serializable()`. Full object config: {config}")


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True, without_weights=False):
    """The model of a .keras or .h5 file. without_weights: shapes alone, to be shown and planned."""
    filepath = str(filepath)
    with CustomObjectScope(custom_objects or {}), _base.collecting() as kept, _base.reading(filepath):
        model = wrap(_core.keras_load_model(filepath, bool(compile), bool(without_weights)))
    if "_kept" not in model.__dict__ or model._kept is None:
        object.__setattr__(model, "_kept", [])
    model._kept.extend(part for part in kept if part is not model)
    return model


def save_model(model, filepath, overwrite=True, zipped=None, include_optimizer=True, **kwargs):
    """Writes .keras, or .h5 in the form of older Keras, by the ending of the path."""
    _core.model_save(model._c, str(filepath), bool(overwrite), bool(include_optimizer))


def save_weights(model, filepath, overwrite=True, **kwargs):
    model.save_weights(filepath, overwrite=overwrite)


def load_weights(model, filepath, skip_mismatch=False, **kwargs):
    model.load_weights(filepath, skip_mismatch=skip_mismatch, **kwargs)
