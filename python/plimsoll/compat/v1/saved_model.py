"""tf.compat.v1.saved_model: not built."""

from ._space import space

__getattr__, __dir__ = space(__name__, missing=("Builder", "builder", "load", "simple_save", "loader",
                                                "save", "utils"))
