"""Losses, metrics, initializers, regularizers and constraints: Keras's own, and one's own."""

from .. import _core
from . import _base
from ._base import Base, dtype_name


class Part(Base):
    """A class of the tables makes its C++ object of its arguments; one's own has one that calls back."""

    _is_own = False
    _made_class = None

    def __init__(self, *args, **kwargs):
        if self._made_class is None:
            self._init_python(*args, **kwargs)
            return
        from ._classes import read_arguments
        config, kept = read_arguments(type(self), args, kwargs)
        self._kept = kept
        self._adopt(_core.keras_make(self._kind, self._class_name, config))

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._is_own = cls.__dict__.get("_is_own", False)

    def _adopted(self):
        self._kept = []

    def _handle(self):
        """The C++ object; of a class that has not called the __init__ above, made now."""
        if "_c" not in self.__dict__:
            Part.__init__(self)
        return self._c

    def __getattr__(self, name):
        if name == "_c" and self._made_class is None and "_making" not in self.__dict__:
            self.__dict__["_making"] = True
            self._init_python()
            return self.__dict__["_c"]
        if not name.startswith("_") and "_c" in self.__dict__ and self._is_own:
            config = self._c.get_config()
            if name in config:
                return config[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_config(self):
        return self._c.get_config() if self._made_class is not None else {}

    @classmethod
    def from_config(cls, config):
        if not cls._is_own:
            return cls(**config)
        made = cls.__new__(cls)
        with _base.collecting() as kept:
            made._adopt(_core.keras_make(cls._kind, cls._class_name, _base.plain(config)))
        made._kept = kept
        return made

    def __repr__(self):
        shown = ", ".join(f"{k}={v!r}" for k, v in self.get_config().items())
        return f"{type(self).__name__}({shown})"

    def clone(self):
        return type(self).from_config(self.get_config())


class CallablePart(Part):
    """What is a function of a tensor, or of a shape."""

    _function = None

    def _init_python(self):
        self._adopt(_core.keras_py_part(self._kind, self, self._described()))

    def _described(self):
        if self._function is not None:
            name = self._function.__name__
            return "function", "builtins", getattr(self._function, "_registered_name", name)
        return _base.described(type(self))

    @classmethod
    def _of_function(cls, function):
        made = cls.__new__(cls)
        made._function = function
        made._init_python()
        return made

    def _config_for_core(self):
        return self._function.__name__ if self._function is not None else super()._config_for_core()

    def _from_core(self, *args):
        return self._function(*args) if self._function is not None else self(*args)


class Initializer(CallablePart):
    """Gives a variable its first value: __call__(shape, dtype)."""

    _kind = "initializers"

    def _from_core(self, shape, dtype):
        target = self._function if self._function is not None else self
        return target(shape, dtype=dtype)

    def __call__(self, shape, dtype=None, **kwargs):
        if self._function is not None:
            return self._function(shape, dtype=dtype)
        if self._made_class is None:
            raise NotImplementedError("Initializer subclasses must implement the `__call__()` method.")
        return _core.initializer_call(self._c, shape, dtype_name(dtype) or "float32")


class Regularizer(CallablePart):
    """A penalty on a weight: __call__(x)."""

    _kind = "regularizers"

    def __call__(self, x):
        if self._function is not None:
            return self._function(x)
        return _core.regularizer_call(self._c, x) if self._made_class is not None else 0.0


class Constraint(CallablePart):
    """What a weight has to be after an update: __call__(w)."""

    _kind = "constraints"

    def __call__(self, w):
        if self._function is not None:
            return self._function(w)
        return _core.constraint_call(self._c, w) if self._made_class is not None else w


class Loss(Part):
    """What training makes small. One's own has call(y_true, y_pred), a number for each sample."""

    _kind = "losses"

    def _init_python(self, name=None, reduction="sum_over_batch_size", dtype=None):
        if reduction is None:
            reduction = "none"
        self._adopt(_core.keras_py_loss(self, self._described(), name, reduction, dtype_name(dtype)))

    def _described(self):
        return _base.described(type(self))

    def __call__(self, y_true, y_pred, sample_weight=None):
        return _core.loss_call(self._c, y_true, y_pred, sample_weight)

    def call(self, y_true, y_pred):
        if self._made_class is None:
            raise NotImplementedError(f"loss {type(self).__name__} has no `call()`")
        return _core.loss_values(self._c, y_true, y_pred)

    name = property(lambda self: _core.loss_name(self._c))
    reduction = property(lambda self: _core.loss_reduction(self._c))
    dtype = property(lambda self: _core.loss_dtype(self._c))

    def get_config(self):
        if self._made_class is not None:
            return self._c.get_config()
        return {"name": self.name, "reduction": self.reduction}


class LossFunctionWrapper(Loss):
    """A function of labels and predictions as a loss."""

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, dtype=None, **kwargs):
        self._fn, self._kwargs = fn, kwargs
        super().__init__(name=name or getattr(fn, "__name__", type(fn).__name__.lower()),
                         reduction=reduction, dtype=dtype)

    def _described(self):
        if not hasattr(self._fn, "__name__"):
            return _base.described(type(self))
        return "function", "builtins", getattr(self._fn, "_registered_name", self._fn.__name__)

    def call(self, y_true, y_pred):
        return self._fn(y_true, y_pred, **self._kwargs)

    def _config_for_core(self):
        return getattr(self._fn, "__name__", {})


class Metric(Part):
    """What is watched. One's own has update_state and result, and variables of add_variable."""

    _kind = "metrics"
    _is_mean = False

    def _init_python(self, name=None, dtype=None):
        self._adopt(_core.keras_py_metric(self, self._described(), name, dtype_name(dtype), self._is_mean))

    def _described(self):
        return _base.described(type(self))

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def add_variable(self, shape=(), initializer="zeros", dtype=None, aggregation=None, name=None):
        from . import initializers
        initializer = initializers.get(initializer)
        made = _core.metric_add_variable(self._c, shape, initializer._c, name or "variable",
                                         dtype_name(dtype))
        self.__dict__.setdefault("_held", []).append(initializer)
        return made

    def add_weight(self, shape=(), initializer="zeros", dtype=None, name=None, **kwargs):
        if isinstance(shape, str):  # add_weight("total", ...) of older versions
            shape, name = (), shape
        return self.add_variable(shape=shape, initializer=initializer, dtype=dtype, name=name)

    def update_state(self, *args, sample_weight=None, **kwargs):
        args = [*args, *(kwargs.pop(n) for n in ("y_true", "y_pred", "values") if n in kwargs)]
        takes = 1 if _takes_values(self) else 2
        if sample_weight is None and len(args) > takes:
            sample_weight = args.pop()
        _core.metric_update(self._c, args, sample_weight)

    def _from_core_update(self, args, sample_weight):
        if sample_weight is None:
            self.update_state(*args)
        else:
            self.update_state(*args, sample_weight=sample_weight)

    def result(self):
        if self._made_class is None and not self._is_mean:
            raise NotImplementedError(f"metric {type(self).__name__} has no `result()`")
        return _core.metric_result(self._c)

    def reset_state(self):
        _core.metric_reset(self._c)

    reset_states = reset_state

    def __call__(self, *args, **kwargs):
        self.update_state(*args, **kwargs)
        return self.result()

    name = property(lambda self: _core.metric_name(self._c))
    dtype = property(lambda self: _core.metric_dtype(self._c))
    variables = property(lambda self: _core.metric_variables(self._c))
    weights = variables
    non_trainable_variables = variables

    def get_config(self):
        if self._made_class is not None:
            return self._c.get_config()
        return {"name": self.name, "dtype": self.dtype}

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def _takes_values(metric):
    return getattr(metric, "_class_name", "") in ("Mean", "Sum", "MeanTensor")


class MeanMetricWrapper(Metric):
    """The mean of a function of labels and predictions."""

    _is_mean = True

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        self._fn, self._kwargs = fn, kwargs
        super().__init__(name=name or getattr(fn, "__name__", type(fn).__name__.lower()), dtype=dtype)

    def _described(self):
        if not hasattr(self._fn, "__name__"):
            return _base.described(type(self))
        return "function", "builtins", getattr(self._fn, "_registered_name", self._fn.__name__)

    def _from_core_values(self, y_true, y_pred):
        return self._fn(y_true, y_pred, **self._kwargs)

    def _config_for_core(self):
        return getattr(self._fn, "__name__", {})


def getter(kind, wrap_function):
    """get() of a module: an object of a name, a configuration, a function or an object."""
    base = {"initializers": Initializer, "regularizers": Regularizer, "constraints": Constraint,
            "losses": Loss, "metrics": Metric}[kind]

    def get(identifier):
        if identifier is None or isinstance(identifier, base):
            return identifier
        if isinstance(identifier, type) and issubclass(identifier, base):
            return identifier()
        if isinstance(identifier, (str, dict)):
            with _base.collecting() as kept:
                made = _base.wrap(_core.keras_get(kind, _base.plain(identifier)))
            if kept and made is not None and made not in kept:
                made.__dict__.setdefault("_kept", []).extend(kept)
            return made
        if callable(identifier):
            name = getattr(identifier, "_keras_name", None)
            return get(name) if name else wrap_function(identifier)
        raise ValueError(f"Could not interpret {kind[:-1]} identifier: {identifier!r}")

    return get
