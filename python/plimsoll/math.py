"""Element by element, reductions, segments."""

from ._names import namespace

__getattr__, __dir__ = namespace(__name__, "math")
