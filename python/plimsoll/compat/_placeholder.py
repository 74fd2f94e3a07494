"""Where values come in."""

from .. import _core
from .._function import TensorSpec
from ..dtypes import as_dtype
from . import _calls, _graph


def _unfed():
    raise RuntimeError("a placeholder has no value")


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value is given with each run."""
    if not _core.is_building():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return _graph.get_default_graph().add(_unfed, kind="Placeholder", name=name,
                                          outputs=TensorSpec(shape, as_dtype(dtype))).result


def placeholder_with_default(input, shape, name=None):
    """A tensor that has this value in runs that give no other."""
    from ..tensor_shape import as_shape
    if not _core.is_building():
        return _core.op("convert_to_tensor")(input)
    given = _calls.convert_to_tensor(input)
    if not given._shape.is_compatible_with(as_shape(shape)):
        raise ValueError(f"Shape {given._shape} of the default does not fit {as_shape(shape)}")
    return given.graph.add(_core.op("identity"), (given,), kind="PlaceholderWithDefault", name=name,
                           outputs=TensorSpec(shape, given.dtype)).result


def sparse_placeholder(dtype, shape=None, name=None):
    from ..errors import UnimplementedError
    raise UnimplementedError(None, None, "sparse tensors are not built")
