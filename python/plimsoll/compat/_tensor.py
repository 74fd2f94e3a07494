"""Tensors of a graph: the outputs of its operations, without values of their own."""

import operator

from .. import _core
from ..tensor_shape import as_shape
from . import _shape


class GraphValue:
    """What tensors and variables of a graph share: they have an op, a type, and a shape that may be known in parts."""

    __array_ufunc__ = None
    __array_priority__ = 300
    _is_symbolic = True
    _is_graph_tensor = True

    @property
    def device(self):
        return self.op.device

    @property
    def shape(self):
        return _shape.shown(self._shape)

    def get_shape(self):
        return self.shape

    @property
    def ndim(self):
        return self._shape.rank

    def ref(self):
        from .._tensor import Reference
        return Reference(self)

    experimental_ref = ref

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __getitem__(self, key):
        return self.graph.add(operator.getitem, (self, key)).result


class Tensor(GraphValue):
    """What an operation will give."""

    def __init__(self, op, index, dtype, shape, stands):
        self.op = op
        self.value_index = index
        self.dtype = dtype
        self._shape = as_shape(shape)
        self._stands = stands  # for its value while shapes are inferred, one in each world

    @classmethod
    def __plimsoll_call__(cls, function, args, kwargs):
        if _core.is_tracing():
            return NotImplemented  # the op says that it cannot take it
        from . import _calls
        return _calls.build(function, args, kwargs)

    @property
    def name(self):
        return f"{self.op.name}:{self.value_index}"

    @property
    def graph(self):
        return self.op.graph

    def set_shape(self, shape):
        """What is known of the shape beside what was found."""
        from . import _infer
        self._shape = self._shape.merge_with(as_shape(shape))
        self._stands = _infer.narrowed(self._stands, self.dtype, self._shape)

    def eval(self, feed_dict=None, session=None):
        """Its value in the session, or in the default one."""
        from ._graph import _session_for
        return _session_for(session, self, "eval()").run(self, feed_dict)

    def consumers(self):
        return [op for op in self.graph._operations if self in op.inputs]

    def __bool__(self):
        from ..errors import OperatorNotAllowedInGraphError
        raise OperatorNotAllowedInGraphError(
            f"Using a symbolic `tf.Tensor` as a Python `bool` is not allowed: {self.name} has no value "
            "before a session runs it. To branch on it use tf.cond or tf.where.")

    def __iter__(self):
        from ..errors import OperatorNotAllowedInGraphError
        raise OperatorNotAllowedInGraphError(
            f"Iterating over a symbolic `tf.Tensor` is not allowed: {self.name} has no value before a "
            "session runs it. tf.unstack gives its rows.")

    def __len__(self):
        raise TypeError(f"len is not well defined for a symbolic Tensor ({self.name}). Please call "
                        "`x.shape` rather than `len(x)` for shape information.")

    def __array__(self, *args, **kwargs):
        raise NotImplementedError(f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array: "
                                  "it has no value before a session runs it.")

    def __tf_tensor__(self, dtype=None, name=None):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, self.op, f"{self.name} is a tensor of a graph, which Keras and calls outside "
                                 "of the table of ops do not take; tf.compat.v1.layers are made for graphs")

    def numpy(self):
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def __repr__(self):
        return f"<tf.Tensor '{self.name}' shape={self._shape} dtype={self.dtype.name}>"

    def __str__(self):
        shown = "" if self._shape.rank is None else f", shape={self._shape}"
        return f'Tensor("{self.name}"{shown}, dtype={self.dtype.name})'


_OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul,
              "truediv": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod,
              "pow": operator.pow, "matmul": operator.matmul, "and": operator.and_,
              "or": operator.or_, "xor": operator.xor}
_COMPARISONS = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
_UNARY = {"neg": operator.neg, "abs": operator.abs, "invert": operator.invert}
_LABELS = {"lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual", "neg": "Neg",
           "abs": "Abs", "invert": "LogicalNot", "and": "and", "or": "or"}
_OP_KINDS = {"add": "AddV2", "sub": "Sub", "mul": "Mul", "truediv": "RealDiv", "floordiv": "FloorDiv",
             "mod": "FloorMod", "pow": "Pow", "matmul": "MatMul", "and": "LogicalAnd",
             "or": "LogicalOr", "xor": "LogicalXor"}


def _add(word, function, args):
    from ._graph import get_default_graph
    graph = next((a.graph for a in args if hasattr(a, "graph")), None) or get_default_graph()
    label = _LABELS.get(word, word)
    kind = _OP_KINDS.get(word, label)
    return graph.add(function, args, kind=kind, name="MatMul" if word == "matmul" else label).result


def _install_operators(cls):
    """Operators that become operations."""

    def forward(word, function):
        return lambda self, other: _add(word, function, (self, other))

    def backward(word, function):
        return lambda self, other: _add(word, function, (other, self))

    for word, function in _OPERATORS.items():
        setattr(cls, f"__{word}__", forward(word, function))
        setattr(cls, f"__r{word}__", backward(word, function))
    for word, function in _COMPARISONS.items():
        setattr(cls, f"__{word}__", forward(word, function))
    for word, function in _UNARY.items():
        setattr(cls, f"__{word}__",
                (lambda w, f: lambda self: _add(w, f, (self,)))(word, function))
    cls.__div__ = cls.__truediv__


_install_operators(GraphValue)
