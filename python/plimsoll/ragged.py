"""tf.ragged."""

from ._ragged import RaggedTensor


def _is_list(value):
    return isinstance(value, (list, tuple)) or (hasattr(value, "ndim") and value.ndim > 0)


def _depths(value):
    """(of values, None if there are none; of lists)"""
    if not _is_list(value):
        return 0, 0
    inner = [_depths(item) for item in value]
    found = {depth for depth, _ in inner if depth is not None}
    if len(found) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return (found.pop() + 1 if found else None), 1 + max((most for _, most in inner), default=0)


def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype="int64"):
    """Nested lists as a RaggedTensor; a number or a plain list as a tensor."""
    from . import constant as dense
    from .dtypes import as_dtype
    if inner_shape is not None:
        from .errors import UnimplementedError
        raise UnimplementedError(None, None, f"ragged.constant(inner_shape={inner_shape!r}) is not built: ragged_rank "
                                 "says how many dimensions are ragged")
    depth, most = _depths(pylist)
    if depth is not None and most > depth:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    rank = max(most - 1, 0) if ragged_rank is None else ragged_rank
    if not 0 <= rank < max(most, 1):
        raise ValueError(f"Invalid pylist={pylist!r}: ragged_rank must be below its nesting, {most}, got {ragged_rank}")
    if rank == 0:
        return dense(pylist, dtype)
    rows, splits = list(pylist), []
    for _ in range(rank):
        ends = [0]
        for row in rows:
            ends.append(ends[-1] + len(row))
        splits.append(dense(ends, as_dtype(row_splits_dtype)))
        rows = [item for row in rows for item in row]
    return RaggedTensor._of(dense(rows, dtype), splits)


def __getattr__(name):
    raise AttributeError(f"module 'plimsoll.ragged' has no attribute '{name}': constant is built")
