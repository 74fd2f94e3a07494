"""Callbacks: Keras's own, and the class that one's own derive from."""

from .. import _core

HOOKS = ("on_train_begin", "on_train_end", "on_test_begin", "on_test_end", "on_predict_begin",
         "on_predict_end")
NUMBERED_HOOKS = ("on_epoch_begin", "on_epoch_end", "on_train_batch_begin", "on_train_batch_end",
                  "on_test_batch_begin", "on_test_batch_end", "on_predict_batch_begin",
                  "on_predict_batch_end")


class Callback:
    """What is told of the progress of training, and may change it."""

    _kind = "callbacks"
    _is_own = False
    _made_class = None

    def __init__(self, *args, **kwargs):
        self._model, self.params = None, {}
        if self._made_class is not None:
            from ._classes import read_arguments
            config, _ = read_arguments(type(self), args, kwargs)
            self._config = config
            self._c = _core.callback_make(self._class_name, config)
        elif args or kwargs:
            raise TypeError(f"{type(self).__name__} takes no arguments, got {args} {kwargs}")

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._is_own = cls.__dict__.get("_is_own", False)

    @property
    def model(self):
        return self.__dict__.get("_model")

    def set_params(self, params):
        self.params = params
        if "_c" in self.__dict__:
            self._c.set_params(params)

    def set_model(self, model):
        self._model = model
        if "_c" in self.__dict__:
            self._c.set_model(model._c)

    def on_batch_begin(self, batch, logs=None):
        """Older name of on_train_batch_begin."""

    def on_batch_end(self, batch, logs=None):
        """Older name of on_train_batch_end."""

    def __getattr__(self, name):
        if name in ("wait", "stopped_epoch", "best_epoch") and "_c" in self.__dict__:
            return self._c.early_stopping()[("wait", "stopped_epoch", "best_epoch").index(name)]
        config = self.__dict__.get("_config", {})
        if name in config:
            return config[name]
        if name == "params":
            return {}
        if self._made_class is not None and name in self._names:
            return self._made_class.__signature__.parameters[name].default
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _for_core(self):
        """What C++ calls: the object itself, unless it is one of Keras's own as it is."""
        return self._c if self._is_own else self


def _plain_hook(name):
    def hook(self, logs=None):
        if "_c" in self.__dict__:
            self._c.tell(name, 0, logs)

    hook.__name__ = name
    return hook


def _numbered_hook(name, older=None):
    def hook(self, number, logs=None):
        if "_c" in self.__dict__:
            self._c.tell(name, number, logs)
        elif older is not None:
            getattr(self, older)(number, logs)

    hook.__name__ = name
    return hook


for _name in HOOKS:
    setattr(Callback, _name, _plain_hook(_name))
for _name in NUMBERED_HOOKS:
    setattr(Callback, _name, _numbered_hook(_name, {
        "on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}.get(_name)))


class History(Callback):
    """The logs of all epochs, by name. fit returns one."""

    def __init__(self):
        super().__init__()
        self.history, self.epoch = {}, []

    def on_train_begin(self, logs=None):
        self.epoch, self.history = [], {}

    def on_epoch_end(self, epoch, logs=None):
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class LambdaCallback(Callback):
    """Functions as callbacks: LambdaCallback(on_epoch_end=lambda epoch, logs: ...)."""

    def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_train_begin=None, on_train_end=None,
                 on_train_batch_begin=None, on_train_batch_end=None, **kwargs):
        super().__init__()
        given = {"on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end,
                 "on_train_begin": on_train_begin, "on_train_end": on_train_end,
                 "on_train_batch_begin": on_train_batch_begin, "on_train_batch_end": on_train_batch_end,
                 **kwargs}
        for name, function in given.items():
            if name not in HOOKS + NUMBERED_HOOKS:
                raise TypeError(f"LambdaCallback has no {name!r}")
            if function is not None:
                setattr(self, name, function)


class LearningRateScheduler(Callback):
    """Asks a function, schedule(epoch, learning_rate), for the learning rate of each epoch."""

    def __init__(self, schedule, verbose=0):
        super().__init__()
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        optimizer = self.model.optimizer
        try:
            rate = self.schedule(epoch, float(optimizer.learning_rate))
        except TypeError:  # a function of the epoch alone
            rate = self.schedule(epoch)
        if not isinstance(rate, float) and not hasattr(rate, "dtype"):
            raise ValueError('The output of the `schedule` function should be a float. '
                             f"Got: {rate}")
        optimizer.learning_rate = float(rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {float(rate)}.")

    def on_epoch_end(self, epoch, logs=None):
        if logs is not None:
            logs["learning_rate"] = float(self.model.optimizer.learning_rate)


class CallbackList(Callback):
    """Callbacks that are told of one after the other, as training loops of one's own use it."""

    def __init__(self, callbacks=None, add_history=False, add_progbar=False, model=None, **params):
        super().__init__()
        self.callbacks = list(callbacks or [])
        if add_history:
            self.callbacks.append(History())
        if model is not None:
            self.set_model(model)
        self.set_params(params)

    def append(self, callback):
        self.callbacks.append(callback)

    def set_model(self, model):
        super().set_model(model)
        for callback in self.callbacks:
            callback.set_model(model)

    def set_params(self, params):
        super().set_params(params)
        for callback in self.callbacks:
            callback.set_params(params)


def _for_all(name):
    def hook(self, *args, **kwargs):
        for callback in self.callbacks:
            getattr(callback, name)(*args, **kwargs)

    hook.__name__ = name
    return hook


for _name in HOOKS + NUMBERED_HOOKS:
    setattr(CallbackList, _name, _for_all(_name))
