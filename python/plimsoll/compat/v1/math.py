"""tf.compat.v1.math: the package's, with the first version's arguments where they differ."""

from ._ops import (argmax, argmin, count_nonzero, reduce_all, reduce_any, reduce_logsumexp, reduce_max,
                   reduce_mean, reduce_min, reduce_prod, reduce_sum)
from ._space import space

__getattr__, __dir__ = space(__name__, "plimsoll.math", "plimsoll.compat.v1._ops")
