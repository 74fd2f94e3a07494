"""Checks of values, and where ops run."""

from ._core import get_log_device_placement, set_log_device_placement
from ._names import namespace

__getattr__, __dir__ = namespace(__name__, "debugging")


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Checks (tensor, shape) pairs; letters stand for sizes that must agree."""
    sizes = {}
    pairs = shapes.items() if hasattr(shapes, "items") else shapes
    for tensor, wanted in pairs:
        wanted = tuple(wanted) if not isinstance(wanted, str) else tuple(wanted.split())
        found = tuple(tensor.shape)
        fits = len(found) == len(wanted)
        for size, dim in zip(found, wanted):
            if isinstance(dim, str):
                fits = fits and sizes.setdefault(dim, size) == size
            elif dim is not None:
                fits = fits and dim == size
        if not fits:
            raise ValueError(f"{message + ' ' if message else ''}Specified by tensor {tensor!r}: shape "
                             f"{found} is not {wanted} with {sizes}")


def assert_type(tensor, tf_type, message=None, name=None):
    """Checks the type of a tensor."""
    if tensor.dtype != tf_type:
        raise TypeError(f"{message + ' ' if message else ''}tensor {tensor!r} must be of type {tf_type!r}; "
                        f"got {tensor.dtype!r}")


def assert_rank(x, rank, message=None, name=None):
    """Checks the number of dimensions."""
    from . import convert_to_tensor
    x = convert_to_tensor(x)
    if x.ndim != rank:
        raise ValueError(f"{message + ' ' if message else ''}Static rank condition failed: tensor has "
                         f"shape {x.shape}, which is rank {x.ndim}; must have rank {rank}")


def enable_check_numerics(*args, **kwargs):
    from .errors import UnimplementedError
    raise UnimplementedError(None, None, "enable_check_numerics is not built; "
                             "tf.debugging.check_numerics checks one tensor")


def disable_traceback_filtering():
    """Tracebacks are whole already."""


enable_traceback_filtering = disable_traceback_filtering


def is_traceback_filtering_enabled():
    return False
