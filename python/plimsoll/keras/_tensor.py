"""KerasTensors: operators, which are nodes of functional models."""

from .. import _core
from ._base import wrap

_MODULES = {"Relu": "nn", "Softmax": "nn"}


class Spec:
    """Shape and type, as compute_output_spec gives them."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


def apply_op(op, inputs, module="numpy", **arguments):
    """An op of keras.ops as a node: a layer without weights."""
    handle = _core.keras_get("layers", {"module": f"keras.src.ops.{module}", "class_name": op, "config": {}})
    layer = wrap(handle)
    named = {k: v for k, v in arguments.items() if _is_tensor(v)}
    options = {k: v for k, v in arguments.items() if k not in named and v is not None}
    result = _core.layer_call(handle, inputs, None, None, named, options)
    from ._layer import _note_call
    _note_call(layer, result, inputs, named)
    return result


def _is_tensor(value):
    return isinstance(value, (_core.KerasTensor, _core.Tensor, _core.Variable, _core.KerasVariable)) or (
        hasattr(value, "__array_interface__"))


def _binary(op):
    def forward(self, other):
        return apply_op(op, self, x2=other)

    def backward(self, other):
        if _is_tensor(other):
            return apply_op(op, other, x2=self)
        return apply_op(op, self, x1=other)

    return forward, backward


_OPERATORS = {"add": "Add", "sub": "Subtract", "mul": "Multiply", "truediv": "TrueDivide",
              "floordiv": "FloorDivide", "mod": "Mod", "pow": "Power", "matmul": "Matmul",
              "and": "LogicalAnd", "or": "LogicalOr"}
_COMPARISONS = {"lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual", "ne": "NotEqual"}


def _key(key):
    """A subscript as files have it."""
    if isinstance(key, tuple):
        return [_key(item) for item in key]
    if isinstance(key, slice):
        return {"class_name": "__slice__",
                "config": {"start": key.start, "stop": key.stop, "step": key.step}}
    if key is Ellipsis:
        return {"class_name": "__ellipsis__", "config": {}}
    return key


def _no_values(self, *args, **kwargs):
    raise ValueError(
        "A KerasTensor cannot be used as input to a TensorFlow function. A KerasTensor is a symbolic "
        "placeholder for a shape and dtype, used when constructing Keras Functional models or Keras "
        "Functions. You can only use it as input to a Keras layer or a Keras operation (from the namespaces "
        "`keras.layers` and `keras.ops`). You are likely doing something like:\n\n```\nx = Input(...)\n...\n"
        "tf_fn(x)  # Invalid.\n```\n\nWhat you should do instead is wrap `tf_fn` in a layer:\n\n```\n"
        "class MyLayer(Layer):\n    def call(self, x):\n        return tf_fn(x)\n\nx = MyLayer()(x)\n```\n")


def _no_array(self, *args, **kwargs):
    raise ValueError("A KerasTensor is symbolic: it's a placeholder for a shape an a dtype. It doesn't have "
                     "any actual numerical value. You cannot convert it to a NumPy array.")


def _no_truth(self):
    raise TypeError("A symbolic KerasTensor cannot be used as a boolean.")


def _no_iteration(self):
    raise TypeError("Iterating over a symbolic KerasTensor is not supported.")


def install():
    """Gives the C++ class its operators."""
    cls = _core.KerasTensor
    for name, op in _OPERATORS.items():
        forward, backward = _binary(op)
        setattr(cls, f"__{name}__", forward)
        setattr(cls, f"__r{name}__", backward)
    for name, op in _COMPARISONS.items():
        setattr(cls, f"__{name}__", _binary(op)[0])
    cls.__neg__ = lambda self: apply_op("Negative", self)
    cls.__abs__ = lambda self: apply_op("Absolute", self)
    cls.__invert__ = lambda self: apply_op("LogicalNot", self)
    cls.__getitem__ = lambda self, key: apply_op("GetItem", self, key=_key(key))
    cls.__array__ = _no_array
    cls.__tf_tensor__ = _no_values
    cls.__bool__ = _no_truth
    cls.__iter__ = _no_iteration
    cls.__array_priority__ = 200
    cls.ndim = property(lambda self: len(self.shape))
    cls.rank = property(lambda self: len(self.shape))
    cls.reshape = lambda self, newshape: apply_op("Reshape", self, newshape=list(newshape))
    cls.__repr__ = lambda self: (f"<KerasTensor shape={self.shape}, dtype={self.dtype}, sparse=False, "
                                 f"ragged=False, name={self.name}>")
    cls.__module__ = "plimsoll.keras"


install()


def Input(shape=None, batch_size=None, dtype=None, sparse=None, ragged=None, batch_shape=None, name=None,
          tensor=None, optional=False):
    """Where a functional model begins: a tensor of this shape, without the batch."""
    from ._base import dtype_name
    if sparse or ragged:
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, "sparse and ragged inputs are not built")
    if shape is not None and batch_shape is not None:
        raise ValueError("You cannot pass both `shape` and `batch_shape` at the same time.")
    if batch_shape is not None:
        batch_size, *shape = batch_shape
    if shape is None:
        raise ValueError("You must pass a `shape` argument.")
    if isinstance(shape, int):
        shape = (shape,)
    from .config import floatx
    return _core.keras_input(tuple(shape), name or "", dtype_name(dtype) or floatx(), batch_size)
