"""tf.SparseTensor: where values stand in a tensor of which most are missing."""

from . import _core

_c = _core.sparse


class SparseTensor:
    """A slice of TensorFlow's: tf.sparse.to_dense makes it dense; ops take none."""

    def __init__(self, indices, values, dense_shape):
        self._indices, self._values, self._dense_shape = _c.checked(indices, values, dense_shape)

    @property
    def indices(self):
        return self._indices

    @property
    def values(self):
        return self._values

    @property
    def dense_shape(self):
        return self._dense_shape

    @property
    def dtype(self):
        return self._values.dtype

    @property
    def shape(self):
        from .tensor_shape import TensorShape
        return TensorShape(self._dense_shape.numpy().tolist())

    def get_shape(self):
        return self.shape

    def __repr__(self):
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self._dense_shape!s})"

    def __tf_tensor__(self, dtype=None, name=None):
        from .errors import UnimplementedError
        raise UnimplementedError(None, None, f"a SparseTensor of shape {self.shape} cannot stand for a tensor: "
                                 "tf.sparse.to_dense makes it dense")

    def __getattr__(self, name):
        raise AttributeError(f"'SparseTensor' object has no attribute '{name}': a part of TensorFlow's is built, "
                             "tf.sparse.from_dense and to_dense")
