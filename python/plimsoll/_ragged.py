"""tf.RaggedTensor: rows of different lengths."""

from . import _core

_c = _core.ragged


def _splits(value):
    from . import convert_to_tensor
    from .dtypes import int64
    is_array = isinstance(value, _core.Tensor) or hasattr(value, "dtype")
    return convert_to_tensor(value) if is_array else convert_to_tensor(value, int64)


def _shown(array):
    """As numpy shows it, with commas and without types."""
    import numpy
    if not isinstance(array, numpy.ndarray):
        return str(array)
    return numpy.array2string(array, separator=", ") if array.size else repr(array.tolist())


def _not_built(what):
    from .errors import UnimplementedError
    return UnimplementedError(None, None, f"{what} is not built for ragged tensors: to_tensor() makes them dense, and "
                              "values and row_splits are tensors")


class RaggedTensor:
    """Values of all rows, one after another, and where rows begin. A slice of TensorFlow's: ops take none."""

    def __init__(self, *args, **kwargs):
        raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                         "RaggedTensor.from_row_lengths())")

    @classmethod
    def _of(cls, flat_values, nested_row_splits, lengths=None):
        """lengths: of the rows of each level, if they are known to be equal; None else."""
        made = object.__new__(cls)
        made._flat_values, made._nested = flat_values, tuple(nested_row_splits)
        made._lengths = tuple(lengths or [None] * len(made._nested))
        return made

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        from . import convert_to_tensor
        row_splits = _splits(row_splits)
        if isinstance(values, RaggedTensor):
            made = cls._of(values._flat_values, (row_splits, *values._nested), (None, *values._lengths))
        else:
            made = cls._of(convert_to_tensor(values), (row_splits,))
        if validate:
            _c.check(made._flat_values, made._nested)
        return made

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        return cls.from_row_splits(values, _c.splits_of_lengths(_splits(row_lengths)), validate=validate)

    @property
    def values(self):
        if len(self._nested) == 1:
            return self._flat_values
        return RaggedTensor._of(self._flat_values, self._nested[1:], self._lengths[1:])

    @property
    def flat_values(self):
        return self._flat_values

    @property
    def row_splits(self):
        return self._nested[0]

    @property
    def nested_row_splits(self):
        return self._nested

    @property
    def ragged_rank(self):
        return len(self._nested)

    @property
    def dtype(self):
        return self._flat_values.dtype

    @property
    def shape(self):
        from .tensor_shape import TensorShape
        rows = self._nested[0].shape[0] - 1
        return TensorShape([rows, *self._lengths, *list(self._flat_values.shape)[1:]])

    def get_shape(self):
        return self.shape

    def nrows(self, out_type=None, name=None):
        from . import constant
        return constant(self._nested[0].shape[0] - 1, out_type or self._nested[0].dtype)

    def row_lengths(self, axis=1, name=None):
        if axis != 1:
            raise _not_built(f"row_lengths(axis={axis!r})")
        return _c.row_lengths(self._flat_values, self._nested)

    def to_tensor(self, default_value=None, name=None, shape=None):
        """Dense: short rows are filled up. shape: for each dimension its size, or None."""
        if shape is not None:
            shape = [-1 if dim is None else int(dim) for dim in shape]
        return _c.to_tensor(self._flat_values, self._nested, default_value, shape)

    def _bounds(self):
        return self._nested[0].numpy().tolist()

    def __getitem__(self, key):
        if isinstance(key, bool) or not hasattr(key, "__index__"):
            raise _not_built(f"[{key!r}]")
        index, bounds = key.__index__(), self._bounds()
        at = index + len(bounds) - 1 if index < 0 else index
        if not 0 <= at < len(bounds) - 1:
            raise IndexError(f"Row key {index} out of bounds for {len(bounds) - 1} rows")
        first, last = bounds[at], bounds[at + 1]
        nested = []
        for splits in self._nested[1:]:
            part = splits[first:last + 1]
            first, last = (int(v) for v in part.numpy()[[0, -1]])
            nested.append(part - first)
        flat = self._flat_values[first:last]
        return RaggedTensor._of(flat, nested, self._lengths[1:]) if nested else flat

    def __iter__(self):
        return (self[i] for i in range(len(self._bounds()) - 1))

    def to_list(self):
        return [row.to_list() if isinstance(row, RaggedTensor) else row.numpy().tolist() for row in self]

    def numpy(self):
        """An array of arrays, or of one type if all rows are equally long."""
        import numpy
        rows = [row.numpy() for row in self]
        if not rows:
            flat = self._flat_values.numpy()
            return numpy.zeros((0,) * (len(self._nested) + 1) + flat.shape[1:], flat.dtype)
        return numpy.array(rows, object if len({len(row) for row in rows}) > 1 else None)

    def __repr__(self):
        import numpy
        with numpy.printoptions(formatter={"all": _shown}):
            return f"<tf.RaggedTensor {_shown(self.numpy())}>"

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __eq__(self, other):
        raise _not_built("==")

    def __ne__(self, other):
        raise _not_built("!=")

    __hash__ = object.__hash__

    def __tf_tensor__(self, dtype=None, name=None):
        from .errors import UnimplementedError
        raise UnimplementedError(None, None, f"a RaggedTensor of shape {self.shape} cannot stand for a tensor: "
                                 "to_tensor() makes it dense")

    def __getattr__(self, name):
        raise AttributeError(f"'RaggedTensor' object has no attribute '{name}': a part of TensorFlow's is built, for "
                             "rows that are made, looked at and made dense")
