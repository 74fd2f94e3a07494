"""Structures: lists, tuples, named tuples and dictionaries of leaves."""

from ._core import nest_flatten as _flatten
from ._core import nest_is_nested as is_nested
from ._core import nest_pack as _pack


def flatten(structure, expand_composites=False):
    """The leaves in order; dictionaries by their sorted keys."""
    return _flatten(structure)


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """The structure with other leaves."""
    return _pack(structure, flat_sequence)


def map_structure(func, *structure, **kwargs):
    """func of the leaves that stand in one place, in the structure of the first."""
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other)
    return _pack(structure[0], [func(*leaves) for leaves in zip(*map(_flatten, structure))])


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises unless both have the same structure."""
    if is_nested(nest1) != is_nested(nest2) or (is_nested(nest1) and len(nest1) != len(nest2)):
        raise ValueError(f"The two structures don't have the same nested structure.\n\n"
                         f"First structure: {nest1}\n\nSecond structure: {nest2}")
    if not is_nested(nest1):
        return
    if check_types and type(nest1) is not type(nest2):
        raise TypeError(f"The two structures don't have the same sequence type. First structure has "
                        f"type {type(nest1)}, while second structure has type {type(nest2)}.")
    if isinstance(nest1, dict):
        if set(nest1) != set(nest2):
            raise ValueError(f"The two dictionaries don't have the same set of keys: {set(nest1)} and "
                             f"{set(nest2)}")
        pairs = [(nest1[key], nest2[key]) for key in nest1]
    else:
        pairs = zip(nest1, nest2)
    for a, b in pairs:
        assert_same_structure(a, b, check_types)
