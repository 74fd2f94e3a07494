"""tf.compat.v1.random: the package's, with the first version's arguments where they differ."""

from ._globals import get_seed, set_random_seed
from ._ops import multinomial
from ._space import space

__getattr__, __dir__ = space(__name__, "plimsoll.random", "plimsoll.compat.v1._ops")
