"""The dimensions of a tensor, some of which may not be known."""

from . import _core


class TensorShape:
    """A tuple of dimensions; None stands for one that is not known, or for all of them."""

    __slots__ = ("_dims", "__weakref__")

    def __init__(self, dims):
        if type(dims) is tuple:  # from a tensor: plain integers
            self._dims = dims
        elif dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, int):
            self._dims = (dims,)
        else:
            self._dims = tuple(dims)
        if self._dims is not None:
            for dim in self._dims:
                if type(dim) is not int:
                    self._dims = tuple(_dimension(d) for d in self._dims)
                    break

    @property
    def rank(self):
        return None if self._dims is None else len(self._dims)

    ndims = rank

    @property
    def dims(self):
        return None if self._dims is None else list(self._dims)

    def as_list(self):
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self):
        if not self.is_fully_defined():
            return None
        count = 1
        for dim in self._dims:
            count *= dim
        return count

    def is_fully_defined(self):
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims))

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_has_rank(self, rank):
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank):
        self.assert_has_rank(rank)
        return self if self.rank is not None else TensorShape([None] * rank)

    def merge_with(self, other):
        other = as_shape(other)
        self.assert_is_compatible_with(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other):
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self):
        return self._dims is not None

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key):
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        found = self._dims[key]
        return TensorShape(found) if isinstance(key, slice) else found

    def __eq__(self, other):
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        return self._dims == other._dims

    def __hash__(self):
        return hash(self._dims)

    def __repr__(self):
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self):
        return "<unknown>" if self._dims is None else str(self._dims)

    def __reduce__(self):
        return TensorShape, (self._dims,)


def _dimension(dim):
    dim = getattr(dim, "value", dim)  # of the first version's Dimension
    if dim is None:
        return None
    if getattr(dim, "_is_symbolic", False):
        raise TypeError(f"a dimension cannot be a symbolic tensor: {dim}")
    dim = dim.__index__()
    if dim < -1:
        raise ValueError(f"Dimension {dim} must be >= 0")
    return None if dim == -1 else dim


def as_shape(shape):
    """shape as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


_core.set_shape_class(TensorShape)
