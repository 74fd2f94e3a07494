"""Types of elements: tf.float32 and so on."""

from . import _core

_LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535),
           "int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1)}
# As TensorFlow numbers them.
_ENUM = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7,
         "int64": 9, "bool": 10, "bfloat16": 14, "uint16": 17, "float16": 19}


class DType:
    """The type of a tensor's elements. There is one object for each."""

    __slots__ = ("_name", "_size", "__weakref__")

    def __init__(self, name, size):
        self._name = name
        self._size = size

    @property
    def name(self):
        return self._name

    @property
    def size(self):
        """Bytes of an element."""
        return self._size

    @property
    def as_numpy_dtype(self):
        import numpy
        if self._name == "bool":
            return numpy.bool_
        if self._name == "string":
            return numpy.object_
        if self._name == "bfloat16":
            try:
                from ml_dtypes import bfloat16
            except ImportError:
                raise ImportError("numpy has no bfloat16; the package ml_dtypes brings it") from None
            return bfloat16
        return getattr(numpy, self._name)

    @property
    def as_datatype_enum(self):
        return _ENUM[self._name]

    @property
    def base_dtype(self):
        return self

    @property
    def real_dtype(self):
        return self

    @property
    def is_floating(self):
        return self._name in ("float16", "bfloat16", "float32", "float64")

    @property
    def is_integer(self):
        return self._name in _LIMITS

    @property
    def is_unsigned(self):
        return self._name in ("uint8", "uint16")

    @property
    def is_bool(self):
        return self._name == "bool"

    is_complex = False
    is_quantized = False

    @property
    def is_numpy_compatible(self):
        return True

    @property
    def min(self):
        return self._limits()[0]

    @property
    def max(self):
        return self._limits()[1]

    @property
    def limits(self):
        return self._limits()

    def _limits(self):
        if self._name in _LIMITS:
            return _LIMITS[self._name]
        if self.is_bool:
            return False, True
        if not self.is_floating:
            raise TypeError(f"Cannot find minimum value of {self!r}.")
        if self._name == "bfloat16":
            return -3.3895313892515355e+38, 3.3895313892515355e+38
        import numpy
        info = numpy.finfo(self.as_numpy_dtype)
        return info.min, info.max

    def is_compatible_with(self, other):
        return self is as_dtype(other)

    def __eq__(self, other):
        if other is None:
            return False
        if isinstance(other, DType):
            return self is other
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return _ENUM[self._name]

    def __repr__(self):
        return "tf." + self._name

    def __str__(self):
        return f"<dtype: '{self._name}'>"

    def __int__(self):
        return _ENUM[self._name]

    def __reduce__(self):
        return as_dtype, (self._name,)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


# In the order of the C++ enum.
_ALL = [DType(name, size) for name, size in (
    ("float32", 4), ("float64", 8), ("float16", 2), ("bfloat16", 2), ("int8", 1), ("uint8", 1),
    ("int16", 2), ("uint16", 2), ("int32", 4), ("int64", 8), ("bool", 1), ("string", 1))]
float32, float64, float16, bfloat16, int8, uint8, int16, uint16, int32, int64, bool, string = _ALL
half, double = float16, float64

_BY_NAME = {d.name: d for d in _ALL} | {
    "half": float16, "double": float64, "float": float32, "str": string, "object": string}
_BUILTIN = {float: float32, int: int32, type(True): bool, str: string, bytes: string, object: string}


def as_dtype(type_value):
    """The DType that a name, a numpy type or a Python type stands for."""
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str):
        found = _BY_NAME.get(type_value)
    elif isinstance(type_value, type) and type_value in _BUILTIN:
        found = _BUILTIN[type_value]
    elif isinstance(type_value, int):
        found = next((d for d in _ALL if _ENUM[d.name] == type_value), None)
    else:
        found = _from_numpy(type_value)
    if found is None:
        raise TypeError(f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow "
                        f"DType.")
    return found


def _from_numpy(type_value):
    import numpy
    try:
        dtype = numpy.dtype(type_value)
    except TypeError:
        dtype = getattr(type_value, "dtype", None)
        if not isinstance(dtype, numpy.dtype):
            return dtype if isinstance(dtype, DType) else None
    if dtype.kind in "USO":
        return string
    return _BY_NAME.get(dtype.name)


_core.set_dtypes(_ALL, as_dtype)
