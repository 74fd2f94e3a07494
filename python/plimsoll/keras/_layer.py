"""Layers: those of Keras, and the class that one's own derive from."""

import inspect

from .. import _core
from . import _base, _tracking
from ._base import Base, dtype_name, wrap

_HOOKS = ("build", "call", "compute_mask", "compute_output_shape", "get_config")


class CallInfo:
    """What the `call` of a class in Python takes."""

    def __init__(self, function):
        parameters = [p for p in inspect.signature(function).parameters.values()][1:]
        self.names = [p.name for p in parameters
                      if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        all_names = [p.name for p in parameters]
        self.takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.takes_training = "training" in all_names
        self.takes_mask = "mask" in all_names
        self.first = self.names[0] if self.names else None
        self.more = [n for n in self.names[1:] if n not in ("training", "mask")]
        self.is_starred = any(p.kind is p.VAR_POSITIONAL for p in parameters)


_ENDS = {"input": _core.layer_input, "output": _core.layer_output, "input_shape": _core.layer_input,
         "output_shape": _core.layer_output}


def _end(layer, of):
    """The input or the output of the one call of a layer. throws: AttributeError, as hasattr expects."""
    try:
        return of(layer._c)
    except _base.KerasStateError as error:
        raise AttributeError(str(error)) from None


class LayerMeta(type):
    """Makes a layer, then lets it track what its attributes are."""

    def __call__(cls, *args, **kwargs):
        made = cls.__new__(cls, *args, **kwargs)
        if isinstance(made, cls):
            if not getattr(type(made), "_is_own", False):
                object.__setattr__(made, "_init_arguments", (args, kwargs))
            type(made).__init__(made, *args, **kwargs)
            made._settle()
        return made


class Layer(Base, metaclass=LayerMeta):
    """What models are made of. One's own has `call`, and `build` if it has weights."""

    _kind = "layers"
    _is_own = False
    _made_class = None  # the class from the table that one's own derives from
    _core_kind = "layer"

    def __init__(self, *args, **kwargs):
        if self._made_class is not None:
            self._init_own(args, kwargs)
            return
        if args:
            raise TypeError(f"Layer.__init__() takes 1 positional argument but {len(args) + 1} were given")
        self._init_python(**kwargs)

    def _init_own(self, args, kwargs):
        """A class of the tables, or one in Python that derives from it."""
        cls = self._made_class
        old = {name: kwargs.pop(name) for name in _OLD if name in kwargs and name not in cls._names}
        shape = old.get("input_shape", old.get("input_dim"))
        first = old.get("batch_input_shape")
        if shape is not None:
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
            first = (old.get("batch_size"), *shape)
        if type(self) is not cls and _base.overridden(type(self), cls, _HOOKS):
            inner = cls(*args, **kwargs)
            self._init_python(name=kwargs.get("name"), trainable=inner.trainable, dtype=inner.dtype_policy)
            self._inner = inner
        else:
            from ._classes import read_arguments
            config, kept = read_arguments(cls, args, kwargs)
            object.__setattr__(self, "_kept", kept)
            self._adopt(_core.keras_make("layers", cls._class_name, config))
        object.__setattr__(self, "_first_shape", tuple(first) if first is not None else None)
        if old.get("weights") is not None:
            object.__setattr__(self, "_first_weights", old["weights"])

    def _init_python(self, activity_regularizer=None, trainable=True, dtype=None, autocast=True, name=None,
                     **kwargs):
        shape = kwargs.pop("input_shape", None)
        object.__setattr__(self, "_first_shape", (None, *shape) if shape is not None else None)
        for old in _OLD:
            kwargs.pop(old, None)
        inputs, outputs = kwargs.pop("_inputs", None), kwargs.pop("_outputs", None)
        kind = kwargs.pop("_core_kind", self._core_kind)
        if kwargs:
            raise ValueError(f"Unrecognized keyword arguments passed to {type(self).__name__}: {kwargs}")
        if activity_regularizer is not None:
            from .regularizers import get as get_regularizer
            activity_regularizer = get_regularizer(activity_regularizer)
        object.__setattr__(self, "_regularizer", activity_regularizer)
        options = (name, bool(trainable), dtype_name(dtype), activity_regularizer)
        self._adopt(_core.keras_py_layer(kind, self, self._described(), self._overrides(kind), options,
                                         inputs, outputs))
        if not autocast:
            _core.keras_set_flag(self._c, "autocast", False)
        if self.__dict__.pop("_was_early", False):  # attributes came before this call
            self._retrack()

    def _described(self):
        return _base.described(type(self))

    def _overrides(self, kind):
        found = _base.overridden(type(self), Layer, _HOOKS)
        if kind in ("layer", "model"):
            found.add("get_config")
            found.add("call")
        return found

    def _settle(self):
        """After __init__: a class that has forgotten to call the one above."""
        if not hasattr(self, "_c"):
            raise RuntimeError(
                f"In layer {type(self).__name__}, you forgot to call `super().__init__()` as the first "
                "statement in the `__init__()` method. Go add it!")

    def _adopted(self):
        """A new Python object for a C++ layer that was made elsewhere."""
        object.__setattr__(self, "_kept", [])
        object.__setattr__(self, "_first_shape", None)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "call" in cls.__dict__:
            cls._call_info = CallInfo(cls.__dict__["call"])
        if "build" in cls.__dict__ and not cls.__dict__.get("_is_own"):
            cls.build = _guarded_build(cls.__dict__["build"])
        cls._is_own = cls.__dict__.get("_is_own", False)

    # What C++ calls.

    def _from_core_build(self, shapes):
        self.__dict__["_in_build"] = True
        try:
            self.build(shapes)
        finally:
            del self.__dict__["_in_build"]

    def _from_core_call(self, inputs, named, options, training, mask):
        info = self._call_info
        kwargs = {**named, **(options or {}), **self.__dict__.get("_extras", {})}
        kwargs = {k: v for k, v in kwargs.items() if info.takes_any or k in info.names or k in kwargs}
        if training is not None and info.takes_training and "training" not in kwargs:
            kwargs["training"] = training
        if mask is not None and info.takes_mask:
            kwargs["mask"] = mask
        if self.__dict__.get("_starred"):
            return self.call(*inputs, **kwargs)
        return self.call(inputs, **kwargs)

    def _call_argument_names(self):
        return self._call_info.more

    # What users call.

    def __call__(self, *args, **kwargs):
        inputs, training, mask, named, options = self._read_call(args, kwargs)
        extras = {}
        if not self._is_own:
            for name in list(options):
                try:
                    options[name] = _base.plain(options[name])
                except TypeError:
                    extras[name] = options.pop(name)
            if extras:
                self.__dict__["_extras"] = extras
        try:
            result = _core.layer_call(self._c, inputs, training, mask, named, options)
        finally:
            if extras:
                del self.__dict__["_extras"]
        if self.__dict__.get("_first_weights") is not None:
            self.set_weights(self.__dict__.pop("_first_weights"))
        _note_call(self, result, inputs, named)
        return result

    def _read_call(self, args, kwargs):
        training, mask = kwargs.pop("training", None), kwargs.pop("mask", None)
        info = None if self._is_own else getattr(self, "_call_info", None)
        args = list(args)
        if not args:
            first = info.first if info else next(iter(kwargs), None)
            if first not in kwargs:
                raise ValueError(f"layer '{self.name}' was called without inputs")
            args.append(kwargs.pop(first))
        if info and info.is_starred and len(args) > 1:
            self.__dict__["_starred"] = True
            inputs, rest = args, []
        else:
            inputs, rest = args[0], args[1:]
        names = info.names[1:] if info else _core.layer_argument_names(self._c)
        named, options = {}, {}
        for i, value in enumerate(rest):
            name = names[i] if i < len(names) else ("training" if info is None else None)
            if name is None:
                raise TypeError(f"layer '{self.name}' takes {len(names) + 1} arguments, got {len(args)}")
            if name == "training":
                training = value
            elif name == "mask":
                mask = value
            else:
                kwargs[name] = value
        for name, value in kwargs.items():
            if _base.is_tensor_like(value):
                named[name] = value
            elif value is not None:
                options[name] = value
        if training is not None and not isinstance(training, bool):
            training = bool(training)
        return inputs, training, mask, named, options

    def call(self, *args, **kwargs):
        if self._made_class is None:
            raise NotImplementedError(
                f"Layer {type(self).__name__} does not have a `call()` method implemented.")
        inner = self.__dict__.get("_inner", self)
        return Layer.__call__(inner, *args, **kwargs)

    def build(self, input_shape=None, *more):
        if "_inner" in self.__dict__:
            self._inner.build(input_shape)
        elif self.__dict__.get("_in_build"):
            pass
        elif input_shape is not None:
            _core.layer_build(self._c, input_shape)

    def compute_mask(self, inputs, previous_mask=None):
        if self._is_own:
            return _core.layer_compute_mask(self._c, inputs, previous_mask)
        return previous_mask if self.supports_masking else None

    def compute_output_shape(self, *args, **kwargs):
        shape = args[0] if args else next(iter(kwargs.values()))
        return _core.layer_output_shape(self._c, shape)

    def compute_output_spec(self, inputs):
        from ._tensor import Spec
        shapes = self.compute_output_shape(inputs.shape)
        return Spec(shapes, self.compute_dtype)

    def add_weight(self, shape=None, initializer=None, dtype=None, trainable=True, autocast=True,
                   regularizer=None, constraint=None, aggregation=None, overwrite_with_gradient=False,
                   name=None):
        from . import constraints, initializers, regularizers
        if isinstance(shape, str):  # add_weight(name, shape) of older versions
            name, shape, initializer = shape, initializer, None
        if not hasattr(self, "_c"):
            raise RuntimeError("call super().__init__() before add_weight")
        if self._is_own:
            raise TypeError(f"a {type(self).__name__} has its weights; derive a class for more")
        regularizer = regularizers.get(regularizer)
        constraint = constraints.get(constraint)
        initializer = initializers.get(initializer)
        made = _core.layer_add_weight(self._c, () if shape is None else shape, name or "", dtype_name(dtype),
                                      bool(trainable), bool(autocast), initializer, regularizer, constraint)
        self.__dict__.setdefault("_weight_parts", []).append((initializer, regularizer, constraint))
        return made

    def add_loss(self, loss):
        for one in loss if isinstance(loss, (list, tuple)) else [loss]:
            _core.layer_add_loss(self._c, one)

    def get_weights(self):
        return _core.layer_get_weights(self._c)

    def set_weights(self, weights):
        _core.layer_set_weights(self._c, weights)

    def count_params(self):
        return _core.layer_count_params(self._c)

    def get_config(self):
        if self._is_own:
            return self._c.get_config()
        if "_inner" in self.__dict__:
            return {**self._inner.get_config(), "name": self.name}
        policy = _core.layer_dtypes(self._c)[0]
        config = {"name": self.name, "trainable": self.trainable,
                  "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": policy},
                            "registered_name": None}}
        if self.__dict__.get("_regularizer") is not None:
            config["activity_regularizer"] = _base.serialize(self._regularizer)
        if type(self).get_config is Layer.get_config:
            config.update(self._automatic_config())
        return config

    def _automatic_config(self):
        args, kwargs = self.__dict__.get("_init_arguments", ((), {}))
        names = list(inspect.signature(type(self).__init__).parameters)[1:]
        given = {**dict(zip(names, args)), **kwargs}
        given.pop("name", None), given.pop("dtype", None), given.pop("trainable", None)
        try:
            return {name: _base.plain(value) for name, value in given.items()}
        except TypeError:
            raise NotImplementedError(
                f"Object {type(self).__name__} was created by passing non-serializable argument values in "
                "`__init__()`, and therefore the object must override `get_config()` in order to be "
                "serializable. Please implement `get_config()`.") from None

    @classmethod
    def from_config(cls, config):
        if not cls._is_own:
            return cls(**config)
        made = cls.__new__(cls)
        with _base.collecting() as kept:
            made._adopt(_core.keras_make("layers", cls._class_name, _base.plain(config)))
        made._adopted()
        made._kept.extend(kept)
        return made

    # Attributes.

    def __setattr__(self, name, value):
        _tracking.set_attribute(self, name, value)

    def __delattr__(self, name):
        object.__delattr__(self, name)
        self._retrack()

    def _retrack(self):
        _tracking.retrack(self)

    def __getattr__(self, name):
        """Weights, parts and arguments of Keras's own layers, by their names."""
        if name in _ENDS and hasattr(type(self), name) and "_c" in self.__dict__:
            _end(self, _ENDS[name])  # raises why the property has
        if name.startswith("_") or "_c" not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if "_inner" in self.__dict__:
            return getattr(self._inner, name)
        if self._is_own:
            for variable in _core.layer_own_variables(self._c):
                if variable.name == name:
                    return variable
            part = _core.layer_named_sublayers(self._c).get(name)
            if part is not None:
                return wrap(part)
            config = self._c.get_config()
            if name in config:
                return _as_attribute(name, config[name])
            if name in ("kernel", "bias", "embeddings", "gamma", "beta"):
                return None if self.built else _not_built(self, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    name = property(lambda self: _core.layer_name(self._c))
    built = property(lambda self: _core.layer_built(self._c))
    trainable = property(lambda self: _core.layer_trainable(self._c))
    supports_masking = property(lambda self: _core.layer_supports_masking(self._c))
    dtype = property(lambda self: _core.layer_dtypes(self._c)[2])
    variable_dtype = dtype
    compute_dtype = property(lambda self: _core.layer_dtypes(self._c)[1])
    variables = property(lambda self: _core.layer_variables(self._c))
    weights = property(lambda self: _core.layer_weights(self._c))
    trainable_weights = property(lambda self: _core.layer_trainable_weights(self._c))
    non_trainable_weights = property(lambda self: _core.layer_non_trainable_weights(self._c))
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights
    losses = property(lambda self: _core.layer_losses(self._c))
    metrics = property(lambda self: [wrap(m) for m in _core.layer_metrics(self._c)])
    input = property(lambda self: _end(self, _core.layer_input))
    output = property(lambda self: _end(self, _core.layer_output))

    @property
    def dtype_policy(self):
        from .mixed_precision import DTypePolicy
        return DTypePolicy(_core.layer_dtypes(self._c)[0])

    @property
    def path(self):
        return self.name

    def reset_state(self):
        _core.layer_reset_state(self._c)

    reset_states = reset_state

    def adapt(self, data, batch_size=None, steps=None):
        """Learns from data what the layer needs: a vocabulary, mean and variance, boundaries."""
        if isinstance(data, (list, tuple)) or hasattr(data, "shape"):
            data = [data]
        _core.layer_adapt(self._c, [batch for batch in data])

    def get_vocabulary(self, include_special_tokens=True):
        return _core.layer_get_vocabulary(self._c, include_special_tokens)

    def set_vocabulary(self, vocabulary, idf_weights=None):
        _core.layer_set_vocabulary(self._c, vocabulary, idf_weights)

    def vocabulary_size(self):
        return len(self.get_vocabulary())

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} cannot be pickled: save() the model, or get_config()")


_OLD = ("input_shape", "batch_input_shape", "input_dim", "input_length", "batch_size", "weights", "dynamic")


def _guarded_build(build):
    """A user's build: whoever calls it, the layer is built afterwards."""

    def guarded(self, *args, **kwargs):
        if self.__dict__.get("_in_build") or "_c" not in self.__dict__:
            return build(self, *args, **kwargs)
        shape = args[0] if args else next(iter(kwargs.values()), None)
        _core.layer_build(self._c, shape)

    guarded.__name__ = "build"
    guarded.__doc__ = build.__doc__
    guarded.__wrapped__ = build
    return guarded


def _note_call(layer, result, inputs, named):
    """A KerasTensor holds the layer that made it, and what that was called on."""
    made = [leaf for leaf in _base.leaves(result) if isinstance(leaf, _core.KerasTensor)]
    if made:
        sources = [leaf for leaf in (*_base.leaves(inputs), *_base.leaves(named))
                   if isinstance(leaf, _core.KerasTensor)]
        for tensor in made:
            tensor._kept = (layer, sources)


def layers_behind(tensors):
    """All Python layers that KerasTensors come from."""
    found, seen, todo = [], set(), list(tensors)
    while todo:
        tensor = todo.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        kept = getattr(tensor, "_kept", None)
        if kept is not None:
            if kept[0] is not None:
                found.append(kept[0])
            todo.extend(kept[1])
    return found


def _not_built(layer, name):
    raise AttributeError(f"'{type(layer).__name__}' object '{layer.name}' has no attribute '{name}' before "
                         "it is built: call it, or build(input_shape)")


def _as_attribute(name, value):
    if "activation" in name and isinstance(value, str):
        from . import activations
        return activations.get(value)
    if isinstance(value, dict) and "class_name" in value:
        for kind in ("initializer", "regularizer", "constraint"):
            if kind in name:
                import importlib
                return importlib.import_module(f".{kind}s", __package__).get(value)
    return tuple(value) if isinstance(value, list) else value


def _set_trainable(layer, value):
    _core.layer_set_trainable(layer._c, bool(value))


_SETTERS = {
    "trainable": _set_trainable,
    "name": lambda layer, value: _core.layer_set_name(layer._c, value),
    "_name": lambda layer, value: _core.layer_set_name(layer._c, value),
    "built": lambda layer, value: _core.keras_set_flag(layer._c, "built", bool(value)),
    "supports_masking": lambda layer, value: _core.keras_set_flag(layer._c, "supports_masking", bool(value)),
    "input_spec": lambda layer, value: _core.layer_set_input_spec(
        layer._c, value if isinstance(value, (list, tuple)) else [value]),
}


class InputSpec:
    """What a layer asks of an input."""

    def __init__(self, dtype=None, shape=None, ndim=None, max_ndim=None, min_ndim=None, axes=None,
                 allow_last_axis_squeeze=False, name=None, optional=False):
        self.dtype = dtype_name(dtype)
        self.shape = tuple(shape) if shape is not None else None
        self.ndim = len(self.shape) if self.shape is not None else ndim
        self.max_ndim, self.min_ndim, self.name = max_ndim, min_ndim, name
        self.axes = {int(k): v for k, v in (axes or {}).items()}

    def __repr__(self):
        return f"InputSpec(dtype={self.dtype}, shape={self.shape}, ndim={self.ndim}, axes={self.axes})"
