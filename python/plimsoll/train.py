"""tf.train: examples, messages of names and lists of values."""

import operator

from . import _core


class _List:
    """Values of one kind."""

    _kind = 0

    def __init__(self, value=()):
        self.value = [self._convert(v) for v in value]

    def _convert(self, value):
        return value

    def __eq__(self, other):
        return type(self) is type(other) and self.value == other.value

    def __repr__(self):
        return "".join(f"value: {v!r}\n" for v in self.value)

    __hash__ = None


class BytesList(_List):
    _kind = 1

    def _convert(self, value):
        if isinstance(value, _core.Tensor):
            value = value.numpy()
        if not isinstance(value, bytes):
            raise TypeError(f"{value!r} has type {type(value)}, but expected one of: (<class 'bytes'>,)")
        return value


class FloatList(_List):
    _kind = 2

    def _convert(self, value):
        return float(value)


class Int64List(_List):
    _kind = 3

    def _convert(self, value):
        if hasattr(value, "numpy"):
            value = value.numpy()
        try:
            return operator.index(value)
        except TypeError:
            raise TypeError(f"{value!r} cannot be interpreted as an integer: it is of {type(value)}") from None


_LISTS = {"bytes_list": BytesList, "float_list": FloatList, "int64_list": Int64List}


class Feature:
    """One of three lists."""

    def __init__(self, bytes_list=None, float_list=None, int64_list=None):
        given = {"bytes_list": bytes_list, "float_list": float_list, "int64_list": int64_list}
        self._lists = {name: value for name, value in given.items() if value is not None}
        if len(self._lists) > 1:
            raise ValueError(f"a Feature has one list, got {', '.join(self._lists)}")

    def __getattr__(self, name):
        if name not in _LISTS:
            raise AttributeError(f"'Feature' has no attribute '{name}'")
        if name not in self._lists:
            if self._lists:
                return _LISTS[name]()
            self._lists[name] = _LISTS[name]()
        return self._lists[name]

    def WhichOneof(self, group):
        return next((name for name, value in self._lists.items() if value.value), None) or next(iter(self._lists), None)

    def HasField(self, name):
        return name in self._lists

    def __eq__(self, other):
        return isinstance(other, Feature) and self._lists == other._lists

    def __repr__(self):
        return "".join(f"{name} {{\n{value!r}}}\n" for name, value in self._lists.items())

    __hash__ = None


class _FeatureMap(dict):
    """Features by name; what is asked for is made."""

    def __missing__(self, name):
        self[name] = Feature()
        return self[name]


class Features:
    def __init__(self, feature=None):
        self.feature = _FeatureMap(feature or {})

    def __eq__(self, other):
        return isinstance(other, Features) and self.feature == other.feature

    def __repr__(self):
        return "".join(f"feature {{\n  key: {name!r}\n  value {{\n{value!r}}}\n}}\n"
                       for name, value in self.feature.items())

    __hash__ = None


class Example:
    """Features, and their bytes as TensorFlow writes them."""

    def __init__(self, features=None):
        self.features = features if features is not None else Features()

    def SerializeToString(self, deterministic=None):
        plain = {}
        for name, feature in sorted(self.features.feature.items()):
            found = feature.WhichOneof("kind")
            values = feature._lists[found] if found else None
            plain[name] = (values._kind, values.value) if found else (0, [])
        return _core.serialize_example(plain)

    def ParseFromString(self, serialized):
        from .errors import InvalidArgumentError
        try:
            found = _core.parse_features(serialized)
        except InvalidArgumentError as error:
            raise ValueError(f"Error parsing message: {error}") from None
        self.features = Features()
        for name, (kind, values) in found.items():
            feature = Feature()
            for list_name, cls in _LISTS.items():
                if cls._kind == kind:
                    feature = Feature(**{list_name: cls(values)})
            self.features.feature[name] = feature
        return len(serialized)

    MergeFromString = ParseFromString

    @classmethod
    def FromString(cls, serialized):
        made = cls()
        made.ParseFromString(serialized)
        return made

    def __eq__(self, other):
        return isinstance(other, Example) and self.features == other.features

    def __repr__(self):
        return f"features {{\n{self.features!r}}}\n"

    __hash__ = None
