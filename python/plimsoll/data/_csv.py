"""Rows of CSV files."""

import csv
import itertools

from ..dtypes import DType, as_dtype, float32, float64, int32, int64, string
from ._dataset import Dataset
from ._files import TextLineDataset, _names

_TYPES = (int32, int64, float32, float64, string)  # tried in this order


def _records(files, header, compression_type):
    """Lines without those of the names."""
    if not header:
        return TextLineDataset(files, compression_type)
    return Dataset.from_tensor_slices(files).flat_map(lambda name: TextLineDataset(name, compression_type).skip(1))


class CsvDataset(Dataset):
    """Tuples of the fields of CSV files."""

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False,
                 field_delim=",", use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None):
        from ..io import decode_csv
        if exclude_cols is not None:
            from ..errors import UnimplementedError
            raise UnimplementedError(None, None, f"exclude_cols is not built: select_cols says which to take, got "
                                     f"{exclude_cols}")

        def parse(line):
            return tuple(decode_csv(line, record_defaults, field_delim, use_quote_delim, na_value, select_cols))

        made = _records(_names(filenames), header, compression_type).map(parse)
        super().__init__(made._c, made._spec, (made,), made._find)


def _type_of(values, na_value):
    """The first of the types that can hold all of them."""
    def fits(value, dtype):
        if value in ("", na_value) or dtype is string:
            return True
        try:
            if dtype in (int32, int64):
                return -2**(8 * dtype.size - 1) <= int(value) < 2**(8 * dtype.size - 1)
            return dtype is float64 or abs(float(value)) < 3.5e38
        except ValueError:
            return False

    def is_number(value):
        try:
            float(value)
            return True
        except ValueError:
            return value in ("", na_value)

    for dtype in _TYPES:
        if all(fits(v, dtype) and (dtype is string or is_number(v)) for v in values):
            return dtype
    return string


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                     select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
                     num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                     prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100,
                     compression_type=None, ignore_errors=False, encoding="utf-8"):
    """Batches of dictionaries of columns, with that of the label beside them."""
    from ..io import decode_csv
    files = sorted(name for pattern in _names(file_pattern) for name in _matching(pattern))
    if not files:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    known = list(itertools.islice(_rows(files[0], field_delim, compression_type, encoding), 1))
    names = list(column_names) if column_names is not None else known[0] if header and known else None
    if names is None:
        raise ValueError("Cannot infer column names without a header: pass `column_names`.")
    if len(set(names)) != len(names):
        raise ValueError(f"Cannot have duplicate column names, got {names}.")
    chosen = list(range(len(names)))
    if select_columns is not None:
        chosen = sorted(c if isinstance(c, int) else names.index(c) for c in select_columns)
    if column_defaults is None:
        limit = None if num_rows_for_inference is None else num_rows_for_inference + bool(header)
        rows = list(itertools.islice(_rows(files[0], field_delim, compression_type, encoding), bool(header), limit))
        types = [_type_of([row[c] for row in rows], na_value) for c in chosen]
        defaults = [[""] if t is string else _zero(t) for t in types]
    else:
        if len(column_defaults) == len(names):
            column_defaults = [column_defaults[c] for c in chosen]
        defaults = [_default(d) for d in column_defaults]
    taken = [names[c] for c in chosen]
    if label_name is not None and label_name not in taken:
        raise ValueError(f"`label_name` provided must be one of the columns, got {label_name!r} and {taken}.")

    def parse(lines):
        columns = dict(zip(taken, decode_csv(lines, defaults, field_delim, use_quote_delim, na_value,
                                             chosen if select_columns is not None else None)))
        if label_name is None:
            return columns
        label = columns.pop(label_name)
        return columns, label

    lines = _records(files, header, compression_type)
    if shuffle:
        lines = lines.shuffle(shuffle_buffer_size, shuffle_seed)
    if ignore_errors:
        lines = lines.ignore_errors()
    made = lines.repeat(num_epochs).batch(batch_size, drop_remainder=num_epochs is None).map(parse)
    return made.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _matching(pattern):
    from ..io import gfile
    return gfile.glob(pattern)


def _zero(dtype):
    from .. import constant
    return constant([0], dtype)


def _default(value):
    """A type says that the field has to be there."""
    if isinstance(value, DType):
        from .. import constant
        return constant([], as_dtype(value))
    return value


def _rows(name, delim, compression_type, encoding):
    lines = (line.decode(encoding) for line in TextLineDataset(name, compression_type).as_numpy_iterator())
    return csv.reader(lines, delimiter=delim)
