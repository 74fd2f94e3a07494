"""tf.compat.v1.debugging: the package's, with the first version's arguments where they differ."""

from ._space import space

__getattr__, __dir__ = space(__name__, "plimsoll.debugging", "plimsoll.compat.v1._ops")
