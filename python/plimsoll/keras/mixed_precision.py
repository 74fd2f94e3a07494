"""keras.mixed_precision: in which types layers compute and keep their weights."""

from .. import _core


class DTypePolicy:
    """"float32" and other types, "mixed_float16", "mixed_bfloat16"."""

    def __init__(self, name=None):
        self._policy_name, self.compute_dtype, self.variable_dtype = _core.keras_policy(
            getattr(name, "_policy_name", name))

    name = property(lambda self: self._policy_name)

    def __eq__(self, other):
        return isinstance(other, DTypePolicy) and other.name == self.name

    def __hash__(self):
        return hash(self.name)

    def get_config(self):
        return {"name": self.name}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def __repr__(self):
        return f'<DTypePolicy "{self.name}">'


Policy = DTypePolicy


def set_global_policy(policy):
    """For layers that are made from now on."""
    from ._base import dtype_name
    _core.keras_set_policy(dtype_name(policy))


set_dtype_policy = set_global_policy


def global_policy():
    return DTypePolicy()


dtype_policy = global_policy


def __getattr__(name):
    if name == "LossScaleOptimizer":
        from . import optimizers
        return optimizers.LossScaleOptimizer
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
