"""tf.compat.v1.test."""

from ._space import space

__getattr__, __dir__ = space(__name__, "plimsoll.test")
