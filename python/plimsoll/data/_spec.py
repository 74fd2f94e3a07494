"""Shapes and types of elements, as far as they are known."""

from .. import _core, nest
from .._function import TensorSpec
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


def padded_shapes(spec, shapes):
    """As C++ takes them: lists by leaf, -1 where the longest of the batch counts."""
    if shapes is None:
        if spec is None:
            return []
        return [[-1 if d is None else d for d in s.shape] for s in nest.flatten(spec) if s.shape.rank is not None]

    found = []

    def add(inner):
        if isinstance(inner, dict):
            for key in (spec if isinstance(spec, dict) else inner):
                add(inner[key])
        elif isinstance(inner, tuple) and any(isinstance(i, (list, tuple, dict, TensorShape)) for i in inner):
            for item in inner:
                add(item)
        else:
            found.append([-1 if d is None or d == -1 else int(d) for d in inner])

    if isinstance(spec, tuple) and len(spec) and shapes == ():
        shapes = tuple(() for _ in spec)
    if isinstance(shapes, tuple) and isinstance(spec, tuple) and len(shapes) == len(spec):
        for item in shapes:
            add(item)
    else:
        add(shapes)
    return found


def padding_values(spec, values):
    if values is None:
        return []
    flat = []

    def add(inner, like):
        if isinstance(like, dict) and isinstance(inner, dict):
            for key in like:
                add(inner[key], like[key])
        elif isinstance(inner, tuple):
            for i, item in enumerate(inner):
                add(item, like[i] if isinstance(like, tuple) else None)
        elif inner is None:
            flat.append(0.0)
        else:
            inner = inner.numpy() if isinstance(inner, _core.Tensor) else inner
            if isinstance(inner, (str, bytes)):
                from ..errors import UnimplementedError
                raise UnimplementedError(None, None, f"padding_values are numbers; strings are padded with \"\", got "
                                         f"{inner!r}")
            flat.append(float(inner))

    add(values, spec)
    return flat


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
