"""Shapes and types of elements, as far as they are known."""

import functools

from .. import _core, nest
from .._function import TensorSpec
from ..dtypes import bool as bool_
from ..tensor_shape import TensorShape

_TRIED = (2, 3)  # sizes that stand for an unknown one: what differs in the results is unknown, too


class DatasetSpec:
    """Stands for a dataset among the elements of another: of window."""

    def __init__(self, element_spec, dataset_shape=()):
        self.element_spec = element_spec
        self.shape = TensorShape(dataset_shape)

    def __eq__(self, other):
        return isinstance(other, DatasetSpec) and self.element_spec == other.element_spec

    __hash__ = None

    def __repr__(self):
        return f"DatasetSpec({self.element_spec!r}, {self.shape!r})"


def make(shape, dtype):
    return TensorSpec(TensorShape(shape), dtype)


def each(function, spec):
    """The same structure with function(leaf)."""
    if spec is None:
        return None
    if isinstance(spec, dict):
        return {key: each(function, inner) for key, inner in spec.items()}
    if isinstance(spec, tuple):
        return tuple(each(function, inner) for inner in spec)
    return function(spec)


def of_element(element):
    return each(lambda t: make(t.shape, t.dtype), element)


_BORROWED_BYTES = 1 << 20  # arrays of so many bytes and more are not copied


def to_tensors(structure, borrow=False):
    """Everything but tuples, dictionaries and None as tensors. borrow: large arrays stay where they are."""
    from .. import convert_to_tensor
    if type(structure).__module__ == "pandas.core.frame":
        structure = structure.to_numpy()

    def convert(leaf):
        if isinstance(leaf, _core.Tensor):
            return leaf
        if borrow and getattr(leaf, "nbytes", 0) >= _BORROWED_BYTES and hasattr(leaf, "__array_interface__"):
            return _core.borrow(leaf)
        return convert_to_tensor(leaf)

    _core.push_mode(False)  # values, whatever graph is built around it
    try:
        return each(convert, structure)
    finally:
        _core.pop_mode()


def to_sliced(structure):
    """The same, with arrays read where they stand."""
    if type(structure).__module__ == "pandas.core.frame":
        structure = structure.to_numpy()
    return each(lambda leaf: leaf if isinstance(leaf, _core.Tensor) else _core.borrow(leaf), structure)


def rows_of(spec):
    """Of the rows of such tensors."""
    return each(lambda s: make(None if s.shape.rank is None else s.shape[1:], s.dtype), spec)


def batches_of(spec, size):
    return each(lambda s: make(None if s.shape.rank is None else [size, *s.shape], s.dtype), spec)


def common(a, b):
    """What holds for the elements of both."""
    def merged(x, y):
        if x.shape.rank is None or y.shape.rank is None or x.shape.rank != y.shape.rank:
            return make(None, x.dtype)
        return make([p if p == q else None for p, q in zip(x.shape, y.shape)], x.dtype)

    if a is None or b is None:
        return None
    leaves = [merged(x, y) for x, y in zip(nest.flatten(a), nest.flatten(b))]
    return nest.pack_sequence_as(a, leaves)


def _with_size(spec, size):
    return each(lambda s: make([size if d is None else d for d in s.shape], s.dtype), spec)


def traced(function, spec):
    """The spec of what a DatasetFunction gives. None: it takes elements to find out."""
    leaves = nest.flatten(spec)
    if any(not isinstance(s, TensorSpec) or s.shape.rank is None for s in leaves):
        return None
    if all(d is not None for s in leaves for d in s.shape):
        return function.trace(spec, make)
    try:
        first, second = (function.trace(_with_size(spec, size), make) for size in _TRIED)
        return common(first, second)
    except Exception:  # noqa: BLE001: such a size may not suit it; the real one is seen when it runs
        return None


def of_elements(dataset):
    """What its elements have in common."""
    specs = [of_element(element) for element in dataset]
    return functools.reduce(common, specs) if specs else None


def _args(element):
    return element if isinstance(element, tuple) else (element,)


def _grown(element, spec):
    """The same with a row more along what may have any size; None if there is no row."""
    from .. import concat, gather
    leaves = []
    for tensor, leaf in zip(nest.flatten(element), nest.flatten(spec)):
        for axis, size in enumerate(leaf.shape if leaf.shape.rank is not None else ()):
            if size is None:
                if tensor.shape[axis] == 0:
                    return None
                tensor = concat([tensor, gather(tensor, [0], axis=axis)], axis)
        leaves.append(tensor)
    return nest.pack_sequence_as(element, leaves)


def of_results(function, dataset):
    """What the results of a function have in common: for the first elements, and for one of another size where elements
    may have any."""
    spec, given = dataset._seen_spec(), list(dataset.take(2))
    if not given:
        return None

    def result(element):
        made = function(*_args(element))
        return of_element(to_tensors(tuple(made) if isinstance(made, list) else made))

    found = result(given[0])
    more = given[1:]
    if not dataset._is_windowed and any(None in s.shape for s in nest.flatten(spec) if s.shape.rank is not None):
        more.append(_grown(given[0], spec))
    for element in more:
        try:
            found = found if element is None else common(found, result(element))
        except Exception:  # noqa: BLE001: it may not suit the function; real ones are seen when it runs
            pass
    return found


def of_datasets(function, dataset):
    """Of the elements of the datasets that a function gives."""
    for element in dataset.take(1):
        return function(*_args(element))._seen_spec()
    return None


def _is_known(spec):
    return spec is not None and all(isinstance(s, TensorSpec) and s.shape.rank is not None and None not in s.shape
                                    for s in nest.flatten(spec))


def check_predicate(function, spec):
    if not _is_known(spec):
        return
    made = function.trace(spec, make)
    if made is not None and made != make((), bool_):
        raise ValueError("Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                         f"{made}.")


def check_slices(tensors):
    sizes = []
    for tensor in nest.flatten(tensors):
        if tensor is None:
            continue
        if tensor.shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        sizes.append(tensor.shape[0])
    for size in sizes:
        if size != sizes[0]:
            raise ValueError(f"Dimensions {sizes[0]} and {size} are not compatible")


def check_unbatch(spec):
    """The rows of each element, None if they are not known."""
    rows = None
    for leaf in nest.flatten(spec) if spec is not None else ():
        if leaf is None or leaf.shape.rank is None:
            continue
        if leaf.shape.rank == 0:
            raise ValueError("Cannot unbatch an input with scalar components.")
        size = leaf.shape[0]
        if None not in (rows, size) and rows != size:
            raise ValueError("`unbatch()` is only supported for datasets of elements whose components have a matching "
                             f"leading dimension. Encountered both {rows} and {size}.")
        rows = size if rows is None else rows
    return rows


def checked(value, spec):
    """What a generator gave, as from_generator's signature wants it."""
    from .. import convert_to_tensor
    if isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            raise TypeError(f"`generator` yielded an element that did not match the expected structure. The expected "
                            f"structure was {spec}, but the yielded element was {value}.")
        return {key: checked(value[key], inner) for key, inner in spec.items()}
    if isinstance(spec, tuple):
        if not isinstance(value, (tuple, list)) or len(value) != len(spec):
            raise TypeError(f"`generator` yielded an element that did not match the expected structure. The expected "
                            f"structure was {spec}, but the yielded element was {value}.")
        return tuple(checked(v, s) for v, s in zip(value, spec))
    try:
        tensor = convert_to_tensor(value, spec.dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"`generator` yielded an element that could not be converted to the expected type. The "
                        f"expected type was {spec.dtype.name}, but the yielded element was {value}.") from error
    if not spec.shape.is_compatible_with(tensor.shape):
        raise TypeError(f"`generator` yielded an element of shape {tensor.shape} where an element of shape {spec.shape} "
                        "was expected.")
    return tensor


def write(spec, path):
    """Beside the elements that save wrote."""
    import json
    import os

    def plain(inner):
        if isinstance(inner, dict):
            return {"dict": [[key, plain(value)] for key, value in inner.items()]}
        if isinstance(inner, tuple):
            return {"tuple": [plain(value) for value in inner]}
        if inner is None:
            return None
        return [None if inner.shape.rank is None else list(inner.shape), inner.dtype.name]

    with open(os.path.join(path, "spec.json"), "w", encoding="utf-8") as file:
        json.dump(plain(spec), file)


def read(path):
    """What write wrote; None if it is not there."""
    import json
    import os

    def back(inner):
        if isinstance(inner, dict):
            if "dict" in inner:
                return {key: back(value) for key, value in inner["dict"]}
            return tuple(back(value) for value in inner["tuple"])
        return None if inner is None else make(*inner)

    try:
        with open(os.path.join(path, "spec.json"), encoding="utf-8") as file:
            return back(json.load(file))
    except FileNotFoundError:
        return None
