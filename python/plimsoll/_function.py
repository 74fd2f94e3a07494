"""tf.function and TensorSpec."""

import weakref

from . import _core
from .dtypes import as_dtype, float32
from .tensor_shape import TensorShape, as_shape


class TensorSpec:
    """Shape and type of a tensor that is not there yet."""

    __slots__ = ("shape", "dtype", "name")
    _is_tensor_spec = True

    def __init__(self, shape, dtype=float32, name=None):
        self.shape = as_shape(shape)
        self.dtype = as_dtype(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor, name=None):
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec, name=None):
        return cls(spec.shape, spec.dtype, name or spec.name)

    def is_compatible_with(self, spec_or_tensor):
        return (self.dtype == spec_or_tensor.dtype
                and self.shape.is_compatible_with(spec_or_tensor.shape))

    def __eq__(self, other):
        return (isinstance(other, TensorSpec) and self.shape == other.shape
                and self.dtype == other.dtype and self.name == other.name)

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r})"

    def __reduce__(self):
        return TensorSpec, (list(self.shape), self.dtype, self.name)


def _signature(function):
    """Names and defaults of what may be given by place, defaults of the rest, whether there is *args."""
    skip = 0
    if hasattr(function, "__func__") and hasattr(function, "__self__"):
        function, skip = function.__func__, 1
    code = getattr(function, "__code__", None)
    if code is None:  # a callable object, a partial: its arguments are taken as they come
        return [], [], {}, True
    names = list(code.co_varnames[skip:code.co_argcount])
    defaults = list(function.__defaults__ or ())
    return names, defaults[-len(names):] if names else [], dict(function.__kwdefaults__ or {}), \
        bool(code.co_flags & 0x04)


class Function(_core.Function):
    """A Python function that is traced once for each shape and type of its inputs, and run by plan."""

    def __init__(self, python_function, input_signature=None, name=None):
        if not callable(python_function):
            raise TypeError(f"tf.function needs something to call, got {python_function!r}")
        name = name or getattr(python_function, "__name__", type(python_function).__name__)
        if input_signature is not None:
            input_signature = list(input_signature)
        super().__init__(python_function, name, *_signature(python_function), input_signature)
        self.input_signature = input_signature
        self.__name__ = name
        self.__doc__ = getattr(python_function, "__doc__", None)
        self.__wrapped__ = python_function
        self.__module__ = getattr(python_function, "__module__", None)
        self._bound = None

    def __get__(self, instance, owner=None):
        """As a method: each instance has traces of its own."""
        if instance is None:
            return self
        # In the instance, so that both go together: a dictionary here would keep the instance.
        key = f"_tf_function_{self.__name__}_{id(self)}"
        held = getattr(instance, "__dict__", None)
        if held is None:
            if self._bound is None:
                self._bound = weakref.WeakKeyDictionary()
            held, key = self._bound, instance
        made = held.get(key)
        if made is None:
            made = Function(self.python_function.__get__(instance, owner), self.input_signature,
                            self.__name__)
            held[key] = made
        return made

    def get_concrete_function(self, *args, **kwargs):
        """Traces a call with such arguments, which may be TensorSpecs, and returns it."""
        if not args and not kwargs and self.input_signature is not None:
            args = self.input_signature
        self.prepare(*args, **kwargs)
        return ConcreteFunction(self, args, kwargs)

    def experimental_get_tracing_count(self):
        """How often the Python function was traced."""
        return self.num_traces

    def memory_plan(self, *args, **kwargs):
        """What a call with such arguments would take; nothing runs."""
        return self.plan(*args, **kwargs)

    @property
    def function_spec(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"<plimsoll.function '{self.__name__}' with {self.num_traces} traces>"


class ConcreteFunction:
    """A function for arguments of certain shapes and types."""

    def __init__(self, function, args, kwargs):
        self._function = function
        self._args = args
        self._kwargs = kwargs
        self.name = function.__name__

    @property
    def structured_input_signature(self):
        return tuple(self._args), dict(self._kwargs)

    def __call__(self, *args, **kwargs):
        for i, wanted in enumerate(self._args):
            if not isinstance(wanted, TensorSpec):
                if i >= len(args):
                    args = (*args, wanted)
                continue
            if i < len(args):
                from . import convert_to_tensor
                tensor = convert_to_tensor(args[i], wanted.dtype)
                if not wanted.shape.is_compatible_with(tensor.shape):
                    raise TypeError(f"{self.name}() was made for {wanted!r} as argument {i}, got a tensor "
                                    f"of shape {tensor.shape} and type {tensor.dtype.name}")
        return self._function(*args, **{**self._kwargs, **kwargs})

    def memory_plan(self):
        return self._function.plan(*self._args, **self._kwargs)

    def __repr__(self):
        return f"ConcreteFunction '{self.name}' {self._args}"


def function(func=None, input_signature=None, autograph=True, jit_compile=None,
             reduce_retracing=False, experimental_implements=None,
             experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None,
             experimental_follow_type_hints=None):
    """Makes a function that is traced once and then run by plan; as a decorator with or without arguments.

    Shapes are known when a plan is made: a new shape is a new trace, whatever reduce_retracing says.
    Python's `if` and `while` are not translated: a branch or a loop on a tensor's value is tf.cond,
    tf.where, tf.while_loop, tf.scan or tf.map_fn.
    """
    if func is None:
        return lambda inner: Function(inner, input_signature)
    return Function(func, input_signature)
