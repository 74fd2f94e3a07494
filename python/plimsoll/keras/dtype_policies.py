"""keras.dtype_policies."""

from .mixed_precision import DTypePolicy

FloatDTypePolicy = DTypePolicy


def get(identifier):
    """A policy of a name."""
    return identifier if isinstance(identifier, DTypePolicy) else DTypePolicy(identifier)
