"""Arguments of padded_batch, as C++ takes them: lists by leaf."""

from .. import _core, nest
from ..tensor_shape import TensorShape


def _is_shape(value):
    if value is None or isinstance(value, (int, TensorShape, _core.Tensor)) or hasattr(value, "tolist"):
        return True
    return isinstance(value, (list, tuple)) and all(d is None or isinstance(d, int) for d in value)


def _sizes(shape):
    """Sizes of one tensor; -1 where the longest of the batch counts."""
    if hasattr(shape, "numpy"):
        shape = shape.numpy()
    if hasattr(shape, "tolist"):
        shape = shape.tolist()
    if isinstance(shape, int):
        shape = [shape]
    return [-1 if d is None or d == -1 else int(d) for d in shape]


def has_dict(structure):
    """Whether the order of leaves is that of the elements, not that in which they are named here."""
    if isinstance(structure, dict):
        return True
    return isinstance(structure, tuple) and any(has_dict(inner) for inner in structure)


def shapes_of(spec, shapes):
    """Lists of sizes. spec: of elements, None if it is not known."""
    if shapes is None:
        if spec is None:
            return []
        leaves = nest.flatten(spec)
        for i, leaf in enumerate(leaves):
            if leaf.shape.rank is None:
                raise ValueError(f"You must provide `padded_shapes` argument because component {i} has unknown rank.")
        return [_sizes(leaf.shape) for leaf in leaves]
    found = []

    def add(inner, like):
        if isinstance(inner, dict):
            if isinstance(like, dict) and set(inner) != set(like):
                raise ValueError(f"`padded_shapes` has the keys {sorted(inner)}, elements have {sorted(like)}.")
            for key in (like if isinstance(like, dict) else inner):
                add(inner[key], like[key] if isinstance(like, dict) else None)
        elif isinstance(like, tuple) or (like is None and not _is_shape(inner)):
            if isinstance(like, tuple) and inner == ():
                inner = ((),) * len(like)
            if isinstance(like, tuple) and (not isinstance(inner, (list, tuple)) or len(inner) != len(like)):
                raise ValueError(f"`padded_shapes` has to have the structure of the elements, {spec}, got {shapes}.")
            for i, item in enumerate(inner):
                add(item, like[i] if isinstance(like, tuple) else None)
        else:
            found.append(_sizes(inner))

    add(shapes, spec)
    return found


def values_of(spec, values):
    """Numbers, and texts for tensors of strings: one for all tensors, or one for each."""
    if values is None:
        return [], []
    numbers, texts = [], []
    is_one = not isinstance(values, (tuple, dict))

    def add(inner, like):
        if isinstance(inner, dict):
            for key in (like if isinstance(like, dict) else inner):
                add(inner[key], like[key] if isinstance(like, dict) else None)
        elif isinstance(inner, tuple):
            for i, item in enumerate(inner):
                add(item, like[i] if isinstance(like, tuple) else None)
        else:
            number, text = _value(inner, nest.flatten(like) if is_one and like is not None else [like])
            numbers.append(number)
            texts.append(text)

    add(values, spec)
    return numbers, texts


def _value(value, leaves):
    if value is None:
        return 0.0, ""
    from .. import convert_to_tensor
    tensor = convert_to_tensor(value)
    for leaf in leaves:
        if leaf is not None and leaf.dtype != tensor.dtype:
            raise TypeError(f"Invalid `padding_values`. `padding_values` values type {tensor.dtype!r} does not match "
                            f"type {leaf.dtype!r} of the corresponding input component.")
    if tensor.shape.rank != 0:
        raise ValueError(f"Invalid `padding_values`. `padding_values` values should be scalars, got {value}.")
    held = tensor.numpy()
    if isinstance(held, bytes):
        return 0.0, held.decode()
    return float(held), ""


def spec_of(make, each, spec, shapes, size):
    """Of batches; None if too little is known."""
    if spec is None:
        return None
    if not shapes:
        shapes = [[-1] * leaf.shape.rank if leaf.shape.rank is not None else None for leaf in nest.flatten(spec)]
    left = iter(shapes)

    def padded(leaf):
        sizes = next(left)
        return make(None if sizes is None else [size, *(None if d < 0 else d for d in sizes)], leaf.dtype)

    return each(padded, spec)
