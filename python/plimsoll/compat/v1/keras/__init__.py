"""tf.compat.v1.keras: the package's Keras, which runs its own functions, not sessions."""

from .._space import space
from . import backend

__getattr__, __dir__ = space(__name__, "plimsoll.keras")
