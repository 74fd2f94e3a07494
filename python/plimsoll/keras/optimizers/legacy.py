"""keras.optimizers.legacy: the same optimizers."""

from .. import _classes

__getattr__, __dir__ = _classes.module(__name__, "optimizers")
