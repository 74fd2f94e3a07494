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
    defaults=[None, (), None, False])


def _plain(name, feature):
    if isinstance(feature, FixedLenFeature):
        return False, list(feature.shape), feature.dtype, feature.default_value, False
    if isinstance(feature, FixedLenSequenceFeature):
        return True, list(feature.shape), feature.dtype, feature.default_value, bool(feature.allow_missing)
    if isinstance(feature, (VarLenFeature, SparseFeature, RaggedFeature)):
        from ..errors import UnimplementedError
        raise UnimplementedError(None, None, f"feature {name!r} is a {type(feature).__name__}: there are no sparse or "
                                 "ragged tensors here. FixedLenSequenceFeature(..., allow_missing=True) gives lists of "
                                 "any length, filled up")
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


def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one example."""
    return _core.parse_example(serialized, _specs(features))


def parse_example(serialized, features, example_names=None, name=None):
    """The features of a vector of examples, in batches."""
    return _core.parse_example(serialized, _specs(features))
