"""Dimensions with a `value`, as shapes of the first version had them."""

from ..tensor_shape import TensorShape

_state = {"has_dimensions": False}


class Dimension:
    """A size, or None for one that is not known."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = getattr(value, "value", value)
        if self.value is not None:
            self.value = int(self.value)
            if self.value < 0:
                raise ValueError(f"Dimension {self.value} must be >= 0")

    def is_compatible_with(self, other):
        other = as_dimension(other)
        return self.value is None or other.value is None or self.value == other.value

    def merge_with(self, other):
        other = as_dimension(other)
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")
        return other if self.value is None else self

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __eq__(self, other):
        other = getattr(other, "value", other)
        return None if self.value is None or other is None else self.value == other

    def __ne__(self, other):
        other = getattr(other, "value", other)
        return None if self.value is None or other is None else self.value != other

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"Dimension({self.value})"

    def __str__(self):
        return "?" if self.value is None else str(self.value)


def _arithmetic(name):
    def apply(self, other):
        other = getattr(other, "value", other)
        if self.value is None or other is None:
            return Dimension(None)
        return Dimension(getattr(self.value, name)(other))

    return apply


def _comparison(name):
    def compare(self, other):
        other = getattr(other, "value", other)
        return None if self.value is None or other is None else getattr(self.value, name)(other)

    return compare


for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__floordiv__",
              "__rfloordiv__", "__mod__", "__rmod__"):
    setattr(Dimension, _name, _arithmetic(_name))
for _name in ("__lt__", "__le__", "__gt__", "__ge__"):
    setattr(Dimension, _name, _comparison(_name))


class TensorShapeV1(TensorShape):
    """A shape whose parts are Dimensions."""

    __slots__ = ()

    @property
    def dims(self):
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def __iter__(self):
        return iter([Dimension(d) for d in super().__iter__()])

    def __getitem__(self, key):
        found = super().__getitem__(key)
        return TensorShapeV1(found) if isinstance(key, slice) else Dimension(found)


def as_dimension(value):
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension):
    """A size as a number or None, whichever kind of shape it comes from."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape, index):
    return Dimension(shape.as_list()[index]) if shape.rank is not None else Dimension(None)


def shown(shape):
    """A shape as the program wants to see it."""
    return TensorShapeV1(shape) if _state["has_dimensions"] else shape


def disable_v2_tensorshape():
    _state["has_dimensions"] = True


def enable_v2_tensorshape():
    _state["has_dimensions"] = False
