"""tf.compat.v1.data: datasets, and the iterators of sessions."""

from .._iterator import (Iterator, get_output_classes, get_output_shapes, get_output_types,
                         make_initializable_iterator, make_one_shot_iterator)
from ._space import space

__getattr__, __dir__ = space(__name__, "plimsoll.data")
