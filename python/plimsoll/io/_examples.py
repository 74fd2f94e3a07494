"""Examples as dictionaries of tensors."""

import collections

from .. import _core

FixedLenFeature = collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=[None])
FixedLenSequenceFeature = collections.namedtuple(
    "FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"], defaults=[False, None])
VarLenFeature = collections.namedtuple("VarLenFeature", ["dtype"])
SparseFeature = collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"],
                                       defaults=[False])
RaggedFeature = collections.namedtuple(
    "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"],
    defaults=[None, (), "int32", False])


def _plain(name, feature):
    """A feature as C++ takes it."""
    if isinstance(feature, FixedLenFeature):
        return "fixed", feature.dtype, list(feature.shape), feature.default_value
    if isinstance(feature, FixedLenSequenceFeature):
        return ("sequence", feature.dtype, list(feature.shape), feature.default_value,
                bool(feature.allow_missing))
    if isinstance(feature, VarLenFeature):
        return "var_len", feature.dtype
    if isinstance(feature, RaggedFeature) and not feature.partitions:
        return "ragged", feature.dtype, feature.value_key or "", feature.row_splits_dtype
    if isinstance(feature, (SparseFeature, RaggedFeature)):
        from ..errors import UnimplementedError
        with_parts = " with partitions" if isinstance(feature, RaggedFeature) else ""
        raise UnimplementedError(None, None, f"feature {name!r} is a {type(feature).__name__}{with_parts}, which is "
                                 "not built: VarLenFeature and RaggedFeature give the values as they stand")
    raise ValueError(f"Invalid feature {name}:{feature}.")


_last = ((), None)  # features of the last call and what C++ has of them: loops ask for the same again and again


def _specs(features):
    global _last
    if not features:
        raise ValueError("Argument `features` cannot be None.")
    items = tuple(features.items())
    known, made = _last
    if len(known) == len(items) and all(a is c and b is d for (a, b), (c, d) in zip(known, items)):
        return made
    made = _core.FeatureSpecs({name: _plain(name, feature) for name, feature in items})
    _last = (items, made)
    return made


def _parse(serialized, features):
    parsed = _core.parse_example(serialized, _specs(features))
    for name, found in parsed.items():
        if isinstance(found, dict):
            parsed[name] = _of_several(features[name], **found)
    return parsed


def _of_several(feature, values, row_splits=None, indices=None, dense_shape=None):
    if isinstance(feature, VarLenFeature):
        from .._sparse import SparseTensor
        return SparseTensor(indices, values, dense_shape)
    from .._ragged import RaggedTensor
    return RaggedTensor.from_row_splits(values, row_splits, validate=False)


def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one example."""
    return _parse(serialized, features)


def parse_example(serialized, features, example_names=None, name=None):
    """The features of a vector of examples, in batches."""
    return _parse(serialized, features)
