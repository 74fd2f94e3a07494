"""Where values come in."""

from .. import _core
from .._function import TensorSpec
from ..dtypes import as_dtype
from ..tensor_shape import as_shape
from . import _calls, _graph


def _unfed():
    raise RuntimeError("a placeholder has no value")


def _checked(shape):
    """A shape whose sizes are known or None."""
    shape = as_shape(shape)
    for size in shape if shape.rank else ():
        if size is not None and size < 0:
            raise ValueError(f"Error converting shape to a TensorShape: Dimension {size} must be >= 0; "
                             "a size that is not known is None.")
    return shape


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value is given with each run."""
    if not _core.is_building():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return _graph.get_default_graph().add(_unfed, kind="Placeholder", name=name,
                                          outputs=TensorSpec(_checked(shape), as_dtype(dtype))).result


def placeholder_with_default(input, shape, name=None):
    """A tensor that has this value in runs that give no other."""
    if not _core.is_building():
        return _core.op("convert_to_tensor")(input)
    given = _calls.convert_to_tensor(input)
    shape = _checked(shape)
    if not given._shape.is_compatible_with(shape):
        raise ValueError(f"Shape {given._shape} of the default does not fit {shape}")
    return given.graph.add(_core.op("identity"), (given,), kind="PlaceholderWithDefault", name=name,
                           outputs=TensorSpec(shape, given.dtype)).result


def sparse_placeholder(dtype, shape=None, name=None):
    from ..errors import UnimplementedError
    raise UnimplementedError(None, None, "sparse tensors are not built")
