"""tf.strings: strings on the host, element by element."""

from ._core import strings as _c
from ._strings_unicode import (ngrams, unicode_decode, unicode_decode_with_offsets, unicode_encode, unicode_split,
                               unicode_split_with_offsets, unicode_transcode, unsorted_segment_join)


def length(input, unit="BYTE", name=None):
    """Bytes, or letters of UTF-8."""
    return _c.length(input, unit)


def lower(input, encoding="", name=None):
    return _c.lower(input, encoding)


def upper(input, encoding="", name=None):
    return _c.upper(input, encoding)


def strip(input, name=None):
    return _c.strip(input)


def join(inputs, separator="", name=None):
    """Strings side by side; scalars stand beside every element."""
    return _c.join(list(inputs), separator)


def reduce_join(inputs, axis=None, keepdims=False, separator="", name=None):
    """Elements along axes joined, along the first of them first."""
    return _c.reduce_join(inputs, axis, bool(keepdims), separator)


def split(input, sep=None, maxsplit=-1, name=None):
    """The parts of each string: a RaggedTensor, of one string a vector."""
    return _parts(*_c.split(input, sep, maxsplit))


def bytes_split(input, name=None):
    return _parts(*_c.bytes_split(input))


def _parts(flat_values, splits, lengths):
    if not splits:
        return flat_values
    from ._ragged import RaggedTensor
    return RaggedTensor._of(flat_values, splits, [*lengths, None])


def substr(input, pos, len, unit="BYTE", name=None):
    """len bytes or letters from pos on."""
    return _c.substr(input, pos, len, unit)


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Matches replaced; \\1 to \\9 are groups, \\0 is the match."""
    return _c.regex_replace(input, pattern, rewrite, bool(replace_global))


def regex_full_match(input, pattern, name=None):
    return _c.regex_full_match(input, pattern)


def to_number(input, out_type="float32", name=None):
    """Text as numbers."""
    return _c.to_number(input, out_type)


def as_string(input, precision=-1, scientific=False, shortest=False, width=-1, fill="", name=None):
    """Numbers as text."""
    return _c.as_string(input, precision, bool(scientific), bool(shortest), width, fill)


def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with tensors in place of its placeholders."""
    inputs = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    return _c.format(template, inputs, placeholder, summarize)


def to_hash_bucket_fast(input, num_buckets, name=None):
    """A number below num_buckets, the same for the same string everywhere."""
    return _c.to_hash_bucket_fast(input, num_buckets)


def to_hash_bucket(input, num_buckets, name=None):
    return _c.to_hash_bucket(input, num_buckets)


def to_hash_bucket_strong(input, num_buckets, key, name=None):
    """The same with a key of two numbers, without which nobody can guess buckets."""
    return _c.to_hash_bucket_strong(input, num_buckets, [int(k) for k in key])
