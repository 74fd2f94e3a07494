"""tf.strings: strings as numpy has them, element by element."""

import re

from . import _core


def _array(value):
    """Bytes objects, in an array of any shape."""
    import numpy
    from . import convert_to_tensor, string
    tensor = value if isinstance(value, _core.Tensor) else convert_to_tensor(value)
    if tensor.dtype is not string:
        raise TypeError(f"expected strings, got a tensor of {tensor.dtype.name}")
    return numpy.asarray(tensor.numpy(), dtype=object)


def _tensor(array):
    from . import convert_to_tensor, reshape, string
    flat = convert_to_tensor([bytes(v) for v in array.reshape(-1)], string) if array.size else _empty()
    return reshape(flat, array.shape)


def _empty():
    import numpy
    from . import convert_to_tensor
    return convert_to_tensor(numpy.empty([0], dtype="S1"))


def _each(function, value):
    """function(bytes) -> bytes of each element."""
    import numpy
    array = _array(value)
    made = numpy.empty(array.shape, dtype=object)
    made.reshape(-1)[:] = [function(v) for v in array.reshape(-1)] if array.size else []
    return _tensor(made)


def _numbers(function, value, dtype):
    import numpy
    from . import constant
    array = _array(value)
    found = numpy.array([function(v) for v in array.reshape(-1)], dtype.as_numpy_dtype).reshape(array.shape)
    return constant(found, dtype)


def _bytes(value):
    value = value.numpy() if isinstance(value, _core.Tensor) else value
    return value.encode() if isinstance(value, str) else value


def _unit(unit, *allowed):
    if unit not in allowed:
        raise ValueError(f"unit must be one of {', '.join(allowed)}, got {unit!r}")
    return unit


def length(input, unit="BYTE", name=None):
    """Bytes, or letters of UTF-8."""
    from .dtypes import int32
    if _unit(unit, "BYTE", "UTF8_CHAR") == "BYTE":
        return _numbers(len, input, int32)
    return _numbers(lambda v: len(v.decode("utf-8", "replace")), input, int32)


def _cased(input, encoding, change, change_text):
    if encoding not in ("", "utf-8"):
        raise ValueError(f"encoding must be '' or 'utf-8', got {encoding!r}")
    if not encoding:
        return _each(change, input)
    return _each(lambda v: change_text(v.decode("utf-8")).encode(), input)


def lower(input, encoding="", name=None):
    return _cased(input, encoding, bytes.lower, str.lower)


def upper(input, encoding="", name=None):
    return _cased(input, encoding, bytes.upper, str.upper)


def strip(input, name=None):
    return _each(bytes.strip, input)


def join(inputs, separator="", name=None):
    """Strings side by side; scalars stand beside every element."""
    import numpy
    from .errors import InvalidArgumentError
    arrays = [_array(v) for v in inputs]
    shapes = {a.shape for a in arrays if a.shape != ()}
    if len(shapes) > 1:
        raise InvalidArgumentError(None, None, f"Input shapes do not match: {' vs. '.join(map(str, sorted(shapes)))}")
    shape = shapes.pop() if shapes else ()
    flat = [numpy.broadcast_to(a, shape).reshape(-1) for a in arrays]
    made = numpy.empty(shape, dtype=object)
    made.reshape(-1)[:] = [_bytes(separator).join(parts) for parts in zip(*flat)]
    return _tensor(made)


def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Elements along axes joined, along the first of them first."""
    import numpy
    array, glue = _array(inputs), _bytes(separator)
    rank = array.ndim
    axes = list(range(rank))[::-1] if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [a + rank if a < 0 else a for a in axes]
    if any(not 0 <= a < rank for a in axes):
        raise ValueError(f"axis {axis} is not one of {rank} dimensions")
    kept = [a for a in range(rank) if a not in axes]
    rows = numpy.transpose(array, kept + axes[::-1]).reshape([array.shape[a] for a in kept] + [-1])
    shape = [1 if a in axes else array.shape[a] for a in range(rank)] if keepdims else rows.shape[:-1]
    made = numpy.empty(rows.shape[:-1], dtype=object)
    made.reshape(-1)[:] = [glue.join(row) for row in rows.reshape(-1, rows.shape[-1])]
    return _tensor(made.reshape(shape))


def split(input, sep=None, maxsplit=-1, name=None):
    """The parts of one string. Of several, parts would be ragged, and there are no ragged tensors here."""
    import numpy
    array = _array(input)
    if array.ndim != 0:
        from .errors import UnimplementedError
        raise UnimplementedError(None, None, f"strings.split gives ragged tensors for strings of shape {array.shape}, "
                                 "which are not built; split one string at a time")
    glue = _bytes(sep) if sep not in (None, "") else None
    text = array[()]
    parts = text.split(glue, maxsplit) if glue is not None else text.split(None, maxsplit)
    made = numpy.empty([len(parts)], dtype=object)
    made[:] = parts
    return _tensor(made)


def bytes_split(input, name=None):
    import numpy
    array = _array(input)
    if array.ndim != 0:
        from .errors import UnimplementedError
        raise UnimplementedError(None, None, "strings.bytes_split of more than one string gives ragged tensors, which "
                                 "are not built")
    made = numpy.empty([len(array[()])], dtype=object)
    made[:] = [array[()][i:i + 1] for i in range(len(array[()]))]
    return _tensor(made)


def _pattern(pattern):
    from .errors import InvalidArgumentError
    try:
        return re.compile(_bytes(pattern), re.ASCII)
    except re.error as error:
        raise InvalidArgumentError(None, None, f"Invalid pattern: {pattern}, error: {error}") from None


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Matches replaced; \\1 to \\9 are groups, \\0 is the match."""
    found = _pattern(pattern)
    rewrite = _bytes(rewrite).replace(rb"\0", rb"\g<0>")
    return _each(lambda v: found.sub(rewrite, v, 0 if replace_global else 1), input)


def regex_full_match(input, pattern, name=None):
    from .dtypes import bool as tf_bool
    found = _pattern(pattern)
    return _numbers(lambda v: found.fullmatch(v) is not None, input, tf_bool)


def to_number(input, out_type=None, name=None):
    """Text as numbers."""
    from .dtypes import as_dtype, float32
    from .errors import InvalidArgumentError
    dtype = float32 if out_type is None else as_dtype(out_type)
    if dtype.name not in ("float32", "float64", "int32", "int64"):
        raise TypeError(f"to_number makes float32, float64, int32 and int64, not {dtype.name}")

    def parse(text):
        try:
            if b"_" in text:
                raise ValueError
            return float(text) if dtype.is_floating else int(text)
        except ValueError:
            raise InvalidArgumentError(None, None, "StringToNumberOp could not correctly convert string: "
                                       f"{text.decode('utf-8', 'replace')}") from None

    return _numbers(parse, input, dtype)


def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Numbers as text."""
    import numpy
    from . import convert_to_tensor
    if scientific and shortest:
        raise ValueError("as_string: scientific and shortest cannot be both")
    tensor = input if isinstance(input, _core.Tensor) else convert_to_tensor(input)
    if tensor.dtype.name == "string":
        return tensor
    array = numpy.asarray(tensor.numpy())
    letter = "d" if tensor.dtype.is_integer else "e" if scientific else "g" if shortest else "f"
    flag = fill if fill in ("0", "-", " ", "+") else ""
    if fill and not flag:
        raise ValueError(f"Fill string must be at most one of 0, -, + and space: {fill!r}")
    shape = f"%{flag}{width if width > -1 else ''}{f'.{precision}' if precision > -1 and letter != 'd' else ''}{letter}"

    def text(value):
        if tensor.dtype.name == "bool":
            return b"true" if value else b"false"
        return (shape % value).encode()

    made = numpy.empty(array.shape, dtype=object)
    made.reshape(-1)[:] = [text(v) for v in array.reshape(-1).tolist()]
    return _tensor(made)


def substr(input, pos, len, unit="BYTE", name=None):
    """len letters from pos on."""
    import builtins
    import numpy
    from .errors import InvalidArgumentError
    is_bytes = _unit(unit, "BYTE", "UTF8_CHAR") == "BYTE"
    array = _array(input)
    first, count = (numpy.asarray(v.numpy() if isinstance(v, _core.Tensor) else v) for v in (pos, len))
    array, first, count = numpy.broadcast_arrays(array, first, count)

    def part(value, at, num):
        text = value if is_bytes else value.decode("utf-8", "replace")
        if not -builtins.len(text) <= at <= builtins.len(text):
            raise InvalidArgumentError(None, None, f"pos {at} out of range for string b'{value.decode('latin-1')}' of "
                                       f"length {builtins.len(text)}")
        at = at + builtins.len(text) if at < 0 else at
        found = text[at:at + num]
        return found if is_bytes else found.encode()

    made = numpy.empty(array.shape, dtype=object)
    made.reshape(-1)[:] = [part(*v) for v in zip(array.reshape(-1), first.reshape(-1).tolist(),
                                                 count.reshape(-1).tolist())]
    return _tensor(made)


def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with tensors in place of its placeholders."""
    from . import constant
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    parts = template.split(placeholder)
    if len(parts) != len(inputs) + 1:
        raise ValueError(f"{len(parts) - 1} placeholder(s) in template does not match {len(inputs)} tensor(s) provided "
                         "as input")
    made = parts[0]
    for value, rest in zip(inputs, parts[1:]):
        made += _shown(value, summarize) + rest
    return constant(made)


def _shown(value, summarize):
    import numpy
    from . import convert_to_tensor
    array = numpy.asarray((value if isinstance(value, _core.Tensor) else convert_to_tensor(value)).numpy())

    def one(item):
        if isinstance(item, bytes):
            return '"' + item.decode("utf-8", "replace") + '"' if array.ndim else item.decode("utf-8", "replace")
        if isinstance(item, bool):
            return str(int(item))
        return "%g" % item

    def rows(a, depth):
        if a.ndim == 0:
            return one(a.item() if a.dtype != object else a[()])
        shown = list(a)
        joint = " " if a.ndim == 1 else "\n" * (a.ndim - 1) + " " * depth
        if summarize >= 0 and len(shown) > 2 * summarize:
            items = [rows(numpy.asarray(i), depth + 1) for i in shown[:summarize]] + ["..."] + [
                rows(numpy.asarray(i), depth + 1) for i in shown[-summarize:]]
        else:
            items = [rows(numpy.asarray(i), depth + 1) for i in shown]
        return "[" + joint.join(items) + "]"

    return rows(array, 1)


def to_hash_bucket_fast(input, num_buckets, name=None):
    """A number below num_buckets, the same for the same string everywhere."""
    from .dtypes import int64
    if num_buckets < 1:
        raise ValueError(f"num_buckets must be at least 1, got {num_buckets}")
    return _numbers(lambda v: _core.fingerprint64(v) % num_buckets, input, int64)


def to_hash_bucket(input, num_buckets, name=None):
    return to_hash_bucket_fast(input, num_buckets)
