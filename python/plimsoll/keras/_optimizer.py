"""Optimizers and learning rates: Keras's own, and one's own."""

from .. import _core
from . import _base
from ._base import wrap
from ._parts import CallablePart, Part


class LearningRateSchedule(CallablePart):
    """The learning rate at a step: __call__(step)."""

    _kind = "schedules"

    def _from_core(self, step):
        if self._function is None:
            return self(step)
        return self._function()  # a learning rate that is a function takes nothing

    def __call__(self, step):
        if self._made_class is None:
            raise NotImplementedError(f"learning rate schedule {type(self).__name__} has no `__call__`")
        return _core.schedule_call(self._c, step)


class Optimizer(Part):
    """How gradients become updates of weights. One's own has build and update_step."""

    _kind = "optimizers"

    def _init_python(self, learning_rate=0.001, weight_decay=None, clipnorm=None, clipvalue=None,
                     global_clipnorm=None, use_ema=False, ema_momentum=0.99, ema_overwrite_frequency=None,
                     loss_scale_factor=None, gradient_accumulation_steps=None, name=None, **kwargs):
        if kwargs:
            raise ValueError(f"Argument(s) not recognized: {kwargs}")
        self._kept = []
        config = {
            "learning_rate": _base.encode(learning_rate, "learning_rate", self._kept),
            "weight_decay": weight_decay, "clipnorm": clipnorm, "clipvalue": clipvalue,
            "global_clipnorm": global_clipnorm, "use_ema": use_ema, "ema_momentum": ema_momentum,
            "ema_overwrite_frequency": ema_overwrite_frequency, "loss_scale_factor": loss_scale_factor,
            "gradient_accumulation_steps": gradient_accumulation_steps,
        }
        config = {key: value for key, value in config.items() if value is not None}
        if name:
            config["name"] = name
        self._adopt(_core.keras_py_optimizer(self, _base.described(type(self)), config))

    def build(self, variables):
        """Makes what the optimizer keeps for each variable."""
        if self._made_class is not None:
            _core.optimizer_build(self._c, list(variables))

    def update_step(self, gradient, variable, learning_rate):
        raise NotImplementedError(f"optimizer {type(self).__name__} has no `update_step()`")

    def apply(self, grads, trainable_variables=None):
        """One step."""
        _core.optimizer_apply(self._c, list(grads),
                              None if trainable_variables is None else list(trainable_variables))
        return self.iterations

    def apply_gradients(self, grads_and_vars, name=None, **kwargs):
        grads, variables = [], []
        for gradient, variable in grads_and_vars:
            grads.append(gradient)
            variables.append(variable)
        if not grads:
            raise ValueError("No gradients provided for any variable.")
        return self.apply(grads, variables)

    def minimize(self, loss, var_list, tape=None):
        """Takes the gradients of a loss, which may be a function, and applies them."""
        variables = list(var_list() if callable(var_list) else var_list)
        if callable(loss):
            with _core.GradientTape() as tape:
                loss = loss()
        self.apply(tape.gradient(loss, variables), variables)

    def add_variable(self, shape, initializer="zeros", dtype=None, aggregation=None, layout=None, name=None):
        from . import initializers
        value = initializers.get(initializer)(shape, dtype=dtype)
        return _core.optimizer_add_variable(self._c, value, name or "variable")

    def add_variable_from_reference(self, reference_variable, name=None, initializer="zeros"):
        first = {"zeros": 0.0, "ones": 1.0}.get(initializer)
        if first is None:
            raise ValueError(f"a slot begins with 'zeros' or 'ones' here, got {initializer!r}")
        return _core.optimizer_add_slot(self._c, reference_variable, name or "slot", first)

    def assign(self, variable, value):
        variable.assign(value)

    def assign_add(self, variable, value):
        variable.assign_add(value)

    def assign_sub(self, variable, value):
        variable.assign_sub(value)

    def _get_variable_index(self, variable):
        for i, known in enumerate(_core.optimizer_trained(self._c)):
            if known is variable:
                return i
        raise KeyError(f"the optimizer was not built for {variable!r}")

    def scale_loss(self, loss):
        return _core.optimizer_scale_loss(self._c, loss)

    def finalize_variable_values(self, var_list=None):
        _core.optimizer_finalize(self._c)

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        _core.optimizer_exclude(self._c, list(var_list or []), list(var_names or []))

    def set_weights(self, weights):
        _core.optimizer_set_weights(self._c, weights)

    def get_weights(self):
        return [variable.numpy() for variable in self.variables]

    def __setattr__(self, name, value):
        if name in ("learning_rate", "lr"):
            _core.optimizer_set_rate(self._c, float(value))
        else:
            object.__setattr__(self, name, value)

    @property
    def learning_rate(self):
        """A variable, unless it is a schedule: then its value at this step."""
        for variable in self.variables[:2]:
            if variable.name == "learning_rate":
                return variable
        return _core.optimizer_rate(self._c)

    lr = learning_rate
    name = property(lambda self: _core.optimizer_name(self._c))
    built = property(lambda self: _core.optimizer_built(self._c))
    iterations = property(lambda self: _core.optimizer_iterations(self._c))
    variables = property(lambda self: _core.optimizer_variables(self._c))

    def get_config(self):
        if self._made_class is not None:
            return self._c.get_config()
        return _core.optimizer_base_config(self._c)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"


def get(identifier):
    """An optimizer of a name, a configuration or an object."""
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, type) and issubclass(identifier, Optimizer):
        return identifier()
    if isinstance(identifier, (str, dict)):
        with _base.collecting() as kept:
            made = wrap(_core.keras_get("optimizers", _base.plain(identifier)))
        made.__dict__.setdefault("_kept", []).extend(kept)
        return made
    raise ValueError(f"Could not interpret optimizer identifier: {identifier!r}")


