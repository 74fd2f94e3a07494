"""Types for annotations."""

from . import _core


class experimental:
    Tensor = _core.Tensor
    TensorLike = object
