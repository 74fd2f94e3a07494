"""Linear algebra."""

from . import _core
from ._functions import einsum, global_norm
from ._names import namespace

__getattr__, __dir__ = namespace(__name__, "linalg", hidden=("einsum_of_list",))
