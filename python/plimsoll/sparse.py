"""tf.sparse."""

from ._sparse import SparseTensor, _c


def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """default_value (0 or "") where there is no value."""
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, got {sp_input!r}")
    return _c.to_dense(sp_input.indices, sp_input.values, sp_input.dense_shape, default_value, bool(validate_indices))


def from_dense(tensor, name=None):
    """All elements but 0, False and ""."""
    return SparseTensor(*_c.from_dense(tensor))


def __getattr__(name):
    raise AttributeError(f"module 'plimsoll.sparse' has no attribute '{name}': from_dense and to_dense are built")
